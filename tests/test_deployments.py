"""Published deployments: each plan cites its source, and says about epsilon what formulas say."""

import json
import math
import re
import runpy
from functools import cache
from pathlib import Path

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.plan.plan import Plan

ROOT = Path(__file__).parents[1]
DEPLOYMENTS = ROOT / "examples" / "deployments"
GOLDEN = ROOT / "tests" / "golden" / "deployments.json"
PAGE = (ROOT / "docs" / "deployments.md").read_text()
NAMES = sorted(path.stem for path in DEPLOYMENTS.glob("*.toml"))
SHOWN = ("epsilon", "reidentification", "guess_of_two")
ORIGINS = ("published:", "derived:", "assumed:", "model:")
WORDS = ("schema", "name", "title", "purpose")
"""Keys whose values are ours."""


@cache
def ladder(name):
    return assess(Plan.load(DEPLOYMENTS / f"{name}.toml"))


def summary(name):
    """The proved and attained ends of the cells that the page shows."""
    return {
        step.rung: {metric: [step[metric].upper, step[metric].lower] for metric in SHOWN}
        for step in ladder(name)
    }


def test_there_are_at_least_six_deployments():
    assert len([name for name in NAMES if not name.endswith("-forever")]) >= 6
    assert sorted(json.loads(GOLDEN.read_text())) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_value_says_where_it_comes_from(name):
    text = (DEPLOYMENTS / f"{name}.toml").read_text()
    assert re.match(r"# .*\n# Sources?: ", text)
    values = [line for line in text.splitlines() if re.match(r"\w+ = ", line)]
    assert len(values) > 10
    for line in values:
        if line.split()[0] not in WORDS:
            assert line.partition("  # ")[2].startswith(ORIGINS), line


@pytest.mark.parametrize("name", NAMES)
def test_what_a_plan_cites_is_in_the_bibliography(name):
    keys = set(re.findall(r"@\w+\{(\w+),", (ROOT / "references.bib").read_text()))
    lines = (DEPLOYMENTS / f"{name}.toml").read_text().splitlines()
    text = "\n".join(line for line in lines if line.startswith("#"))
    cited = set(re.findall(r"\(([a-z]+_?[a-z]*\d*[a-z]*)\)", text))
    assert cited
    assert cited <= keys


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_has_words_and_no_limits_of_ours(name):
    plan = Plan.load(DEPLOYMENTS / f"{name}.toml")
    assert plan.name == name
    assert plan.title
    assert plan.purpose
    assert "[policy]" not in (DEPLOYMENTS / f"{name}.toml").read_text()
    assert f"examples/deployments/{name}.toml" in PAGE


@pytest.mark.parametrize("name", NAMES)
def test_the_ladder_is_the_golden_one(name):
    expected = json.loads(GOLDEN.read_text())[name]
    found = summary(name)
    assert list(found) == list(expected)
    for rung, cells in expected.items():
        for metric, ends in cells.items():
            for ours, golden in zip(found[rung][metric], ends, strict=True):
                close = ours is None if golden is None else math.isclose(ours, golden, rel_tol=1e-6)
                assert close, (rung, metric, ours, golden)


@pytest.mark.parametrize("name", NAMES)
def test_only_a_second_operator_makes_the_shuffler_count(name):
    two = {"exposure-notifications"}
    assert (ladder(name).plan.operators == "same") == (name not in two)
    headline = ladder(name).headline
    assert (headline.rung == "collusion") == (name not in two)


def rappor_flip(permanent, one, zero):
    """Chances that a bit of the filter is reported as 1: if it is set, and if it is not."""
    mixed = permanent / 2 * (one + zero)
    return mixed + (1 - permanent) * one, mixed + (1 - permanent) * zero


def two_sided(epsilon):
    return math.exp(epsilon) / (math.exp(epsilon) + 1)


