"""Projection of numbers onto shares."""

from __future__ import annotations

from typing import TYPE_CHECKING

from croupier.numerics.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["simplex_projection"]


def simplex_projection(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest rows with entries >= 0 that sum to one: subtract a constant, cut at zero.

    >>> simplex_projection(np.array([[1.2, 0.0, -0.2], [0.5, 0.2, 0.0]])).round(3).tolist()
    [[1.0, 0.0, 0.0], [0.6, 0.3, 0.1]]
    """
    descending = np.sort(points, axis=-1)[..., ::-1]
    excess = (np.cumsum(descending, axis=-1) - 1) / np.arange(1, points.shape[-1] + 1)
    # The entries that stay positive come first.
    kept = (descending >= excess).sum(axis=-1, keepdims=True) - 1
    return np.maximum(points - np.take_along_axis(excess, kept, axis=-1), 0.0)
