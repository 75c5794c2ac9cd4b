"""The explorer in a real browser: quick, never out of date, readable by all, and right."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.assessment.ladder.text import cell_text
from croupier.explorer.explorer import Explorer
from croupier.explorer.server import exploring
from croupier.model.metric import Metric
from croupier.plan.plan import Plan

SCRIPT = Path(__file__).with_name("explore.cjs")
PROGRAM = "import sys; from croupier.cli import main; main()"

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FIRST = Plan.from_toml("""
schema = 2
randomizer = {mechanism = "k-rr", k = 50, max_epsilon_local = 4.0}
population = {enrolled = 1_000_000, corrupt_fraction = 0.05}
protections.minimum_batch = 200_000
guarantee.delta = 1e-8
""")


@pytest.fixture
def explore(browser):
    """Use the page of a plan as `explore.cjs` does, and return what happened."""

    def used(plan, *words):
        node, chromium = browser
        with exploring(Explorer(plan)) as address:
            done = subprocess.run(
                [node, SCRIPT, chromium, address, *words],
                capture_output=True,
                text=True,
                check=True,
                timeout=600,
            )
        return json.loads(done.stdout)

    return used


def croupier(*words, folder):
    command = [sys.executable, "-c", PROGRAM, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_every_device_shows_all_of_it(explore):
    for device, seen in explore(FIRST, "look").items():
        assert seen["overflow"] == 0, device
        assert seen["messages"] == [], device
        assert seen["elsewhere"] == [], device
        assert seen.get("findings", []) == [], device


def test_nobody_loses_their_place_at_the_keyboard(explore):
    focused = explore(FIRST, "keyboard")
    assert len(focused) == 9
    assert {step for step, tag in focused.items() if tag == "BODY"} == set()


def assert_true_numbers(pairs, section, key):
    """Every number that could be read is that of the setting beside it."""
    for value, texts in pairs.items():
        document = FIRST.document()
        document[section][key] = int(value) if key == "minimum_batch" else float(value)
        cell = assess(Plan.from_document(document))["batch"][Metric.EPSILON]
        assert texts == [cell_text(cell)], value


def test_no_number_is_from_an_older_position(explore):
    seen = explore(FIRST, "moves", "24")
    assert len(seen["pairs"]) > 10
    assert len(seen["waits"]) >= 20
    assert_true_numbers(seen["pairs"], "randomizer", "max_epsilon_local")
    seen = explore(FIRST, "rapid", "60")
    assert_true_numbers(seen["pairs"], "protections", "minimum_batch")
    moved = Plan.from_toml(seen["plan"])
    cell = assess(moved)["batch"][Metric.EPSILON]
    assert seen["rows"]["batch"][0] == cell_text(cell)


@pytest.mark.proof
def test_a_slider_answers_within_200_milliseconds(explore):
    """At the 95th percentile of 200 moves, on an idle machine."""
    waits = sorted(explore(FIRST, "moves", "200")["waits"])
    assert len(waits) == 200
    assert waits[189] <= 200, waits


def test_five_questions_are_answered_with_the_page_alone(explore, tmp_path):
    answers = explore(FIRST, "tasks")
    ladders = {}
    for name, answer in answers.items():
        assert answer["actions"] <= 5, name
        (tmp_path / f"{name}.toml").write_text(answer["plan"])
        done = croupier("assess", f"{name}.toml", "--json", folder=tmp_path)
        rows = {row["rung"]: row["cells"] for row in json.loads(done.stdout)["rungs"]}
        ladders[name] = {
            rung: {cell["metric"]: cell["upper"] for cell in cells} for rung, cells in rows.items()
        }
        check = croupier("check", f"{name}.toml", folder=tmp_path)
        assert (check.returncode == 0) is (answer["judgement"] == "MET"), name
    assert ladders["crowd"]["clients"]["guess_informed"] <= 0.51
    assert_one_step_further_fails(answers["crowd"], "minimum_batch", -1, tmp_path)
    assert ladders["noise"]["clients"]["reidentification"] <= 0.0004
    assert "1 in 2,5" in str(answers["noise"]["rows"]["clients"])
    assert answers["dummies"]["rows"]["all_but_one"][2].startswith("62.")
    assert 0.62 < ladders["dummies"]["all_but_one"]["guess_of_two"] < 0.63
    assert ladders["answers"]["clients"]["epsilon"] <= 0.2
    assert_one_step_further_fails(answers["answers"], "rounds", 1, tmp_path)
    assert (answers["crowd"]["judgement"], answers["answers"]["judgement"]) == ("MET", "MET")
    assert Plan.from_toml(answers["half"]["plan"]).randomizer.epsilon_local <= 2
    (tmp_path / "first.toml").write_text(FIRST.to_toml())
    for plan in ("first.toml", "half.toml"):
        [error] = re.findall("standard error of ([0-9.]+)", assessed(plan, tmp_path))
        assert error in answers["half"]["result"]
        assert error in answers["half"]["snapshot"]
    for part in ("<script", "http", "href", "src=", "<link", "url(", "@import"):
        assert part not in answers["half"]["snapshot"]


def assessed(plan, folder):
    """What `croupier assess` prints, in one line."""
    return " ".join(croupier("assess", plan, folder=folder).stdout.split())


def assert_one_step_further_fails(answer, key, step, folder):
    """The value that was found is the last one at which `croupier check` finds no limit broken."""
    lines = []
    for line in answer["plan"].splitlines():
        name, _, rest = line.partition(" = ")
        if name == key:
            value, _, comment = rest.partition(" ")
            lines.append(f"{name} = {int(value.replace('_', '')) + step} {comment}")
        else:
            lines.append(line)
    (folder / "further.toml").write_text("\n".join(lines))
    assert croupier("check", "further.toml", folder=folder).returncode == 4
