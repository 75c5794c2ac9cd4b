"""One name per number: tables, options, policy keys, JSON, axes, pages and glossary agree."""

import ast
import json
import re
from pathlib import Path

import pytest

import croupier
from croupier.assessment.design.design import Design
from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.ladder import Row
from croupier.auditing.attacks.attacks import Suite
from croupier.cli import main
from croupier.errors import RenamedError, UnknownNameError
from croupier.model.metric import LADDER, NEAR, RENAMED, Metric, metric_named
from croupier.model.rung import LUCK, Rung, rungs_of
from croupier.plan.sections import LimitsSection

ROOT = Path(__file__).parents[1]
ONE_WINDOW = tuple(metric for metric in LADDER if metric is not Metric.EPSILON_PERMANENT)
WITHOUT_ORDER = tuple(metric for metric in ONE_WINDOW[:-1] if metric not in NEAR)
LIMITS = {
    Metric.EPSILON: 0.001,
    Metric.REIDENTIFICATION: 1e-4,
    Metric.GUESS_OF_TWO: 0.501,
    Metric.GUESS_UNINFORMED: 0.334,
    Metric.GUESS_INFORMED: 0.334,
    Metric.BAYES_SECURITY: 0.999,
}
PLAN = f"""\
schema = 2
name = "pets"
title = "Which pet do you have?"
purpose = "Decide which food to stock."

[randomizer]
name = "pet"
text = "Which pet do you have?"
mechanism = "k-rr"
labels = ["cat", "dog", "fish"]
max_epsilon_local = 1.0

[population]
enrolled = 3_000
corrupt_fraction = 0.01

[protections]
minimum_batch = 1_000

[policy]
batch = {{{", ".join(f"{metric.limit} = {value}" for metric, value in LIMITS.items())}}}
"""
OLD = re.compile(
    r"\bcoin\b|sender found|link to sender|\blinked\b|\bblind\b|guess_coin|guess_uniform"
)
OLD_IN_PROSE = re.compile(
    r"`coin`|sender found|link to sender|`linked`|guess_coin|guess_uniform|blind guess"
    r"|(?<!\.)\bblind\b(?!:| signature)"  # ladder.blind is an attribute; RFC 9474 names the other
)
"""The same where coins are tossed and lines are linked."""

