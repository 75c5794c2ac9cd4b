"""Exact intervals of shares, from the number of reports that support each value."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from croupier.model.interval_rule import Ends, IntervalRule
from croupier.numerics.support_count import SupportCount

__all__ = ["SupportRule"]


@dataclass(frozen=True, eq=False)
class SupportRule(IntervalRule):
    """The shares of holders that a count of support does not refute.

    People's values are fixed and only the reports are random: the count is a sum of two binomials
    whose one unknown is the number of holders. Its tests, inverted, give intervals that hold at
    every number of people and at every true share.

    Attributes:
        law: The law of the count, given the number of holders.
        support: The number of reports that support each value.
    """

    law: SupportCount
    support: NDArray[np.int64]

    def ends(self, confidence: float) -> Ends:
        """The numbers of holders over the number of people."""
        fewest, most = self.law.holders(self.support, confidence=confidence)
        return fewest / self.law.people, most / self.law.people

    def among(self, people: int) -> "SupportRule":
        """The rule for reports of a sample without replacement."""
        return SupportRule(replace(self.law, people=people), self.support)
