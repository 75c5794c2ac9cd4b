"""The epsilon of the integers: never above what was asked for, and hardly below."""

from fractions import Fraction

import mpmath
import pytest

from croupier.errors import ParameterError
from croupier.model import Grid
from croupier.randomizers import MECHANISMS, randomizer

CEILINGS = (1e-3, 0.1, 1.0, 2.81, 4.0, 8.0, 20.0)
PARAMETERS = [
    ("k-rr", {"k": 2}),
    ("k-rr", {"k": 1000}),
    ("memoised-k-rr", {"k": 1000, "max_epsilon_permanent": 20.0}),
    ("symmetric-unary", {"k": 1000}),
    ("optimized-unary", {"k": 1000}),
    ("rappor", {"k": 100}),
    ("local-hashing", {"k": 1000, "buckets": 16}),
    ("dictionary", {"k": 1000}),
    ("text", {"longest": 9, "buckets": 16}),
    ("distribution", {"grid": Grid(0, 101, 1)}),
    ("hadamard", {"k": 1000}),
    ("subset-selection", {"k": 100, "subset_size": 12}),
    ("laplace", {"grid": Grid(0, 16, 1)}),
    ("laplace", {"grid": Grid(0, 1, 0.002)}),
    ("gaussian", {"grid": Grid(0, 16, 1)}),
    ("one-bit-mean", {"grid": Grid(-1, 1, 0.001)}),
    ("sampled-sign", {"dimension": 13_170}),
]


@pytest.mark.parametrize("ceiling", CEILINGS)
@pytest.mark.parametrize(("mechanism", "parameters"), PARAMETERS)
def test_within_a_billionth_below_the_ceiling(mechanism, parameters, ceiling):
    if ceiling >= parameters.get("max_epsilon_permanent", 21.0):
        pytest.skip("one report must stay below all of them")
    if mechanism == "gaussian" and ceiling < 0.1:
        pytest.skip("the noise would span ten thousand steps of the grid")
    epsilon = randomizer(mechanism, max_epsilon_local=ceiling, **parameters).epsilon_local
    assert ceiling - 1e-9 <= epsilon <= ceiling


@pytest.mark.parametrize("points", [2, 3, 5, 11, 21, 50, 101])
@pytest.mark.parametrize("ceiling", [0.5, 1.0, 2.0, 5.0, 14.269, 18.0])
@pytest.mark.parametrize("tail", [2.0, 3.0, 5.0])
def test_gaussian_of_any_size_stays_below_its_ceiling(points, ceiling, tail):
    grid = Grid(0, points - 1, 1)
    epsilon = randomizer("gaussian", grid=grid, max_epsilon_local=ceiling, tail=tail).epsilon_local
    assert ceiling - 1e-9 <= epsilon <= ceiling


def test_every_mechanism_with_a_ceiling_is_covered():
    without = {"matrix", "parallel", "plain", "together"}
    assert {mechanism for mechanism, _ in PARAMETERS} == set(MECHANISMS) - without


def test_the_value_itself_has_no_epsilon():
    """No budget allows it: only dummies lower what a report costs."""
    plain = randomizer("plain", k=3)
    assert plain.epsilon_local == plain.budget_cost == float("inf")


@pytest.mark.parametrize("ceiling", CEILINGS)
def test_epsilon_of_k_rr_is_the_logarithm_of_its_integers_rounded_up(ceiling):
    response = randomizer("k-rr", k=10, max_epsilon_local=ceiling)
    high, low = response.levels
    with mpmath.workdps(60):
        ratio = Fraction(high, low)
        truth = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
        assert 0 <= mpmath.mpf(response.epsilon_local) - truth < mpmath.mpf(2) ** -48


@pytest.mark.parametrize("ceiling", [0.0, -1.0, 20.5, float("nan"), float("inf")])
def test_impossible_ceilings_are_refused(ceiling):
    with pytest.raises(ParameterError, match="epsilon_local"):
        randomizer("k-rr", k=10, max_epsilon_local=ceiling)


def test_a_denominator_too_small_for_the_ceiling_is_refused():
    with pytest.raises(ParameterError, match="expressible by weights over 7"):
        randomizer("k-rr", k=5, max_epsilon_local=0.1, denominator=7)
