"""Proofs against attacks: no true bound is refuted, and one that is 5 % too small is.

For longer than the suite can:

    CROUPIER_ATTACK_PLANS=320 CROUPIER_ATTACK_GAMES=1000000 CROUPIER_ATTACK_RUNS=100 \
        pytest tests/unit/assessment/ladder/test_attacked.py
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.auditing.attacks.attacks import Suite
from croupier.model.metric import Metric
from croupier.plan.plan import Plan

EXAMPLES = sorted((Path(__file__).parents[4] / "examples" / "plans").glob("*.toml"))
PLANS = int(os.environ.get("CROUPIER_ATTACK_PLANS", "27"))
GAMES = int(os.environ.get("CROUPIER_ATTACK_GAMES", "3000"))
RUNS = int(os.environ.get("CROUPIER_ATTACK_RUNS", "20"))
TIGHT = 1.01
TWELVE = ({"mechanism": "k-rr", "k": 12, "max_epsilon_local": 2.0}, 300, 0.01, 50_000)
THREE = ({"mechanism": "k-rr", "k": 3, "max_epsilon_local": 0.5}, 40, 0.02, 400_000)
SHARP = [
    # what is attacked, and with how many games an attack: at most two fifths of the default
    *(pytest.param(*case, marks=pytest.mark.proof) for case in (TWELVE, THREE)),
    ({"mechanism": "symmetric-unary", "k": 3, "max_epsilon_local": 3.0}, 2000, 0.01, 50_000),
]


def refuted(plan, *, games, seed, false_alarm):
    attacks = Suite.of(plan).play(games=games, insecure_seed=seed, false_alarm=false_alarm)
    assert attacks.played
    return [one for one in attacks if one.refuted]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(PLANS))
def test_no_proof_about_a_generated_plan_is_refuted(ladder_of, alarm, seed):
    """False alarms of all plans together: one in a million, as for every statistical test."""
    assert not refuted(ladder_of(seed).plan, games=GAMES, seed=seed, false_alarm=alarm)


@pytest.mark.slow
@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_no_proof_about_an_example_is_refuted(alarm, file):
    assert not refuted(Plan.load(file), games=10 * GAMES, seed=7, false_alarm=alarm)


def is_sharp(played):
    cell = played.cell
    return cell.proved is not None and (
        cell.exact or (cell.lower and cell.proved.value <= TIGHT * cell.lower)
    )


def sharp_attacks(plan):
    """The attacks on what is reached from below, as sure as if all were played."""
    whole = Suite.of(plan)
    quick = whole.play(games=200, insecure_seed=0)
    sharp = tuple(game for game, one in zip(whole.attacks, quick, strict=True) if is_sharp(one))
    share = len(sharp) / len(whole.attacks)
    return Suite(plan, sharp, ()), 1e-6 * share


@pytest.mark.slow
@pytest.mark.parametrize(("randomizer", "batch", "delta", "games"), SHARP)
def test_a_bound_that_is_too_small_is_caught(make_plan, randomizer, batch, delta, games):
    """In 95 % of runs, wherever what is proved from above is reached from below."""
    plan = make_plan(randomizer, enrolled=batch, batch=batch, delta=delta)
    suite, false_alarm = sharp_attacks(plan)
    caught = {}
    for run in range(RUNS):
        attacks = suite.play(games=games, insecure_seed=run, false_alarm=false_alarm)
        for one in attacks:
            smaller = replace(one.cell.proved, value=0.95 * one.cell.proved.value)
            runs = caught.setdefault((one.rung, one.name), [])
            runs.append(one.refutes(smaller))
            assert not one.refuted
    local = {
        ("collusion", name)
        for name in ("guess_of_two", "guess_uninformed", "guess_informed", "epsilon")
    }
    assert local | {("batch", "reidentification"), ("batch", "guess_of_two")} <= set(caught)
    for attack, runs in caught.items():
        assert sum(runs) >= 0.95 * RUNS, attack


@pytest.mark.slow
def test_a_delta_that_is_too_small_is_caught(make_plan):
    """The epsilon of a delta, claimed at 95 % of it."""
    randomizer, batch, delta, games = TWELVE
    facts = {"randomizer": randomizer, "enrolled": batch, "batch": batch}
    right = assess(make_plan(**facts, delta=delta))["batch"][Metric.EPSILON]
    assert right.proved.value <= TIGHT * right.lower
    smaller = replace(right.proved, delta=0.95 * delta)
    plan = make_plan(**facts, delta=0.95 * delta)
    whole = Suite.of(plan)
    suite = Suite(plan, tuple(game for game in whole.attacks if game.name == "epsilon"), ())
    sure = 1e-6 * len(suite.attacks) / len(whole.attacks)
    runs = [
        suite.play(games=games, insecure_seed=run, false_alarm=sure)["epsilon"].refutes(smaller)
        for run in range(RUNS)
    ]
    assert sum(runs) >= 0.95 * RUNS
