"""An approval holds for one plan, one policy and one set of assumptions, and for nothing else."""

import datetime as dt
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.plan.policy import Policy
from croupier.protocol.approval import Approval, ApprovalError
from croupier.protocol.signed_document import public_half

PLAN = Plan.from_toml("""
schema = 2
title = "Pets"
randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.0}
population = {enrolled = 1_000, corrupt_fraction = 0.05}
protections.minimum_batch = 500
record.retention = "Batches 30 days."
policy.batch.max_epsilon = 0.9
""")
POLICY = Policy.from_toml("schema = 1\npolicy.batch.max_epsilon = 0.5")
SIGNER = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
KEY = public_half(SIGNER)


def make(**changes):
    given = {"policy": POLICY, "assumptions": ["uniform order"], "by": "Privacy office"}
    given |= {"day": dt.date(2026, 11, 17), "signing_key": SIGNER}
    return Approval.make(PLAN, **(given | changes))


def test_it_holds_for_what_was_approved_under_any_name():
    approval = Approval.read(make().to_bytes())
    approval.require_holds(PLAN, key=KEY, policy=POLICY)
    approval.require_holds(PLAN.replace(name="other"), key=KEY)
    approval.require_assumed(["uniform order"])
    assert approval.approved_policy == POLICY


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"protections__minimum_batch": 400}, "protections.minimum_batch changed"),
        ({"population__enrolled": 900}, "population.enrolled changed"),
        ({"population__corrupt_fraction": 0.0}, "population.corrupt_fraction changed"),
        ({"population__corrupt_fraction_of": "batch"}, "population.corrupt_fraction_of changed"),
        ({"policy__batch__max_epsilon": 0.91}, "policy.batch.max_epsilon changed"),
        ({"policy": {}}, "policy.batch.max_epsilon changed"),
        ({"record__retention": "For ever."}, "record.retention changed"),
        ({"record": None}, "record.retention changed"),
        ({"title": "Cats"}, "title changed"),
        ({"guarantee__delta": 1e-3}, "guarantee.delta changed"),
        ({"analyzer__publication": "released-order"}, "analyzer.publication changed"),
        ({"randomizer__max_epsilon_local": 2.0}, "max_epsilon_local changed"),
    ],
)
def test_any_change_ends_it(changes, said):
    with pytest.raises(ApprovalError, match="does not hold any more") as caught:
        make().require_holds(PLAN.replace(**changes), key=KEY)
    assert said in str(caught.value)


def test_another_policy_ends_it():
    looser = Policy.from_toml("schema = 1\npolicy.batch.max_epsilon = 0.6")
    with pytest.raises(ApprovalError, match="the policy changed"):
        make().require_holds(PLAN, key=KEY, policy=looser)


def test_what_proofs_assume_in_addition_ends_it():
    with pytest.raises(ApprovalError, match="assume now: nobody colludes"):
        make().require_assumed(["nobody colludes", "uniform order"])


@pytest.mark.parametrize("entry", ["plan", "document", "policy", "assumptions", "by", "date"])
def test_a_changed_entry_breaks_the_signature(entry):
    document = json.loads(make().to_bytes())
    changed = {
        "plan": "0" * 64,
        "document": document["document"].replace("1000", "1001"),
        "policy": document["policy"].replace("0.5", "0.9"),
        "assumptions": [],
        "by": "Somebody",
        "date": "2026-11-18",
    }
    assert changed[entry] != document[entry]
    forged = Approval.read(json.dumps(document | {entry: changed[entry]}).encode())
    with pytest.raises(ApprovalError, match="is not signed by the required key"):
        forged.require_holds(PLAN, key=KEY)


def test_somebody_elses_signature_does_not_count():
    other = Ed25519PrivateKey.generate()
    with pytest.raises(ApprovalError, match="is not signed by the required key"):
        make(signing_key=other).require_holds(PLAN, key=KEY)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"kind": "approval"}'])
def test_what_is_no_approval_is_refused(tmp_path, content):
    file = tmp_path / "plan.approval.json"
    with pytest.raises(ApprovalError, match="is not approved"):
        Approval.load(file)
    file.write_bytes(content)
    with pytest.raises(ApprovalError, match="is not an approval"):
        Approval.load(file)


@pytest.mark.parametrize("name", ["", " ", "two\nlines", "x" * 201, "a\u202eb"])
def test_the_name_of_the_approver_hides_nothing(name):
    with pytest.raises(ParameterError, match="one line"):
        make(by=name)