MAY_BE_OLD = {
    "docs/adr/0004-intake-is-blind-and-forgets-order.md": "opens no envelope",
    "src/croupier/model/metric.py": "lists the old names",
    "src/croupier/plan/upgrade.py": "renames them",
}
TEXTS = [ROOT / "GLOSSARY.md", ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
PICTURES = sorted(ROOT.glob("docs/**/*.svg"))
SOURCES = sorted(ROOT.glob("src/**/*.py"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    (folder / "plan.toml").write_text(PLAN)
    (folder / "other.toml").write_text(PLAN.replace("1_000\n", "2_000\n"))
    return folder


@pytest.fixture
def printed(folder, capsys, monkeypatch):
    """Run a command and return what it printed."""

    def run(*arguments):
        monkeypatch.chdir(folder)
        monkeypatch.setattr("sys.argv", ["croupier", *arguments])
        with pytest.raises(SystemExit) as done:
            main()
        assert done.value.code in {0, 4}, capsys.readouterr().err
        return capsys.readouterr().out

    return run


COMMANDS = {
    "assess": ("assess", "plan.toml", "--metric", "all"),
    "check": ("check", "plan.toml"),
    "compare": ("compare", "plan.toml", "other.toml"),
    "attack": ("attack", "plan.toml", "--games", "200", "--insecure-seed", "1"),
}


def test_a_plan_about_a_number_has_the_guesses_near_it(printed, folder):
    numeric = PLAN.replace('mechanism = "k-rr"', 'mechanism = "distribution"')
    numeric = re.sub(r"labels = .*", "grid = {low = 0, high = 9, step = 1}", numeric)
    numeric = numeric[: numeric.index("[policy")]
    (folder / "number.toml").write_text(numeric)
    shown = printed("assess", "number.toml", "--metric", "all")
    assert all(metric.heading in shown for metric in NEAR)
    assert "within 0.45 of it" in shown
    document = json.loads(printed("assess", "number.toml", "--json"))
    for row in document["rungs"]:
        assert [cell["metric"] for cell in row["cells"]] == list(ONE_WINDOW[:-1])
    limits = {name for name in LimitsSection.model_fields if "within" in name}
    assert limits == {metric.limit for metric in NEAR}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_number_has_one_name_on_every_screen(printed, command):
    found = printed(*COMMANDS[command])
    shown = [m for m in WITHOUT_ORDER if command != "attack" or m is not Metric.BAYES_SECURITY]
    for metric in shown:
        assert re.search(rf"(^|  |\n){re.escape(metric.heading)}(  |\n|$)", found), metric
    assert not OLD.search(found)


@pytest.mark.parametrize("command", COMMANDS)
def test_screens_fit_80_columns(printed, command):
    assert max(map(len, printed(*COMMANDS[command]).splitlines())) <= 80


def test_the_page_uses_the_same_names(folder, monkeypatch):
    monkeypatch.chdir(folder)
    page = croupier.Plan.load("plan.toml").explain().html
    text = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    columns = re.findall(r'<th scope="col" role="columnheader">(.*?)</th>', text)
    assert set(columns) >= {"who is looking", *(metric.heading for metric in WITHOUT_ORDER)}
    for metric in WITHOUT_ORDER:
        assert f"<dt>{metric.heading}</dt><dd>{metric.meaning.replace(chr(39), '&#39;')}" in text
    for rung in rungs_of(1):
        assert f"{rung} <small>" in text
    assert LUCK in text
    assert not OLD.search(re.sub(r"<[^>]*>", "", text))


def spellings(metric):
    return metric, metric.heading, metric.upper(), metric.replace("_", "-"), metric.heading.upper()


@pytest.mark.parametrize("metric", Metric)
def test_a_metric_is_named_in_any_spelling(metric):
    assert {metric_named(text) for text in spellings(metric)} == {metric}


@pytest.mark.parametrize("metric", LADDER)
def test_a_column_is_asked_for_by_its_name_or_heading(printed, metric):
    by_name, by_heading = (
        printed("assess", "plan.toml", "--rung", "batch", "--metric", text)
        for text in (metric, metric.heading)
    )
    assert by_name == by_heading
    assert by_name.startswith(f"batch, {metric.heading}: ")


def test_assess_and_audit_take_a_metric_in_the_same_spellings(printed, folder):
    (folder / "calls.csv").write_text("input,output\n" + "0,a\n1,b\n0,b\n1,a\n" * 10)
    audit = ("audit", "--samples", "calls.csv", "--claim", "0.1", "--json")
    assess = ("assess", "plan.toml", "--rung", "collusion")
    for command in (assess, audit):
        texts = spellings(Metric.BAYES_SECURITY)
        assert len({printed(*command, "--metric", text) for text in texts}) == 1


def test_audit_refuses_a_metric_that_it_does_not_measure(capsys, monkeypatch):
    for text in ("guess_of_two", "guess_coin", "risk"):
        arguments = ("audit", "nowhere:at_all", "--claim", "1", "--metric", text)
        monkeypatch.setattr("sys.argv", ["croupier", *arguments])
        with pytest.raises(SystemExit) as done:
            main()
        assert done.value.code == 2
        message = f"`{text}` is not a value of --metric. Try one of epsilon, bayes_security, "
        assert capsys.readouterr().err.startswith(message)


def test_json_has_the_keys_of_the_metrics(printed):
    ladder = json.loads(printed("assess", "plan.toml", "--json"))
    assert ladder["schema_version"] == 2
    for row in ladder["rungs"]:
        assert [cell["metric"] for cell in row["cells"]] == list(WITHOUT_ORDER)
    limits = json.loads(printed("check", "plan.toml", "--json"))["limits"]
    assert {limit["metric"] for limit in limits} == set(LIMITS)
    attacks = json.loads(printed(*COMMANDS["attack"], "--json"))["attacks"]
    assert {one["metric"] for one in attacks} <= set(LADDER)
    assert {one["attack"] for one in attacks} == {one["metric"] for one in attacks}
    changes = json.loads(printed(*COMMANDS["compare"], "--json"))["guarantees"]
    assert {one["metric"] for one in changes} == set(WITHOUT_ORDER)


@pytest.mark.parametrize(
    ("command", "metrics"),
    [
        ("reidentification", [Metric.REIDENTIFICATION]),
        ("bayes-security", [Metric.BAYES_SECURITY, Metric.GUESS_OF_TWO]),
        ("vulnerability", [Metric.GUESS_UNINFORMED, Metric.GUESS_INFORMED]),
    ],
)
def test_leakage_has_the_keys_of_the_metrics(printed, command, metrics):
    randomizer = ("--mechanism", "k-rr", "--k", "3", "--max-epsilon-local", "1", "--n", "100")
    found = json.loads(printed("leakage", command, *randomizer, "--json"))
    for metric in metrics:
        assert found.keys() & {metric, f"{metric}_upper"}, metric


def test_policy_keys_and_attributes_are_those_of_the_metrics():
    limited = (*LADDER, Metric.MANIPULATION)
    assert set(LimitsSection.model_fields) == {metric.limit for metric in limited}
    for metric in limited:
        assert metric not in LADDER or isinstance(getattr(Row, metric), property)
        assert LimitsSection.model_fields[metric.limit].description.startswith(metric.meaning)


@pytest.mark.parametrize(
    ("old", "new"),
    [("max_guess_coin", "max_guess_of_two"), ("max_guess_uniform", "max_guess_uninformed")],
)
def test_an_old_policy_key_is_refused_with_the_new_name(old, new):
    with pytest.raises(croupier.CroupierError, match=f"{old} is now called {new}"):
        croupier.Plan.from_toml(PLAN.replace(new, old))


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_an_old_name_is_refused_with_the_new_one(old, new):
    cells = {new: Cell(metric=new, reason="")}
    row = Row(Rung.BATCH, cells)
    assert row[new.heading.upper()] is row[new.replace("_", "-")] is row[new]
    with pytest.raises(RenamedError, match=rf"^{old} is now {new}\.$"):
        row[old]
    with pytest.raises(RenamedError, match=rf"^row\.{old} is now row\.{new}\.$"):
        getattr(row, old)
    assert not hasattr(row, old)
    assert not hasattr(row, "guess_cion")
    if not new.protects:
        with pytest.raises(RenamedError, match=rf"^max_{old} is now {new.limit}\.$"):
            croupier.design(k=3, enrolled=9_000, target_error=0.1, **{f"max_{old}": 0.9})


def test_the_old_attribute_of_a_design_is_refused_with_the_new_one():
    made = object.__new__(Design)
    with pytest.raises(RenamedError, match=r"design\.linked is now design\.reidentification"):
        _ = made.linked
    assert not hasattr(made, "linkde")


NOT_BEFORE = {
    "assess": ("croupier.cli.plan.assess.assess", "--metric {}"),
    "attack": ("croupier.auditing.attacks.attacks.assess", "--claim batch.{}=0.5"),
}


@pytest.mark.parametrize("old", ["guess_coin", "guess_uniform", "linked"])
@pytest.mark.parametrize("command", NOT_BEFORE)
def test_a_command_refuses_an_old_name_before_it_works(folder, capsys, monkeypatch, command, old):
    work, option = NOT_BEFORE[command]
    monkeypatch.chdir(folder)
    monkeypatch.delattr(work)
    arguments = ["croupier", command, "plan.toml", *option.format(old).split()]
    monkeypatch.setattr("sys.argv", arguments)
    with pytest.raises(SystemExit) as done:
        main()
    assert done.value.code == 2
    assert capsys.readouterr().err == f"{old} is now {RENAMED[old]}.\n"


def test_design_refuses_an_old_option_with_the_new_one(capsys, monkeypatch):
    for old, new in (("coin", "of-two"), ("uniform", "uninformed")):
        asked = f"design --n 9000 --k 3 --target-error 0.1 --max-guess-{old} 0.9"
        monkeypatch.setattr("sys.argv", ["croupier", *asked.split()])
        with pytest.raises(SystemExit) as done:
            main()
        assert done.value.code == 2
        assert capsys.readouterr().err == f"--max-guess-{old} is now --max-guess-{new}.\n"


def test_an_attack_has_the_name_of_what_it_measures():
    groups = f'{{sha256 = "{"0" * 64}", sensitivity = 6}}'
    order = f'[shuffling]\norder = "mallows"\nalpha = 2.0\ngroups = {groups}\n'
    games = Suite.of(croupier.Plan.from_toml(PLAN + order)).attacks
    assert {game.metric for game in games} > {Metric.GUESSED_SHARE, Metric.GUESS_OF_TWO}
    assert {game.name for game in games if game.name != game.metric} == {"place"}  # a second way


def test_a_claim_is_spelled_as_any_name(folder, monkeypatch):
    monkeypatch.chdir(folder)
    played = croupier.Plan.load("plan.toml").attack(games=200, insecure_seed=1)
    names = ("guess_of_two", "Guess-of-two", "guess of two")
    for (held,) in (played.held({f"batch.{name}": 0.5}) for name in names):
        assert held.claim == "batch.guess_of_two"
    with pytest.raises(RenamedError, match=r"^linked is now reidentification\.$"):
        played.held({"batch.linked": 0.5})
    for unknown in ("batch.epsilom", "epsilon", "batch.bayes_security"):
        with pytest.raises(UnknownNameError, match=f"`{unknown}` is not measured by an attack"):
            played.held({unknown: 0.5})


def shown(path):
    """The texts of a file that somebody may read: of a module its string literals."""
    if path.suffix != ".py":
        return [path.read_text()]
    nodes = ast.walk(ast.parse(path.read_text()))
    return [n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def old_words(paths):
    return {
        path.relative_to(ROOT).as_posix(): found[0]
        for path in paths
        for text in shown(path)
        if (found := OLD_IN_PROSE.search(text))
    }


def test_no_text_picture_or_message_uses_an_old_word():
    assert TEXTS
    assert PICTURES
    assert SOURCES
    assert old_words([*TEXTS, *PICTURES, *SOURCES]).keys() == MAY_BE_OLD.keys()


def test_old_words_are_found():
    for text in ("a blind guess", ">blind<", "no better than blind", "`linked` of", "guess_coin"):
        assert OLD_IN_PROSE.search(text)
    for text in (
        "toss a coin",
        "ladder.blind",
        "blind: The row",
        "blind_gain",
        "a blind signature",
        "linked to a file",
    ):
        assert not OLD_IN_PROSE.search(text)


def test_the_pictures_of_metrics_have_their_names():
    page = (ROOT / "docs" / "concepts" / "metrics.md").read_text()
    drawn = re.findall(r"\(\.\./pictures/(\w+)\.svg\)", page)
    assert set(drawn) <= set(LADDER)
    assert len(drawn) == 5


def glossary():
    rows = re.findall(
        r"^\| ([^|]+) \| ([^|]+) \|$", (ROOT / "GLOSSARY.md").read_text(), re.MULTILINE
    )
    return dict(rows)


@pytest.mark.parametrize("metric", Metric)
def test_the_glossary_has_every_metric(metric):
    words = glossary()
    (entry,) = [term for term in words if f"(`{metric}`" in term or term == metric]
    assert entry.lower().startswith(metric.heading.lower())
    assert metric.meaning in words[entry]


@pytest.mark.parametrize("rung", Rung)
def test_the_glossary_has_every_row(rung):
    words = glossary()
    (entry,) = [term for term in words if term == f"{rung} (row)"]
    assert rung.meaning.removeprefix("also controls some") in words[entry]


def test_the_glossary_has_luck():
    assert any(LUCK in term for term in glossary())
