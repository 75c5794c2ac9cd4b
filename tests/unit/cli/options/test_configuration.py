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
        ("[issuer.serve]\nprot = 1\n", "Try issuer.serve.port."),
        ("[issuer.serv]\nport = 1\n", "Try issuer.serve."),
        ("[issuer]\nport = 1\n", "got 'issuer in c.toml'"),
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
    assert "CROUPIER_ISSUER_SERVE_PORT" in croupier("issuer", "serve", "--help").out
    assert "CROUPIER_ISSUER_KEYS" not in croupier("issuer", "keys", "--help").out
    assert "CROUPIER_ASSESS" not in croupier("assess", "--help").out
    assert "CROUPIER_CONFIG" in croupier("--help").out


def test_the_program_knows_every_command_that_takes_the_file(croupier):
    for name in OPERATED:
        assert croupier(*name.split(), "--help").code == 0


@pytest.mark.parametrize("name", OPERATED)
def test_the_sample_of_deploy_names_options_only(name):
    sample = Path(__file__).parents[4] / "deploy/croupier.toml"
    found = defaults(sample, name, get_command(app).options)
    assert ("database" in found) == (name != "analyze")


@pytest.mark.parametrize(
    ("name", "value"), [("SERVE_PORT", "abc"), ("SERVE_WORKERS", "900"), ("SERVE_JSON", "perhaps")]
)
def test_a_wrong_value_in_the_environment_is_shown_with_its_variable(
    croupier, folder, monkeypatch, name, value
):
    monkeypatch.setenv(f"CROUPIER_{name}", value)
    given = ("--plan", folder / "a.toml", "--database", NOWHERE, "--secret", "none")
    outcome = croupier("serve", *given)
    assert outcome.code == 2
    assert f"The value '{value}' comes from CROUPIER_{name}." in outcome.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[serve]\nport = 'abc'\n", "The value 'abc' comes from serve.port in c.toml."),
        ("metrics-port = 'abc'\n", "The value 'abc' comes from metrics-port in c.toml."),
        ("port = 1\n[serve]\nport = 70000\n", "70000 comes from serve.port in c.toml."),
    ],
)
def test_a_wrong_value_in_the_file_is_shown_with_its_key(croupier, folder, text, said):
    (folder / "c.toml").write_text(text)
    given = ("--plan", "a.toml", "--database", NOWHERE, "--secret", "none")
    outcome = croupier("--config", "c.toml", "serve", *given)
    assert (outcome.code, said in outcome.err) == (2, True), outcome.err


def test_a_command_of_two_words_has_a_table_and_variables(croupier, folder, monkeypatch):
    (folder / "c.toml").write_text("[issuer.serve]\nadmit = 'open'\nport = 70000\n")
    given = ("--plan", "a.toml", "--database", NOWHERE, "--secret", "none")
    outcome = croupier("--config", "c.toml", "issuer", "serve", *given)
    assert "The value 70000 comes from issuer.serve.port in c.toml." in outcome.err
    monkeypatch.setenv("CROUPIER_ISSUER_SERVE_PORT", "abc")
    outcome = croupier("--config", "c.toml", "issuer", "serve", *given)
    assert "The value 'abc' comes from CROUPIER_ISSUER_SERVE_PORT." in outcome.err


def test_a_value_that_a_command_refuses_is_found_too(croupier, folder, monkeypatch):
    (folder / "c.toml").write_text("[status]\nplan = 'none.toml'\n")
    outcome = croupier("--config", "c.toml", "status", "--database", NOWHERE)
    assert "got 'none.toml'" in outcome.err
    assert outcome.err.endswith("The value comes from status.plan in c.toml.\n")
    monkeypatch.setenv("CROUPIER_STATUS_PLAN", "no.toml")
    outcome = croupier("status", "--database", NOWHERE)
    assert outcome.err.endswith("The value comes from CROUPIER_STATUS_PLAN.\n")
    typed = croupier("status", "--database", NOWHERE, "--plan", "none.toml")
    assert "comes from" not in typed.err


@pytest.mark.parametrize(
    ("option", "name"), [("--database", "--database"), ("-o", "--output"), ("--plan", "--plan")]
)
def test_an_empty_value_is_refused(croupier, folder, option, name):
    given = ("--plan", folder / "a.toml", "--database", NOWHERE, "--server", "none")
    outcome = croupier("status", *given, option, "")
    assert (outcome.code, outcome.err) == (2, f"`{name}` must not be empty.\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plan = ''", "`--plan` must not be empty. The value comes from plan in c.toml."),
        ("plan = []", "`--plan` must not be empty. The value comes from plan in c.toml."),
        ("[serve]\nplan = ['a.toml', '']", "The value comes from serve.plan in c.toml."),
        ("database = ''", "`--database` must not be empty."),
        ("port = true", "`--port` must not be true or false. The value comes from port in c.toml."),
    ],
)
def test_an_empty_value_in_the_file_is_refused_with_its_key(croupier, folder, text, said):
    (folder / "c.toml").write_text(text)
    outcome = croupier("--config", "c.toml", "serve", "--secret", "none")
    assert outcome.code == 2
    assert said in outcome.err
    assert ". ." not in outcome.err
    assert croupier("--config", "c.toml", "serve", "--help").code == 0


def test_a_value_that_may_be_a_secret_is_not_repeated(croupier, folder):
    (folder / "c.toml").write_text("passphrase-file = ['hunter2', 'hunter2']\n")
    given = ("--plan", "a.toml", "--database", NOWHERE, "-o", "out")
    outcome = croupier("--config", "c.toml", "release", *given)
    assert outcome.code == 2
    assert "The value comes from passphrase-file in c.toml." in outcome.err
    assert "hunter2" not in outcome.err


@pytest.mark.parametrize("address", ["ftp://127.0.0.1:1", "127.0.0.1:8000"])
def test_status_asks_web_servers_only(croupier, folder, address):
    given = ("--plan", folder / "a.toml", "--database", NOWHERE, "--server", address)
    outcome = croupier("status", *given)
    assert outcome.code == 2
    assert "`--server` must begin with http:// or https://, or be none" in outcome.err


def test_status_writes_percent_as_the_pages_do(croupier, folder):
    given = ("--plan", "a.toml", "--database", NOWHERE, "--server", "none", "-o", folder)
    assert " % of the disk is free" in croupier("status", *given).out
