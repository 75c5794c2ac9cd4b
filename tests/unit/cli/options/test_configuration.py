"""Options come from the command line, then the environment, then one file, then their defaults."""

from pathlib import Path

import pytest
from typer.main import get_command

from croupier.cli.app import app
from croupier.cli.options.configuration import OPERATED, defaults

PLAN = """schema = 2
randomizer = {mechanism = "k-rr", k = 10, max_epsilon_local = 2.0}
population.enrolled = 100
protections.minimum_batch = 50
"""
NOWHERE = "host=127.0.0.1 port=1"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "a.toml").write_text(PLAN + 'name = "a"\n')
    (tmp_path / "b.toml").write_text(PLAN + 'name = "b"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CROUPIER_DATABASE", raising=False)
    return tmp_path


def names(outcome):
    return [plan["name"] for plan in outcome.document["plans"]]


def test_the_file_gives_options_for_all_commands_and_for_one(croupier, folder):
    (folder / "c.toml").write_text(
        f'database = "{NOWHERE}"\nmaximum-batch = 7\nserver = "http://127.0.0.1:1"\n'
        '[status]\nplan = ["a.toml", "b.toml"]\nserver = "none"\n'
    )
    outcome = croupier("--config", "c.toml", "status", "--json")
    assert outcome.code == 1
    assert names(outcome) == ["a", "b"]
    assert [each["incident"] for each in outcome.document["incidents"]] == ["database-down"]


def test_the_environment_precedes_the_file_and_the_command_line_both(croupier, folder, monkeypatch):
    (folder / "c.toml").write_text(f'database = "{NOWHERE}"\nplan = ["a.toml"]\nserver = "none"\n')
    monkeypatch.setenv("CROUPIER_CONFIG", "c.toml")
    assert names(croupier("status", "--json")) == ["a"]
    monkeypatch.setenv("CROUPIER_STATUS_PLAN", "b.toml:a.toml")
    assert names(croupier("status", "--json")) == ["b", "a"]
    assert names(croupier("status", "--plan", "b.toml", "--json")) == ["b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("databse = 'x'\n", "Try database."),
        ("[serv]\nport = 1\n", "Try serve."),
        ("[serve]\nprot = 1\n", "Try serve.port."),
        ("port = \n", "must be TOML"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_the_nearest_name(croupier, folder, text, said):
    (folder / "c.toml").write_text(text)
    outcome = croupier("--config", "c.toml", "status", "--plan", "a.toml", "--database", NOWHERE)
    assert outcome.code == 2
    assert "c.toml" in outcome.err
    assert said in outcome.err


def test_a_file_that_is_missing_is_named(croupier, folder):  # noqa: ARG001 - where it would be
    outcome = croupier("--config", "no.toml", "status", "--plan", "a.toml", "--database", NOWHERE)
    assert outcome.code == 2
    assert "no.toml (No such file or directory)" in outcome.err


def test_help_names_the_variables_of_the_operators_commands_only(croupier):
    assert "CROUPIER_SERVE_PORT" in croupier("serve", "--help").out
    assert "CROUPIER_RELEASE_OUTPUT" in croupier("release", "--help").out
    assert "CROUPIER_ASSESS" not in croupier("assess", "--help").out
    assert "CROUPIER_CONFIG" in croupier("--help").out


def test_the_program_knows_every_command_that_takes_the_file(croupier):
    for name in OPERATED:
        assert croupier(name, "--help").code == 0


@pytest.mark.parametrize("name", OPERATED)
def test_the_sample_of_deploy_names_options_only(name):
    sample = Path(__file__).parents[4] / "deploy/croupier.toml"
    found = defaults(sample, name, get_command(app).options)
    assert ("database" in found) == (name != "analyze")
