"""`croupier keys sign` and `croupier keys rotate`: lists that grow, by whoever has the root."""

import json

import pytest

from croupier.analyzer.keys import AnalyzerKeys
from croupier.plan.plan import Plan
from croupier.protocol.key_list import AnalyzerKey
from croupier.protocol.party_keys import ShufflerKeys
from croupier.shuffler.handover import Handover, TagKey
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.witness import Record, Witness

PLAN = """
schema = 2
randomizer = {mechanism = "k-rr", labels = ["no", "yes"], max_epsilon_local = 8.0}
population.enrolled = 1_000
protections.minimum_batch = 100
policy.batch.max_guess_of_two = 0.99
policy.clients.max_guess_of_two = 0.99
"""
ROLES = ("shuffler", "release", "intake", "analyzer")


@pytest.fixture
def folder(tmp_path, monkeypatch, croupier):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROUPIER_PASSPHRASE", "correct horse")
    (tmp_path / "plan.toml").write_text(PLAN)
    assert croupier("keys", "create", *ROLES, "--into", "plan.toml").code == 0
    assert croupier("keys", "sign", "shuffler", "plan.toml").code == 0
    return tmp_path


def listed(folder):
    plan = Plan.load(folder / "plan.toml")
    return ShufflerKeys.verified((folder / "shuffler.json").read_bytes(), plan)


def test_a_list_is_signed_once_and_then_only_with_a_new_key(folder, croupier):
    first = listed(folder)
    assert (first.version, len(first.release), len(first.intake)) == (1, 1, 1)
    again = croupier("keys", "sign", "shuffler", "plan.toml")
    assert again.code == 2
    assert "`--from-round` must be given" in again.err
    assert "begin anew" not in again.err
    same = croupier("keys", "sign", "shuffler", "plan.toml", "--from-round", 3)
    assert same.code == 2
    assert "Make another: croupier keys rotate" in same.err
    beyond = croupier("keys", "sign", "shuffler", "plan.toml", "--from-round", 2**31)
    assert (beyond.code, "2147483647" in beyond.err) == (2, True)
    assert listed(folder) == first


def test_another_role_or_no_public_keys_are_refused(folder, croupier):
    wrong = croupier("keys", "sign", "shuffler", "plan.toml", "--release", "keys/intake")
    assert wrong.code == 2
    assert "`--release` must be the public keys of release; got 'those of intake'" in wrong.err
    (folder / "empty.json").write_text("{}")
    none = croupier("keys", "sign", "shuffler", "plan.toml", "--intake", "empty.json")
    assert none.code == 2
    assert "`--intake` must be the public keys of intake" in none.err


@pytest.mark.parametrize(
    ("role", "entries"),
    [
        ("intake", {"seal": ""}),
        ("intake", {"seal": "00" * 32}),
        ("intake", {"key": "AB" * 32}),
        ("intake", {"seal": " ".join(["ab" * 16] * 2)}),
        ("release", {"key": "ab" * 64}),
        ("release", {"key": 5}),
        ("release", {"key": ""}),
        ("release", {"seal": "ab" * 32}),
    ],
)
def test_odd_public_keys_are_refused_by_a_sentence(folder, croupier, role, entries):
    public = json.loads((folder / "keys" / role / "public.json").read_bytes())
    (folder / "odd.json").write_text(json.dumps(public | entries))
    odd = croupier("keys", "sign", "shuffler", "plan.toml", f"--{role}", "odd.json", "-o", "x.json")
    assert odd.code == 2
    assert f"`--{role}` must be the public keys of {role}; got 'odd.json'" in odd.err
    assert not (folder / "x.json").exists()


def test_a_first_list_counts_from_the_first_round(folder, croupier):
    (folder / "shuffler.json").unlink()
    refused = croupier("keys", "sign", "shuffler", "plan.toml", "--from-round", 3)
    assert refused.code == 2
    assert "`--from-round` must be left out for the first list" in refused.err
    assert not (folder / "shuffler.json").exists()


@pytest.mark.usefixtures("folder")
def test_why_the_root_is_not_rotated_is_said(croupier):
    refused = croupier("keys", "rotate", "shuffler", "plan.toml")
    assert refused.code == 2
    assert "another root is another plan" in refused.err
    assert "Value error" not in refused.err


def test_a_root_that_the_plan_does_not_name_signs_nothing(folder, croupier):
    assert croupier("keys", "create", "shuffler", "--keys", "other").code == 0
    refused = croupier("keys", "sign", "shuffler", "plan.toml", "--keys", "other", "-o", "x.json")
    assert refused.code == 2
    assert "shufflers.key" in refused.err
    assert not (folder / "x.json").exists()


