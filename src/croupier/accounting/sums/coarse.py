"""Laws of a term with fewer values, between which the expected positive part of a sum lies."""

from collections.abc import Callable

import numpy as np

from croupier.accounting.sums.terms import Real, Rows, Terms

__all__ = ["merged", "spread_out"]

_Change = Callable[[Real, Real, Real, int], tuple[Real, Real, Real]]


def spread_out(terms: Terms, points: int) -> Terms:
    """Split every value between the two points around it, so that its mean is kept.

    The points are some of the values, so many at the most, dense where the law is. The new law is
    larger in the convex order, so that E[(G_1 + … + G_n)_+] can only grow: the term given the old
    one has the old one as its mean (Jensen).

    Direction: upper. The mean is kept up to rounding, in proportion to `sizes`.

    >>> law = Terms(*(np.array([row]) for row in ([0.2, 0.4, 0.4], [-1, 0, 1], [0.2, 0, 0.4])),
    ...             np.zeros(1))
    >>> spread_out(law, 2).weights.round(3).tolist()
    [[0.4, 0.6]]
    """
    return _changed(terms, points, _spread_row)


def merged(terms: Terms, points: int) -> Terms:
    """Replace the values from one point to the next by their mean.

    The new law is smaller in the convex order: E[(G_1 + … + G_n)_+] can only fall (Jensen).

    Direction: lower. The mean is kept up to rounding, in proportion to `sizes`.
    """
    return _changed(terms, points, _merged_row)


def _changed(terms: Terms, points: int, change: _Change) -> Terms:
    """Change every row, and fill the rows up with values that never occur."""
    rows = [
        change(*row, points) for row in zip(terms.weights, terms.values, terms.sizes, strict=True)
    ]
    weights, values, sizes = np.zeros((3, len(rows), max(len(row[0]) for row in rows)))
    for place, row in enumerate(rows):
        shown = len(row[0])
        weights[place, :shown], values[place, :shown], sizes[place, :shown] = row
    return Terms(weights, values, sizes, terms.rest)


def _spread_row(weights: Real, values: Real, sizes: Real, points: int) -> tuple[Real, Real, Real]:
    weights, values, sizes = _sorted(weights, values, sizes)
    grid = np.unique(values[_points(weights, values, points)])
    if len(grid) == 1:
        return weights.sum(keepdims=True), grid, sizes.sum(keepdims=True)
    below = np.clip(np.searchsorted(grid, values, side="right") - 1, 0, len(grid) - 2)
    share = np.clip((values - grid[below]) / (grid[below + 1] - grid[below]), 0.0, 1.0)
    mass, size = np.zeros((2, len(grid)))
    for old, new in ((weights, mass), (sizes, size)):
        np.add.at(new, below, old * (1 - share))
        np.add.at(new, below + 1, old * share)
    return mass, grid, size + mass * np.abs(grid)


def _merged_row(weights: Real, values: Real, sizes: Real, points: int) -> tuple[Real, Real, Real]:
    weights, values, sizes = _sorted(weights, values, sizes)
    starts = _points(weights, values, points)
    mass, total, size = (
        np.add.reduceat(each, starts) for each in (weights, weights * values, sizes)
    )
    return mass, total / mass, size


def _sorted(weights: Real, values: Real, sizes: Real) -> tuple[Real, Real, Real]:
    order = np.argsort(values, kind="stable")
    order = order[weights[order] > 0]
    return weights[order], values[order], sizes[order]


def _points(weights: Real, values: Real, points: int) -> Rows:
    """The places of values between which the third root of the density adds up to as much."""
    if len(values) <= points:
        return np.arange(len(values))
    gaps = np.diff(values)
    steps = np.cbrt(weights[:-1] + weights[1:]) * np.cbrt(gaps) ** 2
    reached = np.append(0.0, np.cumsum(steps))
    wanted = np.linspace(0.0, reached[-1], points)
    places = np.searchsorted(reached, wanted[1:-1])
    return np.unique(np.concatenate([[0], places, [len(values) - 1]]))
