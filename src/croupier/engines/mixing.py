"""The released order: every distinct inner ciphertext once, uniformly mixed."""

from collections.abc import Iterable

import numpy as np

from croupier.engines.order import first_of_equal, keys_of, new_seed
from croupier.numerics.keystream import Keystream
from croupier.protocol.batch_file import Rows

__all__ = ["Rows", "mixed", "ordered", "rows_of"]


def rows_of(ciphertexts: Iterable[bytes], *, length: int) -> Rows:
    """Return ciphertexts as the rows of a matrix.

    >>> rows_of([b"ab", b"cd"], length=2).shape
    (2, 2)
    """
    return np.frombuffer(b"".join(ciphertexts), dtype=np.uint8).reshape(-1, length)


def mixed(inner: Rows, *, rng: Keystream | None = None) -> Rows:
    """Return each distinct row once, in an order that is uniform whatever the order of arrival.

    Rows are sorted by `keys_of` under a seed that nothing stores. Equal rows have equal keys, so
    duplicates come to lie side by side and all but one are dropped. The keys depend on what is
    released only: somebody who recorded the envelopes learns nothing from a seed.

    Holds when `keys_of` under a secret seed cannot be told from a random function; two distinct
    rows out of n share a key with chance below n^2 / 2^129.

    Args:
        inner: The opened envelopes, in the order of arrival.
        rng: The source of the seed; the operating system by default.

    Example:
        >>> mixed(rows_of([b"a", b"b", b"a", b"c"], length=1)).shape
        (3, 1)
    """
    return ordered(inner, seed=new_seed(rng))


def ordered(rows: Rows, *, seed: bytes) -> Rows:
    """Return each distinct row once, by rising key under a seed.

    Args:
        rows: Of one length; equal ones may be anywhere.
        seed: The seed of `keys_of`.
    """
    keys = keys_of(rows, seed=seed)
    # One word decides, except for one pair in 2^64; then both words do, five times slower.
    order = np.argsort(keys[:, 0])
    high, low = keys[order].T
    if ((high[1:] == high[:-1]) & (low[1:] != low[:-1])).any():
        order = np.lexsort((keys[:, 1], keys[:, 0]))
    return first_of_equal(rows.take(order, axis=0))
