"""How intervals of any confidence follow from what was counted."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

__all__ = ["IntervalRule", "JoinedRule", "NormalRule"]

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]


class IntervalRule(ABC):
    """What an estimate keeps of its counts to give intervals at any confidence."""

    @abstractmethod
    def ends(self, confidence: float) -> Ends:
        """The lower and the upper end of each interval; each holds singly."""

    @abstractmethod
    def among(self, people: int) -> "IntervalRule":
        """The rule about all of `people`, a random part of whom sent the reports."""


@dataclass(frozen=True, eq=False)
class NormalRule(IntervalRule):
    """points -+ quantile * standard errors: where nothing but a standard error is known.

    Holds in the limit of many reports, and not where few of them decide.

    Attributes:
        points: The unbiased estimates.
        standard_errors: One standard deviation of each.
    """

    points: NDArray[np.float64]
    standard_errors: NDArray[np.float64]

    def ends(self, confidence: float) -> Ends:
        """Symmetric about the points."""
        radius = NormalDist().inv_cdf((1 + confidence) / 2) * self.standard_errors
        return self.points - radius, self.points + radius

    def among(self, people: int) -> "NormalRule":  # noqa: ARG002 - the standard errors say it
        """The same: whoever made the standard errors has put the sample into them."""
        return self


@dataclass(frozen=True, eq=False)
class JoinedRule(IntervalRule):
    """Several rules, their entries one after the other."""

    rules: Sequence[IntervalRule]

    def ends(self, confidence: float) -> Ends:
        """The ends of each rule in turn."""
        lower, upper = zip(*(rule.ends(confidence) for rule in self.rules), strict=True)
        return np.concatenate(lower), np.concatenate(upper)

    def among(self, people: int) -> "JoinedRule":
        """Every rule about all people."""
        return JoinedRule([rule.among(people) for rule in self.rules])
