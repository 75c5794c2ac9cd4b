import pytest

from croupier.randomizers import MECHANISMS, randomizer


def test_lists_every_mechanism_with_its_error(croupier):
    outcome = croupier(
        "mechanisms", "--k", "1e2", "--max-epsilon-local", 2, "--n", "1_000_000", "--json"
    )
    document = outcome.document
    assert outcome.code == 0
    assert document["schema_version"] == 2
    rows = {row["mechanism"]: row for row in document["mechanisms"]}
    assert set(rows) == set(MECHANISMS)
    response = randomizer("k-rr", k=100, max_epsilon_local=2)
    assert rows["k-rr"]["rms_error"] == response.rms_error(1_000_000)
    assert rows["matrix"]["rms_error"] is None


def test_prints_a_table_in_words(croupier):
    outcome = croupier("mechanisms")
    assert outcome.code == 0
    assert all(name in outcome.out for name in MECHANISMS)
    assert "n = 10,000" in outcome.out


def test_version(croupier):
    outcome = croupier("--version")
    assert outcome.code == 0
    assert outcome.out.startswith("croupier 0.")


@pytest.mark.parametrize(
    "arguments", [("mechanisms", "--k", "1.5"), ("mechanisms", "--k", "1"), ("mechanism",), ()]
)
def test_usage_errors_exit_2(croupier, arguments):
    assert croupier(*arguments).code == 2


@pytest.mark.parametrize("arguments", [("mechanisms", "--k", "1.5"), ("mechanisms", "--n", "many")])
def test_errors_are_documents_with_json(croupier, arguments):
    outcome = croupier(*arguments, "--json")
    assert outcome.code == 2
    assert "whole number" in outcome.document["error"]
    assert not outcome.err
