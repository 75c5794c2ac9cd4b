"""Intervals of shares of which most are close to zero; coverage is measured, not proved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from croupier.numerics.arrays import np
from croupier.randomizers.estimates.linear_rule import LinearRule, Real, radius

if TYPE_CHECKING:
    from croupier.model.interval_rule import Ends

__all__ = ["SparseRule"]


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseRule(LinearRule):
    """Intervals that use the whole chance of an error below where none is possible above.

    With r the `radius` of the confidence and s that of one side alone, x the estimate,

        lower = max(x - r, min(x - s, r)),   upper = max(x, 0) + r,

    cut to what is possible. Below a share of r the upper end is never too low, so that only the
    lower end can fail, with the chance of one side. Above r, the lower end is at most x - r
    wherever it exceeds the share. So a share that is zero is inside with the stated confidence, and
    not more often; a lower end above zero means that x exceeds s.
    """

    @property
    def variance_of_all(self) -> Real:
        """The variance of a report's score about all people: the noise, and that of the sample."""
        points = np.clip(self.points, self.low, self.high)
        left_out = 0.0 if self.people is None else 1 - self.n / self.people
        return np.asarray(self.variance + left_out * (self.high - points) * (points - self.low))

    def ends(self, confidence: float) -> Ends:
        """Compute the ends."""
        variance = self.variance_of_all
        both = radius(variance, self.jump, self.n, confidence)
        alone = radius(variance, self.jump, self.n, max(0.0, 2 * confidence - 1))
        lower = np.maximum(self.points - both, np.minimum(self.points - alone, both))
        upper = np.maximum(self.points, self.low) + both
        return np.clip(lower, self.low, self.high), np.minimum(upper, self.high)