@pytest.mark.parametrize("role", ["release", "intake"])
def test_with_the_root_at_hand_one_command_rotates(folder, croupier, role):
    first = listed(folder)
    done = croupier(
        *("keys", "rotate", role, "plan.toml"), "--root", "keys/shuffler", "--from-round", 4
    )
    assert done.code == 0, done.err
    second = listed(folder)
    assert second.version == 2
    entries = getattr(second, role)
    assert entries[:-1] == getattr(first, role)
    assert entries[-1].from_round == 4
    assert (folder / "keys" / role / f"{role}-2.pem").is_file()
    early = croupier(
        *("keys", "rotate", role, "plan.toml"), "--root", "keys/shuffler", "--from-round", 4
    )
    assert early.code == 2
    assert "must be at least 5" in early.err
    assert not (folder / "keys" / role / f"{role}-3.pem").exists(), "no key that nobody signs"


def test_without_the_root_the_other_command_is_printed(folder, croupier):
    missing = croupier("keys", "rotate", "release", "plan.toml")
    assert missing.code == 2
    assert "`--from-round` must be given" in missing.err
    plan = Plan.load(folder / "plan.toml")
    witness = Witness(ReleaseKeys(folder / "keys" / "release", b""), plan=plan.digest)
    witness.path.parent.mkdir()
    batch = {"number": 6, "batch": "00" * 16}
    record = Record.model_validate({"round": batch})
    witness.path.write_text(record.model_dump_json())
    done = croupier("keys", "rotate", "release", "plan.toml")
    assert done.code == 0, done.err
    assert listed(folder).version == 1
    then = done.out.replace("\n", " ").partition("Then: croupier ")[2].split()
    assert then[-2:] == ["--from-round", "7"]
    assert croupier(*then).code == 0
    assert [entry.from_round for entry in listed(folder).release] == [0, 7]


def test_intake_takes_the_next_round_only_if_it_has_seen_what_was_handed_over(folder, croupier):
    plan = Plan.load(folder / "plan.toml")
    witness = Witness(IntakeKeys(folder / "keys" / "intake", b""), plan=plan.digest)
    witness.path.parent.mkdir()
    record = Record.model_validate({"round": {"number": 6, "batch": "00" * 16}})
    witness.path.write_text(record.model_dump_json())
    rotate = ("keys", "rotate", "intake", "plan.toml", "--json")
    blind = croupier(*rotate)
    assert blind.code == 2
    assert "keys/handover does not exist" in blind.out
    signer = ReleaseKeys(folder / "keys" / "release", b"correct horse").signing_key("release")
    seal = listed(folder).intake[0].seal
    handover = Handover(folder / "keys" / "handover")
    for batch in (b"\0", b"\1"):
        made = {"batch": 16 * batch, "key": bytes(32), "seal": seal, "signing_key": signer}
        handover.put(TagKey.make(plan, **made))
    behind = croupier(*rotate)
    assert behind.code == 2
    assert "a round that intake has not seen" in behind.out
    assert not (folder / "keys" / "intake" / "intake-2.pem").exists()
    handover.destroy(b"\1" * 16)
    done = croupier(*rotate)
    assert (done.code, done.document["from_round"]) == (0, 7), done.err


def test_both_roles_are_replaced_from_one_round_on(folder, croupier):
    for role in ("release", "intake"):
        done = croupier(
            *("keys", "rotate", role, "plan.toml"), "--root", "keys/shuffler", "--from-round", 4
        )
        assert done.code == 0, done.err
    made = listed(folder)
    assert (made.version, made.release[-1].from_round, made.intake[-1].from_round) == (3, 4, 4)


def test_the_analyzers_key_is_replaced_and_the_old_one_stays(folder, croupier):
    assert croupier("keys", "sign", "analyzer", "plan.toml").code == 0
    first = json.loads((folder / "analyzer.json").read_bytes())["key"]
    done = croupier("keys", "rotate", "analyzer", "plan.toml")
    assert done.code == 0
    assert "croupier keys sign analyzer" in done.out
    assert croupier("keys", "sign", "analyzer", "plan.toml").code == 0
    plan = Plan.load(folder / "plan.toml")
    second = AnalyzerKey.verified((folder / "analyzer.json").read_bytes(), plan)
    assert second.key != first
    keys = AnalyzerKeys(folder / "keys" / "analyzer", b"correct horse")
    for public in (first, second.key):
        assert keys.sealing_key("analyzer", public).public_key().public_bytes_raw().hex() == public


def test_the_old_spelling_of_into_is_named(folder, croupier):
    done = croupier("keys", "create", "shuffler", "--plan", "plan.toml")
    assert done.code == 2
    assert "--into plan.toml" in done.err
    done = croupier("keys", "create", "release", "--into", "plan.toml", "--keys", "elsewhere")
    assert done.code == 2
    assert "croupier keys sign shuffler plan.toml" in done.err
    assert not (folder / "elsewhere").exists()
