"""Numbers of people with a few answers that share buckets, fitted together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scipy.sparse import csr_array

from croupier.numerics.arrays import np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["JointFit"]

_AT_ONCE = 1024
_SINGULAR = 1e-9
_UNKNOWN = 1e-6


@dataclass(frozen=True, eq=False)
class JointFit:
    """The linear equations between the numbers of holders and the counts of their buckets.

    If n_f people hold answer f, w_r is the share of reports of function r, and d the chance of the
    own bucket less that of another, the counts of function r are expected to have

        d w_r * sum over f of n_f ([h_r(f) = y] - 1/g)

    more people in bucket y than an even spread. Summed over the own buckets of every answer, this
    is a symmetric matrix. If all buckets are alike, the covariances of the sums are in proportion
    to it, and so the variances of the numbers of holders to the diagonal of its inverse.

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
        return np.asarray(self._inverse @ sums)

    @cached_property
    def blur(self) -> NDArray[np.float64]:
        """The variance of each number, in units of that of an answer that is fitted alone.

        Infinite for answers that nothing tells apart.
        """
        known = np.sum(self._inverse * self._matrix, axis=1)
        alone = self.gap * (1 - 1 / self.size)
        found = np.maximum(1.0, np.diag(self._inverse) * alone)
        return np.where(known > 1 - _UNKNOWN, found, np.inf)

    @cached_property
    def _inverse(self) -> NDArray[np.float64]:
        """The inverse of the matrix; answers that nothing tells apart share."""
        return np.asarray(np.linalg.pinv(self._matrix, rcond=_SINGULAR, hermitian=True))

    @cached_property
    def _matrix(self) -> NDArray[np.float64]:
        """The matrix of the equations."""
        count = self.buckets[0].shape[1]
        matrix = np.full((count, count), -1 / self.size)
        for buckets, weights in zip(self.buckets, self.weights, strict=True):
            for start in range(0, len(buckets), _AT_ONCE):
                own = buckets[start : start + _AT_ONCE]
                cells = np.arange(len(own))[:, None] * self.size + own
                root = np.sqrt(np.broadcast_to(weights[start : start + _AT_ONCE], own.shape))
                held = np.broadcast_to(np.arange(count), own.shape)
                entries = (root.ravel(), (held.ravel(), cells.ravel()))
                marks = csr_array(entries, shape=(count, len(own) * self.size))
                matrix += (marks @ marks.T).toarray()
        return self.gap * matrix

    def moved(self, answer: int, shares: NDArray[np.float64]) -> tuple[float, float]:
        """The least and the most that one more report adds to the number of one answer.

        Args:
            answer: The place of the answer.
            shares: The share of people with each answer.
        """
        return self._ends(self._spread(self._inverse[answer]), shares)

    def moved_beside(
        self, buckets: Sequence[NDArray[np.int64]], shares: NDArray[np.float64]
    ) -> tuple[float, float]:
        """The least and the most that one more report adds to what is left over at some buckets.

        Args:
            buckets: The bucket of another answer for each function, in each batch.
            shares: The share of people with each answer that is fitted.
        """
        own = []
        for each in buckets:
            table = np.full((len(each), self.size), -1 / self.size)
            table[np.arange(len(each)), each] += 1
            own.append(table)
        shared = [self.gap * one * two for one, two in zip(self.weights, own, strict=True)]
        spread = self._spread(self.solved(self.at_buckets(shared)))
        return self._ends([one - two for one, two in zip(own, spread, strict=True)], shares)

    def _ends(
        self, tables: Sequence[NDArray[np.float64]], shares: NDArray[np.float64]
    ) -> tuple[float, float]:
        """The least and the largest entry, less what is expected of a report of its function.

        One more report of a function raises what is expected in all buckets of that function.
        """
        low, high = [], []
        for table, own in zip(tables, self.buckets, strict=True):
            expected = self.gap * (np.take_along_axis(table, own, axis=1) @ shares)
            low.append((table.min(axis=1) - expected).min())
            high.append((table.max(axis=1) - expected).max())
        return float(min(low)), float(max(high))

    def _spread(self, held: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """The holders at each function and bucket, less an even spread."""
        found = []
        for own in self.buckets:
            rows = len(own)
            cells = (np.arange(rows)[:, None] * self.size + own).ravel()
            counts = np.bincount(cells, np.tile(held, rows), minlength=rows * self.size)
            found.append(counts.reshape(rows, self.size) - held.sum() / self.size)
        return found