def k_ary(k, flipped):
    """The epsilon of an answer that is replaced by any of k with the given chance."""
    return math.log((1 - flipped + flipped / k) / (flipped / k))


def published():
    set_bit, unset_bit = rappor_flip(1 / 2, 3 / 4, 1 / 4)
    odds = set_bit * (1 - unset_bit) / (unset_bit * (1 - set_bit))
    flipped = 2925 / (2925 + math.exp(14) - 1)
    assert flipped == pytest.approx(0.0024, abs=5e-5)  # as printed in the publication
    assert math.comb(3 * 8 + 3, 3) == 2925
    return {
        "chrome-homepage": 2 * math.log(odds),
        "chrome-homepage-forever": 4 * math.log((1 - 1 / 4) / (1 / 4)),
        "windows-app-usage": 1.672,
        "apple-emoji": 2 * math.log(two_sided(2) / (1 - two_sided(2))),
        "apple-safari-domains": math.log(two_sided(4) / (1 - two_sided(4))),
        "exposure-notifications": 2 * math.log(two_sided(8) / (1 - two_sided(8))),
        "attribution-clicks": k_ary(2925, flipped),
    }


@pytest.mark.parametrize("name", NAMES)
def test_the_epsilon_of_the_integers_is_that_of_the_formula(name):
    ours = ladder(name).plan.randomizer.epsilon_local
    assert ours == pytest.approx(published()[name], rel=1e-9)


def test_the_published_bits_of_rappor_are_flipped_as_ours_are():
    rappor = ladder("chrome-homepage").plan.randomizer
    set_bit, unset_bit = rappor_flip(1 / 2, 3 / 4, 1 / 4)
    assert set_bit == pytest.approx(1 - unset_bit)
    assert rappor.flip_weight / rappor.denominator == pytest.approx(unset_bit, rel=1e-9)
    assert rappor.distance == 4


def test_one_bit_mean_has_the_published_chances():
    law = ladder("windows-app-usage").plan.randomizer.channel().probabilities
    most = two_sided(1.672)
    expected = [1 - most + share / 36 * (2 * most - 1) for share in range(37)]
    assert law[:, 1].tolist() == pytest.approx(expected, rel=1e-9)


def test_sampling_and_threshold_by_hand():
    script = runpy.run_path(str(DEPLOYMENTS / "sample_and_threshold.py"))
    p, threshold = script["published_parameters"]()
    assert threshold == script["THRESHOLD"]
    assert p == pytest.approx(script["SAMPLING"], abs=5e-4)
    assert 0 < script["delta"](1.0) < 1e-8
    # 28 holders or 29: only the counts of 20 and more can be read.
    chance = [
        [math.comb(m, c) * 0.105**c * 0.895 ** (m - c) for c in range(20, m + 1)] for m in (29, 28)
    ]
    pairs = zip(chance[0], [*chance[1], 0.0], strict=True)
    by_hand = sum(max(0.0, a - math.e * b) for a, b in pairs)
    assert script["delta_one_way"](29, 28, 1.0) == pytest.approx(by_hand, rel=1e-6)
    assert script["delta"](1.0) == pytest.approx(by_hand, rel=1e-6)
    assert script["delta"](50.0) < 1e-15  # one holder more at 19: p to the 20th


def test_sums_of_notifications_reveal_less_than_rows():
    script = runpy.run_path(str(DEPLOYMENTS / "exposure_sums.py"))
    assert script["bit_by_bit"]() == pytest.approx(16)
    assert script["whole_answer"]() == pytest.approx(math.log(1 + 2.5 * (math.exp(8) - 1)))
    sums = script["epsilon_of_sums"]()
    assert sums < ladder("exposure-notifications")["batch"]["epsilon"].lower
    assert script["delta_of_sums"](sums) <= 1e-6 < script["delta_of_sums"](sums - 1e-3)


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps({name: summary(name) for name in NAMES}, indent=1) + "\n")
