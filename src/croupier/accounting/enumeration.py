"""The expected positive part of a sum of few contributing terms, by listing their counts."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from croupier.accounting.positive_part import CANCELLATION, LogBounds, Real, Terms

__all__ = ["enumerate_bounds"]

_ROUNDING = 1e-13
"""Relative allowance per factor of the multinomial coefficient."""


def enumerate_bounds(
    terms: Terms, n: int, *, rtol: float = 1e-6, most_cells: int
) -> LogBounds | None:
    """Enclose log E[(G_1 + … + G_n)_+] by listing how often each value occurs.

    Terms that are zero need no listing, so it suffices to list up to c others; more than that add
    at most max(values) * E[C; C > c] = max(values) * n g P(Bin(n-1, g) >= c), g = sum(weights).

    Direction: the upper bound adds that remainder and the rounding allowance; None if the list
    would be longer than `most_cells`.
    """
    listed = _listed(terms, n, rtol, most_cells)
    if listed is None:
        return None
    weights, values, rest = terms.weights, terms.values, terms.rest
    counts = _compositions(listed, len(values))
    total = counts.sum(axis=1)
    if rest == 0:
        counts, total = counts[total == n], total[total == n]
    falling = np.concatenate([[0.0], np.cumsum(np.log(n - np.arange(listed, dtype=np.float64)))])
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1.0, listed + 1)))])
    log_chance = falling[total] - factorials[counts].sum(axis=1) + counts @ np.log(weights)
    if rest > 0:
        log_chance += (n - total) * terms.log_rest
    sums = counts @ values
    slack = counts @ (CANCELLATION * terms.sizes / weights)
    allowance = _ROUNDING * (listed + 40)
    log_rest = -math.inf
    if listed < n:
        chance = min(1.0, float(weights.sum()))
        more = n * chance * _at_least(listed, n - 1, chance)
        log_rest = math.log(more * float(values.max())) if more > 0 else -math.inf
    upper = float(np.logaddexp(_log_mean(log_chance, sums + slack), log_rest))
    return LogBounds(_log_mean(log_chance, sums - slack) - allowance, upper + allowance)


def _log_mean(log_chance: Real, sums: Real) -> float:
    """Log of the expectation of the positive sums."""
    positive = sums > 0
    logs = log_chance[positive] + np.log(sums[positive])
    if not len(logs):
        return -math.inf
    return float(logs.max()) + math.log(math.fsum(np.exp(logs - logs.max())))


def _listed(terms: Terms, n: int, rtol: float, most_cells: int) -> int | None:
    """The number of contributing terms to list so that the rest is negligible; None if too many."""
    chance = min(1.0, float(terms.weights.sum()))
    mean = n * chance
    # The value of one contributing term alone: a floor of the result.
    floor = float(terms.weights @ np.maximum(terms.values, 0)) * math.exp(-min(mean, 600.0))
    top = float(terms.values.max())
    classes = len(terms.values)
    for listed in range(1, n + 1):
        if math.comb(listed + classes, classes) > most_cells:
            return None
        if terms.rest > 0 and listed > mean:
            more = chance * _at_least(listed, n - 1, chance) * top
            if more < 0.01 * rtol * floor:
                return listed
    return n


def _at_least(count: int, trials: int, chance: float) -> float:
    """P(Bin(trials, chance) >= count), with 1e-10 to spare; scipy's bdtrc fails above 2**31."""
    from scipy import special  # noqa: PLC0415 - slow to import, and for small batches only

    if count > trials:
        return 0.0
    return float(special.betainc(count, trials - count + 1, chance)) * (1 + 1e-10)


@lru_cache(maxsize=16)
def _compositions(most: int, classes: int) -> NDArray[np.int64]:
    """All rows of `classes` counts that add up to at most `most`."""
    counts = np.zeros((1, 0), dtype=np.int64)
    left = np.array([most])
    for _ in range(classes):
        choices = left + 1
        rows = np.repeat(np.arange(len(left)), choices)
        count = np.arange(choices.sum()) - np.repeat(np.cumsum(choices) - choices, choices)
        counts = np.hstack([counts[rows], count[:, None]])
        left = left[rows] - count
    return counts
