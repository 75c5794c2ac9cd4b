"""The point at which a falling function that is costly to evaluate crosses zero."""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from croupier.accounting.sums.terms import Real

__all__ = ["Crossing", "crossing"]

_TINY = 1e-12
"""Below this a point counts as zero."""

_STRIDES = np.array([0.1, 0.3, 1.0])
_BOTH = np.concatenate([-_STRIDES[::-1], [0.0], _STRIDES])
_WIDER = 10.0
_VAGUE = 0.1
"""A guess that may be off by more than this says little: zero is tried as well."""

_MOST_TURNS = 200
"""Turns after which the search ends; a tenth of them is much already."""

_EVENLY = np.array([0.25, 0.5, 0.75])


class Crossing(NamedTuple):
    """Two points next to a crossing, and an estimate of the crossing between them.

    Attributes:
        above: A point where the function is positive; zero if it is so nowhere.
        below: A larger one where it is at most zero; infinite if it is so nowhere.
        root: The point at which the function probably crosses zero.
    """

    above: float
    below: float
    root: float


def crossing(
    excess: Callable[[Real], Real], *, near: float, spread: float, cap: float, sharpness: float
) -> Crossing:
    """Enclose the point where a function crosses zero; all points of a turn are evaluated at once.

    Args:
        excess: The function, of increasing points.
        near: A guess.
        spread: The logarithm of the factor by which the guess may be off.
        cap: The largest point.
        sharpness: The relative distance of the two points.

    >>> found = crossing(lambda x: 2 - x * x, near=1, spread=1, cap=9.0, sharpness=1e-8)
    >>> [round(point, 6) for point in found]
    [1.414214, 1.414214, 1.414214]
    """
    known, values = np.zeros(0), np.zeros(0)
    points = max(near if math.isfinite(near) else cap, _TINY) * np.exp(spread * _BOTH)
    if spread >= _VAGUE:
        points = np.append(0.0, points)
    above, below = 0.0, math.inf
    for _ in range(_MOST_TURNS):
        points = np.setdiff1d(np.clip(points, 0.0, cap), known)
        known, values = np.append(known, points), np.append(values, excess(points))
        order = np.argsort(known)
        known, values = known[order], values[order]
        at = int((values <= 0).argmax()) if (values <= 0).any() else len(known)
        above = float(known[at - 1]) if at else -1.0
        below = float(known[at]) if at < len(known) else math.inf
        if below == 0:
            return Crossing(0.0, 0.0, 0.0)
        if above >= cap:
            return Crossing(cap, math.inf, math.inf)
        if above < 0 or below == math.inf:
            spread = min(_WIDER * spread, 3.0)
            points = above * np.exp(spread * _STRIDES)
            if above < 0:
                points = below * np.exp(-spread * _STRIDES) * (below > _TINY)
            if math.isfinite(beyond := _beyond(known, values)):
                points = np.append(points, beyond * np.exp(0.1 * spread * _BOTH))
            continue
        root = _root(known, values, at)
        if below - above <= sharpness * below:
            return Crossing(above, below, root if math.isfinite(root) else below)
        points = above + (below - above) * _EVENLY
        if math.isfinite(root):
            far, close = 0.05 * (below - above), 0.3 * sharpness * below
            steps = np.array([far, math.sqrt(far * close), close])
            points = np.concatenate([root - steps, root + steps, points])
        points = points[(points > above) & (points < below)]
    return Crossing(max(above, 0.0), below, below)


def _beyond(known: Real, values: Real) -> float:
    """The point at which a line through two evaluated points crosses zero."""
    x, y = (np.array([each[0], each[-1]]) for each in (known, values))
    if not np.isfinite(y).all() or y[1] >= y[0]:
        return math.nan
    return max(0.0, float(x[0] + (x[1] - x[0]) * y[0] / (y[0] - y[1])))


def _root(known: Real, values: Real, at: int) -> float:
    """The point at which a curve through those around crosses zero; not a number if none does."""
    around = slice(max(0, at - 2), at + 2)
    x, y = known[around], values[around]
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    if not math.isfinite(values[at]) or (np.diff(y) >= 0).any():
        return math.nan
    shares = [
        math.prod(float(other / (other - own)) for other in np.delete(y, place))
        for place, own in enumerate(y)
    ]
    root = float(np.array(shares) @ x)
    return root if known[at - 1] <= root <= known[at] else math.nan
