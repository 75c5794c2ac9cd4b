"""`croupier plan upgrade`, and what other commands say of a plan that needs it."""

import json

import pytest

from croupier.plan.plan import Plan

OLD = """\
# ours
schema = 1
randomizer = {mechanism = "k-rr", k = 4, epsilon_local = 2.0}

[population]
enrolled = 1_000

[protections]
minimum_batch = 500
round_length = "1h"  # an hour
"""
TABLES = OLD.replace(
    'randomizer = {mechanism = "k-rr", k = 4, epsilon_local = 2.0}\n',
    '[randomizer]\nmechanism = "k-rr"\nk = 4\nepsilon_local = 2.0\n',
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "shoes.toml"
    path.write_text(TABLES)
    return path


def test_a_file_is_rewritten_in_place(croupier, file):
    done = croupier("plan", "upgrade", file)
    assert done.code == 0, done.err
    plan = Plan.load(file)
    assert plan.document()["collection"]["every"] == "1h"
    assert f"schema 2, plan {plan.digest[:8]}" in done.out
    assert file.read_text().startswith("# ours\nschema = 2\n")
    assert 'every = "1h"  # an hour' in file.read_text()
    assert croupier("assess", file).code == 0


def test_another_file_leaves_the_first_as_it_is(croupier, file, tmp_path):
    target = tmp_path / "new.toml"
    done = croupier("plan", "upgrade", file, "--output", target, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["plan_digest"] == Plan.load(target).digest
    assert file.read_text() == TABLES
    again = croupier("plan", "upgrade", file, "-o", target)
    assert again.code == 2
    assert "--force" in again.err
    assert croupier("plan", "upgrade", file, "-o", target, "--force").code == 0


def test_another_layout_is_rewritten_as_a_whole(croupier, file):
    file.write_text(OLD)
    refused = croupier("plan", "upgrade", file)
    assert refused.code == 3
    assert "comments cannot be kept" in refused.err
    assert file.read_text() == OLD
    target = file.with_name("new.toml")
    assert croupier("plan", "upgrade", file, "-o", target).code == 0
    assert Plan.load(target).name == "shoes"
    assert Plan.load(target).randomizer.max_epsilon_local == 2.0


def test_a_file_that_is_protected_stays(croupier, file):
    file.chmod(0o444)
    done = croupier("plan", "upgrade", file)
    assert done.code == 2
    assert "Make it writable" in done.err
    assert file.read_text() == TABLES


def test_the_byte_order_mark_and_the_line_ends_stay(croupier, file):
    file.write_bytes(b"\xef\xbb\xbf" + TABLES.replace("\n", "\r\n").encode())
    assert croupier("plan", "upgrade", file).code == 0
    made = file.read_bytes()
    assert made.startswith(b"\xef\xbb\xbf# ours\r\n")
    assert made.count(b"\n") == made.count(b"\r\n")


def test_a_plan_of_today_is_refused(croupier, file):
    assert croupier("plan", "upgrade", file).code == 0
    text = file.read_text()
    again = croupier("plan", "upgrade", file)
    assert again.code == 3
    assert "schema must be 1 to be upgraded" in again.err
    assert file.read_text() == text


def test_a_broken_plan_is_left_as_it_is(croupier, file):
    file.write_text(TABLES.replace("k = 4", "k = 1"))
    done = croupier("plan", "upgrade", file)
    assert done.code == 3
    assert "k must be a whole number" in done.err
    assert "schema = 1" in file.read_text()
    assert croupier("plan", "upgrade", file.parent / "none.toml").code == 2


OPERATED = "--plan PLAN --keys k --database host=127.0.0.1"


@pytest.mark.parametrize(
    "command",
    [
        "assess PLAN",
        "check PLAN",
        "explain PLAN",
        "attack PLAN",
        "compare PLAN PLAN",
        "keys sign analyzer PLAN",
        "keys create shuffler --into PLAN",
        f"serve {OPERATED} --analyzer a --secret s",
        f"release {OPERATED} -o out",
        "mirror http://127.0.0.1:1 --plan PLAN",
        "audit shuffler --plan PLAN",
        "receipt verify receipt.json --plan PLAN",
    ],
)
def test_commands_refuse_a_plan_of_schema_1_and_say_what_to_run(
    croupier, file, command, monkeypatch
):
    monkeypatch.setenv("CROUPIER_PASSPHRASE", "four dice, no cards")
    monkeypatch.chdir(file.parent)
    outcome = croupier(*command.replace("PLAN", str(file)).split())
    assert outcome.code == 3, outcome.err
    assert "schema must be 2; got 1. Run: croupier plan upgrade" in " ".join(outcome.err.split())
    assert file.read_text() == TABLES
    assert not (file.parent / "keys").exists()
