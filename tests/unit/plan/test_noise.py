"""The error of estimates with dummies and samples: the formula beside simulated releases."""

import math
from fractions import Fraction

import numpy as np
import pytest

from croupier.plan.noise import CountNoise
from croupier.plan.plan import Plan
from croupier.randomizers import randomizer

PLAIN = '{mechanism = "plain", k = 4}'
KARY = '{mechanism = "k-rr", k = 4, max_epsilon_local = 2.0}'
ONE = "[[shufflers]]\ndummies = {epsilon = 1.0, delta = 1e-6}\n"
TWO = ONE + "[[shufflers]]\ndummies = {epsilon = 0.5, delta = 1e-6}\n"
SAMPLED = "[[shufflers]]\nkeep = 0.5\ndummies = {epsilon = 1.0, delta = 1e-6}\n"
BOTH = SAMPLED + "[[shufflers]]\nkeep = 0.75\ndummies = {epsilon = 2.0, delta = 1e-4}\n"


def _plan(mechanism, shufflers):
    return Plan.from_toml(f"""
    schema = 2
    randomizer = {mechanism}
    population.enrolled = 400
    protections.minimum_batch = 300
    {shufflers}""")


@pytest.mark.parametrize("mechanism", [PLAIN, KARY], ids=["plain", "k-rr"])
@pytest.mark.parametrize("shufflers", [ONE, TWO, SAMPLED, BOTH], ids=["1", "2", "keep", "2 keep"])
def test_formula_is_the_error_of_simulated_releases(mechanism, shufflers):
    """A mean square over 10,000 runs strays by 0.6 % at most, so that 5 % are 8 deviations."""
    plan = _plan(mechanism, shufflers)
    n, runs, noise = plan.answers, 10_000, plan.count_noise
    own, other = map(float, plan.randomizer.answer_chances)
    rng, truth = np.random.default_rng(24), np.array([0.6, 0.3, 0.1, 0.0])
    law = np.full((4, 4), other) + np.eye(4) * (own - other)
    people = (truth * n).round().astype(int)
    counts = sum(rng.multinomial(people[value], law[value], size=runs) for value in range(4))
    for each in plan.shufflers:
        chances = each.dummies.table.law
        added = rng.choice(len(chances), size=(runs, 4), p=chances / chances.sum())
        counts = rng.binomial(counts, float(each.kept)) + added
    found = (counts - float(noise.mean)) / float(noise.kept)
    errors = (found / n - other) / (own - other) - truth
    assert math.sqrt(np.mean(errors**2)) == pytest.approx(plan.rms_error, rel=0.05)
    biases = errors.mean(axis=0) / errors.std(axis=0) * math.sqrt(runs)
    assert np.abs(biases).max() < 7


def test_with_everything_kept_the_variances_of_the_tables_add_up():
    plan = _plan(KARY, TWO)
    own, other = plan.randomizer.answer_chances
    tables = [each.dummies.table for each in plan.shufflers]
    added = sum(table.variance for table in tables) / (300 * (own - other)) ** 2
    local = plan.randomizer.rms_error(300)
    assert plan.rms_error == pytest.approx(math.sqrt(local**2 + float(added)), rel=1e-12)
    assert plan.count_noise.mean == sum(table.mean for table in tables)


def test_a_second_shuffler_drops_dummies_of_the_first():
    first, second = (each.dummies.table for each in _plan(PLAIN, BOTH).shufflers)
    keep = Fraction(3, 4)
    noise = CountNoise.of(_plan(PLAIN, BOTH).shufflers)
    assert noise.kept == Fraction(3, 8)
    assert noise.mean == keep * first.mean + second.mean
    thinned = keep**2 * first.variance + keep * (1 - keep) * first.mean
    assert noise.variance == thinned + second.variance


def test_near_central_accuracy_of_the_default_table():
    """NOISE: epsilon 1 at delta 1e-8 has a standard deviation of 2.80 counts."""
    plan = _plan(PLAIN, "[[shufflers]]\ndummies = {epsilon = 1.0, delta = 1e-8}\n")
    assert plan.rms_error * 300 == pytest.approx(2.799, abs=5e-4)
    assert plan.worst_shift == 1


def test_liars_move_a_share_by_one_over_what_a_report_tells():
    plan = _plan(KARY, SAMPLED)
    own, other = plan.randomizer.answer_chances
    assert plan.worst_shift == 2 / (own - other)


def test_plans_without_dummies_have_the_error_of_their_mechanism():
    plan = _plan(KARY, "[[shufflers]]\n")
    assert plan.count_noise is None
    assert plan.worst_shift == plan.randomizer.worst_shift
    assert plan.rms_error == plan.randomizer.rms_error(300)


def test_mechanisms_whose_reports_support_several_values_are_refused():
    noise = CountNoise.of(_plan(PLAIN, ONE).shufflers)
    with pytest.raises(TypeError, match="unary"):
        noise.rms_error(randomizer("symmetric-unary", k=4, max_epsilon_local=1.0), 300)
