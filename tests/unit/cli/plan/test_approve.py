"""`croupier approve`, and the commands that demand an approval."""

import json
from pathlib import Path

import pytest

from croupier.protocol.key_directory import VARIABLE

PLAN = """schema = 2
randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.0}
population = {enrolled = 5_000, corrupt_fraction = 0.01}
protections.minimum_batch = 2_000
guarantee.delta = 1e-6
"""
POLICY = """schema = 1
owner = "Privacy office"
[policy]
batch = {max_epsilon = 0.5}
clients = {max_epsilon = 0.5}
[assumptions]
max_delta = 1e-6
min_corrupt_fraction = 0.02
"""
KEY = "keys/approver/public.json"
DEMAND = ("--require-approval", KEY)


@pytest.fixture
def approved(croupier, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "correct horse battery")
    Path("plan.toml").write_text(PLAN)
    Path("policy.toml").write_text(POLICY)
    assert croupier("keys", "create", "approver").code == 0
    return croupier("approve", "plan.toml", "--policy", "policy.toml", "--by", "An officer")


def change(file, old, new):
    text = Path(file).read_text()
    assert old in text
    Path(file).write_text(text.replace(old, new))


def test_what_is_signed_is_shown(approved, croupier):
    assert approved.code == 0
    assert approved.out.startswith("MET  4 of 4 limits of Privacy office\n")
    assert "- 5,000 people enrolled, 50 of a batch corrupt\n" in approved.out
    assert "- uniform order\n" in approved.out
    public = json.loads(Path(KEY).read_text())["key"]
    assert f"--require-approval {public}" in approved.out
    for key in (KEY, public):
        outcome = croupier("check", "plan.toml", "--require-approval", key)
        assert outcome.code == 0
        assert "\nApproved by An officer on 20" in outcome.out
    document = croupier("check", "plan.toml", *DEMAND, "--json").document
    assert (document["passed"], document["limits_from"]) == (True, "approval")
    assert document["approved"]["by"] == "An officer"


@pytest.mark.parametrize(
    ("file", "old", "new", "said"),
    [
        ("plan.toml", "2_000", "2_001", "protections.minimum_batch changed"),
        ("plan.toml", "5_000", "4_999", "population.enrolled changed"),
        ("plan.toml", "0.01", "0.011", "population.corrupt_fraction changed"),
        ("policy.toml", "0.5", "0.51", "the policy changed"),
        ("policy.toml", "1e-6", "1e-5", "the policy changed"),
    ],
)
@pytest.mark.usefixtures("approved")
def test_a_change_is_refused_by_every_command_that_demands_approval(croupier, file, old, new, said):
    change(file, old, new)
    for command in ("check", "explain"):
        outcome = croupier(command, "plan.toml", "--policy", "policy.toml", *DEMAND)
        assert outcome.code == 4
        assert said in outcome.err
    assert not Path("explain.html").exists()


@pytest.mark.usefixtures("approved")
def test_compare_shows_an_approval_that_no_longer_holds(croupier):
    Path("old.toml").write_text(PLAN)
    assert "is of AFTER" in croupier("compare", "old.toml", "plan.toml").out
    change("plan.toml", "5_000", "6_000")
    outcome = croupier("compare", "old.toml", "plan.toml", "--policy", "policy.toml")
    said = " ".join(outcome.out.split())
    assert "does not hold for AFTER, since population.enrolled changed" in said
    document = croupier("compare", "old.toml", "plan.toml", "--json").document
    assert document["approval"]["of_after"] is False
    assert document["approval"]["changed"] == ["population.enrolled"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("batch = {max_epsilon = 0.5}", "batch = {max_epsilon = 0.01}"),
        ("batch = {max_epsilon = 0.5}\n", ""),
        ("clients = {max_epsilon = 0.5}\n", "collusion = {max_epsilon = 100}\n"),
        ("1e-6", "1e-7"),
        ("0.02", "0.03"),
    ],
)
@pytest.mark.usefixtures("approved")
def test_what_does_not_meet_the_policy_is_not_approved(croupier, old, new):
    Path("plan.approval.json").unlink()
    change("policy.toml", old, new)
    outcome = croupier("approve", "plan.toml", "--policy", "policy.toml", "--by", "An officer")
    assert outcome.code == 4
    assert "Nothing was signed" in outcome.err
    assert not Path("plan.approval.json").exists()
    assert croupier("check", "plan.toml", "--policy", "policy.toml").code == 4


@pytest.mark.usefixtures("approved")
def test_without_the_key_an_approval_means_nothing(croupier):
    outcome = croupier("check", "plan.toml", "--approval", "plan.approval.json")
    assert outcome.code == 2
    assert "--require-approval" in outcome.err
    assert croupier("check", "plan.toml", "--require-approval", "0" * 64).code == 4
    outcome = croupier("check", "plan.toml", "--require-approval", "nobody")
    assert outcome.code == 2
    Path("plan.approval.json").unlink()
    outcome = croupier("check", "plan.toml", *DEMAND)
    assert outcome.code == 4
    assert "The plan is not approved" in outcome.err


def test_an_organisations_limit_that_the_device_keeps_counts(croupier, approved):
    """It is kept whoever colludes; only a plan's own limit of that kind would open a gate."""
    assert approved.code == 0
    change("policy.toml", "0.5", "1.0")
    outcome = croupier("check", "plan.toml", "--policy", "policy.toml")
    assert (outcome.code, outcome.out) == (0, "MET  4 of 4 limits of Privacy office\n")
    change("plan.toml", "guarantee", "policy = {batch.max_epsilon = 0.01}\nguarantee")
    outcome = croupier("check", "plan.toml", "--policy", "policy.toml")
    assert outcome.code == 4  # its own limits must be kept as well
    assert "NOT MET  plan.toml:5" in outcome.out
