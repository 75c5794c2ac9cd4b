"""Parts of an order: rows whose keys share their top bits, so that parts follow each other."""

import numpy as np

from croupier.engines.order import keys_of
from croupier.protocol.batch_file import Rows

__all__ = ["by_part"]


def by_part(rows: Rows, *, seed: bytes, bits: int) -> list[Rows]:
    """The rows of every part, in which they are as they came.

    Args:
        rows: Of one length.
        seed: As `keys_of` takes it.
        bits: How many of a key say which part a row belongs to: from 1 to 16.

    Example:
        >>> parts = by_part(np.eye(20, dtype=np.uint8), seed=bytes(32), bits=2)
        >>> [len(part) for part in parts]
        [9, 4, 4, 3]
    """
    high = keys_of(rows, seed=seed)[:, 0]
    part = (high >> np.uint64(64 - bits)).astype(np.uint16)
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=1 << bits))
    return np.split(rows.take(order, axis=0), ends[:-1])
