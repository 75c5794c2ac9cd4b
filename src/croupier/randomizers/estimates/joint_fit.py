"""Numbers of people with a few answers that share buckets, fitted together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from croupier.numerics.arrays import np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["JointFit"]

_STEPS = 200
_PRECISION = 1e-6


@dataclass(frozen=True, eq=False)
class JointFit:
    """The linear equations between the numbers of holders and the counts of their buckets.

    If n_f people hold answer f, w_r is the share of reports of function r, and d the chance of the
    own bucket less that of another, the counts of function r are expected to have

        d w_r * sum over f of n_f ([h_r(f) = y] - 1/g)

    more people in bucket y than an even spread. Summed over the own buckets of every answer, this
    is a symmetric matrix, which conjugate gradients invert.

    Attributes:
        buckets: The buckets of the answers, one row per function, in each batch.
        weights: The share of reports of each function, in each batch.
        size: The number g of buckets.
        gap: The number d.
    """

    buckets: Sequence[NDArray[np.int64]]
    weights: Sequence[NDArray[np.float64]]
    size: int
    gap: float

    def expected(self, held: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """The people beyond an even spread, at each function and bucket."""
        spread = self._spread(held)
        return [self.gap * own * each for own, each in zip(self.weights, spread, strict=True)]

    def at_buckets(self, tables: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """The sums of the entries at the own buckets of each answer."""
        pairs = zip(tables, self.buckets, strict=True)
        sums = [np.take_along_axis(table, own, axis=1).sum(axis=0) for table, own in pairs]
        return np.asarray(np.sum(sums, axis=0))

    def solved(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """The numbers of holders whose expected sums at their buckets are these."""
        found, left = np.zeros_like(sums), sums.copy()
        direction, size = left.copy(), float(left @ left)
        least = _PRECISION**2 * size
        for _ in range(_STEPS):
            if size <= least:
                break
            moved = self.at_buckets(self.expected(direction))
            along = float(direction @ moved)
            if along <= 0:
                break  # answers that no function tells apart
            found += size / along * direction
            left -= size / along * moved
            size, before = float(left @ left), size
            direction = left + size / before * direction
        return found

    def reach(self, answer: int) -> float:
        """The most by which one report in place of another changes the number of one answer."""
        own = np.zeros(self.buckets[0].shape[1])
        own[answer] = 1.0
        return _range(self._spread(self.solved(own)))

    def reach_beside(self, buckets: Sequence[NDArray[np.int64]]) -> float:
        """The most by which one report changes what is left over at the buckets of another answer.

        Args:
            buckets: The bucket of that answer for each function, in each batch.
        """
        own = []
        for each in buckets:
            table = np.full((len(each), self.size), -1 / self.size)
            table[np.arange(len(each)), each] += 1
            own.append(table)
        shared = [self.gap * one * two for one, two in zip(self.weights, own, strict=True)]
        spread = self._spread(self.solved(self.at_buckets(shared)))
        return _range([one - two for one, two in zip(own, spread, strict=True)])

    def _spread(self, held: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """The holders at each function and bucket, less an even spread."""
        found = []
        for own in self.buckets:
            rows = len(own)
            cells = (np.arange(rows)[:, None] * self.size + own).ravel()
            counts = np.bincount(cells, np.tile(held, rows), minlength=rows * self.size)
            found.append(counts.reshape(rows, self.size) - held.sum() / self.size)
        return found


def _range(tables: Sequence[NDArray[np.float64]]) -> float:
    return float(max(each.max() for each in tables) - min(each.min() for each in tables))
