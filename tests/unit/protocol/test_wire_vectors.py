"""The published vectors: croupier reads them, and a second implementation writes them."""

import hashlib
import json
import runpy
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from croupier.errors import MalformedReportError, SealError, UntrustedError
from croupier.plan.file import PlanError
from croupier.plan.plan import Plan
from croupier.protocol.key_list import (
    AnalyzerKey,
    KeyList,
    NotAccepted,
    ShufflerKey,
    sent_digest,
)
from croupier.protocol.party_keys import ShufflerKeys, Signers
from croupier.protocol.query import Query
from croupier.protocol.superseded import Pointer, SupersededPlan
from croupier.protocol.unsealing import open_inner, open_outer, open_second, opener
from croupier.protocol.wire import (
    Epoch,
    Seal,
    decode_report,
    encode_report,
    envelope_length,
    question,
    seal_inner,
    seal_outer,
    seal_report,
)
from croupier.randomizers import MECHANISMS

FOLDER = Path(__file__).parents[2] / "vectors"
TEXT = (FOLDER / "wire.json").read_text(encoding="utf-8")
VECTORS = json.loads(TEXT)
PLANS = {name: Plan.from_document(entry["document"]) for name, entry in VECTORS["plans"].items()}
second = runpy.run_path(str(FOLDER / "make_wire.py"))


def private(name):
    return X25519PrivateKey.from_private_bytes(bytes.fromhex(VECTORS["keys"][name]["private"]))


def epoch(case):
    batch = bytes.fromhex(case["batch"])
    query = bytes.fromhex(case.get("query", ""))
    analyzer = bytes.fromhex(case.get("analyzer", VECTORS["keys"]["analyzer"]["public"]))
    plan = PLANS[case["plan"]]
    onward = [VECTORS["keys"]["second"]["public"]] if len(plan.shufflers) == 2 else []
    return Epoch.of(
        plan,
        round_number=case["round"],
        batch=batch,
        analyzer=analyzer,
        query=query,
        onward=tuple(bytes.fromhex(key) for key in case.get("onward", onward)),
    )


def cases(name, within=VECTORS):
    return pytest.mark.parametrize(
        "case", within[name], ids=lambda case: str(case.get("what") or case.get("plan"))
    )


def test_the_second_implementation_agrees_with_rfc_9180():
    """Appendix A.1.1, the first ciphertext."""
    info = bytes.fromhex("4f6465206f6e2061204772656369616e2055726e")
    own = bytes.fromhex("4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8")
    public = X25519PrivateKey.from_private_bytes(own).public_key().public_bytes_raw()
    ephemeral = bytes.fromhex("52c4a758a802cd8b936eceea314432798d5baf2d7e9235dc084ab1b9cfa2f736")
    plaintext = bytes.fromhex("4265617574792069732074727574682c20747275746820626561757479")
    sealed = second["hpke_seal"](plaintext, public, info, ephemeral, aad=b"Count-0")
    assert sealed.hex() == (
        "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431"
        "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a9"
        "6d8770ac83d07bea87e13c512a"
    )
    assert second["hpke_open"](sealed, own, info, aad=b"Count-0") == plaintext


def test_the_file_is_what_the_second_implementation_writes():
    assert json.dumps(second["vectors"](), indent=1) + "\n" == TEXT


def test_every_mechanism_has_a_vector():
    shown = {question(PLANS[case["plan"]], case["round"]).mechanism for case in VECTORS["reports"]}
    assert shown == set(MECHANISMS)


@pytest.mark.parametrize("name", PLANS)
def test_plans(name):
    entry, plan = VECTORS["plans"][name], PLANS[name]
    assert plan.canonical.decode() == entry["canonical"]
    assert plan.digest == entry["digest"]
    assert envelope_length(plan) == entry["envelope_length"]


@cases("worded_plans")
def test_worded_plans(case):
    plan = Plan.from_document(json.loads(case["canonical"]) | {"population": {"enrolled": 99}})
    assert plan.canonical.decode() == case["canonical"]


@cases("refused_plans")
def test_refused_plans(case):
    with pytest.raises(PlanError, match=r"on one line|letters a-z|differ from the others"):
        Plan.from_document(json.loads(case["canonical"]) | {"population": {"enrolled": 99}})


@pytest.mark.parametrize("name", VECTORS["keys"])
def test_keys(name):
    public = X25519PublicKey.from_public_bytes(bytes.fromhex(VECTORS["keys"][name]["public"]))
    assert private(name).public_key() == public


@cases("info")
def test_info(case):
    key = private(case["key"]).public_key()
    assert epoch(case).info(Seal(case["role"]), key).hex() == case["info"]
    assert epoch(case).name.hex() == case["batch_name"]


