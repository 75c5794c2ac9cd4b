"""Bounds of tail probabilities under a uniform order, valid at every size."""

import math
from collections.abc import Callable
from functools import lru_cache

__all__ = ["board_tail", "hypergeometric_tail", "least_found", "sorted_tail"]

_OUTWARD = 1 + 1e-6
"""An allowance for the rounding of logarithms of factorials up to 10^8."""
_MOST = 1 << 40


def board_tail(count: int, *, mean: float) -> float:
    """Bound the chance of so many reports on a board: places that are allowed, report by report.

        P(X >= s) <= mu^(s-k) k!/s!,  k = floor(mu) < s

    where X is the number of reports of a uniform order that get a place allowed to them, s is
    `count` and mu = E X is `mean`. With r_j the ways to give j reports allowed places of their own,
    E C(X, j) = r_j (m-j)!/m!. The polynomial with coefficients r_j has only real zeros (Heilmann
    and Lieb), so that r_j <= C(m, j) (r_1/m)^j by Newton's inequalities, and
    E C(X, j) <= mu^j/j!. Then P(X >= s) <= E C(X, j)/C(s, j), least at j = s - k.

    The same holds for a sum over independent orders, with the sum of the means: the binomial
    moments of a sum are at most those of the sum of the bounds, (sum of mu)^j/j!.

    Direction: upper.
    Reference: heilmann1972, where the zeros of matching polynomials are shown to be real.

    >>> board_tail(3, mean=1.0) >= 1 / 6
    True
    """
    least = math.floor(mean)
    if count <= least:
        return 1.0
    if mean <= 0:
        return 0.0
    exponent = (count - least) * math.log(mean) + math.lgamma(least + 1) - math.lgamma(count + 1)
    return min(1.0, math.exp(exponent) * _OUTWARD)


@lru_cache(maxsize=1 << 16)
def hypergeometric_tail(count: int, *, reports: int, marked: int, drawn: int) -> float:
    """Bound the chance that `count` or more of `drawn` reports are among the `marked` ones.

    Direction: upper.
    """
    from scipy.stats import hypergeom  # noqa: PLC0415 - slow to load

    return min(1.0, float(hypergeom.sf(count - 1, reports, marked, drawn)) * _OUTWARD)


def sorted_tail(count: int, *, reports: int) -> float:
    """Bound the chance that so many of a uniform order stand in rising order: C(m, s)/s!.

    Each of C(m, s) choices of s reports is in order with probability 1/s!.

    Direction: upper.
    """
    if count > reports:
        return 0.0
    ways = math.lgamma(reports + 1) - math.lgamma(reports - count + 1) - math.lgamma(count + 1)
    return min(1.0, math.exp(min(0.0, ways - math.lgamma(count + 1))) * _OUTWARD)


def least_found(chance: Callable[[int], float], *, level: float, start: float) -> int:
    """Find the least count, above the expected one, whose chance is at most `level`."""
    low = max(0, math.ceil(start) - 1)
    step = 1
    while chance(low + step) > level and step < _MOST:
        step *= 2
    high = low + step
    low += step // 2
    while high - low > 1:
        middle = (low + high) // 2
        if chance(middle) > level:
            low = middle
        else:
            high = middle
    return high
