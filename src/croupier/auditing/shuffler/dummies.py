"""The dummies of released batches, tested against the table that the plan fixes.

An auditor who sent every report of a batch, and has the analyzer's key, knows how many dummies of
each report were released. Several tests look at them: how many there are, how far they are spread,
each entry of the table, each report over all batches, and whether batches repeat each other. Every
p-value is exact or an upper bound, at every number of dummies.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.shuffler.check import ShufflerCheck
from croupier.auditing.shuffler.order_law import least_found
from croupier.numerics.binomial import binomial_tail
from croupier.shufflers.dummies import DummyTable

__all__ = ["SumLaw", "added_checks", "dummy_checks", "table_law"]

Real = NDArray[np.float64]

_PROMISE = "dummies"
_EXPONENTS = np.geomspace(1e-6, 1e4, 600)
"""Exponents of the bound, in units of one over the standard deviation: each gives a valid bound."""

_ROUNDING = 1e-12
"""The relative error of a chance, and of a moment, at most."""


def table_law(tables: Sequence[DummyTable]) -> Real:
    """Return the law of the number of dummies of one report, from all shufflers together."""
    law = np.ones(1)
    for table in tables:
        law = np.convolve(law, table.law)
    return law


@dataclass(frozen=True, eq=False)
class SumLaw:
    """The sum of a function of independent numbers of dummies, bounded on both sides.

        P(sum of f(D_i) >= s) <= min over x > 0 of exp(m ln E[e^(x f(D))] - x s)

    for m numbers of the law D, and so for the other side with -f.

    Direction: upper. Reference: chernoff1952.

    Attributes:
        law: The chances of 0, 1, 2, … dummies.
        values: f of 0, 1, 2, … dummies, whole numbers.
        draws: m.
    """

    law: Real
    values: NDArray[np.int64]
    draws: int

    @cached_property
    def mean(self) -> float:
        """The expected sum."""
        return self.draws * float(self.law @ self.values)

    def above(self, total: int) -> float:
        """Bound the chance of a sum of at least `total`."""
        return self._bound(1.0, total)

    def below(self, total: int) -> float:
        """Bound the chance of a sum of at most `total`."""
        return self._bound(-1.0, total)

    def _bound(self, side: float, total: int) -> float:
        least, most = (self.draws * int(end) for end in (self.values.min(), self.values.max()))
        if side * total > side * (most if side > 0 else least):
            return 0.0
        exponents, moments = self._moments[side]
        bounds = self.draws * moments - side * exponents * total
        return min(1.0, math.exp(min(0.0, float(bounds.min()) + self.draws * _ROUNDING) + 1e-9))

    @cached_property
    def _moments(self) -> dict[float, tuple[Real, Real]]:
        """The logarithm of E[e^(x f(D))] for many x, of either sign."""
        possible = self.law > 0
        values, logs = self.values[possible].astype(np.float64), np.log(self.law[possible])
        average = float(self.law @ self.values)
        scale = math.sqrt(float(self.law @ (self.values - average) ** 2)) or 1.0
        found = {}
        for side in (1.0, -1.0):
            exponents = _EXPONENTS / scale
            powers = logs[None, :] + side * exponents[:, None] * values[None, :]
            found[side] = exponents, np.asarray(np.logaddexp.reduce(powers, axis=1))
        return found

    def checks(self, total: int, words: tuple[str, str], *, level: float) -> list[ShufflerCheck]:
        """Return one check per side: how far the sum is above, and below, what is expected.

        Args:
            total: The observed sum.
            words: What is too much, and what is missing.
            level: The chance of a false alarm, both sides together.
        """
        center = round(self.mean)

        def more(excess: int) -> float:
            return self.above(center + excess)

        def less(excess: int) -> float:
            return self.below(center - excess)

        return [
            _check(name, max(0, side * (total - center)), chance, level=level / 2)
            for name, side, chance in zip(words, (1, -1), (more, less), strict=True)
        ]


def _check(
    words: str, observed: int, chance: Callable[[int], float], *, level: float, tests: int = 1
) -> ShufflerCheck:
    """Return a check of a count, if it is the most telling one of some tests."""
    found_from = least_found(chance, level=level / tests, start=1)
    return ShufflerCheck(_PROMISE, words, observed, found_from, min(1.0, tests * chance(observed)))


def dummy_checks(
    tables: Sequence[DummyTable], counts: NDArray[np.int64], *, false_alarm: float
) -> list[ShufflerCheck]:
    """Test numbers of dummies against the table of their law.

    Args:
        tables: The tables of all shufflers that add dummies.
        counts: The number of dummies of each report, one row per batch.
        false_alarm: The chance that dummies of the tables are called something else.
    """
    law = table_law(tables)
    several = len(counts) > 1
    level = false_alarm / (3 + 2 * several)
    numbers = np.arange(len(law))
    center = round(float(law @ numbers))
    squares = (counts - center) ** 2
    total = SumLaw(law, numbers, counts.size)
    spread = SumLaw(law, (numbers - center) ** 2, counts.size)
    expected = f"of {round(total.mean):,} expected dummies"
    wide = f"of {round(spread.mean):,} expected in squared distance from {center:,}"
    return [
        *total.checks(
            int(counts.sum()), (f"too many {expected}", f"missing {expected}"), level=level
        ),
        *spread.checks(int(squares.sum()), (f"too much {wide}", f"missing {wide}"), level=level),
        *_entry_checks(law, counts.ravel(), level=level),
        *(_report_checks(law, counts, level=level) if several else []),
        *(_fresh_checks(law, counts, level=level) if several else []),
    ]


def _entry_checks(law: Real, counts: NDArray[np.int64], *, level: float) -> list[ShufflerCheck]:
    """Test how many numbers lie below, and above, each entry; return the most telling of each."""
    tests = 2 * len(law)
    below = np.cumsum(law)
    above = np.append(np.cumsum(law[::-1])[::-1][1:], 0.0)
    found = []
    for sign, tails in (("at most", below), ("more than", above)):
        seen = [
            int((counts <= u).sum() if sign == "at most" else (counts > u).sum())
            for u in range(len(law))
        ]
        chances = [
            _binomial(len(counts), float(tail), count)
            for tail, count in zip(tails, seen, strict=True)
        ]
        place = int(np.argmin(chances))
        tail = float(tails[place])

        def chance(count: int, tail: float = tail) -> float:
            return _binomial(len(counts), tail, count)

        words = f"of {len(counts):,} reports with {sign} {place:,} dummies"
        found.append(_check(words, seen[place], chance, level=level, tests=tests))
    return [one for one in found if one.found_from <= len(counts)]


def _report_checks(law: Real, counts: NDArray[np.int64], *, level: float) -> list[ShufflerCheck]:
    """Test the dummies of each report over all batches; return the most telling of each side."""
    batches, bins = counts.shape
    totals = counts.sum(axis=0)
    own = SumLaw(law, np.arange(len(law)), batches)
    words = f"of {round(own.mean):,} expected dummies of one report in {batches:,} batches"
    each = f"too many {words}", f"missing {words}"
    high, _ = own.checks(int(totals.max()), each, level=level / bins)
    _, low = own.checks(int(totals.min()), each, level=level / bins)
    return [replace(one, p_value=min(1.0, bins * one.p_value)) for one in (high, low)]


def _fresh_checks(law: Real, counts: NDArray[np.int64], *, level: float) -> list[ShufflerCheck]:
    """Test how many reports have as many dummies in one batch as in the next."""
    pairs = len(counts) // 2
    first, second = counts[: 2 * pairs : 2], counts[1 : 2 * pairs : 2]
    trials, same = first.size, float(law @ law)

    def chance(count: int) -> float:
        return _binomial(trials, same, count)

    words = f"of {trials:,} reports with as many dummies as in the next batch"
    found = _check(words, int((first == second).sum()), chance, level=level)
    return [found] if found.found_from <= trials else []


def _binomial(trials: int, success: float, count: int) -> float:
    """Bound the chance of at least `count` successes."""
    if count <= 0:
        return 1.0
    if count > trials or success <= 0:
        return 0.0
    chance = min(1.0, success * (1 + _ROUNDING))
    if chance == 1:
        return 1.0
    return min(1.0, binomial_tail(count, trials, success=chance) * (1 + 1e-6))


def added_checks(
    table: DummyTable, added: Sequence[int], bins: int, *, who: str, false_alarm: float
) -> list[ShufflerCheck]:
    """Test the numbers of dummies that one shuffler signed for, in all batches together.

    Args:
        table: The shuffler's table.
        added: The number of its dummies in each batch, by its receipts.
        bins: The number of possible reports.
        who: The shuffler, in words.
        false_alarm: The chance that an honest shuffler is called dishonest.
    """
    law = SumLaw(table.law, np.arange(table.most + 1), bins * len(added))
    expected = f"of {round(law.mean):,} expected dummies that {who} signed for"
    words = f"too many {expected}", f"missing {expected}"
    return law.checks(sum(added), words, level=false_alarm)
