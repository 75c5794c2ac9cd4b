"""The array of all groups' members: how it is cut into pieces, and how large it may be."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import TooLargeError

__all__ = ["PIECE", "narrowest", "pieces", "require_fitting", "starts_of"]

PIECE = 4_000_000
"""Members handled at once, if they are Python integers or need several temporary arrays."""
_MOST_MEMBERS = 2**31 - 1
"""The most that the 32-bit indices of sparse graphs can number."""


def pieces(starts: NDArray[np.int64], *, members: int = PIECE) -> Iterator[tuple[int, int]]:
    """Yield runs of groups [first, last) with at most `members` members, or one group each.

    >>> list(pieces(np.array([0, 3, 4, 9, 10]), members=4))
    [(0, 2), (2, 3), (3, 4)]
    """
    first, groups = 0, len(starts) - 1
    while first < groups:
        fits = int(np.searchsorted(starts, starts[first] + members, side="right")) - 1
        last = min(groups, max(first + 1, fits))
        yield first, last
        first = last


def require_fitting(members: int, hint: str) -> None:
    """Refuse groups with more members in all than can be numbered."""
    if members > _MOST_MEMBERS:
        raise TooLargeError("The groups", entries=members, limit=_MOST_MEMBERS, hint=hint)


def narrowest(n: int) -> np.dtype[Any]:
    """Return the kind of numbers that n people need."""
    return np.dtype(np.int32 if n <= 2**31 else np.int64)


def starts_of(sizes: NDArray[Any]) -> NDArray[np.int64]:
    """Return where each group starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
