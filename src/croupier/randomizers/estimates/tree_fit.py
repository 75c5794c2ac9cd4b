"""The distribution of a number from the answers of all levels of a tree, by least squares."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from croupier.errors import ParameterError
from croupier.model.interval_rule import TogetherRule
from croupier.randomizers.estimates.distribution import DistributionEstimate
from croupier.randomizers.estimates.linear_rule import LinearRule
from croupier.randomizers.k_rr import KaryRandomizedResponse

if TYPE_CHECKING:
    from croupier.model.domain import Grid
    from croupier.randomizers.frequency_oracle import FrequencyOracle
    from croupier.randomizers.number_tree import NumberTree

__all__ = ["CountFit", "ShareFit", "TreeFit", "expected_error", "worst_shift"]

Real = NDArray[np.float64]
Combine = Callable[[Real], Real]
"""Linear combinations of the entries along the first axis."""


def up_to(shares: Real) -> Real:
    """The sums up to each number but the last."""
    return np.cumsum(shares, axis=0)[:-1]


@dataclass(frozen=True, eq=False)
class ShareFit:
    """Shares x = E y + u of the numbers, that follow from answers y and add up to one.

    Whatever is asked about several numbers is a linear combination of the shares, hence of the
    answers, whose errors are known.

    Attributes:
        matrix: E, one row per number.
        offset: u.
        answers: y.
        n: The number of people.
    """

    matrix: Real
    offset: Real
    answers: Real
    n: int

    @cached_property
    def shares(self) -> Real:
        """The share of each number; they add up to one, and some may be below zero."""
        return np.asarray(self.matrix @ self.answers + self.offset)

    @cached_property
    def likely(self) -> Real:
        """Shares that are not below zero: the differences of the nearest curve that never falls.

        The distribution with the least sum of squares is no better: where the shares are close to
        zero, it keeps the noise above zero and drops the noise below.
        """
        curve = isotonic_regression(np.clip(np.cumsum(self.shares), 0.0, 1.0)).x
        return np.diff(np.append(curve[:-1], 1.0), prepend=0.0)

    @abstractmethod
    def spread(self, combine: Combine) -> tuple[Real, Real]:
        """The variance of some combinations of shares, and their jumps (`linear_rule.radius`)."""

    def rule(self, combine: Combine, *, low: float = 0.0, high: float = 1.0) -> LinearRule:
        """Return the intervals of some combinations of shares, each of which holds singly."""
        variance, jump = self.spread(combine)
        return LinearRule(
            points=combine(self.shares),
            n=self.n,
            variance=variance * self.n,
            jump=jump * self.n,
            low=low,
            high=high,
        )

    def estimate(self, grid: Grid, *, confidence: float) -> DistributionEstimate:
        """Return the estimate about a grid."""
        every = self.rule(lambda shares: shares)
        return DistributionEstimate(
            quantity="share",
            values=grid.points.tolist(),
            points=self.shares,
            standard_errors=np.sqrt(every.variance / every.n),
            n=self.n,
            confidence=confidence,
            rule=TogetherRule(every, grid.size),
            grid=grid,
            fit=self,
        )


@dataclass(frozen=True, eq=False)
class CountFit(ShareFit):
    """Shares from counts of the numbers, to which shufflers added dummies.

    Attributes:
        variances: The variance of the noise of each share, independent of the others'.
        jump: The third absolute moment of that noise over its variance, at most.
    """

    variances: Real
    jump: float

    @classmethod
    def of(cls, shares: Real, n: int, *, variances: Real, jump: float) -> Self:
        """Return the shares that add up to one, nearest to noisy ones.

        Args:
            shares: The share of each number, without bias.
            n: The number of people, which is public.
            variances: The variance of each.
            jump: The third absolute moment of the noise over its variance, at most.
        """
        size = len(shares)
        matrix, offset = np.eye(size) - 1 / size, np.full(size, 1 / size)
        return cls(matrix, offset, shares, n, variances, jump)

    def spread(self, combine: Combine) -> tuple[Real, Real]:
        """The sum of the variances, weighted by the squares of the coefficients."""
        parts = combine(self.matrix)
        return parts**2 @ self.variances, self.jump * np.abs(parts).max(axis=-1)


@dataclass(frozen=True)
class Level:
    """The answers of the people who drew one level.

    Attributes:
        people: Their number.
        own: The chance p that a report supports its own node.
        other: The chance q that it supports a given other one.
        one: True if a report supports exactly one node; else it supports every two other nodes
            independently.
    """

    people: float
    own: float
    other: float
    one: bool

    @classmethod
    def of(cls, mechanism: FrequencyOracle, people: float) -> Level:
        """Return the level of a mechanism."""
        own, other = (float(chance) for chance in mechanism.support_probabilities)
        return cls(people, own, other, isinstance(mechanism, KaryRandomizedResponse))

    @property
    def gap(self) -> float:
        """The number p - q."""
        return self.own - self.other

    def variance(self, parts: Real, shares: Real) -> Real:
        """The variance of sums over the nodes, a_v times the answer about v, one row of a each.

        A report that supports the set S contributes the sum of a_v ([v in S] - q)/(p - q). With
        the sums A of a_v and B of a_v^2, whoever is in node x has the variance

            p(1 - p) a_x^2 + q(1 - q)(B - a_x^2)                            independent support,
            p a_x^2 + q(B - a_x^2) - (p a_x + q(A - a_x))^2                 one node,

        over (p - q)^2. It is averaged over the people who drew the level, a random part of all:
        that adds the variance of a_x among people.
        """
        first, second = parts @ shares, parts**2 @ shares
        total, squares = parts.sum(axis=-1), (parts**2).sum(axis=-1)
        own, other, gap = self.own, self.other, self.gap
        if self.one:
            noise = own * second + other * (squares - second)
            noise -= gap**2 * second + 2 * gap * other * total * first + (other * total) ** 2
        else:
            noise = own * (1 - own) * second + other * (1 - other) * (squares - second)
        return np.asarray((noise / gap**2 + second - first**2) / self.people)

    def jump(self, parts: Real) -> Real:
        """The largest part of a sum that one report decides."""
        return np.asarray(np.abs(parts).max(axis=-1) / (self.gap * self.people))

    def apart(self, parts: Real) -> Real:
        """The most by which the scores of two reports in a sum differ."""
        if self.one:
            return np.asarray((parts.max(axis=-1) - parts.min(axis=-1)) / self.gap)
        return np.asarray(np.abs(parts).sum(axis=-1) / self.gap)


@dataclass(frozen=True, eq=False)
class TreeFit(ShareFit):
    """Shares from the answers about the nodes of every level.

    With T the matrix that adds up the numbers of each node, and W the weights 1/(V_l + 1/m_l) of
    the nodes of a level of m_l nodes, the shares minimise (y - T x)' W (y - T x) among those that
    add up to one. V_l = q(1 - q)/(p - q)^2 is the noise of one report, 1/m_l the variance among
    people spread evenly. The weights do not depend on the answers, so that all is linear in them.

    Attributes:
        tree: The nodes.
        levels: The answers.

    Reference: hay2010 for least squares on a tree; cormode2019 for local noise.
    """

    tree: NumberTree
    levels: tuple[Level, ...]

    @classmethod
    def of(
        cls,
        tree: NumberTree,
        mechanisms: Sequence[FrequencyOracle],
        tallies: Sequence[NDArray[np.int64]],
        n: int,
    ) -> Self:
        """Return the fit to the numbers of answers and the tallies of all levels."""
        people = [int(tally[0]) for tally in tallies]
        if not all(people):
            raise ParameterError(
                "reports",
                must=f"answer every one of {len(people)} levels",
                hint="Collect from more people, or raise the fanout.",
            )
        levels = tuple(Level.of(*pair) for pair in zip(mechanisms, people, strict=True))
        answers = [
            (made.support(tally[1:]) / level.people - level.other) / level.gap
            for made, tally, level in zip(mechanisms, tallies, levels, strict=True)
        ]
        return cls(*_equations(tree, levels), np.concatenate(answers), n, tree, levels)

    def spread(self, combine: Combine) -> tuple[Real, Real]:
        """Add up the levels; the people of all levels together are everybody, and not a sample."""
        every, at = combine(self.matrix), 0
        variance, jump = np.zeros(every.shape[:-1]), np.zeros(every.shape[:-1])
        for level, size, width in zip(self.levels, self.tree.sizes, self.tree.widths, strict=True):
            parts = every[..., at : at + size]
            at += size
            starts = np.arange(0, self.tree.size, width)
            variance += level.variance(parts, np.add.reduceat(self.likely, starts))
            jump = np.maximum(jump, level.jump(parts))
        asked = combine(np.eye(self.tree.size))
        variance -= (asked**2 @ self.likely - (asked @ self.likely) ** 2) / self.n
        return np.maximum(variance, 0.0), jump


def _equations(tree: NumberTree, levels: Sequence[Level]) -> tuple[Real, Real]:
    """The matrix E and the offset u."""
    noise = (level.other * (1 - level.other) / level.gap**2 for level in levels)
    weights = (1 / (each + 1 / size) for each, size in zip(noise, tree.sizes, strict=True))
    return _least_squares(tree, tuple(weights))


@lru_cache(maxsize=4)
def _least_squares(tree: NumberTree, weights: tuple[float, ...]) -> tuple[Real, Real]:
    """The matrix E and the offset u, for the weight of each level."""
    numbers, normal, answered = np.arange(tree.size), np.zeros((tree.size, tree.size)), []
    for nodes, size, weight in zip(tree.nodes(numbers), tree.sizes, weights, strict=True):
        normal += weight * (nodes[:, None] == nodes)
        answered.append(weight * (nodes[:, None] == np.arange(size)))
    solved = np.linalg.solve(normal, np.concatenate([*answered, np.ones((tree.size, 1))], axis=1))
    free, offset = solved[:, :-1], solved[:, -1] / solved[:, -1].sum()
    return free - np.outer(offset, free.sum(axis=0)), offset


def expected_error(tree: NumberTree, mechanisms: Sequence[FrequencyOracle], n: int) -> float:
    """The root mean square error of the shares up to a number, for people spread evenly."""
    each = n / len(mechanisms)
    levels = tuple(Level.of(mechanism, each) for mechanism in mechanisms)
    answers = np.concatenate(
        [np.bincount(nodes) / tree.size for nodes in tree.nodes(np.arange(tree.size))]
    )
    fit = TreeFit(*_equations(tree, levels), answers, n, tree, levels)
    return math.sqrt(float(fit.spread(up_to)[0].mean()))


def worst_shift(tree: NumberTree, mechanisms: Sequence[FrequencyOracle]) -> Fraction:
    """The largest shift of a share up to a number by corrupt reports, per share of the reports.

    With a_v the coefficients of the answers about the nodes of a level, a report that supports the
    nodes S has the score (sum over S of a_v)/(p - q). The scores of a level are at most

        (largest a_v - least a_v)/(p - q)     if a report supports one node,
        (sum of |a_v|)/(p - q)                otherwise

    apart. A corrupt person who answers another level than otherwise moves both by that, and each of
    L levels has one L-th of the people.

    Direction: upper. The sums of doubles have a relative error below 2^-30, which is added.
    """
    levels = tuple(Level.of(mechanism, 1.0) for mechanism in mechanisms)
    every = up_to(_equations(tree, levels)[0])
    parts = np.split(every, np.cumsum(tree.sizes)[:-1], axis=1)
    apart = np.stack([level.apart(part) for level, part in zip(levels, parts, strict=True)])
    both = np.sort(apart, axis=0)[-2:].sum(axis=0)
    return Fraction(float(both.max())) * len(levels) * (1 + Fraction(1, 1 << 30))
