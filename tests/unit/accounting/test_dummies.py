"""Epsilon from dummies: sharp whatever the guess in floating point, and the guess is a good one."""

from fractions import Fraction

import pytest

from croupier.accounting.dummies import DummyCurve, DummyFloor
from croupier.numerics.rounding import float_above
from croupier.shufflers.dummies import DummyTable

MADE = DummyTable.two_sided_geometric(epsilon=0.3, delta=1e-6)
UNEVEN = DummyTable((3, 0, 5, 9, 2, 7, 7, 1))
CURVES = {
    "plain": DummyCurve(MADE),
    "sampled": DummyCurve(MADE, keep=Fraction(3, 4)),
    "noisy": DummyCurve(MADE, distance=0.4),
    "floor": DummyFloor(MADE),
    "noisy floor": DummyFloor(MADE, own=Fraction(3, 4), other=Fraction(1, 20)),
    "uneven": DummyFloor(UNEVEN),
}


@pytest.mark.parametrize("chances", [(1, 0), (0.75, 0), (0.75, 0.125), (0.5, 0.5)])
@pytest.mark.parametrize("table", [MADE, UNEVEN], ids=["made", "uneven"])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.3, 1.0, 5.0])
def test_the_guess_is_near_the_exact_value(table, chances, epsilon):
    own, other = map(Fraction, chances)
    exact = table.delta(epsilon, own=own, other=other)[1]
    assert table.rough_delta(epsilon, own=own, other=other) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("guess", [0.0, 1.0, 1e-7])
@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_a_wrong_guess_changes_nothing(curve, guess, monkeypatch):
    delta = 0.3 if curve.table == UNEVEN else 1e-6
    expected = curve.epsilon(delta)
    monkeypatch.setattr(DummyTable, "rough_delta", lambda *_, **__: guess)
    assert curve.epsilon(delta) == pytest.approx(expected, rel=2e-9)


@pytest.mark.parametrize("delta", [1e-14, 1e-9, 1e-6, 1e-3])
def test_both_ends_meet(delta):
    upper, lower = DummyCurve(MADE).epsilon(delta), DummyFloor(MADE).epsilon(delta)
    assert lower <= upper <= lower * (1 + 2e-6)
    if upper < 50:
        assert float_above(MADE.delta(upper)[1]) <= delta < MADE.delta(lower)[0]
