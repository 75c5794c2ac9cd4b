"""Rules that give intervals of any confidence from the counts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

from croupier.numerics.arrays import np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["IntervalRule", "JoinedRule", "NormalRule", "TogetherRule"]

Ends: TypeAlias = "tuple[NDArray[np.float64], NDArray[np.float64]]"


class IntervalRule(ABC):
    """The part of the counts that an estimate keeps to give intervals at any confidence."""

    @abstractmethod
    def ends(self, confidence: float) -> Ends:
        """The lower and the upper end of each interval; each holds singly."""

    @abstractmethod
    def among(self, people: int) -> IntervalRule:
        """The rule about all of `people`, a random part of whom sent the reports."""


@dataclass(frozen=True, eq=False)
class NormalRule(IntervalRule):
    """points -+ quantile * standard errors: for estimates of which only the error is known.

    Holds in the limit of many reports, but not where a few of them decide.

    Attributes:
        points: The unbiased estimates.
        standard_errors: One standard deviation of each.
    """

    points: NDArray[np.float64]
    standard_errors: NDArray[np.float64]

    def ends(self, confidence: float) -> Ends:
        """Compute ends that are symmetric about the points."""
        radius = -NormalDist().inv_cdf((1 - confidence) / 2) * self.standard_errors
        return self.points - radius, self.points + radius

    def among(self, people: int) -> NormalRule:  # noqa: ARG002 - the standard errors say it
        """The same rule: the standard errors already account for the sample."""
        return self


@dataclass(frozen=True, eq=False)
class JoinedRule(IntervalRule):
    """Several rules, their entries one after the other."""

    rules: Sequence[IntervalRule]

    def ends(self, confidence: float) -> Ends:
        """The ends of each rule in turn."""
        lower, upper = zip(*(rule.ends(confidence) for rule in self.rules), strict=True)
        return np.concatenate(lower), np.concatenate(upper)

    def among(self, people: int) -> JoinedRule:
        """The same rules about all people."""
        return JoinedRule([rule.among(people) for rule in self.rules])


@dataclass(frozen=True, eq=False)
class TogetherRule(IntervalRule):
    """Intervals that hold together, for all of a number of statements (Bonferroni).

    Attributes:
        rule: The intervals of those that are shown, each of which holds singly.
        statements: The number of all that were tested; or, for each that is shown, the number of
            equal parts of the chance of an error of which it gets one.
    """

    rule: IntervalRule
    statements: int | NDArray[np.int64]

    def ends(self, confidence: float) -> Ends:
        """Compute the ends at which all statements hold together."""
        parts = np.maximum(1, np.asarray(self.statements))
        lower, upper = self.rule.ends(_each(confidence, int(parts.max(initial=1))))
        for part in np.unique(parts)[:-1]:
            least, most = self.rule.ends(_each(confidence, int(part)))
            own = parts == part
            lower, upper = np.where(own, least, lower), np.where(own, most, upper)
        return lower, upper

    def among(self, people: int) -> TogetherRule:
        """The same about all people."""
        return TogetherRule(self.rule.among(people), self.statements)


def _each(confidence: float, statements: int) -> float:
    """The confidence of each of so many statements that hold together, below 1."""
    return min(1 - (1 - confidence) / statements, math.nextafter(1.0, 0.0))
