"""`croupier keys` for plans with two shufflers: each root in its table, each list by its root."""

from pathlib import Path

import pytest

from croupier.plan.plan import Plan
from croupier.protocol.party_keys import ShufflerKeys, hop_of

PLAN = """
schema = 2
randomizer = {mechanism = "plain", k = 4}
population.enrolled = 1_000
protections.minimum_batch = 100

[[shufflers]] # A
operator = "Example Foundation"
dummies = {epsilon = 1.0, delta = 1e-8}

[[shufflers]] # B
operator = "Example Institute"
dummies = {epsilon = 1.0, delta = 1e-8}
"""
INLINE = PLAN[: PLAN.index("[[")] + (
    'shufflers = [{operator = "A", dummies = {epsilon = 1.0, delta = 1e-8}}, {operator = "B"}]\n'
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROUPIER_PASSPHRASE", "correct horse")
    Path("plan.toml").write_text(PLAN)


@pytest.fixture
def house(croupier):
    """The keys of both shufflers and the analyzer, in the plan."""

    def create(role, party, *more):
        made = croupier("keys", "create", role, "--keys", f"{party}/{role}", "--json", *more)
        assert made.code == 0, made.err
        return made.document

    for party, options in (("a", []), ("b", ["--second"])):
        create("shuffler", party, "--into", "plan.toml", *options)
        for role in ("release", "intake"):
            create(role, party)
    create("analyzer", "c", "--into", "plan.toml")
    return Plan.load("plan.toml")


def sign(croupier, root, working, output, *more):
    return croupier(
        *("keys", "sign", "shuffler", "plan.toml", "--keys", f"{root}/shuffler"),
        *("--release", f"{working}/release", "--intake", f"{working}/intake"),
        *("-o", output, *more),
    )


@pytest.mark.parametrize("text", [PLAN, INLINE], ids=["tables", "inline"])
def test_each_key_goes_into_its_table(croupier, text):
    Path("plan.toml").write_text(text)
    second = croupier(
        "keys", "create", "shuffler", "--second", "--keys", "b", "--into", "plan.toml"
    )
    assert second.code == 0, second.err
    assert "Wrote the key of the second [[shufflers]] into plan.toml." in second.out
    made = Plan.load("plan.toml")
    assert made.shufflers[0].key is None
    assert made.shufflers[1].key is not None
    first = croupier("keys", "create", "shuffler", "--keys", "a", "--into", "plan.toml")
    assert "Wrote the key of [[shufflers]] into plan.toml." in first.out
    both = Plan.load("plan.toml")
    assert both.shufflers[1] == made.shufflers[1]
    assert both.shufflers[0].key not in {None, both.shufflers[1].key}
    again = croupier("keys", "create", "shuffler", "--second", "--keys", "b", "--into", "plan.toml")
    assert again.code == 0
    assert Plan.load("plan.toml") == both


def test_the_printed_lines_say_which_table_they_are_for(croupier):
    shown = croupier("keys", "create", "shuffler", "--second", "--keys", "b").out
    table, key = shown.splitlines()[:2]
    assert table == "[[shufflers]]  # the second of these tables"
    Path("plan.toml").write_text(PLAN.replace("[[shufflers]] # B", f"{table}\n{key}"))
    assert Plan.load("plan.toml").shufflers[1].key in key
    document = croupier("keys", "create", "shuffler", "--second", "--keys", "d", "--json").document
    first, second = document["plan"]["shufflers"]
    assert (first, set(second)) == ({}, {"key"})


@pytest.mark.usefixtures("house")
def test_a_key_that_is_there_is_not_replaced(croupier):
    before = Path("plan.toml").read_text()
    for options, advice in (([], "Add --second"), (["--second"], "another plan")):
        refused = croupier(
            "keys", "create", "shuffler", "--keys", "new", "--into", "plan.toml", *options
        )
        assert refused.code == 2
        assert advice in " ".join(refused.err.split())
        assert not Path("new").exists()
    assert Path("plan.toml").read_text() == before


def test_the_second_table_must_be_there(croupier):
    Path("plan.toml").write_text(PLAN[: PLAN.index("[[shufflers]] # B")])
    refused = croupier(
        "keys", "create", "shuffler", "--second", "--keys", "b", "--into", "plan.toml"
    )
    assert refused.code == 2
    assert "two [[shufflers]] tables" in refused.err
    assert not Path("b").exists()


def test_only_a_root_is_second(croupier):
    refused = croupier("keys", "create", "release", "--second")
    assert refused.code == 2
    assert "--second" in refused.err
    assert not Path("keys").exists()


def test_each_root_signs_its_own_list(house, croupier):
    for hop, party in enumerate("ab"):
        signed = sign(croupier, party, party, f"{party}.json", "--json")
        assert signed.code == 0, signed.err
        assert (signed.document["shuffler"], signed.document["version"]) == (hop + 1, 1)
        listed = ShufflerKeys.verified(Path(f"{party}.json").read_bytes(), house, hop)
        assert hop_of(listed, house) == hop
    again = croupier("keys", "create", "release", "--keys", "b2/release")
    assert again.code == 0
    more = croupier(
        *("keys", "sign", "shuffler", "plan.toml", "--keys", "b/shuffler"),
        *("--release", "b2/release", "--intake", "b/intake", "-o", "b.json", "--from-round", "5"),
    )
    assert more.code == 0, more.err
    assert "version 2 of the second shuffler's list" in more.out
    assert ShufflerKeys.verified(Path("b.json").read_bytes(), house, 1).version == 2


@pytest.mark.usefixtures("house")
def test_one_root_does_not_continue_the_list_of_the_other(croupier):
    assert sign(croupier, "a", "a", "a.json").code == 0
    before = Path("a.json").read_bytes()
    refused = sign(croupier, "b", "b", "a.json", "--from-round", "5")
    assert refused.code == 2
    assert "not signed by the key that is to sign its next version" in " ".join(refused.err.split())
    assert Path("a.json").read_bytes() == before


@pytest.mark.usefixtures("house")
def test_a_root_that_the_plan_does_not_name_signs_nothing(croupier):
    assert croupier("keys", "create", "shuffler", "--keys", "x/shuffler").code == 0
    refused = sign(croupier, "x", "b", "x.json")
    assert refused.code == 2
    assert "shufflers.key" in refused.err
    assert not Path("x.json").exists()


def test_no_list_is_signed_before_both_roots_are_named(croupier):
    """The digest of the plan, which every list names, would change with the missing one."""
    for role in ("shuffler", "release", "intake"):
        into = ["--into", "plan.toml"] if role == "shuffler" else []
        croupier("keys", "create", role, "--keys", f"a/{role}", *into)
    refused = sign(croupier, "a", "a", "a.json")
    assert refused.code == 2
    assert "shufflers.2.key" in refused.err
