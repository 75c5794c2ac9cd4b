"""The exact divergence of two laws, from integer weights alone.

Nothing here comes from the package under test. A law maps outcomes to integer weights; the weights
of all compared laws have the same sum.
"""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, combinations_with_replacement, permutations
from typing import Any

import mpmath  # type: ignore[import-untyped]

__all__ = ["Law", "Pair", "Rows", "add_report", "exp_between", "histogram_law", "histogram_pairs"]
__all__ += ["merged", "worst_delta"]

Law = Mapping[Any, int]
Rows = Sequence[Sequence[int]]

_DIGITS = 150
_KEY = 96
"""Bits of the likelihood ratios by which outcomes are sorted; equal ones are compared exactly."""


@lru_cache(maxsize=100_000)
def exp_between(exponent: float) -> tuple[Fraction, Fraction]:
    """Two fractions strictly around e^exponent, equal in the first hundred digits."""
    with mpmath.workdps(_DIGITS):
        value = mpmath.exp(mpmath.mpf(exponent))
        near = Fraction(int(value.man)) * Fraction(2) ** int(value.exp)
    width = Fraction(1, 10 ** (_DIGITS - 10))
    return near * (1 - width), near * (1 + width)


class Pair:
    """Two laws of outcomes, one for each of two values; the first against the second."""

    def __init__(self, first: Law, second: Law, total: int) -> None:
        weights = [(p, second.get(seen, 0)) for seen, p in first.items() if p]
        keyed = sorted(((_ratio(p, q), p, q) for p, q in weights), reverse=True)
        self.total = total
        self.weights = [(p, q) for _, p, q in keyed]
        self._falling = [-key for key, _, _ in keyed]
        self._first = [0, *accumulate(p for _, p, _ in keyed)]
        self._second = [0, *accumulate(q for _, _, q in keyed)]

    def excess(self, ratio: Fraction) -> int:
        """The sum of (p - ratio q)_+, times the total and the denominator of the ratio."""
        up, down = ratio.numerator, ratio.denominator
        key = (up << _KEY) // down
        place = bisect_left(self._falling, -key)  # before: certainly likelier than the ratio
        found = self._first[place] * down - self._second[place] * up
        for p, q in self.weights[place:]:
            if _ratio(p, q) < key:
                break
            found += max(0, p * down - q * up)
        return found

    def delta(self, ratio: Fraction) -> Fraction:
        """The hockey-stick divergence at e^epsilon = ratio."""
        return Fraction(self.excess(ratio), self.total * ratio.denominator)


def _ratio(p: int, q: int) -> int:
    return (p << _KEY) // q if q else 1 << 100_000


def worst_delta(pairs: Iterable[Pair], ratio: Fraction) -> Fraction:
    """The largest divergence; all pairs have the same total."""
    listed = list(pairs)
    most = max(pair.excess(ratio) for pair in listed)
    return Fraction(most, listed[0].total * ratio.denominator)


def add_report(law: Mapping[tuple[int, ...], int], row: Sequence[int]) -> dict[Any, int]:
    """The law of the histogram with one more report."""
    grown: dict[tuple[int, ...], int] = {}
    for counts, weight in law.items():
        for report, chance in enumerate(row):
            if chance:
                seen = (*counts[:report], counts[report] + 1, *counts[report + 1 :])
                grown[seen] = grown.get(seen, 0) + weight * chance
    return grown


def histogram_law(rows: Rows, data: Iterable[int]) -> dict[Any, int]:
    """The weight of each histogram of reports if people hold `data`."""
    law: dict[Any, int] = {(0,) * len(rows[0]): 1}
    for value in data:
        law = add_report(law, rows[value])
    return law


def histogram_pairs(rows: Rows, n: int) -> list[Pair]:
    """Every dataset of n - 1 others and every ordered pair of values of the one person."""
    total = sum(rows[0]) ** n
    values = range(len(rows))
    found = []
    for others in combinations_with_replacement(values, n - 1):
        base = histogram_law(rows, others)
        laws = [add_report(base, row) for row in rows]
        found += [Pair(laws[a], laws[b], total) for a, b in permutations(values, 2)]
    return found


def merged(rows: Rows) -> list[list[int]]:
    """The same law with reports merged that say the same about every value."""
    kinds: dict[tuple[Fraction, ...], list[int]] = {}
    for weights in zip(*rows, strict=True):
        total = sum(weights)
        if total:
            kind = tuple(Fraction(weight, total) for weight in weights)
            kept = kinds.get(kind, [0] * len(weights))
            kinds[kind] = [a + b for a, b in zip(kept, weights, strict=True)]
    return [list(row) for row in zip(*kinds.values(), strict=True)]
