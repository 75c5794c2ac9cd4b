import sys

import pytest

PLAN = """schema = 1
randomizer = {mechanism = "k-rr", k = 10, epsilon_local = 2.0}
population.enrolled = 100
protections.minimum_batch = 50
"""


@pytest.fixture
def plan(tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(PLAN)
    return file


def options(tmp_path):
    files = {"--keys": "keys", "--analyzer": "analyzer.json", "--secret": "secret"}
    given = [part for flag, name in files.items() for part in (flag, tmp_path / name)]
    return [*given, "--database", "host=127.0.0.1 port=1"]


def test_a_plan_without_keys_is_not_served(croupier, plan, tmp_path):
    outcome = croupier("serve", plan, *options(tmp_path))
    assert outcome.code == 2
    assert "trust.shuffler_key" in outcome.err
    assert "croupier keys" in outcome.err


def test_without_the_extra_it_is_named(croupier, plan, tmp_path, monkeypatch):
    trust = '[trust]\nshuffler_key = "{0}"\nanalyzer_key = "{0}"\n'.format("5e" * 32)
    plan.write_text(PLAN + trust)
    for name in [name for name in sys.modules if name.startswith("croupier.service.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    outcome = croupier("serve", plan, *options(tmp_path))
    assert outcome.code == 1
    assert "pip install 'croupier[service]'" in outcome.err


def test_credentials_are_issued_under_a_new_secret(croupier, tmp_path):
    file = tmp_path / "secret"
    outcome = croupier("credentials", file, "--new", "--count", 3)
    tokens = outcome.out.split()
    assert outcome.code == 0
    assert len(set(tokens)) == 3
    again = croupier("credentials", file, "--relay", "--json")
    assert again.document["relay"] is True
    assert len(again.document["credentials"]) == 1
    assert croupier("credentials", file, "--new").code == 2
    assert file.read_text().strip() not in outcome.out + again.out
