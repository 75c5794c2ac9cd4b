"""The expected positive part of a sum of independent terms: the question, and its answers."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CANCELLATION", "STEPS", "Bounds", "LogBounds", "Real", "Rows", "Terms"]
__all__ += ["exp_above"]

Real = NDArray[np.float64]
Rows = NDArray[np.int64]

CANCELLATION = 8e-16
"""Relative error of a difference of two probabilities over a weight, against their sum over it."""

STEPS = np.dtype(
    [
        ("method", "U8"),  # bare, listed, contour, splits, or ceiling (Chernoff, or one person)
        ("listed", np.int64),  # the most terms but those of the most frequent value
        ("rare", np.int64),  # the most terms but those of the two most frequent values
        ("points", np.int64),  # the number of values of the coarser law, if there is one
        ("theta", np.float64),  # the real part of the contour
        ("period", np.float64),  # the distance of the aliases
        ("tau", np.float64),  # the deviation of the smoothing
        ("last", np.float64),  # the node at which the sum was cut off
        ("nodes", np.int64),  # the number of nodes that were computed
    ]
)
"""The method and the parameters of one enclosure: enough to compute it again."""


def exp_above(logarithms: Real) -> Real:
    """Exponentials, rounded up: a logarithm is known to half a unit in its last place.

    >>> bool(exp_above(np.array([-700.0]))[0] > math.exp(-700) * (1 + 1e-13))
    True
    """
    finite = np.where(np.isfinite(logarithms), logarithms, 0.0)
    return np.asarray(np.exp(logarithms + (4 + np.abs(finite)) * 2.3e-16))


class LogBounds(NamedTuple):
    """Natural logarithms of a lower and of an upper bound."""

    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class Bounds:
    """Natural logarithms of lower and upper bounds, one row per question, and how they were found.

    Attributes:
        lower: The lower bounds; -inf where nothing is known.
        upper: The upper bounds; inf where nothing is known.
        steps: One row of `STEPS` each.
    """

    lower: Real
    upper: Real
    steps: NDArray[np.void]

    @classmethod
    def unknown(cls, rows: int) -> "Bounds":
        """No bounds yet."""
        steps = np.zeros(rows, dtype=STEPS)
        return cls(np.full(rows, -math.inf), np.full(rows, math.inf), steps)

    def __getitem__(self, row: int) -> LogBounds:
        return LogBounds(float(self.lower[row]), float(self.upper[row]))

    def is_sharp(self, rtol: float) -> NDArray[np.bool_]:
        """Mark the rows whose ends are that close."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.upper - self.lower <= rtol)

    def improve(self, rows: Rows, found: "Bounds") -> None:
        """Put in what was found for some rows, where it is sharper."""
        with np.errstate(invalid="ignore"):
            better = ~(found.upper - found.lower >= self.upper[rows] - self.lower[rows])
        self.steps[rows[better]] = found.steps[better]
        self.lower[rows] = np.maximum(self.lower[rows], found.lower)
        self.upper[rows] = np.minimum(self.upper[rows], found.upper)


@dataclass(frozen=True, eq=False)
class Terms:
    """Laws of one term, one per row: `values[i, j]` with chance `weights[i, j]`, zero otherwise.

    Attributes:
        weights: Not negative, each row summing to at most one.
        values: At least one of each row positive where its weight is.
        sizes: weights * |values| as sums of absolute values, with which rounding errors scale.
        rest: The chance of zero of each row, to full relative precision. It is given because 1 less
            the sum of weights that are rounded may be off by more than itself.
    """

    weights: Real
    values: Real
    sizes: Real
    rest: Real

    def take(self, rows: Rows) -> "Terms":
        """Some of the rows."""
        return Terms(self.weights[rows], self.values[rows], self.sizes[rows], self.rest[rows])

    @cached_property
    def log_rest(self) -> Real:
        """Logarithms of the chances of zero, accurate at both ends."""
        with np.errstate(divide="ignore"):
            return np.where(
                self.rest < 0.5, np.log(self.rest), np.log1p(-np.minimum(1, self.weights.sum(1)))
            )
