"""The least mu: above the exact curve everywhere, and no larger than need be."""

import math
from itertools import combinations_with_replacement, permutations, product

import mpmath
import numpy as np
import pytest

from croupier.accounting.blanket import local_curve, upper_curve
from croupier.accounting.clones import clone_curve
from croupier.accounting.composition import BoundedCurve
from croupier.accounting.gaussian import gaussian_delta, gaussian_dp
from croupier.accounting.trade_off import trade_off
from croupier.errors import ParameterError
from croupier.randomizers import KaryRandomizedResponse

DENSE = 2000
CASES = [(2, 1.0, 3), (2, 3.0, 5), (3, 1.0, 4), (3, 2.0, 3), (2, 0.2, 6)]


def _laws(k, epsilon_local, n):
    """The laws of the histogram for two values of one person, over all others, exactly listed."""
    rows = KaryRandomizedResponse(k=k, max_epsilon_local=epsilon_local).channel().probabilities
    for others in combinations_with_replacement(range(k), n - 1):
        laws = []
        for own in range(k):
            law = {}
            for outputs in product(range(k), repeat=n):
                chance = math.prod(rows[x][y] for x, y in zip((own, *others), outputs, strict=True))
                key = tuple(sorted(outputs))
                law[key] = law.get(key, 0.0) + chance
            laws.append(np.array([law[key] for key in sorted(law)]))
        yield from permutations(laws, 2)


def _gaussian(epsilon, mu):
    with mpmath.workdps(60):
        epsilon, mu = mpmath.mpf(epsilon), mpmath.mpf(mu)
        first, second = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
        return mpmath.ncdf(first) - mpmath.exp(epsilon) * mpmath.ncdf(second)


@pytest.mark.parametrize(("k", "epsilon_local", "n"), CASES)
def test_the_gaussian_curve_is_above_the_exact_one(k, epsilon_local, n):
    mechanism = KaryRandomizedResponse(k=k, max_epsilon_local=epsilon_local)
    mu = gaussian_dp(upper_curve(mechanism, n=n))
    epsilons = np.linspace(-epsilon_local, epsilon_local, DENSE)
    gaussian = np.array([gaussian_delta(abs(e), mu) for e in epsilons])
    below = epsilons < 0  # D(a) = 1 - a + a D(1/a)
    ratios = np.exp(epsilons)
    gaussian[below] = (1 - ratios + ratios * gaussian)[below]
    for first, second in _laws(k, epsilon_local, n):
        exact = np.maximum(first - ratios[:, None] * second, 0).sum(axis=1)
        assert (gaussian >= exact - 1e-14).all()


@pytest.mark.parametrize(
    "curve",
    [
        *(upper_curve(KaryRandomizedResponse(k=k, max_epsilon_local=e), n=n) for k, e, n in CASES),
        upper_curve(KaryRandomizedResponse(k=10, max_epsilon_local=4.0), n=100_000),
        clone_curve(epsilon_local=2.0, n=10_000),
    ],
)
def test_a_smaller_mu_is_below_the_proved_curve_somewhere(curve):
    mu = gaussian_dp(curve)
    less = mu * (1 - 2e-2)
    epsilons = np.linspace(0, curve.epsilon_local, DENSE // 8, endpoint=False)
    logs = [curve.log_delta(float(e)) for e in epsilons]
    assert any(log > mpmath.log(_gaussian(e, less)) for e, log in zip(epsilons, logs, strict=True))
    assert all(log <= mpmath.log(_gaussian(e, mu)) for e, log in zip(epsilons, logs, strict=True))


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 12.0])
def test_two_answers_with_known_sender_have_a_closed_form(epsilon):
    # The trade-off curve of epsilon-DP has one corner, at 1/(1 + e^epsilon) in both errors.
    with mpmath.workdps(40):
        corner = 1 / (1 + mpmath.exp(epsilon))
        exact = 2 * mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * corner)
    mechanism = KaryRandomizedResponse(k=2, max_epsilon_local=epsilon)
    found = gaussian_dp(local_curve(mechanism))
    local = mechanism.epsilon_local
    assert found >= exact * (1 - 1e-12) or local < epsilon
    assert found == pytest.approx(float(exact), rel=1e-5)


def test_rounds_compose_by_the_root_of_their_number():
    curve = upper_curve(KaryRandomizedResponse(k=2, max_epsilon_local=1.0), n=100)
    assert gaussian_dp(curve, rounds=9) == pytest.approx(3 * gaussian_dp(curve), rel=1e-12)
    assert gaussian_dp(curve, rounds=9) >= 3 * gaussian_dp(curve) * (1 - 1e-15)


def test_a_curve_that_does_not_go_to_zero_has_no_mu():
    assert (
        gaussian_dp(
            BoundedCurve(lambda epsilons, _: np.full(epsilons.shape, math.log(1e-9)), math.inf)
        )
        == math.inf
    )


def test_a_curve_that_begins_at_one_has_no_mu():
    whole = BoundedCurve(lambda epsilons, _: np.where(epsilons < 1, 0.0, -math.inf), 2.0)
    assert gaussian_dp(whole) == math.inf


def test_a_curve_of_no_loss_has_mu_zero():
    assert (
        gaussian_dp(BoundedCurve(lambda epsilons, _: np.full(epsilons.shape, -math.inf), 0.0))
        == 0.0
    )


def test_a_plateau_far_out_still_has_a_mu():
    low = math.log(1e-9)
    flat = BoundedCurve(lambda epsilons, _: np.where(epsilons < 900, low, -math.inf), 900.0)
    mu = gaussian_dp(flat)
    assert math.isfinite(mu)
    assert gaussian_delta(899.0, mu) >= 1e-9 * -math.expm1(-1)  # the chord: delta is convex


@pytest.mark.parametrize(("epsilon", "mu"), [(0.0, 0.01), (0.3, 0.02), (1.0, 1.0), (20.0, 5.0)])
def test_the_gaussian_delta_is_that_of_sixty_digits(epsilon, mu):
    assert gaussian_delta(epsilon, mu) == pytest.approx(float(_gaussian(epsilon, mu)), rel=1e-9)


def test_a_mu_must_be_positive():
    with pytest.raises(ParameterError, match="above 0"):
        gaussian_delta(1.0, 0.0)


@pytest.mark.parametrize(("k", "epsilon_local", "n"), CASES)
def test_the_trade_off_is_below_the_exact_one(k, epsilon_local, n):
    curve = upper_curve(KaryRandomizedResponse(k=k, max_epsilon_local=epsilon_local), n=n)
    proved = trade_off(
        lambda points: map(curve.delta, points), most=curve.epsilon_local, mu=gaussian_dp(curve)
    )
    assert proved[0] == (0.0, 1.0)
    for first, second in _laws(k, epsilon_local, n):
        order = np.argsort(-first / second)
        alarms = np.concatenate([[0.0], np.cumsum(second[order])])
        misses = 1 - np.concatenate([[0.0], np.cumsum(first[order])])
        for rate, least in proved:
            assert least <= np.interp(rate, alarms, misses) + 1e-12
            assert least <= 1 - rate + 1e-12


def test_the_trade_off_needs_no_mu():
    proved = dict(trade_off(lambda points: [1e-9] * len(points), most=math.inf, rates=(0.0, 0.5)))
    assert proved[0.0] == 0.9999
    with pytest.raises(ParameterError, match="rates"):
        trade_off(lambda points: [0.0] * len(points), most=1.0, rates=(1.5,))
