"""Bounded discrete Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from croupier.numerics.arrays import np
from croupier.numerics.rounding import exp_enclosure
from croupier.numerics.weight_table import WeightTable
from croupier.randomizers.grid_mean import GridMean

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DiscreteLaplace"]


@dataclass(frozen=True, kw_only=True)
class DiscreteLaplace(GridMean):
    """Add two-sided geometric noise to the grid point, then clamp the result to the grid.

    On the grid 0, …, m with ratio r = e^(-epsilon/m), the noise N has tails

        P(N >= j) = r^j / (1 + r),   as weights  S_j = ceil(D r^j / (1 + r)),   j = 1, …, m,

    and P(N <= -j) likewise. The binding pair is the two ends of the grid, whose weights at an end
    of the output are D - S_1 and S_m.

    Beyond an end the geometric law has no memory: the expected amount clamped away is r/(1-r).
    Moving the scores of the ends outward by that much makes the mean unbiased.

    Reference: ghosh2012, the geometric mechanism, truncated as there.

    Example:
        >>> from croupier.model import Grid
        >>> noise = DiscreteLaplace(grid=Grid(0, 3, 1), max_epsilon_local=2.0, denominator=64)
        >>> noise.channel().weights.tolist()[0]
        [42, 10, 6, 6]
    """

    mechanism = "laplace"

    @cached_property
    def table(self) -> WeightTable:
        """The weights: differences of the tails."""
        self.require_coarse(self.grid.size)
        last = self.grid.size - 1
        center = self.denominator - 2 * self._tails[1]
        point = [center] + [self._tails[j] - self._tails[j + 1] for j in range(1, last)]
        rows = []
        for x in range(self.grid.size):
            low = self._tails[x] if x else self.denominator - self._tails[1]
            high = self._tails[last - x] if x < last else self.denominator - self._tails[1]
            rows.append((low, *(point[abs(y - x)] for y in range(1, last)), high))
        return WeightTable(tuple(rows), self.denominator)

    @cached_property
    def _powers(self) -> list[tuple[Fraction, Fraction]]:
        """Enclosures of r^0, …, r^m."""
        step = -Fraction(self.max_epsilon_local) / (self.grid.size - 1)
        return [exp_enclosure(step * j) for j in range(self.grid.size)]

    @cached_property
    def _tails(self) -> list[int]:
        """The weights S_0, …, S_m; the first is not used."""
        low, _ = self._powers[1]
        return [math.ceil(self.denominator * high / (1 + low)) for _, high in self._powers]

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """The output, moved outward by r/(1-r) at the ends."""
        scores = np.arange(self.grid.size, dtype=np.float64)
        ratio, _ = self._powers[1]
        scores[0] -= float(ratio / (1 - ratio))
        scores[-1] += float(ratio / (1 - ratio))
        return scores
