"""Shares from the counts of functions and buckets, with the frequent answers fitted together."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import tee
from typing import TYPE_CHECKING

from croupier.model.estimate import Estimate
from croupier.numerics.arrays import np
from croupier.randomizers.estimates.joint_fit import JointFit
from croupier.randomizers.estimates.sparse_rule import SparseRule
from croupier.randomizers.estimates.unfitted import Unfitted

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from croupier.randomizers.family_hashing import FamilyHashing
    from croupier.randomizers.hash_family import HashFamily

__all__ = ["FamilyFit", "FittedShares", "add_up"]

_AT_ONCE = 1 << 15
_FREQUENT = 4.0
"""The standard errors above which an answer is fitted together with the others."""

_MOST_FREQUENT = 1000


@dataclass(frozen=True, eq=False)
class FittedShares:
    """Estimated numbers of people, among those who answered a level.

    Attributes:
        counts: The estimated number of people with each value.
        errors: The standard error of each.
        scale: The change of a count by one report.
        people: The number of people who answered the level.
        places: The places of the frequent values, which are fitted together.
        frequent: Their fit.
        unfitted: What is known of all other values.
        buckets: Returns the buckets of a value, in each batch.
    """

    counts: NDArray[np.float64]
    errors: NDArray[np.float64]
    scale: float
    people: int
    places: NDArray[np.int64]
    frequent: JointFit
    unfitted: Unfitted
    buckets: Callable[[int], Sequence[NDArray[np.int64]]]

    def among(self, chosen: NDArray[np.int64]) -> FittedShares:
        """Return those of some values."""
        return replace(self, counts=self.counts[chosen], errors=self.errors[chosen])

    def moved(self, value: int) -> tuple[float, float]:
        """The least and the most that one more report adds to a value's share, times the people.

        Given which values are frequent, which one report hardly changes.
        """
        shares = self.counts[self.places] / self.people
        place = np.flatnonzero(self.places == value)
        if len(place):
            return self.frequent.moved(int(place[0]), shares)
        ends = self.frequent.moved_beside(self.buckets(value), shares)
        low, high = (self.scale * end - self.counts[value] / self.people for end in ends)
        return float(low), float(high)

    def rule(self, n: int) -> SparseRule:
        """Return the rule for intervals of the shares of all `n` people."""
        return SparseRule(
            points=self.counts / self.people,
            n=self.people,
            variance=self.errors**2 / self.people,
            jump=np.array(self.scale),
            low=0.0,
            high=1.0,
            people=n,
        )

    def estimate(self, values: Sequence[Hashable], *, n: int, confidence: float = 0.95) -> Estimate:
        """Return the estimate of the shares of all `n` people."""
        rule = self.rule(n)
        return Estimate(
            quantity="share",
            values=values,
            points=rule.points,
            standard_errors=np.sqrt(rule.variance_of_all / rule.n),
            n=n,
            confidence=confidence,
            rule=rule,
        )


@dataclass(frozen=True, eq=False)
class FamilyFit:
    """The counts of one level, and the functions that they belong to.

    With n_r the number of reports of row r, c_r(y) the count of bucket y, p the chance of the
    value's bucket and q that of any other, and n_f the number of people with a frequent answer f,

        e_r(y) = n_r/g + (p - q) n_r/n * sum over f of n_f ([h_r(f) = y] - 1/g)

    people are expected, the others being spread evenly. What is left over at the buckets of a value
    estimates the number of people who hold it:

        count(v) = sum over r of (c_r(h_r(v)) - e_r(h_r(v))) / ((p - q)(1 - 1/g)).

    The frequent answers are those that exceed four standard errors, at most 1,000; their n_f leave
    nothing over at their own buckets (`JointFit`).

    With m_r(y) people expected in bucket y, the m_r (1 - m_r/n_r) at its buckets add up to the
    variance of the sum, if a report may be anybody's. How many of v's holders there are is not
    random: that takes n_v (1 - n_v/n) off. What values that are not fitted add by sharing buckets
    follows from the functions as groups of people (`Unfitted`). Nothing follows from what is left
    over at the value's own buckets, so that whoever fills these cannot choose the error.

    Reference: wang2017 for the estimate without frequent answers.
    """

    families: Sequence[HashFamily]
    first: int
    functions: int
    counts: Sequence[NDArray[np.float64]]
    chances: tuple[float, float]

    @classmethod
    def of(cls, mechanism: FamilyHashing, tally: NDArray[np.int64], level: int) -> FamilyFit:
        """Return the counts of one level of a mechanism, in each of its batches."""
        rows, per_level = mechanism.rows, mechanism.functions
        tables = tally.reshape(len(mechanism.families), rows, mechanism.g)
        first = level * per_level
        high, low = mechanism.likelihoods
        return cls(
            families=mechanism.families,
            first=first,
            functions=per_level,
            counts=[table[first : first + per_level].astype(np.float64) for table in tables],
            chances=(float(high), float(low)),
        )

    @cached_property
    def people(self) -> int:
        """The number of reports of the level."""
        return int(sum(table.sum() for table in self.counts))

    @property
    def gap(self) -> float:
        """The chance of the value's bucket less that of any other."""
        return self.chances[0] - self.chances[1]

    @property
    def scale(self) -> float:
        """The change of an estimated count by one more report in a bucket of the value."""
        return 1 / (self.gap * (1 - 1 / self.size))

    def shares(self, messages: Iterable[bytes]) -> FittedShares:
        """Estimate how many people hold the value behind each message."""
        copies = tee(messages, len(self.families))
        marks = [
            family.fingerprints(own) for family, own in zip(self.families, copies, strict=True)
        ]
        left = [table - table.mean(axis=1, keepdims=True) for table in self.counts]
        frequent, places = self._frequent(left, marks)
        held = frequent.solved(frequent.at_buckets(left))
        expected = frequent.expected(held)
        left = [one - two for one, two in zip(left, expected, strict=True)]
        noise = self._noise(expected)
        counts, spread = self._sums(marks, left, noise)
        counts *= self.scale
        # The noise of a value's own holders, if they are not among those expected.
        own = np.maximum(counts, 0) * self.gap * (1 - 1 / self.size) * (1 - 2 / self.size)
        own[places] = 0.0
        counts[places] += held
        holders = np.clip(counts, 0.0, self.people)
        variance = self.scale**2 * (spread + own) - holders * (1 - holders / self.people)
        unfitted = self._unfitted(left, noise, fitted=len(places))
        variance = np.maximum(variance, self.scale**2) + unfitted.variance
        variance[places] = np.minimum(variance[places] * frequent.blur, self.people**2)
        return FittedShares(
            counts,
            np.sqrt(variance),
            self.scale,
            self.people,
            places,
            frequent,
            unfitted,
            lambda value: [own[:, 0] for own in self._buckets([each[[value]] for each in marks])],
        )

    def _frequent(
        self, left: Sequence[NDArray[np.float64]], marks: Sequence[NDArray[np.uint64]]
    ) -> tuple[JointFit, NDArray[np.int64]]:
        """The values that are fitted together, and their places."""
        noise = [np.broadcast_to(each, left[0].shape) for each in self._even()]
        spread = self._unfitted(left, noise, fitted=0).variance
        spread += self.scale**2 * float(sum(each[:, 0].sum() for each in noise))
        [counts] = self._sums(marks, left)
        counts *= self.scale
        places = np.flatnonzero(counts > _FREQUENT * math.sqrt(spread))
        if len(places) > _MOST_FREQUENT:
            most = np.argpartition(-counts[places], _MOST_FREQUENT)[:_MOST_FREQUENT]
            places = np.sort(places[most])
        return self.joint_fit([each[places] for each in marks]), places

    def _even(self) -> list[NDArray[np.float64]]:
        """The variance of each count of a function if all buckets are alike."""
        chance = (1 - 1 / self.size) / self.size
        return [chance * table.sum(axis=1, keepdims=True) for table in self.counts]

    def _noise(self, expected: Sequence[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """The variance of each count, given the people of its function and the frequent values."""
        found = []
        for table, beyond in zip(self.counts, expected, strict=True):
            people, (high, low) = table.sum(axis=1, keepdims=True), self.chances
            mean = np.clip(people / self.size + beyond, low * people, high * people)
            found.append(mean * (1 - mean / np.maximum(people, 1)))
        return found

    def _unfitted(
        self,
        left: Sequence[NDArray[np.float64]],
        noise: Sequence[NDArray[np.float64]],
        *,
        fitted: int,
    ) -> Unfitted:
        return Unfitted.of(left, noise, self._weights, gap=self.gap, fitted=fitted)

    @property
    def size(self) -> int:
        """The number g of buckets."""
        return self.families[0].buckets

    @cached_property
    def _weights(self) -> list[NDArray[np.float64]]:
        """The share of people behind each function, in each batch."""
        return [table.sum(axis=1, keepdims=True) / self.people for table in self.counts]

    def joint_fit(self, marks: Sequence[NDArray[np.uint64]]) -> JointFit:
        """The buckets of the frequent answers, and the share of people behind each function."""
        return JointFit(
            buckets=self._buckets(marks),
            weights=self._weights,
            size=self.size,
            gap=self.gap,
        )

    def _buckets(self, marks: Sequence[NDArray[np.uint64]]) -> list[NDArray[np.int64]]:
        """The bucket of each value under each function of the level, in each batch."""
        rows = np.arange(self.first, self.first + self.functions)[:, None]
        pairs = zip(self.families, marks, strict=True)
        return [family.buckets_of(rows, own) for family, own in pairs]

    def _sums(
        self, marks: Sequence[NDArray[np.uint64]], *tables: Sequence[NDArray[np.float64]]
    ) -> list[NDArray[np.float64]]:
        """The sums of what some tables have at the buckets of each value, over the functions."""
        sums = [np.zeros(len(marks[0])) for _ in tables]
        for family, own, *each in zip(self.families, marks, *tables, strict=True):
            words = family.words[self.first : self.first + self.functions]
            add_up(each, words, own, into=sums)
        return sums


def add_up(
    tables: Sequence[NDArray[np.float64]],
    words: NDArray[np.uint64],
    marks: NDArray[np.uint64],
    *,
    into: Sequence[NDArray[np.float64]],
) -> None:
    """Add each mark's entries of some tables: `HashFamily.buckets_of`, in place."""
    half, size = np.uint64(32), np.uint64(tables[0].shape[1])

    def part(start: int) -> None:
        own = slice(start, start + _AT_ONCE)
        high, low = marks[own] >> half, marks[own] & np.uint64((1 << 32) - 1)
        sums, more, entries = np.empty_like(high), np.empty_like(high), np.empty(len(high))
        parts = [each[own] for each in into]
        for (first, second, constant), *rows in zip(words, *tables, strict=True):
            np.multiply(high, first, out=sums)
            np.multiply(low, second, out=more)
            sums += more
            sums += constant
            sums >>= half
            sums *= size
            sums >>= half
            buckets = sums.view(np.int64)
            for row, total in zip(rows, parts, strict=True):
                np.take(row, buckets, out=entries, mode="clip")
                np.add(total, entries, out=total)

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(part, range(0, len(marks), _AT_ONCE)))