@cases("reports")
def test_reports(case):
    plan, number = PLANS[case["plan"]], case["round"]
    form = question(plan, number).report_format
    assert list(form.bounds) == case["bounds"]
    assert form.ascending == case["ascending"]
    report = case["report"]
    given = report
    if report is not None:
        given = np.array(report, dtype=form.dtype)
        given = given[0] if len(report) == 1 else given
    data = bytes.fromhex(case["plaintext"])
    assert encode_report(plan, given, round_number=number) == data
    read = decode_report(plan, data, round_number=number)
    assert (None if read is None else np.atleast_1d(read).tolist()) == report


@cases("refused_reports")
def test_refused_reports(case):
    data = bytes.fromhex(case["plaintext"])
    with pytest.raises(MalformedReportError) as refused:
        decode_report(PLANS[case["plan"]], data, round_number=case["round"])
    assert refused.value.reason == case["reason"]


@cases("envelopes")
def test_envelopes(case):
    opened = open_outer(bytes.fromhex(case["envelope"]), key=private("shuffler"), epoch=epoch(case))
    assert (opened.inner.hex(), opened.owner) == (case["inner"], case["owner"])
    report = open_inner(opened.inner, key=private("analyzer"), epoch=epoch(case))
    assert report.hex() == case["plaintext"]


@cases("envelopes")
def test_the_second_implementation_opens_what_croupier_seals(case):
    here = epoch(case)
    analyzer, shuffler = private("analyzer"), private("shuffler")
    inner = seal_inner(bytes.fromhex(case["plaintext"]), epoch=here)
    envelope = seal_outer(inner, key=shuffler.public_key(), epoch=here, owner=case["owner"])
    assert len(envelope) == len(case["envelope"]) // 2

    def opened(sealed, role, key, later=()):
        info = second["info_bytes"](
            role=role,
            digest=hashlib.sha256(PLANS[case["plan"]].canonical).digest(),
            batch=bytes.fromhex(case["batch"]),
            round_number=case["round"],
            public=key.public_key().public_bytes_raw(),
            later=later,
            query=bytes.fromhex(case["query"]),
        )
        return second["hpke_open"](sealed, key.private_bytes_raw(), info)

    place = b"" if case["owner"] is None else case["owner"].to_bytes(8, "big")
    after = [analyzer.public_key().public_bytes_raw()]
    assert opened(envelope, b"outer", shuffler, after) == inner + place
    assert opened(inner, b"inner", analyzer).hex() == case["plaintext"]


@cases("refused_envelopes")
def test_refused_envelopes(case):
    with pytest.raises(SealError) as refused:
        open_outer(bytes.fromhex(case["envelope"]), key=private(case["key"]), epoch=epoch(case))
    assert refused.value.reason == case["reason"]


@cases("refused_inner")
def test_refused_inner(case):
    opened = open_outer(bytes.fromhex(case["envelope"]), key=private("shuffler"), epoch=epoch(case))
    assert opened.inner.hex() == case["inner"]
    with pytest.raises(SealError) as refused:
        open_inner(opened.inner, key=private("analyzer"), epoch=epoch(case))
    assert refused.value.reason == case["reason"]


KINDS = {
    "shuffler": ShufflerKey,
    "analyzer": AnalyzerKey,
    "not accepted": NotAccepted,
    "query": Query,
    "shuffler keys": ShufflerKeys,
    "superseded": Pointer,
}
LISTS = VECTORS["lists"]


def verified(case):
    """The document of a case, as a party believes it that has the plan's list of keys."""
    text, plan = json.dumps(case["document"]).encode(), PLANS[case["plan"]]
    kind = KINDS[case["kind"]]
    if kind not in {ShufflerKey, NotAccepted}:
        return kind.verified(text, plan)
    listed = ShufflerKeys.verified(json.dumps(LISTS[case["plan"]]).encode(), plan)
    of = {"round_number": case["round"]} if kind is NotAccepted else {}
    return kind.verified(text, Signers.of(plan, listed), **of)


@cases("documents")
def test_signed_documents(case):
    assert json.loads(verified(case).to_bytes()) == case["document"]


@cases("refused_documents")
def test_refused_documents(case):
    with pytest.raises(UntrustedError):
        verified(case)


@cases("superseded")
def test_pointers_to_a_successor(case):
    digest = PLANS[case["plan"]].digest
    read = SupersededPlan.verified(case["text"].encode(), digest=digest)
    assert read == SupersededPlan.verified(case["text"].encode())
    assert read.to_bytes() == case["text"].encode()
    assert (read.digest, read.error.successor, read.error.date) == (
        digest,
        case["successor"],
        case["date"],
    )


@cases("refused_superseded")
def test_pointers_that_send_nobody_away(case):
    with pytest.raises(UntrustedError):
        SupersededPlan.verified(case["text"].encode(), digest=PLANS[case["plan"]].digest)


