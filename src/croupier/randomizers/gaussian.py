"""Bounded discrete Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from croupier.errors import ParameterError
from croupier.numerics.arrays import np
from croupier.numerics.bisection import bisect_safe
from croupier.numerics.portable import ordered_sum, portable_exp
from croupier.numerics.rounding import exp_enclosure
from croupier.numerics.weight_table import WeightTable
from croupier.randomizers.grid_mean import GridMean
from croupier.randomizers.parameter import TAIL, declares

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["DiscreteGaussian"]

_MOST_REACH = 1 << 16

_SLACKS = (0.0, *(float(f"1e{power}") for power in range(-14, 0)))
"""Margins below the ceiling, tried in turn until the rounded law stays below it."""


class _Law(NamedTuple):
    """Standard deviation and reach, both in steps of the grid."""

    sigma: float
    reach: int


@dataclass(frozen=True, kw_only=True)
class DiscreteGaussian(GridMean):
    """Report a grid point with Gaussian weights around the value, on a bounded, longer grid.

    For the value i on the grid 0, …, m and outputs y = -reach, …, m + reach,

        R(i)(y) proportional to exp(-(y - c_i)^2 / (2 sigma^2)),   c_i such that the mean is i.

    Cutting a Gaussian moves its mean; moving the centre c_i back makes the average report unbiased.
    The laws form an exponential family in i, so the two ends of the grid are the pair that is
    easiest to tell apart, and sigma is the least at which they stay below epsilon. Rounding the
    rarest weight may cost up to a few per cent of epsilon; `_raise_end` recovers them.

    Gaussian noise is not made for pure local privacy: expect more error than from `laplace` or
    `one-bit-mean`, and choose it where its shape is needed.

    Attributes:
        tail: The reach is tail standard deviations of an uncut Gaussian of the same epsilon.

    Reference: canonne2020 for the discrete Gaussian; the cut and the centring are ours.

    Example:
        >>> from croupier.model import Grid
        >>> noise = DiscreteGaussian(grid=Grid(0, 4, 1), max_epsilon_local=2.0)
        >>> round(noise.law.sigma, 3), noise.law.reach
        (6.667, 20)
    """

    mechanism = "gaussian"

    tail: float = field(
        default=3.0, metadata=declares(TAIL, "reach beyond the grid, in standard deviations")
    )

    @cached_property
    def law(self) -> _Law:
        """The least sigma that keeps below epsilon, and the reach."""
        if not 2 <= self.tail <= 5:
            raise ParameterError("tail", must="be in [2, 5]", got=self.tail, hint="Try 3.")
        last = self.grid.size - 1
        uncut = last / (math.sqrt(self.tail * self.tail + 2 * self.max_epsilon_local) - self.tail)
        reach = math.ceil(self.tail * uncut)
        self.require_coarse(self.grid.size + 2 * reach)
        if reach > _MOST_REACH:
            raise ParameterError(
                "grid", must="be coarser for an epsilon_local this small", hint="Try fewer steps."
            )
        law = _Law(uncut, reach)
        for slack in _SLACKS:
            law = self._least_sigma(law, self.max_epsilon_local * (1 - slack))
            if self._end_table(law).epsilon <= self.max_epsilon_local:
                break
        return law

    def _least_sigma(self, law: _Law, target: float) -> _Law:
        """The law with the least sigma at which the ends, before rounding, stay below `target`."""
        least = portable_exp(np.array([-target]))

        def is_safe(sigma: float) -> bool:
            low, high = self._rows(self._ends, _Law(sigma, law.reach))
            return bool((low >= high * least).all() and (high >= low * least).all())

        scale = law.sigma
        sigma = bisect_safe(is_safe, safe=100 * scale, unsafe=scale / 100, tolerance=1e-15 * scale)
        return _Law(sigma, law.reach)

    def _end_table(self, law: _Law) -> WeightTable:
        """The two ends of the grid as integers."""
        return WeightTable.rounded(self._rows(self._ends, law), self.denominator)

    @property
    def _ends(self) -> NDArray[np.float64]:
        return np.array([0.0, self.grid.size - 1.0])

    def _rows(self, means: NDArray[np.float64], law: _Law) -> NDArray[np.float64]:
        """Cut Gaussians with the given means: Newton's method on the centre."""
        outputs = np.arange(-law.reach, self.grid.size + law.reach, dtype=np.float64)
        center = means.copy()
        rows = np.empty((len(means), len(outputs)))
        for _ in range(200):
            exponent = -0.5 * ((outputs - center[:, None]) / law.sigma) ** 2
            rows = portable_exp(exponent - exponent.max(axis=1, keepdims=True))
            rows /= ordered_sum(rows)[:, None]
            mean = ordered_sum(rows * outputs)
            error = means - mean
            if np.abs(error).max() <= 1e-14 * len(outputs):
                break
            spread = ordered_sum(rows * outputs**2) - mean**2
            move = error / spread * (law.sigma * law.sigma)
            center += np.clip(move, -law.sigma, law.sigma)
        return rows

    @cached_property
    def table(self) -> WeightTable:
        """The cut Gaussians, rounded to integers; the ends are identical to those checked."""
        means = np.arange(self.grid.size, dtype=np.float64)
        rows = self._rows(means, self.law)
        rows[[0, -1]] = self._rows(self._ends, self.law)
        weights = [list(row) for row in WeightTable.rounded(rows, self.denominator).rows]
        last = len(weights[0]) - 1
        self._raise_end(weights[-1], weights[0], end=last, inward=-1)
        self._raise_end(weights[0], weights[-1], end=0, inward=1)
        return WeightTable(tuple(tuple(row) for row in weights), self.denominator)

    def _raise_end(self, row: list[int], other: list[int], *, end: int, inward: int) -> None:
        """Raise the weight of the outermost output as far as epsilon allows.

        The weight comes from the next output; the same amount moves the other way at the centre, so
        that the mean stays where it is.
        """
        low, _ = exp_enclosure(self.max_epsilon_local)
        room = math.floor(other[end] * low) - row[end]
        center = row.index(max(row))
        if 0 < room < min(row[end + inward], row[center]):
            row[end] += room
            row[end + inward] -= room
            row[center] -= room
            row[center + inward] += room

    @property
    def scores(self) -> NDArray[np.float64]:
        """The output itself."""
        return np.arange(-self.law.reach, self.grid.size + self.law.reach, dtype=np.float64)
