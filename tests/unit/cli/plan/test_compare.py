import re

import pytest

PLAN = """schema = 2
randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.0}
population.enrolled = 500
protections.minimum_batch = 100
"""
CLIENTS = "policy.clients.max_epsilon = 0.9\n"


@pytest.fixture
def plans(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text(PLAN)
    (tmp_path / "b.toml").write_text(PLAN.replace("= 100", "= 300"))
    (tmp_path / "c.toml").write_text(PLAN + CLIENTS + "policy.batch.max_epsilon = 0.9\n")
    (tmp_path / "d.toml").write_text(PLAN + CLIENTS + "policy.batch.max_epsilon = 0.95\n")
    (tmp_path / "e.toml").write_text(PLAN + CLIENTS + "policy.batch.max_epsilon = 0.01\n")
    return tmp_path


@pytest.mark.usefixtures("plans")
def test_what_changes_and_only_that(croupier):
    outcome = croupier("compare", "a.toml", "b.toml")
    lines = [line.split() for line in outcome.out.splitlines()]
    assert outcome.out.startswith("Digest ")
    assert "clients need the new plan" in outcome.out
    assert "sign again" not in outcome.out
    assert ["protections.minimum_batch", "100", "->", "300"] in lines
    assert any(line[:1] == ["epsilon"] and "better" in line for line in lines)
    assert not any("collusion" in line for line in lines)
    assert "0 worse" in outcome.out
    assert "RMS error at the minimum batch: " in outcome.out


@pytest.mark.usefixtures("plans")
def test_a_policy_changes_no_key_of_a_client(croupier):
    named = croupier("compare", "a.toml", "c.toml").out
    assert "the same: clients need nothing." in named
    assert "the analyzer must sign again" in named
    assert "policy.batch.max_epsilon    -       ->  0.9" in named
    assert "No guarantee changes." in named


@pytest.mark.usefixtures("plans")
def test_the_same(croupier):
    out = croupier("compare", "a.toml", "a.toml").out
    assert "No key of the plan changes." in out
    assert "clients need nothing" in out
    assert "sign again" not in out


@pytest.mark.usefixtures("plans")
def test_document(croupier):
    document = croupier("compare", "b.toml", "a.toml", "--json").document
    assert document["schema_version"] == 2
    assert document["redeployed"] is True
    assert {"key": "protections.minimum_batch", "before": 300, "after": 100} in document["keys"]
    assert {entry["better"] for entry in document["guarantees"]} == {False}
    assert document["rms_error_after"] > document["rms_error_before"]
    assert len(document["guarantees"]) < document["compared"] == 36


@pytest.mark.usefixtures("plans")
def test_a_file_that_is_not_there(croupier):
    outcome = croupier("compare", "a.toml", "none.toml")
    assert outcome.code == 2
    assert "must be a file" in outcome.err


@pytest.mark.parametrize(
    ("before", "after", "code", "said"),
    [
        ("c", "c", 0, "Policy: MET, the plan's own limits: 2 of 2"),
        ("a", "c", 0, "batch max_epsilon    -       ->  0.9    added"),
        ("d", "c", 0, "batch max_epsilon  0.95    ->  0.9    tightened"),
        ("c", "d", 4, "batch max_epsilon  0.9     ->  0.95   loosened"),
        ("c", "a", 4, "batch max_epsilon    0.9     ->  -      removed"),
        ("c", "a", 4, "Policy: NO LIMIT SET"),
        ("c", "e", 4, "Policy: NOT MET  1 of 2 limits"),
        ("a", "a", 4, "Policy: NO LIMIT SET"),
    ],
)
@pytest.mark.usefixtures("plans")
def test_a_gate_for_changes_of_a_policy(croupier, before, after, code, said):
    outcome = croupier("compare", f"{before}.toml", f"{after}.toml")
    assert outcome.code == code
    assert said in outcome.out
    document = croupier("compare", f"{before}.toml", f"{after}.toml", "--json").document
    assert document["passed"] is (code == 0)


TWO = """schema = 2
purpose = "PURPOSE"
population.enrolled = 500
protections.minimum_batch = 100
questions = [
  {mechanism = "k-rr", k = 2, max_epsilon_local = 1.0, text = "One?"},
  {mechanism = "k-rr", labels = ["a", "b"], max_epsilon_local = 1.0, text = "Two?"},
]
"""
LONG = "Decide which of the many features of the application version 5 keeps, and"


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("PURPOSE", LONG, ["purpose", "PURPOSE", f"{LONG[:31]}…"]),
        (LONG, f"{LONG} keep it", ["purpose", "…eps, and", "…eps, and keep it"]),
        (f"{LONG} a", f"{LONG} {'b' * 40}", ["purpose", "…ps, and a", f"…ps, and {'b' * 22}…"]),
        ("Two?", "Three?", ["questions.2.text", "Two?", "Three?"]),
        ('["a", "b"]', '["a", "c"]', ["questions.2.labels", '["a", "b"]', '["a", "c"]']),
        ("Two?", "T\u200cwo?", ["questions.2.text", "Two?", "T\\u200cwo?"]),
    ],
)  # fmt: skip
def test_the_difference_is_seen(croupier, tmp_path, monkeypatch, old, new, shown):
    monkeypatch.chdir(tmp_path)
    before = TWO if old in TWO else TWO.replace("PURPOSE", old)
    (tmp_path / "a.toml").write_text(before, encoding="utf-8")
    (tmp_path / "b.toml").write_text(before.replace(old, new), encoding="utf-8")
    lines = croupier("compare", "a.toml", "b.toml").out.splitlines()
    key, first, second = shown
    found = [line for line in lines if line.startswith(f"{key} ")]
    assert [re.split("  +", line) for line in found] == [[key, first, "->", second]]
    assert max(map(len, found)) <= 80
