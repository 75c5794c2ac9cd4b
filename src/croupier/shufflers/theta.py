"""Theta: how close a Mallows order stays to its reference, and how many people are near in it."""

import math
from fractions import Fraction

from croupier.errors import ParameterError
from croupier.numerics.rounding import float_below
from croupier.numerics.validate import number_given, whole_number

__all__ = ["LEAST_THETA", "checked_theta", "most_crowd", "theta_for"]

LEAST_THETA = 2.0**-56
"""The theta below which the digits of a geometric number no longer fit a word."""

_STILL = 300.0
"""The theta beyond which e^-theta counts as nothing."""


def checked_theta(theta: float) -> None:
    """Refuse a theta whose law cannot be drawn exactly."""
    if math.isnan(theta) or theta < 0:
        raise ParameterError("theta", must="be at least 0", got=theta)
    if 0 < theta < LEAST_THETA:
        raise ParameterError(
            "theta", must="be 0 or at least 2**-56", got=theta, hint="0 is the uniform order."
        )


def theta_for(alpha: float, sensitivity: int) -> float:
    """The largest theta whose guarantee is `alpha`: alpha / sensitivity, rounded down.

    Zero, a uniform order, if that is too small to be drawn exactly. Infinite, so that nothing is
    shuffled, if nobody has anybody to exchange with.

    >>> theta_for(1.0, 13)
    0.07692307692307691
    """
    alpha = number_given("alpha", alpha)
    sensitivity = whole_number("sensitivity", sensitivity, least=0)
    if sensitivity == 0 or math.isinf(alpha):
        return math.inf
    theta = float_below(Fraction(alpha) / sensitivity)
    return theta if theta >= LEAST_THETA else 0.0


def most_crowd(*, n: int, theta: float) -> float:
    """Compute the crowd of the first of n people who fill the reference order.

        1 + sum over d < n of e^(-theta (2 d - 1)) = 1 + (1 - e^(-2 theta (n - 1))) / (2 sinh theta)

    Crowds are those of `croupier.shufflers.order_crowd`. If everybody is present, nobody's is
    smaller; whoever is present, the first of n people has none that is larger.

    Direction: exact, up to rounding.

    Example:
        >>> round(most_crowd(n=1_500, theta=4 / 486), 2), most_crowd(n=7, theta=0.0)
        (61.75, 7.0)
    """
    number = whole_number("n", n, least=1)
    checked_theta(theta)
    if theta == 0:
        return float(number)
    if theta > _STILL:
        return 1.0
    return 1 - math.expm1(-2 * theta * (number - 1)) / (2 * math.sinh(theta))
