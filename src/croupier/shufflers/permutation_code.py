"""Permutations from codes: the number of free numbers that each entry skips."""

from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.numerics.keystream import Keystream
from croupier.shufflers.truncated_geometric import uniform_below

__all__ = ["decode", "uniform_order"]

_COMPILED_FROM = 300_000
"""The size from which compiling pays: some tenths of a second of plain numpy."""


def decode(code: ArrayLike) -> NDArray[np.int64]:
    """The permutation whose entry k is the free number with code[k] free numbers below it.

    Its inversions number sum(code). Time n log n, code[k] below n - k.

    >>> decode([2, 0, 1, 0])
    array([2, 0, 3, 1])
    """
    ranks = np.ascontiguousarray(code, dtype=np.int64)
    n = len(ranks)
    if n and (ranks.min() < 0 or (ranks >= n - np.arange(n)).any()):
        raise ParameterError("code", must="have every entry k in [0, n - k)")
    way = _decode_by_halves
    if n >= _COMPILED_FROM:
        with suppress(ImportError):  # an extra, and slow to import
            from croupier.shufflers.mallows_kernel import compiled_decode as way  # noqa: PLC0415
    return way(ranks)


def uniform_order(n: int, stream: Keystream) -> NDArray[np.int64]:
    """A uniform permutation of 0, …, n - 1."""
    return decode(uniform_below(n - np.arange(n), stream))


def _decode_by_halves(code: NDArray[np.int64]) -> NDArray[np.int64]:
    """Decode runs of two, four, eight, … entries, each as if nothing had been taken before it.

    A run is kept as its numbers in ascending order. If a(0) < a(1) < … are those of its first
    half, a number b of the second, counted among what the first leaves, is b + c with the least c
    for which a(c) - c > b. So merging b with the a(c) - c puts it c places further, too.
    """
    n = len(code)
    size = 1 << max(0, n - 1).bit_length()
    numbers = np.zeros(size, dtype=np.int64)
    numbers[:n] = code
    source = np.arange(size)
    run = 1
    while run < size:
        keys = numbers.reshape(-1, 2 * run).copy()
        within = np.arange(2 * run)
        keys[:, :run] -= within[:run]
        # Stable: it merges two ascending runs in linear time, and equals go to the first.
        merged = np.argsort(keys, axis=1, kind="stable")
        passed = np.where(merged >= run, within + run - merged, 0).ravel()
        merged += np.arange(0, size, 2 * run)[:, None]
        numbers, source = numbers[merged.ravel()] + passed, source[merged.ravel()]
        run *= 2
    order = np.empty(size, dtype=np.int64)
    order[source] = numbers
    return order[:n]
