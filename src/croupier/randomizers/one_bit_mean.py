"""One-bit mean: a number becomes one biased coin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from croupier.numerics.arrays import np
from croupier.numerics.keystream import WORD
from croupier.numerics.rounding import exp_enclosure
from croupier.numerics.weight_table import WeightTable
from croupier.randomizers.estimates.coin_rule import CoinRule
from croupier.randomizers.grid_mean import GridMean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["OneBitMean"]


@dataclass(frozen=True, kw_only=True)
class OneBitMean(GridMean):
    """Report 1 with a probability that grows linearly from the low to the high end of the grid.

        P(1 | point i of 0, …, m) = [b + (i/m)(D - 2b)]/D, rounded,   b = ceil(D / (e^epsilon + 1)).

    Reference: duchi2018, one dimension.

    Example:
        >>> from croupier.model import Grid
        >>> bit = OneBitMean(grid=Grid(0, 1, 0.5), max_epsilon_local=1.0, denominator=16)
        >>> bit.channel().weights.tolist()
        [[11, 5], [8, 8], [5, 11]]
    """

    mechanism = "one-bit-mean"

    @cached_property
    def _least(self) -> int:
        low, _ = exp_enclosure(self.max_epsilon_local)
        return math.ceil(self.denominator / (low + 1))

    @cached_property
    def table(self) -> WeightTable:
        """The weights, two outputs per grid point."""
        last = self.grid.size - 1
        span = self.denominator - 2 * self._least
        ones = [self._least + (2 * i * span + last) // (2 * last) for i in range(self.grid.size)]
        return WeightTable(tuple((self.denominator - w, w) for w in ones), self.denominator)

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """The two numbers whose mixture has expectation i at point i."""
        last = self.grid.size - 1
        slope = last * self.denominator / (self.denominator - 2 * self._least)
        zero = -slope * self._least / self.denominator
        return np.array([zero, zero + slope])

    def interval_rule(self, tally: NDArray[np.int64], n: int) -> CoinRule:
        """Intervals by `CoinRule`: the average chance of a one is linear in the mean."""
        ends = self.channel().probabilities[[0, -1], 1].tolist()
        # A chance is rounded by at most half a weight.
        rounding = 0.0 if self.denominator == WORD else 0.5 / self.denominator
        return CoinRule(
            ones=int(tally[1]),
            coins=n,
            least=ends[0],
            most=ends[1],
            low=self.grid.low,
            high=self.grid.high,
            slack=rounding * (self.grid.high - self.grid.low) / (ends[1] - ends[0]),
        )

    def representative_pairs(self) -> Sequence[tuple[int, int]]:
        """The two ends of the grid.

        With two outputs every row is a mixture of the rows of the ends, and the gain of a reader of
        the batch is convex in the rows of the two values.
        """
        last = self.grid.size - 1
        return [(0, last), (last, 0)]
