"""The value itself, without noise: for plans whose shufflers add dummies."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from croupier.model.channel import Channel
from croupier.model.estimate import Estimate
from croupier.model.likelihood import LikelihoodClasses
from croupier.model.report import ReportFormat
from croupier.numerics.arrays import np
from croupier.randomizers.categorical import Categorical
from croupier.randomizers.frequency_oracle import count_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Plain"]


@dataclass(frozen=True, kw_only=True)
class Plain(Categorical):
    """Report the value itself.

    The report alone protects nothing: epsilon_local is infinite. What is released protects if a
    shuffler adds dummies, and a plan is refused where none does.

    Example:
        >>> Plain(k=3).randomize([2, 0])
        array([2, 0], dtype=uint8)
    """

    mechanism = "plain"
    epsilon_local = math.inf

    @property
    def alphabet_size(self) -> int:
        """The number of categories."""
        return self.size

    @property
    def answer_chances(self) -> tuple[Fraction, Fraction]:
        """The chances of the truth and of any other answer."""
        return Fraction(1), Fraction(0)

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """One draw, always 0: nothing is random."""
        return (1,)

    @cached_property
    def report_format(self) -> ReportFormat:
        """One category."""
        return ReportFormat((self.size,))

    def respond(
        self,
        indices: NDArray[Any],
        draws: NDArray[np.uint64],  # noqa: ARG002 - nothing is random
    ) -> NDArray[Any]:
        """The categories."""
        return indices

    def respond_one(
        self,
        index: int,
        draws: Sequence[int],  # noqa: ARG002 - nothing is random
    ) -> tuple[int]:
        """The category."""
        return (index,)

    def channel(self) -> Channel:
        """The identity."""
        self.require_few(self.size)
        weights = np.eye(self.size, dtype=np.int64).astype(object)
        return Channel.from_weights(weights, 1, inputs=self.domain.labels)

    def likelihood_classes(
        self, first: int, second: int, *, others: int | None = None
    ) -> LikelihoodClasses:
        """Three values at most are told apart, each by its own report; no report is shared."""
        values = dict.fromkeys([first, second, *([] if others is None else [others])])
        return LikelihoodClasses.merged(
            (Fraction(value == others), Fraction(value == first), Fraction(value == second))
            for value in values
        )

    def representative_pairs(self) -> Sequence[tuple[int, int]]:
        """One pair: all values are alike."""
        return [(0, 1)]

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count how often each category was reported."""
        return count_values(reports, self.size)

    def estimate_tally(
        self, tally: NDArray[np.int64], n: int, *, confidence: float = 0.95
    ) -> Estimate:
        """The shares among the `n` reports, which are exact."""
        # Interval rules need scipy, which clients do not.
        from croupier.randomizers.estimates.linear_rule import LinearRule  # noqa: PLC0415

        points, nothing = tally / n, np.zeros(self.size)
        return Estimate(
            quantity="share",
            values=self.domain.labels,
            points=points,
            standard_errors=nothing,
            n=n,
            confidence=confidence,
            rule=LinearRule(points=points, n=n, variance=nothing, jump=nothing, low=0.0, high=1.0),
        )

    def rms_error(self, n: int) -> float:  # noqa: ARG002 - whatever their number
        """Zero: reports are the values."""
        return 0.0

    @property
    def worst_shift(self) -> Fraction:
        """One: a report is one value, and counts once."""
        return Fraction(1)
