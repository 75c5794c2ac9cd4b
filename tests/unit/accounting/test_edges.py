"""Where a hostile review once broke the bounds: each case a truth that must lie inside them."""

import math

import mpmath
import numpy as np
import pytest

from croupier.accounting.blanket import local_curve, lower_curve, upper_curve
from croupier.accounting.clones import clone_curve
from croupier.accounting.composition import composed_epsilon, renyi
from croupier.accounting.pair import Laws, ShuffledPair
from croupier.accounting.solve import solve
from croupier.errors import ParameterError
from croupier.randomizers import MatrixRandomizer, randomizer


def _poisson_truth(classes, rate, epsilon):
    """ln delta when the others who report are Poisson: the limit of many who rarely do.

    delta = sum over the victim's report y and the others' counts; with k-RR and blanket classes the
    sum of G is a compound Poisson law, listed here class by class.
    """
    with mpmath.workdps(40):
        e = mpmath.exp(epsilon)
        means = [rate * mpmath.mpf(w) for w in classes[0]]
        values = [
            (mpmath.mpf(p) - e * mpmath.mpf(q)) / m
            for _, p, q, m in zip(*classes, means, strict=True)
        ]
        laws = [
            [mpmath.exp(-m) * m**c / mpmath.factorial(c) for c in range(int(8 * m) + 30)]
            for m in means
        ]

        def expect(index, chance, total):
            if index == len(laws):
                return chance * total if total > 0 else mpmath.mpf(0)
            return mpmath.fsum(
                expect(index + 1, chance * law, total + count * values[index])
                for count, law in enumerate(laws[index])
                if chance * law > mpmath.mpf(10) ** -22
            )

        return mpmath.log(expect(0, mpmath.mpf(1), mpmath.mpf(0)))


@pytest.mark.parametrize("n", [10**9, 10**10, 3 * 10**12, 10**14])
def test_many_people_who_hardly_ever_report(n):
    response = randomizer("k-rr", k=10, max_epsilon_local=4.0)
    classes = response.likelihood_classes(0, 1).arrays()
    (pair,) = upper_curve(response, n=n, report_probability=20 / n).pairs
    bounds = pair.log_delta(1.0)
    truth = _poisson_truth(classes, 20, 1.0)
    # Poisson and binomial differ by 20/n.
    assert bounds.lower - 1e-6 <= truth <= bounds.upper + 100 / n
    assert bounds.upper - truth < 1e-5


@pytest.mark.parametrize("offset", [1e-3, 1e-9, 1e-12, 1e-14])
def test_just_below_the_local_epsilon(offset):
    r = np.array([0.45810139733278626, 0.5418986026672137])
    p = np.array([0.5881728412417132, 0.4118271587582868])
    q = np.array([0.40482160388805133, 0.5951783961119486])
    epsilon = math.log(p[0] / q[0]) * (1 - offset)
    for n in (1, 6):
        bounds = ShuffledPair.among(Laws.of_doubles(r, p, q), n).log_delta(epsilon)
        with mpmath.workdps(60):
            e = mpmath.exp(mpmath.mpf(epsilon))
            gain = [
                mpmath.mpf(float(a)) - e * mpmath.mpf(float(b)) for a, b in zip(p, q, strict=True)
            ]
            values = [g / mpmath.mpf(float(w)) for g, w in zip(gain, r, strict=True)]
            first = mpmath.mpf(float(r[0]))
            rest = mpmath.mpf(float(r[1]))
            truth = (
                mpmath.fsum(
                    mpmath.binomial(n, c)
                    * first**c
                    * rest ** (n - c)
                    * max(c * values[0] + (n - c) * values[1], 0)
                    for c in range(n + 1)
                )
                / n
            )
            truth = truth if n > 1 else max(gain[0], 0)
            if truth > 0:
                assert mpmath.mpf(bounds.lower) <= mpmath.log(truth) <= mpmath.mpf(bounds.upper)


@pytest.mark.parametrize("n", [3, 50])
def test_laws_that_round_to_more_than_one(n):
    r = np.array([0.2550640682369246, 0.22001136998995816, 0.2069642374349892, 0.31796032433812793])
    p = np.array([0.4, 0.2, 0.2, 0.2])
    bounds = ShuffledPair.among(Laws.of_doubles(r, p, p[::-1].copy()), n).log_delta(0.1)
    assert bounds.lower <= bounds.upper < 0


