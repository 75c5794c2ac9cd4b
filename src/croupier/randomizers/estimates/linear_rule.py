"""Intervals of averages of scores whose noise is known; coverage is measured, not proved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

from croupier.model.interval_rule import Ends, IntervalRule
from croupier.numerics.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DoubtfulRule", "LinearRule", "radius"]

Real: TypeAlias = "NDArray[np.float64]"


def radius(variance: Real, jump: Real | float, n: int, confidence: float) -> Real:
    """Half the width of an interval for an average of n independent scores.

        z sqrt(variance/n) + z^2 jump/(3 n),

    where z is the normal quantile, `variance` that of one score and `jump` the ratio of its third
    absolute moment to its second: the size of a jump, if the noise consists of rare ones. The first
    term is the normal approximation, the second the additional term of Bernstein's inequality. It
    covers Poisson's law at every mean, and is negligible if n is large.

    Direction: about the truth; coverage was measured (``python -m benchmarks.coverage``).
    """
    quantile = -NormalDist().inv_cdf((1 - confidence) / 2)
    return np.asarray(quantile * np.sqrt(variance / n) + quantile**2 * jump / (3 * n))


@dataclass(frozen=True, kw_only=True, eq=False)
class LinearRule(IntervalRule):
    """points -+ `radius`, cut to the numbers between which the truth lies.

    A point beyond an end counts as that end, so that no interval is narrow because the point is
    improbable.

    Attributes:
        points: The averages of the scores.
        n: The number of reports.
        variance: The variance of one report's score given the values, estimated.
        jump: The third absolute moment of a score's error over its second.
        low: The least possible value of the truth.
        high: The greatest.
        people: The number of people whom the truth is about; `n` if not given.
    """

    points: Real
    n: int
    variance: Real
    jump: Real
    low: float
    high: float
    people: int | None = None

    def ends(self, confidence: float) -> Ends:
        """Compute ends that are symmetric about the points, then cut."""
        points = np.clip(self.points, self.low, self.high)
        variance, jump = self.variance_at(confidence), self.jump
        if self.people is not None:
            left_out = 1 - self.n / self.people
            variance = variance + left_out * (self.high - points) * (points - self.low)
            jump = jump + left_out * (self.high - self.low)
        half = radius(variance, jump, self.n, confidence)
        return np.maximum(points - half, self.low), np.minimum(points + half, self.high)

    def variance_at(self, confidence: float) -> Real:  # noqa: ARG002 - the variance is known
        """The variance of one score."""
        return self.variance

    def among(self, people: int) -> LinearRule:
        """The rule for reports of a sample, whose own spread is added."""
        return replace(self, people=people)


@dataclass(frozen=True, kw_only=True, eq=False)
class DoubtfulRule(LinearRule):
    """The same rule if the variance depends on the shares, and is itself an average of scores.

    The upper end of the variance's own interval is used.

    Attributes:
        doubt: The variance of one report's contribution to `variance`.
        leap: The jump of that contribution.
        most: The largest possible `variance`.
    """

    doubt: Real
    leap: Real
    most: Real

    def variance_at(self, confidence: float) -> Real:
        """The greatest variance that the reports leave likely."""
        more = radius(self.doubt, self.leap, self.n, confidence)
        return np.minimum(np.maximum(self.variance, 0.0) + more, self.most)
