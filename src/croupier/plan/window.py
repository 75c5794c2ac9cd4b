"""The guesses of a number that count as right: those near it."""

import math
from dataclasses import dataclass
from fractions import Fraction

from croupier.model.domain import Grid

__all__ = ["Window"]

_ROUNDING = 1e-9


@dataclass(frozen=True)
class Window:
    """The number of values of a grid that are near a guess, wherever it lies.

    Attributes:
        size: The number k of the numbers.
        near: The number m of those within w of a guess, at most: they span 2 w.
        within: w.

    Example:
        >>> Window.of(Grid(0, 100, 1), within=2.5)
        Window(size=101, near=6, within=2.5)
    """

    size: int
    near: int
    within: float

    @classmethod
    def of(cls, grid: Grid, *, within: float | None) -> "Window":
        """Return the window of a grid; a tenth of its range if w is not given."""
        given = (grid.high - grid.low) / 20 if within is None else within
        near = math.floor(2 * given / grid.step * (1 + _ROUNDING)) + 1
        return cls(grid.size, min(near, grid.size), given)

    @property
    def luck(self) -> Fraction:
        """The chance of a guess by luck alone."""
        return Fraction(self.near, self.size)
