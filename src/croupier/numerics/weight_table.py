"""A table of integer weights, and sampling from its rows."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from croupier.errors import ParameterError
from croupier.numerics.arrays import np
from croupier.numerics.keystream import WORD
from croupier.numerics.portable import ordered_sum
from croupier.numerics.rounding import log_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["WeightTable"]


@dataclass(frozen=True)
class WeightTable:
    """Rows of non-negative integers, each summing to the denominator.

    Example:
        >>> WeightTable(((3, 1), (1, 3)), 4).respond(np.array([0, 0, 1]), np.array([2, 3, 1]))
        array([0, 1, 1])
    """

    rows: tuple[tuple[int, ...], ...]
    denominator: int

    def __post_init__(self) -> None:
        if not 1 <= self.denominator <= WORD:
            raise ParameterError("denominator", must="be in [1, 2**64]", got=self.denominator)
        if any(sum(row) != self.denominator or min(row) < 0 for row in self.rows):
            raise ParameterError("rows", must=f"be weights that sum to {self.denominator}")

    @classmethod
    def rounded(cls, probabilities: NDArray[np.float64], denominator: int) -> WeightTable:
        """Round float rows down; the remainder goes to each row's largest entry.

        >>> WeightTable.rounded(np.array([[0.5, 0.25, 0.25]]), 10).rows
        ((6, 2, 2),)
        """
        rows = []
        for row in probabilities:
            weights = [int(entry * denominator) for entry in row / ordered_sum(row)]
            weights[int(np.argmax(row))] += denominator - sum(weights)
            rows.append(tuple(weights))
        return cls(tuple(rows), denominator)

    @cached_property
    def epsilon(self) -> float:
        """The logarithm of the largest ratio of two weights of a column, rounded up.

        Infinite if one row excludes an output that another allows.

        >>> WeightTable(((3, 1), (1, 3)), 4).epsilon
        1.0986122886681098
        """
        ends = [(max(column), min(column)) for column in zip(*self.rows, strict=True)]
        if any(high and not low for high, low in ends):
            return math.inf
        return log_above(max(Fraction(high, low) for high, low in ends if high))

    def pick(self, row: int, draw: int) -> int:
        """The output of one row at a draw, without arrays.

        >>> WeightTable(((3, 1), (1, 3)), 4).pick(0, 2)
        0
        """
        return bisect_right(list(accumulate(self.rows[row])), draw)

    @cached_property
    def weights(self) -> NDArray[Any]:
        """The rows as a matrix of Python integers."""
        return np.array(self.rows, dtype=object)

    @cached_property
    def _thresholds(self) -> list[NDArray[np.uint64]]:
        """The draws at which the next output begins, for each row."""
        return [
            np.array(
                [t for t in list(accumulate(row))[:-1] if t < self.denominator], dtype=np.uint64
            )
            for row in self.rows
        ]

    def respond(self, rows: NDArray[Any], draws: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The output of each row at its draw, a uniform integer below the denominator."""
        outputs = np.empty(len(rows), dtype=np.int64)
        order = np.argsort(rows, kind="stable")
        present, starts = np.unique(rows[order], return_index=True)
        for row, people in zip(present, np.split(order, starts)[1:], strict=True):
            outputs[people] = np.searchsorted(self._thresholds[row], draws[people], side="right")
        return outputs