def test_croupier_points_to_what_the_second_implementation_points_to():
    case = VECTORS["superseded"][0]
    signing = Ed25519PrivateKey.from_private_bytes(
        bytes.fromhex(VECTORS["signing_keys"]["shuffler"]["private"])
    )
    made = SupersededPlan.make(
        PLANS["k-rr"], PLANS["matrix"], signing_key=signing, date=case["date"]
    )
    assert made.to_bytes() == case["text"].encode()


def test_what_a_refusal_is_bound_to():
    sent = VECTORS["sent"]
    body = bytes.fromhex(sent["body"])
    assert sent_digest(sent["authorization"].encode(), body) == sent["digest"]


def test_the_digest_of_a_query_is_what_the_seals_are_bound_to():
    (case,) = (case for case in VECTORS["envelopes"] if case["query"])
    signing = Ed25519PrivateKey.from_private_bytes(
        bytes.fromhex(VECTORS["signing_keys"]["analyzer"]["private"])
    )
    (shown,) = (entry for entry in VECTORS["documents"] if entry["kind"] == "query")
    made = Query.make(
        PLANS["adaptive"],
        round_number=case["round"],
        question=shown["document"]["question"],
        signing_key=signing,
    )
    assert made.digest.hex() == case["query"]


def test_croupier_signs_what_the_second_implementation_signs():
    plan, entry = PLANS["k-rr"], VECTORS["documents"][0]["document"]
    signing = Ed25519PrivateKey.from_private_bytes(
        bytes.fromhex(VECTORS["signing_keys"]["release"]["private"])
    )
    here = Epoch.of(
        plan,
        round_number=entry["round"],
        batch=bytes.fromhex(entry["batch"]),
        analyzer=bytes.fromhex(entry["analyzer"]),
    )
    made = ShufflerKey.make(here, plan, key=private("shuffler"), signing_key=signing)
    assert json.loads(made.to_bytes()) == entry


TWO = VECTORS["two_shufflers"]
PAIR = PLANS[TWO["plan"]]
RECEIVERS = {"outer": "shuffler", "second": "second", "inner": "analyzer"}


def test_the_cost_of_two_shufflers():
    assert PAIR.cost._asdict() == TWO["cost"]


@cases("info", TWO)
def test_info_of_two_shufflers(case):
    key = private(case["key"]).public_key()
    assert epoch(case).info(Seal(case["role"]), key).hex() == case["info"]
    assert epoch(case).name.hex() == case["batch_name"]


@cases("envelopes", TWO)
def test_envelopes_of_two_shufflers(case):
    here = epoch(case)
    envelope = bytes.fromhex(case["envelope"])
    second_layer = open_outer(envelope, key=private("shuffler"), epoch=here).inner
    inner = open_second(second_layer, key=private("second"), epoch=here)
    report = open_inner(inner, key=private("analyzer"), epoch=here)
    found = [second_layer.hex(), inner.hex(), report.hex()]
    assert found == [case["second"], case["inner"], case["plaintext"]]


@cases("envelopes", TWO)
def test_the_second_implementation_opens_the_three_seals_of_croupier(case):
    data = seal_report(
        bytes.fromhex(case["plaintext"]), key=private("shuffler").public_key(), epoch=epoch(case)
    )
    for role, receiver in RECEIVERS.items():
        info = second["info_bytes"](**second["layer_of_two"](PAIR, role, case["round"]))
        data = second["hpke_open"](data, private(receiver).private_bytes_raw(), info)
    assert data.hex() == case["plaintext"]


@cases("refused_layers", TWO)
def test_refused_layers_of_two_shufflers(case):
    open_one = opener(Seal(case["layer"]), key=private(case["key"]), epoch=epoch(case))
    with pytest.raises(SealError) as refused:
        open_one(bytes.fromhex(case["sealed"]))
    assert refused.value.reason == case["reason"]


@cases("key_lists", TWO)
def test_key_lists_of_two_shufflers(case):
    read = KeyList.verified(case["text"].encode(), PAIR)
    assert read.to_bytes().decode() == case["text"]
    assert [opening.round for opening in read.shuffler] == case["rounds"]
    for first, later in zip(read.shuffler, read.onward, strict=True):
        assert first.epoch(PAIR) == later.opening.epoch(PAIR)
        assert json.loads(later.keys.to_bytes()) == TWO["lists"]["second"]
    assert json.loads(read.keys.to_bytes()) == TWO["lists"]["shuffler"]


@cases("refused_key_lists", TWO)
def test_refused_key_lists_of_two_shufflers(case):
    with pytest.raises(UntrustedError):
        KeyList.verified(case["text"].encode(), PAIR)


@pytest.mark.parametrize(
    "case", TWO["refused_plans"] + TWO["refused_tables"], ids=lambda case: case["what"]
)
def test_refused_plans_of_two_shufflers(case):
    with pytest.raises(PlanError):
        Plan.from_document(json.loads(case["canonical"]) | {"population": {"enrolled": 99}})
