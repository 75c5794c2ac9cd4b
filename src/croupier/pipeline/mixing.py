"""The released order: every distinct inner ciphertext once, uniformly mixed."""

import hmac
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from croupier.numerics.keystream import Keystream

__all__ = ["Rows", "mixed", "rows_of"]

Rows = NDArray[np.uint8]
"""Ciphertexts of one length, one a row."""

_KEY_SIZE = 16


def rows_of(ciphertexts: Iterable[bytes], *, length: int) -> Rows:
    """Ciphertexts as the rows of a matrix.

    >>> rows_of([b"ab", b"cd"], length=2).shape
    (2, 2)
    """
    return np.frombuffer(b"".join(ciphertexts), dtype=np.uint8).reshape(-1, length)


def mixed(inner: Rows, *, rng: Keystream | None = None) -> Rows:
    """Each distinct row once, in an order that is uniform whatever order they came in.

        key(y) = first 16 bytes of HMAC-SHA-256(seed, y),    rows by rising key,

    where y is a row of `inner` and the seed is 32 fresh bytes that nothing stores. Equal rows have
    equal keys, so that duplicates come to lie side by side and all but one are dropped. The keys
    are of what is released: somebody who recorded the envelopes learns nothing from a seed.

    Holds when HMAC-SHA-256 under a secret seed cannot be told from a random function; two distinct
    rows out of n share a key with chance below n^2 / 2^129.

    Args:
        inner: The opened envelopes, as they came.
        rng: Where the seed comes from; the operating system by default.

    Reference: bellare2006, HMAC is a pseudo-random function.

    Example:
        >>> mixed(rows_of([b"a", b"b", b"a", b"c"], length=1)).shape
        (3, 1)
    """
    seed = (rng or Keystream()).words(4).tobytes()
    data, length = inner.tobytes(), inner.shape[1]
    keys = np.frombuffer(
        b"".join(
            hmac.digest(seed, data[start : start + length], "sha256")[:_KEY_SIZE]
            for start in range(0, len(data), length)
        ),
        dtype="<u8",
    ).reshape(-1, 2)
    rows = inner[np.lexsort((keys[:, 1], keys[:, 0]))]
    first = np.ones(len(rows), dtype=bool)
    first[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return rows[first]