def test_outputs_that_others_hardly_ever_produce():
    pair = ShuffledPair.among(
        Laws.of_doubles(np.array([1e-200, 0.9]), np.array([0.5, 0.5]), np.array([0.1, 0.9])), 50
    )
    bounds = pair.log_delta(0.5)
    assert math.exp(bounds.upper) >= 0.5 - 0.1 * math.exp(0.5)
    assert bounds.lower == -math.inf


def test_what_others_cannot_say_costs_its_full_weight():
    matrix = MatrixRandomizer(matrix=((1, 1, 0), (1, 0, 1)))
    for n in (1, 10, 1000):
        assert math.isinf(upper_curve(matrix, n=n).epsilon(1e-6))
        assert upper_curve(matrix, n=n).delta(3.0) == pytest.approx(0.5)
        assert upper_curve(matrix, n=n).delta(1e6) >= 0.5
        assert lower_curve(matrix, n=n).delta(1e6) == 0


@pytest.mark.parametrize(
    ("local", "rounds", "delta"), [(0.2, 300, 1e-9), (0.05, 1000, 1e-12), (0.01, 3000, 1e-12)]
)
def test_convolution_error_is_allowed_for(local, rounds, delta):
    response = randomizer("k-rr", k=3, max_epsilon_local=local)
    epsilon = composed_epsilon(local_curve(response), rounds=rounds, delta=delta)
    high, low = (mpmath.mpf(level.numerator) / level.denominator for level in response.levels)
    with mpmath.workdps(40):
        # The loss is local * (ups - downs) over rounds with chances high, low, low.
        step = mpmath.log(high / low)
        chances = np.array([float(low), float(low), float(high)])
        total = np.array([1.0])
        for _ in range(rounds):
            total = np.convolve(total, chances)
        losses = step * (np.arange(len(total)) - rounds)
        truth = mpmath.fsum(
            mpmath.mpf(float(mass)) * (1 - mpmath.exp(epsilon - loss))
            for mass, loss in zip(total, losses, strict=True)
            if loss > epsilon
        )
        assert truth <= delta


def test_a_person_alone_composes_too():
    curve = upper_curve(randomizer("k-rr", k=2, max_epsilon_local=1.0), n=1)
    assert 1 < composed_epsilon(curve, rounds=2, delta=1e-6) <= 2


def test_composition_without_local_privacy_is_infinite_or_proved():
    matrix = MatrixRandomizer(matrix=((6, 3, 1, 0), (3, 6, 0, 1)))
    assert math.isinf(composed_epsilon(local_curve(matrix), rounds=2, delta=0.15))
    flat = MatrixRandomizer(matrix=((1, 1), (1, 1)))
    assert composed_epsilon(local_curve(flat), rounds=5, delta=1e-6) == 0


@pytest.mark.parametrize(("local", "order"), [(1e-5, 1.001), (1e-5, 2.0), (0.1, 1.5), (3.0, 10.0)])
def test_renyi_of_binary_response_is_never_below_the_truth(local, order):
    response = randomizer("k-rr", k=2, max_epsilon_local=local)
    with mpmath.workdps(40):
        a, b = (mpmath.mpf(level.numerator) / level.denominator for level in response.levels)
        moment = a**order * b ** (1 - order) + b**order * a ** (1 - order)
        truth = mpmath.log(moment) / (order - 1)
        assert truth <= renyi(local_curve(response), order) <= truth * 1.01


def test_renyi_of_orders_beyond_doubles_is_the_local_epsilon():
    curve = upper_curve(randomizer("k-rr", k=10, max_epsilon_local=20.0), n=100)
    assert renyi(curve, 50.0) == curve.epsilon_local


@pytest.mark.parametrize("epsilon", [float("nan"), -1.0])
def test_an_epsilon_that_is_no_number_is_refused(epsilon):
    with pytest.raises(ParameterError):
        solve("k-rr", k=10, epsilon_local=1.0, delta=1e-6, epsilon=epsilon)
    with pytest.raises(ParameterError):
        clone_curve(epsilon_local=1.0, n=10).delta(epsilon)


def test_delta_never_vanishes_by_underflow():
    assert solve("k-rr", k=10, epsilon_local=0.5, epsilon=0.4, n=10**7).value > 0


def test_people_who_stay_away_are_in_the_assumptions():
    curve = clone_curve(epsilon_local=1.0, n=100, report_probability=0.1)
    assert any("probability at least 0.1" in text for text in curve.assumptions)
