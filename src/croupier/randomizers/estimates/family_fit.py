"""Shares from the counts of functions and buckets, with the frequent answers fitted together."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from croupier.randomizers.family_hashing import FamilyHashing
    from croupier.randomizers.hash_family import HashFamily

__all__ = ["FREQUENT", "FamilyFit", "FittedShares"]

_AT_ONCE = 1 << 15
FREQUENT = 4.0
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
        buckets: Returns the buckets of a value, in each batch.
    """

    counts: NDArray[np.float64]
    errors: NDArray[np.float64]
    scale: float
    people: int
    places: NDArray[np.int64]
    frequent: JointFit
    buckets: Callable[[int], Sequence[NDArray[np.int64]]]

    def among(self, chosen: NDArray[np.int64]) -> FittedShares:
        """Return those of some values."""
        return replace(self, counts=self.counts[chosen], errors=self.errors[chosen])

    def moved_by_one(self, chosen: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the most by which one report in place of another moves the share of each value.

        Given which values are frequent and how many people answered each function, which one
        report hardly changes.
        """
        place = {value: index for index, value in enumerate(self.places.tolist())}
        most = [
            self.frequent.reach(place[value])
            if value in place
            else self.scale * self.frequent.reach_beside(self.buckets(value))
            for value in chosen.tolist()
        ]
        return np.array(most) / self.people

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
    nothing over at their own buckets (`JointFit`). The rows are independent
    groups of people: the sum of squares of what is left over at v's buckets, less what the fitted
    share of v itself contributes, estimates the variance.

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
        return 1 / (self.gap * (1 - 1 / self.families[0].buckets))

    def shares(self, messages: Iterable[bytes]) -> FittedShares:
        """Estimate how many people hold the value behind each message."""
        copies = tee(messages, len(self.families))
        marks = [
            family.fingerprints(own) for family, own in zip(self.families, copies, strict=True)
        ]
        left = [table - table.mean(axis=1, keepdims=True) for table in self.counts]
        counts, errors = self._scores(left, marks)
        places = np.flatnonzero(counts > FREQUENT * errors)
        if len(places) > _MOST_FREQUENT:
            most = np.argpartition(-counts[places], _MOST_FREQUENT)[:_MOST_FREQUENT]
            places = np.sort(places[most])
        frequent = self.joint_fit([each[places] for each in marks])
        if len(places):
            held = frequent.solved(frequent.at_buckets(left))
            expected = frequent.expected(held)
            left = [one - two for one, two in zip(left, expected, strict=True)]
            counts, errors = self._scores(left, marks)
            counts[places] += held
        own = (self.gap * self.scale) ** 2 * np.maximum(counts, 0)
        errors = np.sqrt(np.maximum(errors**2 - own, self.scale**2))
        return FittedShares(
            counts,
            errors,
            self.scale,
            self.people,
            places,
            frequent,
            lambda value: [own[:, 0] for own in self._buckets([each[[value]] for each in marks])],
        )

    def joint_fit(self, marks: Sequence[NDArray[np.uint64]]) -> JointFit:
        """The buckets of the frequent answers, and the share of people behind each function."""
        return JointFit(
            buckets=self._buckets(marks),
            weights=[table.sum(axis=1, keepdims=True) / self.people for table in self.counts],
            size=self.families[0].buckets,
            gap=self.gap,
        )

    def _buckets(self, marks: Sequence[NDArray[np.uint64]]) -> list[NDArray[np.int64]]:
        """The bucket of each value under each function of the level, in each batch."""
        rows = np.arange(self.first, self.first + self.functions)[:, None]
        pairs = zip(self.families, marks, strict=True)
        return [family.buckets_of(rows, own) for family, own in pairs]

    def _scores(
        self, residual: Sequence[NDArray[np.float64]], marks: Sequence[NDArray[np.uint64]]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The estimated count of each value, and the root of its sum of squares."""
        counts, squares = np.zeros(len(marks[0])), np.zeros(len(marks[0]))
        for family, table, own in zip(self.families, residual, marks, strict=True):
            words = family.words[self.first : self.first + self.functions]
            _add_up(table, words, own, into=(counts, squares))
        return counts * self.scale, np.sqrt(squares) * self.scale


def _add_up(
    table: NDArray[np.float64],
    words: NDArray[np.uint64],
    marks: NDArray[np.uint64],
    *,
    into: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> None:
    """Add each mark's entries of a table, and their squares: `HashFamily.buckets_of`, in place."""
    half, size = np.uint64(32), np.uint64(table.shape[1])
    squared = table**2

    def part(start: int) -> None:
        own = slice(start, start + _AT_ONCE)
        high, low = marks[own] >> half, marks[own] & np.uint64((1 << 32) - 1)
        sums, more, entries = np.empty_like(high), np.empty_like(high), np.empty(len(high))
        count, square = into[0][own], into[1][own]
        for row, squares, (first, second, constant) in zip(table, squared, words, strict=True):
            np.multiply(high, first, out=sums)
            np.multiply(low, second, out=more)
            sums += more
            sums += constant
            sums >>= half
            sums *= size
            sums >>= half
            buckets = sums.view(np.int64)
            np.take(row, buckets, out=entries, mode="clip")
            count += entries
            np.take(squares, buckets, out=entries, mode="clip")
            square += entries

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(part, range(0, len(marks), _AT_ONCE)))
