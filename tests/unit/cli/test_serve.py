import io
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
    outcome = croupier("serve", "--plan", plan, *options(tmp_path))
    assert outcome.code == 2
    assert "trust.shuffler_key" in outcome.err
    assert "croupier keys" in outcome.err


def test_a_plan_whose_sample_nobody_draws_is_not_served(croupier, plan, tmp_path):
    plan.write_text(PLAN + 'participation = {model = "subsample", repeats = 2}\n')
    outcome = croupier("serve", "--plan", plan, *options(tmp_path))
    assert outcome.code == 2
    assert "nobody draws the sample" in outcome.err
    assert croupier("assess", plan).code == 0


def test_without_the_extra_it_is_named(croupier, plan, tmp_path, monkeypatch):
    trust = '[trust]\nshuffler_key = "{0}"\nanalyzer_key = "{0}"\n'.format("5e" * 32)
    plan.write_text(PLAN + trust)
    for name in [name for name in sys.modules if name.startswith("croupier.service.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    outcome = croupier("serve", "--plan", plan, *options(tmp_path))
    assert outcome.code == 1
    assert "pip install 'croupier[service]'" in outcome.err


def test_credentials_are_issued_under_a_new_secret(croupier, tmp_path):
    file = tmp_path / "secret"
    outcome = croupier("credentials", "issue", file, "--new", "--count", 3)
    tokens = outcome.out.split()
    assert outcome.code == 0
    assert len(set(tokens)) == 3
    again = croupier("credentials", "issue", file, "--relay", "--json")
    assert again.document["relay"] is True
    assert len(again.document["credentials"]) == 1
    assert croupier("credentials", "issue", file, "--new").code == 2
    assert file.read_text().strip() not in outcome.out + again.out


def test_a_list_of_revoked_credentials_grows_and_names_ids_only(croupier, tmp_path, monkeypatch):
    file = tmp_path / "revoked.txt"
    issued = croupier("credentials", "issue", tmp_path / "secret", "--new", "--count", 3)
    tokens = issued.out.split()
    first = croupier("credentials", "revoke", file, tokens[0][2:34])
    assert (first.code, first.out) == (0, f"REVOKED  1 more, 1 in {file}\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join([*tokens, ""])))
    second = croupier("credentials", "revoke", file, "-", "--json")
    assert (second.document["added"], second.document["revoked"]) == (2, 3)
    assert file.read_text() == "".join(sorted(f"{token[2:34]}\n" for token in tokens))
    assert file.stat().st_mode & 0o077 == 0
    for strange in (tokens[0][:32] + "x", "0ff0", "zz" * 16):
        refused = croupier("credentials", "revoke", file, strange)
        assert refused.code == 2
        assert strange not in refused.err
    file.write_text("not an id")
    assert croupier("credentials", "revoke", file, tokens[0][2:34]).code == 2
