"""The example plans: what they leak is known, and their policies hold."""

import json
import math
import runpy
from functools import cache
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import checked
from croupier.plan.plan import Plan
from croupier.shufflers.groups import Groups
from croupier.shufflers.ordering import best_order

ROOT = Path(__file__).parents[1]
PLANS = ROOT / "examples" / "plans"
LADDERS = ROOT / "tests" / "golden" / "ladders"
NAMES = sorted(path.stem for path in PLANS.glob("*.toml"))
REWRITE = "python tests/golden/ladders/rewrite.py"
NUMBERS = ("upper", "lower")


@cache
def ladder(name):
    return assess(Plan.load(PLANS / f"{name}.toml"))


def test_every_plan_has_its_golden_ladder():
    assert [path.stem for path in sorted(LADDERS.glob("*.json"))] == NAMES, f"Run: {REWRITE}"
    assert len(NAMES) >= 3


def close(found, expected):
    if found is None or expected is None:
        return found is expected
    return math.isclose(found, expected, rel_tol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_ladder_is_the_golden_one(name):
    expected = json.loads((LADDERS / f"{name}.json").read_text())
    found = runpy.run_path(str(LADDERS / "rewrite.py"))["summary"](ladder(name))
    hint = f"Say why under Guarantees in CHANGELOG.md, then run: {REWRITE}"
    for key in ("plan_digest", "n_proved"):
        assert found[key] == expected[key], hint
    for key in ("repeated", "everybody"):
        assert close(found[key], expected[key]), f"{key}. {hint}"
    assert list(found["rungs"]) == list(expected["rungs"])
    for rung, cells in expected["rungs"].items():
        assert list(found["rungs"][rung]) == list(cells), hint
        for metric, cell in cells.items():
            ours = found["rungs"][rung][metric]
            assert ours["status"] == cell["status"], f"{rung} {metric}. {hint}"
            for end in NUMBERS:
                assert close(ours[end], cell[end]), f"{rung} {metric} {end}. {hint}"


@pytest.mark.parametrize("name", NAMES)
def test_the_policy_is_met(name):
    found = checked(ladder(name))
    assert len(found) >= 5
    assert [str(verdict) for verdict in found if not verdict.met] == []
    assert found.judgement == "met"


@pytest.mark.parametrize("name", NAMES)
def test_the_policy_is_tight_enough_to_notice(name):
    for verdict in checked(ladder(name)):
        proved, limit = verdict.cell.proved.value, verdict.limit.value
        if verdict.limit.metric.protects:
            proved, limit = 1 - proved, 1 - limit
        assert limit <= 2.5 * proved, verdict


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_is_called_like_its_file(name):
    assert ladder(name).plan.name == name
    assert (PLANS / f"{name}.toml").read_text().startswith("# ")


def test_the_emoji_plan_leaks_what_was_computed_independently():
    """The figures of the formulas, computed outside this code, to three digits outward."""
    batch, clients, collusion = (
        ladder("emoji")[rung] for rung in ("batch", "clients", "collusion")
    )
    assert 0.0755 <= batch["epsilon"].lower <= batch["epsilon"].upper <= 0.0756
    assert 0.0878 <= clients["epsilon"].lower <= clients["epsilon"].upper <= 0.0879
    assert 3_660 <= 1 / batch.reidentification.value < 3_670
    assert 2_740 <= 1 / clients.reidentification.value < 2_750
    assert 0.758 < collusion.guess_of_two.value <= 0.759
    assert 0.482 <= collusion.bayes_security.value < 0.483


def test_the_groups_of_the_survey_are_those_of_the_public_file():
    script = runpy.run_path(str(PLANS / "synthetic_places.py"))
    public = PLANS / "synthetic_places.csv"
    assert public.read_text() == script["places"]()
    shuffling = Plan.load(PLANS / "health-survey.toml").shuffling
    assert shuffling.groups.sha256 == sha256(public.read_bytes()).hexdigest()
    places = np.loadtxt(public, delimiter=",", skiprows=1)
    assert len(places) == Plan.load(PLANS / "health-survey.toml").population.enrolled
    assert (
        best_order(Groups.by_radius(places, 0.01), places).sensitivity
        == shuffling.groups.sensitivity
    )
