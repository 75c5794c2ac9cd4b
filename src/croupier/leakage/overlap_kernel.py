"""Compiled scan over tiles of rows; importing it needs numba."""

from threading import Lock
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from croupier.leakage.easiest_pair import GROUP, PANEL

__all__ = ["compiled_tile_minima"]

_ONE_AT_A_TIME = Lock()
"""Numba's thread pool must not be entered from two threads."""


def compiled_tile_minima(rows: NDArray[Any], tiles: NDArray[np.int64]) -> NDArray[Any]:
    """The least sum of minima of two different rows, in each tile (group, panel)."""
    count, columns = rows.shape
    panels = -(-count // PANEL)
    padded = np.zeros((panels * PANEL, columns), rows.dtype)
    padded[:count] = rows
    packed = np.ascontiguousarray(padded.reshape(panels, PANEL, columns).transpose(0, 2, 1))
    found = np.empty(len(tiles), rows.dtype)
    with _ONE_AT_A_TIME:
        _scan(padded, packed, tiles, count, found)
    return found


# Only the order of additions is left to the compiler; error bounds hold for any order.
@numba.njit(parallel=True, cache=True, fastmath={"nnan", "ninf", "nsz", "reassoc"})
def _scan(
    rows: NDArray[Any],
    packed: NDArray[Any],
    tiles: NDArray[np.int64],
    count: int,
    found: NDArray[Any],
) -> None:
    for tile in numba.prange(len(tiles)):
        first, panel = GROUP * tiles[tile, 0], tiles[tile, 1]
        columns = packed[panel]
        sums = np.zeros((GROUP, PANEL), rows.dtype)
        for column in range(rows.shape[1]):
            one, two = rows[first, column], rows[first + 1, column]
            three, four = rows[first + 2, column], rows[first + 3, column]
            for index in range(PANEL):
                entry = columns[column, index]
                sums[0, index] += min(one, entry)
                sums[1, index] += min(two, entry)
                sums[2, index] += min(three, entry)
                sums[3, index] += min(four, entry)
        least = found.dtype.type(np.inf)
        for row in range(GROUP):
            for index in range(PANEL):
                if first + row < PANEL * panel + index < count:
                    least = min(least, sums[row, index])
        found[tile] = least
