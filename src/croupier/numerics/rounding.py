"""Outward rounding: an upper bound is never below the truth."""

import math
import sys
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_EVEN,
    Context,
    Decimal,
)
from fractions import Fraction

__all__ = ["AtLeast", "AtMost", "ceiling_digits", "exp_enclosure", "float_above", "float_below"]
__all__ += ["delta_text", "floor_digits", "log_above", "nearest_digits"]

_PRECISE = Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)
_SLACK = Fraction(1, 10**50)


def exp_enclosure(exponent: Fraction | float) -> tuple[Fraction, Fraction]:
    """Rational numbers just below and just above e**exponent, 2e-50 apart relatively.

    The exponential of the decimal module is correctly rounded at 60 digits, so the true value lies
    well inside.

    >>> low, high = exp_enclosure(1.0)
    >>> float(low), float(high)
    (2.718281828459045, 2.718281828459045)
    """
    value = Fraction(_PRECISE.exp(_decimal(Fraction(exponent))))
    return value * (1 - _SLACK), value * (1 + _SLACK)


def log_above(value: Fraction) -> float:
    """The least double above ln(value), up to 1e-50 relative to 1 + |ln(value)|.

    >>> log_above(Fraction(1)), log_above(Fraction(3, 2))
    (0.0, 0.4054651081081644)
    """
    if value == 1:
        return 0.0
    logarithm = Fraction(_PRECISE.ln(_decimal(value)))
    return float_above(logarithm + _SLACK * (1 + abs(logarithm)))


def float_above(value: Fraction) -> float:
    """The least double that is at least `value`."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def float_below(value: Fraction) -> float:
    """The greatest double that is at most `value`."""
    return -float_above(-value) + 0.0


def ceiling_digits(value: float, digits: int = 3) -> str:
    """Print an upper bound: `digits` significant digits, rounded up.

    >>> ceiling_digits(0.07551), ceiling_digits(4.0), ceiling_digits(1234.5)
    ('0.0756', '4.00', '1240')
    """
    return _significant(value, digits, ROUND_CEILING)


def delta_text(delta: float | None) -> str:
    """Write a delta as it was set; in three digits, rounded up, where it has more than six.

    None is that of a claim without a delta, 0.

    >>> delta_text(1e-8), delta_text(1.2345649e-7)
    ('1e-08', '1.24e-7')
    """
    delta = delta or 0.0
    text = f"{delta:g}"
    return text if float(text) >= delta else ceiling_digits(delta)


def floor_digits(value: float, digits: int = 3) -> str:
    """Print a lower bound: `digits` significant digits, rounded down.

    >>> floor_digits(0.07559), floor_digits(3999.9)
    ('0.0755', '3990')
    """
    return _significant(value, digits, ROUND_FLOOR)


def nearest_digits(value: float, digits: int = 3) -> str:
    """Print a point: `digits` significant digits, rounded to nearest.

    >>> nearest_digits(0.34882905), nearest_digits(9.999)
    ('0.349', '10.0')
    """
    return _significant(value, digits, ROUND_HALF_EVEN)


class AtMost(float):
    """An upper bound, which people read rounded up.

    >>> AtMost(0.07551), AtMost(0.07551).shown
    (0.07551, '0.0756')
    """

    __slots__ = ()

    @property
    def shown(self) -> str:
        """Three digits, rounded up."""
        return ceiling_digits(self)


class AtLeast(float):
    """A lower bound, which people read rounded down.

    >>> AtLeast(0.07559).shown
    '0.0755'
    """

    __slots__ = ()

    @property
    def shown(self) -> str:
        """Three digits, rounded down."""
        return floor_digits(self)


def _decimal(value: Fraction) -> Decimal:
    return _PRECISE.divide(Decimal(value.numerator), Decimal(value.denominator))


def _significant(value: float, digits: int, rounding: str) -> str:
    if not math.isfinite(value):
        return str(value)
    exact = Decimal(value)
    if exact == 0:
        return "0"
    rounded = exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), rounding=rounding)
    if rounded.adjusted() > exact.adjusted():
        rounded = rounded.quantize(Decimal(1).scaleb(rounded.adjusted() - digits + 1))
    return f"{rounded:.{digits}g}" if abs(rounded) < Decimal("1e-4") else f"{rounded:f}"
