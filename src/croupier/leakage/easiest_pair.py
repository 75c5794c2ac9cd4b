"""The two rows of a channel that are easiest to tell apart: the pair with the least overlap."""

from contextlib import suppress
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.model.channel import Channel

__all__ = ["GROUP", "PANEL", "easiest_pair", "exact_overlap"]

GROUP, PANEL = 4, 64
"""A tile is a few rows against a panel: compiled, their sums of minima stay in registers."""

_FEW_OUTPUTS = 14
_COMPILED_FROM = 10**8
"""The size from which compiling pays: about a tenth of a second of plain numpy."""
_MOST_CANDIDATES = 256


def easiest_pair(channel: Channel) -> tuple[int, int]:
    """The rows a < b with the least overlap, the sum over y of min(C(a, y), C(b, y)).

    beta* of the channel is that overlap. If there are few outputs, every set of them is tried, in
    time linear in the rows. Otherwise every pair is tried: first in single precision, then in
    double precision wherever the rounding of the first may hide the least, then exactly where that
    of the second may.

    Direction: exact; among more than 256 pairs within 1e-15 or so of the least, the one that looks
        least in double precision.

    >>> easiest_pair(Channel.from_probabilities([[.4, .3, .3], [.2, .1, .7], [.2, .4, .4]]))
    (0, 1)
    """
    rows = channel.probabilities
    count, columns = rows.shape
    if count == 1:
        return 0, 0
    if columns <= _FEW_OUTPUTS and 2 ** (columns - 1) < count:
        candidates = _pairs_by_sets(rows)
    else:
        candidates = _pairs_by_tiles(rows)
    return min(candidates, key=lambda pair: exact_overlap(channel, *pair))


def exact_overlap(channel: Channel, first: int, second: int) -> Fraction:
    """The sum over y of min(C(first, y), C(second, y)), without rounding."""
    least = np.minimum(channel.weights[first], channel.weights[second]).tolist()
    if channel.denominator is None:
        return sum(map(Fraction, least), Fraction(0))
    return Fraction(sum(least), channel.denominator)


def _pairs_by_sets(rows: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The largest differences of probability, over sets of outputs that contain the first one."""
    rest = rows.shape[1] - 1
    sets = np.array([(1, *members) for members in product((0, 1), repeat=rest)], dtype=np.float64)
    width = np.empty(len(sets))
    for start in range(0, len(sets), 256):
        chances = sets[start : start + 256] @ rows.T
        width[start : start + 256] = chances.max(axis=1) - chances.min(axis=1)
    # Rounding, and rows that do not quite sum to one, may hide the best set and its best rows.
    slack = 1e-13 + 2 * float(np.abs(rows.sum(axis=1) - 1).max())
    pairs: set[tuple[int, int]] = {(0, 1)}
    for chosen in np.argsort(-width)[:_MOST_CANDIDATES]:
        if width[chosen] < width.max() - slack or len(pairs) > _MOST_CANDIDATES:
            break
        chances = rows @ sets[chosen]
        highest = np.flatnonzero(chances >= chances.max() - slack)[:16]
        lowest = np.flatnonzero(chances <= chances.min() + slack)[:16]
        pairs |= {
            (min(a, b), max(a, b)) for a in highest.tolist() for b in lowest.tolist() if a != b
        }
    return sorted(pairs)


def _pairs_by_tiles(rows: NDArray[np.float64]) -> list[tuple[int, int]]:
    count, columns = rows.shape
    scan = _numpy_tile_minima
    if count * count * columns >= _COMPILED_FROM:
        with suppress(ImportError):  # an extra, and slow to import
            from croupier.leakage.overlap_kernel import compiled_tile_minima as scan  # noqa: PLC0415
    tiles = np.array(
        [
            (group, panel)
            for group in range(-(-count // GROUP))
            for panel in range(group * GROUP // PANEL, -(-count // PANEL))
        ]
    )
    for precision in (np.float32, np.float64):
        minima = scan(rows.astype(precision), tiles).astype(np.float64)
        # The largest relative error of entries and of sums of `columns` non-negative terms.
        error = (columns + 2) * float(np.finfo(precision).eps)
        tiles = tiles[minima * (1 - error) <= minima.min() * (1 + error)]
    best: list[tuple[float, int, int]] = []
    for group, panel in tiles[:_MOST_CANDIDATES].tolist():
        overlaps = _tile(rows, group, panel)
        least = overlaps.min() * (1 + 4 * error)
        first, second = np.nonzero(overlaps <= least)
        best += zip(
            overlaps[first, second].tolist(),
            (first + GROUP * group).tolist(),
            (second + PANEL * panel).tolist(),
            strict=True,
        )
    return [(first, second) for _, first, second in sorted(best)[:_MOST_CANDIDATES]]


def _numpy_tile_minima(rows: NDArray[Any], tiles: NDArray[np.int64]) -> NDArray[Any]:
    """The least overlap of two different rows, in each tile (group, panel)."""
    found = [_tile(rows, group, panel).min() for group, panel in tiles.tolist()]
    return np.array(found, rows.dtype)


def _tile(rows: NDArray[Any], group: int, panel: int) -> NDArray[Any]:
    """Overlaps of a group of rows with a panel of rows; infinite where second <= first."""
    first, second = GROUP * group, PANEL * panel
    some, panel_rows = rows[first : first + GROUP], rows[second : second + PANEL]
    overlaps = np.asarray(np.minimum(some[:, None, :], panel_rows[None, :, :]).sum(axis=2))
    below = np.add.outer(-np.arange(first, first + len(some)), np.arange(len(panel_rows)) + second)
    overlaps[below <= 0] = np.inf
    return overlaps
