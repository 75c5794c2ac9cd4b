"""Keys of the issuer by command: root, token keys of rounds, their list, invitations."""

import asyncio
import json

import pytest

from croupier.issuer.admission import InvitationCheck
from croupier.issuer.keys import TokenKeyFiles
from croupier.plan.plan import Plan
from croupier.protocol.admission.token_keys import TokenKeys

PLAN = """schema = 2
randomizer = {mechanism = "k-rr", k = 4, max_epsilon_local = 2.0}
population.enrolled = 100
protections.minimum_batch = 10
[admission]
by = "token"  # as agreed
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROUPIER_PASSPHRASE", "a long passphrase")
    (tmp_path / "plan.toml").write_text(PLAN)
    return tmp_path


@pytest.fixture
def run(folder, croupier):
    """Run a command that ends with an exit code; return what it says."""
    assert folder.is_dir()

    def done(*arguments, code=0):
        outcome = croupier(*arguments)
        assert outcome.code == code, outcome.err
        return outcome.err.replace("\n", " ") if code else outcome.out

    return done


def test_from_root_to_list(folder, run):
    said = run("keys", "create", "issuer", "--into", "plan.toml")
    assert "Wrote the key of [admission] into plan.toml." in said
    assert 'by = "token"  # as agreed' in (folder / "plan.toml").read_text()
    plan = Plan.load("plan.toml")
    assert plan.issuer_key
    run("issuer", "keys", "plan.toml", "--rounds", "3")
    said = run("keys", "sign", "issuer", "plan.toml")
    assert "version 1, rounds 0 to 2." in said
    first = TokenKeys.verified((folder / "issuer.json").read_bytes(), plan)
    store = TokenKeyFiles(folder / "keys/tokens", b"a long passphrase")
    assert [store.signer(plan.digest, n).key for n in range(3)] == [*map(first.key, range(3))]
    assert first.key(3) is None

    run("issuer", "keys", "plan.toml", "--rounds", "3", "--from-round", "2")
    document = json.loads(run("keys", "sign", "issuer", "plan.toml", "--json"))
    assert (document["version"], document["first"], document["rounds"]) == (2, 2, 3)
    second = TokenKeys.verified((folder / "issuer.json").read_bytes(), plan)
    assert second.key(2) == first.key(2)
    assert store.signer(plan.digest, 1) is None
    assert store.signer(plan.digest, 2).key == second.key(2)


def test_a_round_never_changes_its_key(folder, run):
    run("keys", "create", "issuer", "--into", "plan.toml")
    run("issuer", "keys", "plan.toml", "--rounds", "2")
    run("keys", "sign", "issuer", "plan.toml")
    before = (folder / "issuer.json").read_bytes()
    plan = Plan.load("plan.toml")
    TokenKeyFiles(folder / "keys/tokens", b"a long passphrase").destroy(plan.digest, 1)
    run("issuer", "keys", "plan.toml", "--rounds", "2")
    said = run("keys", "sign", "issuer", "plan.toml", code=2)
    assert "It has another key of round 1 than before. Put the missing keys back" in said
    assert (folder / "issuer.json").read_bytes() == before


def test_a_round_that_was_left_out_never_comes_back(folder, run):
    """Nobody remembers its key by then, so it could be another one."""
    run("keys", "create", "issuer", "--into", "plan.toml")
    run("issuer", "keys", "plan.toml", "--rounds", "2")
    run("keys", "sign", "issuer", "plan.toml")
    run("issuer", "keys", "plan.toml", "--rounds", "2", "--from-round", "70")
    assert [*(folder / "keys/tokens").glob("*/[01].rsa.pem")] == []
    run("keys", "sign", "issuer", "plan.toml")
    run("issuer", "keys", "plan.toml", "--rounds", "64", "--from-round", "9")
    said = run("keys", "sign", "issuer", "plan.toml", code=2)
    assert "begins with round 9, which was left out" in said
    run("issuer", "keys", "plan.toml", "--rounds", "1", "--from-round", "70")
    said = run("keys", "sign", "issuer", "plan.toml", code=2)
    assert "leaves out round 71" in said


def test_keys_of_another_plan_are_not_signed(folder, run):
    run("keys", "create", "issuer", "--into", "plan.toml")
    run("issuer", "keys", "plan.toml", "--rounds", "1")
    text = (folder / "plan.toml").read_text()
    (folder / "other.toml").write_text(text.replace("k = 4", "k = 5"))
    said = run("keys", "sign", "issuer", "other.toml", "-o", "other.json", code=2)
    assert "must be the token keys of this plan" in said
    (folder / "none.toml").write_text(text.replace('by = "token"', 'by = "credential"'))
    said = run("issuer", "keys", "none.toml", code=2)
    assert 'must have admission.by = "token"' in said


def test_invitations_are_signed_by_their_inviter(folder, run):
    said = run("keys", "create", "inviter")
    key = next(line for line in said.splitlines() if line.startswith("key ")).removeprefix("key ")
    found = run("issuer", "invite", "--count", "3").split()
    assert len(set(found)) == 3
    for text in found:
        assert asyncio.run(InvitationCheck(key).admit(text))
    assert (folder / "keys/inviter/inviter.pem").is_file()
