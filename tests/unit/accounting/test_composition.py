"""Rounds of fresh noise."""

import math
import sys
from itertools import product

import numpy as np
import pytest

from croupier.accounting.blanket import local_curve, upper_curve
from croupier.accounting.clones import clone_curve, stronger_clone_curve
from croupier.accounting.composition import (
    LossDistribution,
    basic_epsilon,
    composed_epsilon,
    renyi,
    subsampled,
)
from croupier.errors import MissingExtraError, ParameterError
from croupier.randomizers import randomizer


def _curve(bound, epsilon_local, n):
    if bound == "stronger":
        return stronger_clone_curve(randomizer("k-rr", k=2, max_epsilon_local=epsilon_local), n=n)
    return clone_curve(epsilon_local=epsilon_local, n=n)


@pytest.mark.parametrize("points", [1000, 300, 37])
@pytest.mark.parametrize("epsilon_local", [0.1, 2.0, 9.0, 20.0])
def test_two_rounds_of_one_report(epsilon_local, points):
    """All that is lost is in the last step of the grid, and curves may be rounded up there."""
    curve = local_curve(randomizer("k-rr", k=2, max_epsilon_local=epsilon_local))
    law = LossDistribution.dominating(
        lambda epsilons: np.minimum(0.0, curve.log_deltas(epsilons) + 1e-6),
        most=epsilon_local,
        tail=1e-13,
        points=points,
    )
    assert law.infinite <= 2e-13
    twice = law.after(2)
    lie = 1 / (1 + math.exp(epsilon_local))
    for epsilon in (0.0, epsilon_local / 2, epsilon_local, 1.5 * epsilon_local):
        truth = (1 - lie) ** 2 - math.exp(epsilon) * lie**2
        assert (
            truth
            <= twice.deltas(np.array([epsilon]))[0]
            <= truth * (1 + 4 * epsilon_local / points) + 1e-5
        )


@pytest.mark.slow
def test_rounds_of_the_side_channel_paper(golden_composed):
    case = golden_composed
    curve = _curve(case["bound"], case["epsilon_local"], case["n"])
    for rounds, epsilon, tolerance in zip(
        case["rounds"], case["epsilon"], case["tolerance"], strict=True
    ):
        found = composed_epsilon(curve, rounds=rounds, delta=case["delta"])
        assert epsilon - tolerance <= found <= epsilon + tolerance
        assert found <= basic_epsilon(curve, rounds=rounds, delta=case["delta"])


@pytest.mark.slow
@pytest.mark.parametrize(("delta", "printed"), [(1e-5, (0.0367, 0.129)), (1e-8, (0.0593, 0.194))])
def test_subsampling_costs_more_than_printed(delta, printed):
    """The printed values compose one direction only, which does not dominate."""
    inner = _curve("stronger", 2.0, 1000)
    share = 1 / 60
    curve = subsampled(inner.log_deltas, share)
    for epochs, value in zip((1, 10), printed, strict=True):
        rounds = 60 * epochs
        law = LossDistribution.dominating(
            curve, most=math.log1p(share * math.expm1(2.0)), tail=1e-5 * delta / rounds
        )
        assert value < law.after(rounds).epsilon(delta) < 1.05 * value


def _two_round_worst(first, second, epsilon):
    """Exact divergence of two rounds of the pairs (first, second), both as (P, Q) rows."""
    gaps = [
        p1 * p2 - math.exp(epsilon) * q1 * q2
        for (p1, q1), (p2, q2) in product(zip(*first, strict=True), zip(*second, strict=True))
    ]
    return sum(max(gap, 0.0) for gap in gaps)


def test_two_subsampled_rounds_in_opposite_directions_are_dominated():
    share, epsilon = 0.05, 0.05
    high = math.e / (1 + math.e)
    p, q = np.array([high, 1 - high]), np.array([1 - high, high])
    mixed = (1 - share) * q + share * p
    other = (1 - share) * p + share * q
    truth = max(
        _two_round_worst(one, two, epsilon)
        for one, two in product([(mixed, q), (q, mixed), (other, p), (p, other)], repeat=2)
    )
    one_way = _two_round_worst((mixed, q), (mixed, q), epsilon)
    assert truth == pytest.approx(0.01334, abs=1e-5)
    assert one_way == pytest.approx(0.00938, abs=1e-5)

    def local(loss):
        return np.log(np.maximum(high - np.exp(loss) * (1 - high), 1e-300))

    law = LossDistribution.dominating(
        subsampled(local, share), most=math.log1p(share * math.expm1(1.0)), tail=1e-9
    )
    composed = law.after(2).epsilon(truth)
    assert composed >= epsilon
    assert composed <= epsilon * 1.5


def test_composition_dominates_two_enumerated_rounds():
    """Two batches of three people, 2-RR, everything listed."""
    response = randomizer("k-rr", k=2, max_epsilon_local=1.0)
    high = float(response.levels[0])
    others = np.array([high**2, 2 * high * (1 - high), (1 - high) ** 2])  # both hold 0: ones
    one = np.convolve(others, [1 - high, high])
    zero = np.convolve(others, [high, 1 - high])
    curve = upper_curve(response, n=3)
    for delta in (0.3, 0.1, 0.03):
        epsilon = composed_epsilon(curve, rounds=2, delta=delta)
        for first, second in product([(one, zero), (zero, one)], repeat=2):
            assert _two_round_worst(first, second, epsilon) <= delta


def test_renyi_orders(golden_renyi_stronger_clones):
    case = golden_renyi_stronger_clones
    curve = _curve("stronger", float(case["eps0"]), case["n"])
    for order, value in list(zip(case["orders"], case["rdp"], strict=True))[::2]:
        found = renyi(curve, order)
        assert value * (1 - 1e-7) <= found <= value * (1 + 1e-3)


def test_one_round_is_the_curve_itself():
    curve = clone_curve(epsilon_local=1.0, n=100)
    assert composed_epsilon(curve, rounds=1, delta=1e-6) == curve.epsilon(1e-6)


def test_never_above_the_sum_of_local_epsilons():
    curve = clone_curve(epsilon_local=0.5, n=2)
    assert composed_epsilon(curve, rounds=3, delta=1e-9) <= 1.5


def test_without_dp_accounting_the_error_is_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", None)
    with pytest.raises(MissingExtraError, match=r"\.\[composition\]"):
        composed_epsilon(clone_curve(epsilon_local=1.0, n=100), rounds=2, delta=1e-6)


@pytest.mark.parametrize(("rounds", "delta"), [(0, 1e-6), (2, 0.0), (2, 1.0)])
def test_impossible_rounds_are_refused(rounds, delta):
    curve = clone_curve(epsilon_local=1.0, n=100)
    for compose in (composed_epsilon, basic_epsilon):
        with pytest.raises(ParameterError):
            compose(curve, rounds=rounds, delta=delta)
    with pytest.raises(ParameterError):
        renyi(curve, 1.0)
    with pytest.raises(ParameterError):
        subsampled(curve.log_deltas, 0.0)
