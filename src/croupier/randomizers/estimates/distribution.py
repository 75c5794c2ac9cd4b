"""The estimated distribution of a number, and what can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from croupier.errors import ParameterError
from croupier.model.estimate import Estimate
from croupier.model.html import numbers as numbers_card
from croupier.model.interval_rule import TogetherRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from croupier.model.domain import Grid
    from croupier.randomizers.estimates.tree_fit import ShareFit

__all__ = ["Between", "DistributionEstimate", "Mean", "Quantile", "ShareCurve"]


_USUAL = (0.5, 0.9, 0.99)


def _require_level(level: Any) -> None:
    """Refuse anything but a number between 0 and 1."""
    number = isinstance(level, Real)
    if not (number and 0 < level < 1):
        got = level if number else type(level).__name__
        hint = "Try quantiles(0.5, 0.99)."
        raise ParameterError("levels", must="be numbers in (0, 1)", got=got, hint=hint)


class Quantile(NamedTuple):
    """The least number up to which at least this share of people are, with its interval."""

    level: float
    value: float
    lower: float
    upper: float


class Between(NamedTuple):
    """The share of people from one number to another, both included, with its interval."""

    low: float
    high: float
    share: float
    lower: float
    upper: float


class Mean(NamedTuple):
    """The average number, with its interval."""

    value: float
    lower: float
    upper: float


class ShareCurve(NamedTuple):
    """The share of people up to each number of the grid, with intervals."""

    numbers: NDArray[np.float64]
    shares: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class DistributionEstimate(Estimate):
    """The shares of all numbers, and the quantiles, sums and mean that follow from them.

    All intervals of one kind hold together, with the stated confidence (Bonferroni): those of the
    histogram (`lower`, `upper`), of the distribution function (`curve`), of the quantiles that are
    asked for in one call, and of the ranges.

    Attributes:
        grid: The numbers.
        fit: The shares, and the errors of their combinations.

    Example:
        >>> from croupier.model.domain import Grid
        >>> from croupier.randomizers.distribution import Distribution
        >>> made = Distribution(grid=Grid(0, 9, 1), max_epsilon_local=8.0)
        >>> reports = made.randomize([2] * 5_000 + [7] * 5_000, insecure_seed=1)
        >>> [found] = made.estimate(reports).quantiles(0.9)
        >>> found.value
        7.0
    """

    grid: Grid
    fit: ShareFit

    @property
    def holds_together(self) -> bool:
        """True: see above."""
        return True

    def among(self, people: int) -> DistributionEstimate:
        """Return the estimate about all of `people`, a random part of whom answered."""
        found = replace(self.fit, n=people).estimate(self.grid, confidence=self.confidence)
        return replace(found, n=self.n)

    def simultaneous(self, statements: int | None = None) -> Self:  # noqa: ARG002 - as the base
        """The same estimate: its intervals hold together."""
        return self

    def projected(self) -> Self:
        """Refuse: what follows from the shares adds up already."""
        must = "be left out for a distribution: its curve, quantiles and mean add up already"
        raise ParameterError("project", must=must)

    @cached_property
    def curve(self) -> ShareCurve:
        """The distribution function, which never falls; all its intervals hold together."""
        lower, upper = TogetherRule(self._up_to, self._cuts).ends(self.confidence)
        # The share up to a number is at least that up to any before it.
        lower, upper = np.maximum.accumulate(lower), np.minimum.accumulate(upper[::-1])[::-1]
        lower, upper = np.append(lower, 1.0), np.append(upper, 1.0)
        shares = np.clip(np.cumsum(self.fit.likely), lower, np.maximum(lower, upper))
        return ShareCurve(self.grid.points, shares, lower, upper)

    @cached_property
    def _up_to(self) -> Any:
        from croupier.randomizers.estimates.tree_fit import up_to  # noqa: PLC0415 - it imports this

        return self.fit.rule(up_to)

    @property
    def _cuts(self) -> int:
        return self.grid.size - 1

    def quantiles(self, *levels: float) -> list[Quantile]:
        """Return the quantiles of some levels, whose intervals hold together.

        A number t is in the interval of the quantile of level q if neither "at least a share q is
        at most t" nor "less than a share q is below t" is refuted. Only the two statements about
        the true quantile have to hold, so that nothing is paid for the other numbers.
        """
        for level in levels:
            _require_level(level)
        each = TogetherRule(self._up_to, len(levels))
        lower, upper = (np.append(end, 1.0) for end in each.ends(self.confidence))
        return [self._quantile(level, lower, upper) for level in levels]

    def _quantile(self, level: float, lower: Any, upper: Any) -> Quantile:
        """Return one quantile, from the ends of the share up to each number."""
        numbers = self.grid.points
        first = int(np.argmax(upper >= level))
        last = int(np.flatnonzero(np.append(0.0, lower[:-1]) < level)[-1])
        middle = int(np.argmax(self.curve.shares >= level))
        middle = min(max(middle, first), last)
        return Quantile(level, *(float(numbers[place]) for place in (middle, first, last)))

    def between(self, ranges: Sequence[tuple[float, float]]) -> list[Between]:
        """Return the shares of some ranges of numbers, whose intervals hold together."""
        rows = np.array([self._covered(low, high) for low, high in ranges])
        if not len(rows):
            return []
        rule = self.fit.rule(lambda shares: rows @ shares)
        lower, upper = TogetherRule(rule, len(rows)).ends(self.confidence)
        found = zip(ranges, rule.points, lower, upper, strict=True)
        return [
            Between(float(low), float(high), float(point), float(one), float(two))
            for (low, high), point, one, two in found
        ]

    def _covered(self, low: float, high: float) -> NDArray[np.float64]:
        numbers, slack = self.grid.points, self.grid.step * 1e-9
        inside = (numbers >= low - slack) & (numbers <= high + slack)
        if not inside.any():
            raise ParameterError(
                "range",
                must=f"contain a number from {self.grid.low:g} to {self.grid.high:g} of the grid",
                hint=f"Try {self.grid.low:g}:{self.grid.high:g}.",
            )
        return inside.astype(np.float64)

    def _repr_html_(self) -> str:
        """The usual quantiles and the mean, whose intervals are what people ask for."""
        found = [(f"p{100 * each.level:g}", each[1:]) for each in self.quantiles(*_USUAL)]
        rows = [
            (name, [f"{entry:.6g}" for entry in entries])
            for name, entries in (*found, ("mean", self.mean))
        ]
        coverage = f"{100 * self.coverage:g} % intervals"
        caption = f"Distribution: {self._summary}, {coverage}, those of the quantiles together"
        return numbers_card(caption, ("number", "estimate", "lower", "upper"), rows)

    @cached_property
    def mean(self) -> Mean:
        """The average number."""
        numbers = self.grid.points
        rule = self.fit.rule(
            lambda shares: (
                np.atleast_1d(numbers @ shares) if shares.ndim == 1 else (numbers @ shares)[None]
            ),
            low=self.grid.low,
            high=self.grid.high,
        )
        lower, upper = rule.ends(self.confidence)
        point = min(max(float(rule.points[0]), self.grid.low), self.grid.high)
        return Mean(point, float(lower[0]), float(upper[0]))
