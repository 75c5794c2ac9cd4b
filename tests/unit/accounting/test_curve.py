"""Properties that every curve has."""

import math
from itertools import pairwise

import pytest

from croupier.accounting.amplify import amplify, bracket
from croupier.accounting.blanket import local_curve, lower_curve, upper_curve
from croupier.errors import ParameterError
from croupier.model import Direction, Grid, Metric
from croupier.randomizers import randomizer

MECHANISMS = [
    randomizer("k-rr", k=10, max_epsilon_local=2.0),
    randomizer("optimized-unary", k=1000, max_epsilon_local=2.0),
    randomizer("rappor", k=20, max_epsilon_local=2.0),
    randomizer("laplace", grid=Grid(0, 4, 1), max_epsilon_local=2.0),
    randomizer("gaussian", grid=Grid(0, 2, 1), max_epsilon_local=2.0),
    randomizer("one-bit-mean", grid=Grid(0, 4, 1), max_epsilon_local=2.0),
    randomizer("sampled-sign", dimension=13_170, max_epsilon_local=2.0),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.mechanism)
def test_bracket_narrows_and_falls_with_n(mechanism):
    before = math.inf
    for n in (1, 2, 10, 100, 10_000, 10**6):
        found = bracket(mechanism, n=n, delta=1e-6)
        assert 0 <= found.lower.value <= found.upper.value <= mechanism.epsilon_local
        assert found.upper.value <= before * (1 + 1e-7)
        before = found.upper.value
    assert before < 0.02


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.mechanism)
def test_one_person_alone_has_the_local_curve(mechanism):
    alone = upper_curve(mechanism, n=5, corrupt=4)
    local = local_curve(mechanism)
    for epsilon in (0.0, 0.5, 1.9):
        assert alone.delta(epsilon) == local.delta(epsilon)
    assert local.delta(mechanism.epsilon_local) == 0
    assert local.delta(0.0) > 0.01


@pytest.mark.parametrize("mechanism", MECHANISMS[:4], ids=lambda mechanism: mechanism.mechanism)
def test_blanket_is_never_above_clones(mechanism):
    for n in (10, 1000, 10**6):
        blanket = amplify(mechanism, n=n, delta=1e-6).value
        assert blanket <= amplify(epsilon_local=2.0, n=n, delta=1e-6).value * (1 + 1e-6)


def test_delta_and_epsilon_are_inverse_on_the_safe_side():
    response = randomizer("k-rr", k=5, max_epsilon_local=3.0)
    for curve, sign in ((upper_curve(response, n=500), 1), (lower_curve(response, n=500), -1)):
        for delta in (1e-2, 1e-5, 1e-9):
            epsilon = curve.epsilon(delta)
            assert sign * (delta - curve.delta(epsilon)) >= 0
            assert sign * (delta - curve.delta(epsilon * (1 - sign * 1e-6))) <= 0


def test_delta_falls_and_is_convex_in_the_exponential():
    curve = upper_curve(randomizer("k-rr", k=3, max_epsilon_local=1.0), n=200)
    ratios = [1 + 0.01 * step for step in range(20)]
    deltas = [curve.delta(math.log(ratio)) for ratio in ratios]
    slopes = [(b - a) / 0.01 for a, b in pairwise(deltas)]
    assert all(slope <= 0 for slope in slopes)
    assert all(b >= a - 1e-5 for a, b in pairwise(slopes))


def test_a_large_delta_needs_no_epsilon():
    assert amplify(randomizer("k-rr", k=2, max_epsilon_local=0.1), n=1000, delta=0.5).value == 0


def test_guarantee_says_what_it_is():
    guarantee = amplify(
        randomizer("k-rr", k=10, max_epsilon_local=4.0), n=10**5, delta=1e-6, corrupt=7
    )
    assert guarantee.metric is Metric.EPSILON
    assert guarantee.direction is Direction.UPPER
    assert "Lemma 5.3" in guarantee.theorem
    assert guarantee.adversary.corrupt == 7
    assert any("99,993 honest" in text for text in guarantee.assumptions)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-6, float("nan")])
def test_impossible_deltas_are_refused(delta):
    with pytest.raises(ParameterError, match="delta"):
        amplify(epsilon_local=1.0, n=100, delta=delta)


@pytest.mark.parametrize(
    "people",
    [
        {"n": 0},
        {"n": 5, "corrupt": 5},
        {"n": 5, "report_probability": 0.0},
        {"n": 5, "corrupt": -1},
    ],
)
def test_impossible_populations_are_refused(people):
    with pytest.raises(ParameterError):
        amplify(epsilon_local=1.0, delta=1e-6, **people)


def test_a_randomizer_or_its_epsilon_but_not_both():
    with pytest.raises(ParameterError, match="not both"):
        amplify(n=10, delta=1e-6)
    with pytest.raises(ParameterError, match="not both"):
        amplify(randomizer("k-rr", k=2, max_epsilon_local=1.0), epsilon_local=1.0, n=10, delta=1e-6)


def test_without_local_privacy_the_shuffled_bound_still_stands():
    matrix = randomizer("matrix", matrix=((0.5, 0.5, 0.0), (0.25, 0.5, 0.25)))
    curve = upper_curve(matrix, n=1000)
    assert math.isinf(matrix.epsilon_local)
    assert curve.delta(1.0) >= 0.25
    assert curve.epsilon(0.6) < 1
    assert math.isinf(curve.epsilon(1e-6))
    assert bracket(matrix, n=100, delta=1e-6).lower.value > 10
