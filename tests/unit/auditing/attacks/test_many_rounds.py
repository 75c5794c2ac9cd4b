"""Epsilon over many rounds, where one report of a round tells much already."""

import math

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.auditing.attacks.attacks import attack
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.plan.plan import Plan


def plan_of(mechanism, *, rounds, people):
    return Plan.from_toml(f"""
        schema = 2
        randomizer = {{{mechanism}}}
        collection.rounds = {rounds}
        population.enrolled = {people}
        protections.minimum_batch = {people}
        """)


CASES = {
    "unary": ('mechanism = "symmetric-unary", k = 3, max_epsilon_local = 6', 30, 2),
    "subset": ('mechanism = "subset-selection", k = 6, max_epsilon_local = 6', 30, 100),
    "k-rr": ('mechanism = "k-rr", k = 100, max_epsilon_local = 8', 12, 10),
    "one round": ('mechanism = "hadamard", k = 6, max_epsilon_local = 6', 1, 100),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_proved_from_below_is_measured(name):
    mechanism, rounds, people = CASES[name]
    plan = plan_of(mechanism, rounds=rounds, people=people)
    proved = assess(plan)[Rung.BATCH][Metric.EPSILON]
    seen = attack(plan, games=20_000, insecure_seed=1)["batch", "epsilon"].evidence
    assert seen.lower > 0.8 * proved.lower
    assert seen.lower <= seen.measured <= seen.upper <= 1.001 * rounds * 8
    assert seen.lower <= proved.upper


def test_the_upper_end_over_rounds_is_known():
    plan = plan_of('mechanism = "k-rr", k = 4, max_epsilon_local = 2', rounds=3, people=1000)
    seen = attack(plan, games=2000, insecure_seed=1)["batch", "epsilon"].evidence
    assert math.isclose(seen.upper, 6.0, rel_tol=1e-6)
    assert seen.upper >= 3 * plan.randomizer.epsilon_local
