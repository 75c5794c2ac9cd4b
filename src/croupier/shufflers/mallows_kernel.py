"""Compiled decoding of a permutation from its code; importing it needs numba."""

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["compiled_decode"]


def compiled_decode(code: NDArray[np.int64]) -> NDArray[np.int64]:
    """The permutation whose entry k is the free number with ``code[k]`` free ones below it."""
    order = np.empty(len(code), dtype=np.int64)
    _decode(code, order)
    return order


@numba.njit(inline="always")
def _ones(word: Any) -> Any:
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


# Free numbers are the ones of a bitmap, 512 to a line of the cache. A Fenwick tree counts them by
# line: descending from the root finds the line, and the nodes not stepped over are those that lose
# one. Steps are multiplied by zero or one, since no branch could be predicted.
@numba.njit(cache=True, nogil=True)
def _decode(code: NDArray[np.int64], order: NDArray[np.int64]) -> None:
    n = len(code)
    lines = 1
    while lines * 512 < n:
        lines *= 2
    free = np.full(8 * lines, np.uint64(0xFFFFFFFFFFFFFFFF))
    tree = np.empty(lines + 1, np.int32)
    for node in range(1, lines + 1):
        tree[node] = 512 * (node & -node)
    for k in range(n):
        rank = code[k]
        line: Any = 0
        step = lines >> 1
        while step > 0:
            node = line + step
            count = tree[node]
            taken = np.int64(count <= rank)
            tree[node] = count - 1 + taken
            rank -= count * taken
            line += step * taken
            step >>= 1
        word = 8 * line
        count = _ones(free[word])
        while count <= rank:
            rank -= count
            word += 1
            count = _ones(free[word])
        rest = free[word]
        place: Any = 0
        width = 32
        while width > 0:
            count = _ones(rest & ((np.uint64(1) << np.uint64(width)) - np.uint64(1)))
            taken = np.int64(count <= rank)
            rank -= count * taken
            rest >>= np.uint64(width * taken)
            place += width * taken
            width >>= 1
        free[word] &= ~(np.uint64(1) << np.uint64(place))
        order[k] = 64 * word + place
