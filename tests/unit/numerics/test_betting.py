"""Bounds by betting are exceeded as rarely as they promise, and are sharp where little varies."""

import numpy as np
import pytest
from scipy import stats

from croupier.errors import ParameterError
from croupier.numerics.betting import Observations, bounded_mean
from croupier.numerics.intervals import clopper_pearson, hoeffding


def hits(successes, trials):
    return Observations.of(np.arange(trials) < successes)


@pytest.mark.parametrize("trials", [1, 7, 40])
@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_the_chance_of_a_false_bound_is_kept_exactly(trials, confidence):
    """Over all numbers of hits, not over a sample of them."""
    lower = np.array([hits(right, trials).lower(confidence) for right in range(trials + 1)])
    for truth in np.linspace(0.01, 0.99, 23):
        chances = stats.binom.pmf(np.arange(trials + 1), trials, truth)
        assert chances[lower > truth].sum() <= 1 - confidence


def test_three_values_keep_it_too():
    """Every sequence of five observations of 0, 1 and 4, whose mean is not bounded by one."""
    values, chances = np.array([0.0, 1.0, 4.0]), np.array([0.5, 0.4, 0.1])
    truth, false = float(values @ chances), 0.0
    for counts in [(a, b, 5 - a - b) for a in range(6) for b in range(6 - a)]:
        seen = Observations.of(np.repeat(values, counts))
        if seen.lower(0.9) > truth:
            false += float(stats.multinomial.pmf(counts, 5, chances))
    assert false <= 0.1


def test_what_hardly_varies_is_known_sharply():
    observed = 0.02 + 0.001 * np.sin(np.arange(2000))
    seen = bounded_mean(observed)
    assert seen.lower > 0.0199
    assert hoeffding(float(observed.mean()), 2000).lower == 0


def test_hits_are_known_nearly_as_well_as_by_the_exact_interval():
    exact = clopper_pearson(300, 1000)
    seen = bounded_mean(np.arange(1000) < 300)
    assert seen.lower < exact.lower < 0.3 < exact.upper < seen.upper
    assert seen.upper - seen.lower < 1.8 * (exact.upper - exact.lower)


def test_the_wealth_falls_as_the_mean_grows():
    seen = Observations.of([0.0, 0.5, 0.25, 0.75] * 20)
    wealth = [seen.log_wealth(mean) for mean in (0.05, 0.1, 0.2, 0.3, 0.6)]
    assert wealth == sorted(wealth, reverse=True)
    assert seen.exceed(0.1, confidence=0.95)
    assert not seen.exceed(0.37, confidence=0.95)


def test_nothing_but_zeros_and_nothing_but_ones():
    assert bounded_mean([0.0] * 100).lower == 0
    assert bounded_mean([0.0] * 100).upper < 0.06
    assert bounded_mean([1.0] * 100).upper == 1
    assert bounded_mean([1.0] * 100).lower > 0.94
    assert bounded_mean([2.0] * 100, most=2.0).upper == 2


@pytest.mark.parametrize("observed", [[], [-0.1], [np.nan], [np.inf]])
def test_observations_must_be_numbers_of_at_least_zero(observed):
    with pytest.raises(ParameterError, match="at least 0"):
        Observations.of(observed)


def test_limits_are_checked():
    with pytest.raises(ParameterError, match="at most 1"):
        bounded_mean([1.5])
    with pytest.raises(ParameterError, match="confidence"):
        bounded_mean([0.5], confidence=1.0)
