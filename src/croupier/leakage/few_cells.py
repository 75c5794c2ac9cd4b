"""The expected maximum load of one, two and three cells, in closed form or O(sqrt n)."""

import math

import numpy as np

from croupier.leakage.binomial import binomial_pmf, central_binomial

__all__ = ["three_cells", "two_cells"]

_DEVIATIONS = 11.0
"""Standard deviations of one cell beyond which nothing is summed: less than 1e-26 is left."""


def two_cells(n: int) -> float:
    """E max(X, n - X) for X ~ Bin(n, 1/2): n/2 + n C(2m, m) / 2^(2m+1), m = floor(n/2).

    Reference: jurado2023, Theorem 17, whose C(n-1, floor((n-1)/2)) / 2^n is the same number.

    >>> two_cells(3)
    2.25
    """
    return n / 2 + n * central_binomial(n // 2) / 2


def three_cells(n: int) -> float:
    """E of the fullest of three cells, by summing over the O(sqrt n) loads that it may have.

    With b(m) = P(Bin(n, 1/3) = m), W(m) the chance that neither of the other two cells exceeds m
    and t(m) = P(Bin(n-m, 1/2) = m) that a given one of them equals it, inclusion and exclusion give

        P(max = m) = b(m) [3 W(m) - 3 t(m) + t(m) [n = 3m]],   m >= n/3,
        W(m+1) = W(m) + P(Bin(n-m-1, 1/2) = m) + 2 t(m+1),

    so that W is a sum of positive terms.

    >>> three_cells(5)
    2.77777777777777...
    """
    least = -(-n // 3)
    most = min(n, least + math.ceil(_DEVIATIONS * math.sqrt(2 * n / 9)) + 60)
    load = np.arange(least, most + 1, dtype=np.float64)
    tie = binomial_pmf(load, n - load, success=0.5)
    within = np.empty_like(load)
    within[0] = _neither_exceeds(n, least)
    within[1:] = binomial_pmf(load[:-1], n - load[:-1] - 1, success=0.5) + 2 * tie[1:]
    np.cumsum(within, out=within)
    # From n/2 on the others cannot exceed m, and the recurrence would count beyond the last cell.
    np.minimum(within, 1.0, out=within)
    within[2 * load >= n] = 1.0
    law = binomial_pmf(load, n, success=1 / 3, failure=2 / 3) * (3 * within - 3 * tie)
    if n == 3 * least:
        law[0] += float(binomial_pmf(least, n, success=1 / 3, failure=2 / 3) * tie[0])
    return least + float((load - least) @ law) / float(law.sum())


def _neither_exceeds(n: int, least: int) -> float:
    """W(ceil(n/3)): the 1 to 3 splits of the other balls in which both parts are small enough."""
    others = n - least
    splits = np.arange(others - least, least + 1)
    return float(binomial_pmf(splits, others, success=0.5).sum())
