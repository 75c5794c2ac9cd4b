"""A table of integer weights, and sampling from its rows."""

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError
from croupier.numerics.keystream import WORD

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
    def rounded(cls, probabilities: NDArray[np.float64], denominator: int) -> "WeightTable":
        """Round float rows down; the remainder goes to each row's largest entry.

        >>> WeightTable.rounded(np.array([[0.5, 0.25, 0.25]]), 10).rows
        ((6, 2, 2),)
        """
        rows = []
        for row in probabilities:
            weights = [int(entry * denominator) for entry in row / row.sum()]
            weights[int(np.argmax(row))] += denominator - sum(weights)
            rows.append(tuple(weights))
        return cls(tuple(rows), denominator)

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
