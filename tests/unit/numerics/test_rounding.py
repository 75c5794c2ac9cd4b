import math
from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from croupier.numerics.rounding import (
    ceiling_digits,
    exp_enclosure,
    float_above,
    float_below,
    floor_digits,
    log_above,
)

ORACLE = mpmath.MPContext()
ORACLE.dps = 200

exponents = st.floats(-700, 700) | st.fractions(-700, 700, max_denominator=1 << 70)
ratios = st.builds(Fraction, st.integers(1, 1 << 70), st.integers(1, 1 << 70))
close_to_one = st.integers(1, 1 << 64).map(lambda n: Fraction(n + 1, n))
rationals = st.builds(Fraction, st.integers(-(10**300), 10**300), st.integers(1, 10**330))
finite = st.floats(allow_nan=False, allow_infinity=False).filter(bool)


def oracle(value):
    fraction = Fraction(value)
    return ORACLE.mpf(fraction.numerator) / fraction.denominator


@settings(deadline=None)
@given(exponents)
@example(0.0)
@example(5e-324)
@example(Fraction(1, 3))
def test_exp_lies_strictly_inside_a_narrow_enclosure(exponent):
    low, high = exp_enclosure(exponent)
    assert oracle(low) < ORACLE.exp(oracle(exponent)) < oracle(high)
    assert (high - low) / low < Fraction(1, 10**49)


@settings(deadline=None)
@given(ratios | close_to_one)
@example(Fraction(10**400))
@example(Fraction(1, 10**400))
@example(Fraction((1 << 64) + 1, 1 << 64))
def test_log_above_is_the_least_double_above(ratio):
    above = log_above(ratio)
    truth = ORACLE.log(oracle(ratio))
    assert oracle(above) >= truth
    assert oracle(math.nextafter(above, -math.inf)) < truth + ORACLE.mpf("1e-45")


def test_log_of_one_is_zero_exactly():
    assert log_above(Fraction(7, 7)) == 0.0


@settings(deadline=None)
@given(rationals | finite.map(Fraction))
@example(Fraction(0))
@example(Fraction(1, 10**400))
@example(-Fraction(1, 10**400))
@example(Fraction(1, 10))
@example(1 + Fraction(1, 1 << 53))
def test_float_above_and_below_are_the_nearest_doubles_outside(value):
    above, below = float_above(value), float_below(value)
    assert math.nextafter(above, -math.inf) < value <= above
    assert below <= value < math.nextafter(below, math.inf)


@settings(deadline=None)
@given(finite)
def test_a_double_is_its_own_bound(value):
    assert float_above(Fraction(value)) == value == float_below(Fraction(value))


def unit(value, digits=3):
    """One unit of the last digit that is printed."""
    return Fraction(10) ** (Decimal(value).adjusted() - digits + 1)


@settings(deadline=None)
@given(finite, st.integers(1, 6))
@example(1e-12, 3)
@example(9.999, 3)
@example(5e-324, 3)
@example(1.7976931348623157e308, 3)
def test_printed_bounds_are_outside_by_less_than_a_unit(value, digits):
    exact = Fraction(value)
    high = Fraction(ceiling_digits(value, digits))
    low = Fraction(floor_digits(value, digits))
    assert exact <= high < exact + unit(value, digits)
    assert exact - unit(value, digits) < low <= exact


@settings(deadline=None)
@given(finite)
def test_printed_bounds_have_three_significant_digits(value):
    for text in (ceiling_digits(value), floor_digits(value)):
        assert len(Decimal(text).normalize().as_tuple().digits) <= 3


@pytest.mark.parametrize(
    ("value", "ceiling", "floor"),
    [
        (0.0, "0", "0"),
        (-0.0, "0", "0"),
        (math.inf, "inf", "inf"),
        (4.0, "4.00", "4.00"),
        (0.07551, "0.0756", "0.0755"),
        (0.125, "0.125", "0.125"),
        (1.0000000000000002, "1.01", "1.00"),
        (123456.0, "124000", "123000"),
        (1e22, "10000000000000000000000", "10000000000000000000000"),
        (1e-4, "0.000101", "0.000100"),
        (3.215e-9, "3.22e-9", "3.21e-9"),
        (1e-12, "1.00e-12", "9.99e-13"),
        (-1.2345, "-1.23", "-1.24"),
    ],
)
def test_printed_bounds(value, ceiling, floor):
    assert (ceiling_digits(value), floor_digits(value)) == (ceiling, floor)
