"""Randomizers of a number on a grid, for means."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from croupier.errors import ParameterError
from croupier.model.channel import Channel
from croupier.model.estimate import Estimate
from croupier.model.report import ReportFormat
from croupier.numerics.arrays import np
from croupier.numerics.convex_order import ends_dominate, is_mirrored
from croupier.randomizers.calibrated import CalibratedRandomizer
from croupier.randomizers.estimates.linear_rule import LinearRule
from croupier.randomizers.parameter import GRID, declares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from croupier.model.domain import Grid
    from croupier.model.interval_rule import IntervalRule
    from croupier.numerics.honest_chances import HonestChances
    from croupier.numerics.weight_table import WeightTable

__all__ = ["GridMean"]

_MOST_ENTRIES = 1 << 21

_RARE = 1e-300
"""Stands for the chance of an output that never occurs."""


@dataclass(frozen=True, kw_only=True)
class GridMean(CalibratedRandomizer):
    """A mechanism for numbers, given by a table of weights and a score for each output.

    The score of a report has the person's grid point as its expectation, so that the average score
    is an unbiased estimate of the mean. Values are first rounded to the grid and clamped to its
    ends.

    Attributes:
        grid: The declared fixed-point grid.
    """

    grid: Grid = field(metadata=declares(GRID, "low, high and step; values are rounded to it"))

    @property
    @abstractmethod
    def table(self) -> WeightTable:
        """The weights, one row per grid point."""

    @property
    @abstractmethod
    def scores(self) -> NDArray[np.float64]:
        """The score of each output, in units of the grid: expectation i at point i."""

    def require_coarse(self, outputs: int) -> None:
        """Refuse a grid whose table, with this many outputs in a row, would not fit."""
        if self.grid.size * outputs > _MOST_ENTRIES:
            raise ParameterError(
                "grid", must=f"be coarser for {self.mechanism}", hint="Try fewer steps."
            )

    @property
    def domain(self) -> Grid:
        """The grid."""
        return self.grid

    @cached_property
    def epsilon_local(self) -> float:  # type: ignore[override]
        """The epsilon of the integers."""
        return self.table.epsilon

    @property
    def draw_bounds(self) -> tuple[int, ...]:
        """One draw."""
        return (self.denominator,)

    @cached_property
    def report_format(self) -> ReportFormat:
        """One output."""
        return ReportFormat((len(self.table.rows[0]),))

    def respond(self, indices: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[Any]:
        """The output that the draw picks from the value's row."""
        return self.table.respond(indices, draws[:, 0])

    def respond_one(self, index: int, draws: Sequence[int]) -> tuple[int]:
        """The output that the draw picks from the value's row."""
        return (self.table.pick(index, draws[0]),)

    def channel(self) -> Channel:
        """The law of a report given the grid point, exactly."""
        points = [float(point) for point in self.grid.points]
        return Channel.from_weights(self.table.weights, self.denominator, inputs=points)

    @cached_property
    def pairs_dominate(self) -> bool:  # type: ignore[override]
        """Tell whether the integers of the table prove it: `ends_dominate`."""
        return ends_dominate(self.table.rows)

    def representative_pairs(self) -> Sequence[tuple[int, int]] | None:
        """The two ends of the grid, in both orders unless they have one law; see `ends_dominate`.

        None if rounding the weights broke the conditions of the theorem.
        """
        if not self.pairs_dominate:
            return None
        last = self.grid.size - 1
        return [(0, last)] if is_mirrored(self.table.rows) else [(0, last), (last, 0)]

    def representative_others(self, first: int, second: int) -> Sequence[int]:
        """The two points that hide the least, by the chi-square distance of the two rows."""
        if not self.pairs_dominate:
            return super().representative_others(first, second)
        rows = self.channel().probabilities
        promise = ((rows[first] - rows[second]) ** 2 / np.maximum(rows, _RARE)).sum(axis=1)
        return np.argsort(-promise, kind="stable")[:2].tolist()  # type: ignore[no-any-return]

    def tally(self, reports: NDArray[Any]) -> NDArray[np.int64]:
        """Count how often each output was reported."""
        return np.bincount(reports, minlength=len(self.scores))

    def honest_chances(
        self,
        tally: NDArray[np.int64],
        traits: NDArray[np.int64],  # noqa: ARG002 - of other mechanisms
        n: int,
    ) -> list[HonestChances]:
        """The count of each output: between the least and the largest weight of its column."""
        from croupier.numerics.honest_chances import HonestChances  # noqa: PLC0415 - not on devices

        rows, total = self.table.rows, self.table.denominator
        return [HonestChances.of_outputs(n, tally, rows, total)]

    def estimate_tally(
        self, tally: NDArray[np.int64], n: int, *, confidence: float = 0.95
    ) -> Estimate:
        """The mean score; its standard error from the spread of the scores.

        The spread includes that of the people's values, so it is kept between the least and the
        largest noise that one report can have. The error is still overestimated for these people if
        the noise depends much on the value (`one-bit-mean` with everybody at the ends).
        """
        mean = float(tally @ self.scores) / n
        spread = float(tally @ (self.scores - mean) ** 2) / max(1, n - 1)
        variance = min(max(spread, float(self._noise.min())), float(self._noise.max()))
        step = self.grid.step
        return Estimate(
            quantity="mean",
            values=("mean",),
            points=np.array([self.grid.low + step * mean]),
            standard_errors=np.array([step * math.sqrt(variance / n)]),
            n=n,
            confidence=confidence,
            rule=self.interval_rule(tally, n),
        )

    def interval_rule(self, tally: NDArray[np.int64], n: int) -> IntervalRule:
        """Intervals at the greatest noise that people with about this mean can have.

        For people with a given mean it is a concave function of the mean: the upper hull of the
        noise at the grid points. Its largest value within a wide interval is used.
        """
        step, points = self.grid.step, np.arange(self.grid.size)
        mean = float(tally @ self.scores) / n
        mean = min(max(mean, 0.0), self.grid.size - 1.0)
        wide = 4 * math.sqrt(float(self._noise.max()) / n) + self._jump / n
        hull = _upper_hull(self._noise)
        near = points[(points >= mean - wide - 1) & (points <= mean + wide + 1)]
        return LinearRule(
            points=np.array([self.grid.low + step * (float(tally @ self.scores) / n)]),
            n=n,
            variance=np.array([step**2 * hull[near].max()]),
            jump=np.array([step * self._jump]),
            low=self.grid.low,
            high=self.grid.high,
        )

    def rms_error(self, n: int) -> float:
        """The standard error at the grid point where a report is noisiest."""
        return self.grid.step * math.sqrt(float(self._noise.max()) / n)

    @property
    def worst_shift(self) -> Fraction:
        """The difference of the largest and the least score, in units of the whole grid."""
        scores = self.scores
        span = Fraction(float(scores.max())) - Fraction(float(scores.min()))
        return span / (self.grid.size - 1)

    @cached_property
    def _noise(self) -> NDArray[np.float64]:
        """The variance of a report's score at each grid point."""
        return np.asarray((self.channel().probabilities * self._deviation**2).sum(axis=1))

    @cached_property
    def _jump(self) -> float:
        """The largest third absolute moment of a report's noise over its variance."""
        third = (self.channel().probabilities * np.abs(self._deviation) ** 3).sum(axis=1)
        return float((third / self._noise).max())

    @property
    def _deviation(self) -> NDArray[np.float64]:
        return np.asarray(self.scores - np.arange(self.grid.size)[:, None])


def _upper_hull(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least concave function on 0, 1, … that is at least the values."""
    corners: list[int] = []
    for place, value in enumerate(values.tolist()):
        while len(corners) > 1:
            first, last = corners[-2:]
            rise = (values[last] - values[first]) * (place - first)
            if rise > (value - values[first]) * (last - first):
                break
            corners.pop()
        corners.append(place)
    return np.interp(np.arange(len(values)), corners, values[corners])
