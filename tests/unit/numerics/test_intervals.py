import math
from fractions import Fraction
from itertools import product

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.errors import ParameterError
from croupier.numerics.intervals import (
    Interval,
    clopper_pearson,
    empirical_bernstein,
    hoeffding,
    median_interval,
)

ORACLE = mpmath.MPContext()
ORACLE.dps = 60

CONFIDENCES = [0.5, 0.95, 1 - 1e-6, 1 - 1e-9]
PROBABILITIES = [1 / 1024, 1 / 64, 0.125, 0.25, 0.5, 0.75, 1023 / 1024]


def binomial(n, p):
    """The probabilities of 0, …, n successes."""
    exact = Fraction(p)
    return [math.comb(n, s) * exact**s * (1 - exact) ** (n - s) for s in range(n + 1)]


def at_most(successes, n, p):
    """P(Bin(n, p) <= successes), summed over the shorter side."""
    p = ORACLE.mpf(p)
    if 2 * successes > n:
        return 1 - at_most(n - successes - 1, n, 1 - p)
    term = (1 - p) ** n
    total = term
    for s in range(successes):
        term *= (n - s) * p / ((s + 1) * (1 - p))
        total += term
    return total


def binomial_interval(successes, n, confidence):
    return clopper_pearson(successes, n, confidence=confidence)


def hoeffding_interval(successes, n, confidence):
    return hoeffding(successes / n, n, confidence=confidence)


def bernstein_interval(successes, n, confidence):
    variance = successes * (n - successes) / (n * (n - 1))
    return empirical_bernstein(successes / n, variance, n, confidence=confidence)


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize("n", [1, 7, 30])
def test_clopper_pearson_ends_lie_just_outside_the_exact_ones(n, confidence):
    tail = (1 - Fraction(confidence)) / 2
    for successes in range(n + 1):
        interval = clopper_pearson(successes, n, confidence=confidence)
        if successes == 0:
            assert interval.lower == 0
        else:
            assert sum(binomial(n, interval.lower)[successes:]) <= tail
            assert sum(binomial(n, interval.lower * (1 + 1e-11))[successes:]) > tail
        if successes == n:
            assert interval.upper == 1
        else:
            assert sum(binomial(n, interval.upper)[: successes + 1]) <= tail
            assert sum(binomial(n, interval.upper - 1e-11)[: successes + 1]) > tail


@pytest.mark.parametrize("confidence", CONFIDENCES)
@pytest.mark.parametrize(
    ("successes", "n"), [(1, 10**6), (3, 10**9), (500, 10**4), (9_999, 10**4), (5_000, 10**4)]
)
def test_clopper_pearson_brackets_outward_for_many_trials(successes, n, confidence):
    tail = (1 - ORACLE.mpf(confidence)) / 2
    interval = clopper_pearson(successes, n, confidence=confidence)

    assert 1 - at_most(successes - 1, n, interval.lower) <= tail
    assert at_most(successes, n, interval.upper) <= tail


@pytest.mark.parametrize("p", PROBABILITIES)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("interval", "n"),
    [
        (binomial_interval, 1),
        (binomial_interval, 5),
        (binomial_interval, 60),
        (hoeffding_interval, 1),
        (hoeffding_interval, 4),
        (hoeffding_interval, 60),
        (bernstein_interval, 2),
        (bernstein_interval, 60),
        (bernstein_interval, 300),
    ],
)
def test_coverage_is_at_least_the_confidence(interval, n, confidence, p):
    chances = binomial(n, p)
    covered = sum(chances[s] for s in range(n + 1) if p in interval(s, n, confidence))
    assert covered >= Fraction(confidence)


@settings(deadline=None)
@given(
    st.floats(-5, 5),
    st.floats(0.01, 10),
    st.floats(0, 1),
    st.integers(2, 10**9),
    st.sampled_from(CONFIDENCES),
)
def test_hoeffding_and_bernstein_radii_are_rounded_up(low, width, position, trials, confidence):
    high = low + width
    mean = min(max(low + position * width, low), high)
    variance = width**2 * position * (1 - position)
    doubt, span = 1 - ORACLE.mpf(confidence), ORACLE.mpf(high) - low
    log_two, log_four = ORACLE.log(2 / doubt), ORACLE.log(4 / doubt)
    radii = {
        hoeffding(mean, trials, low=low, high=high, confidence=confidence): span
        * ORACLE.sqrt(log_two / (2 * trials)),
        empirical_bernstein(
            mean, variance, trials, low=low, high=high, confidence=confidence
        ): ORACLE.sqrt(2 * ORACLE.mpf(variance) * log_four / trials)
        + 7 * span * log_four / (3 * (trials - 1)),
    }
    for interval, radius in radii.items():
        least, most = max(low, mean - radius), min(high, mean + radius)
        assert least - 1e-13 <= interval.lower <= least
        assert most <= interval.upper <= most + 1e-13


@pytest.mark.parametrize(
    ("interval", "parameter"),
    [
        (lambda: clopper_pearson(-1, 10), "successes"),
        (lambda: clopper_pearson(11, 10), "successes"),
        (lambda: clopper_pearson(0, 0), "trials"),
        (lambda: clopper_pearson(1, 10, confidence=1.0), "confidence"),
        (lambda: clopper_pearson(1, 10, confidence=0.0), "confidence"),
        (lambda: clopper_pearson(1, 10, confidence=math.nan), "confidence"),
        (lambda: hoeffding(0.5, 0), "trials"),
        (lambda: hoeffding(1.1, 10), "mean"),
        (lambda: hoeffding(math.nan, 10), "mean"),
        (lambda: hoeffding(0.5, 10, low=0.6), "mean"),
        (lambda: hoeffding(0.5, 10, confidence=2.0), "confidence"),
        (lambda: empirical_bernstein(0.5, 0.1, 1), "trials"),
        (lambda: empirical_bernstein(0.5, -0.1, 10), "variance"),
        (lambda: empirical_bernstein(-0.1, 0.1, 10), "mean"),
        (lambda: empirical_bernstein(0.5, 0.1, 10, confidence=1.0), "confidence"),
    ],
)
def test_impossible_samples_are_refused(interval, parameter):
    with pytest.raises(ParameterError) as refusal:
        interval()
    assert refusal.value.parameter == parameter


@pytest.mark.parametrize(
    ("value", "inside"), [(0.25, True), (0.5, True), (0.75, True), (0.2, False), (0.8, False)]
)
def test_an_interval_contains_its_ends(value, inside):
    assert (value in Interval(0.25, 0.75, 0.95)) is inside


@pytest.mark.parametrize("trials", [2, 3, 6, 9])
def test_the_least_and_the_greatest_enclose_the_median(trials):
    """Each observation falls below the median or above it with probability one half."""
    sides = list(product([-1.0, 1.0], repeat=trials))
    enclosed = sum(0.0 in median_interval(side) for side in sides)
    assert enclosed / len(sides) == median_interval(sides[0]).confidence


def test_one_observation_encloses_nothing():
    with pytest.raises(ParameterError, match="at least 2"):
        median_interval([0.5])
