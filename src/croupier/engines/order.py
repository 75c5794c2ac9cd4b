"""The keyed function whose values order the rows of every batch, in all engines."""

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from croupier.errors import ParameterError
from croupier.numerics.keystream import Keystream
from croupier.protocol.batch_file import Rows

__all__ = ["SEED_SIZE", "Keys", "by_part", "first_of_equal", "keys_of", "new_seed"]

Keys = NDArray[np.uint64]
"""Two words per row; their numerical order is that of the 16 bytes."""

SEED_SIZE = 32
_BLOCK = 16
_ROWS_AT_ONCE = 4096
"""Rows whose blocks stay in the processor's cache."""
_COMPARED_FIRST = 8
"""Bytes that differ in almost all distinct ciphertexts."""


def new_seed(rng: Keystream | None = None) -> bytes:
    """Draw 32 fresh bytes, from the operating system by default."""
    return (rng or Keystream()).words(SEED_SIZE // 8).tobytes()


def keys_of(rows: Rows, *, seed: bytes) -> Keys:
    """Return the key of every row: AES-256 in CBC-MAC mode.

        key(y) = E(y_l + E(... y_2 + E(y_1))),    y = y_1 y_2 ... y_l padded with zeros,

    where E is AES-256 under `seed`, + is exclusive or, and y is a row of `rows`, in blocks of 16
    bytes. All rows have the same length, so the padding is unambiguous.

    Holds when AES-256 under a secret seed cannot be told from a random permutation: then an
    observer of q keys of rows of l blocks tells them from independent uniform ones with at most
    (l q)^2 / 2^127 of additional advantage. Under one seed, all rows must have one length.

    Reference: bellare2000, Theorem 3.2, CBC-MAC of messages of one fixed length.

    Example:
        >>> keys_of(np.zeros((1, 16), dtype=np.uint8), seed=bytes(32))[0, 0] == 0xdc95c078a2408989
        np.True_
    """
    if len(seed) != SEED_SIZE:
        raise ParameterError("seed", must=f"be {SEED_SIZE} bytes", got=len(seed))
    keys = np.empty((len(rows), 2), dtype=np.uint64)
    # ECB of one block of every row at once is the step of CBC for all rows; it stays internal.
    encryptor = Cipher(algorithms.AES(seed), modes.ECB()).encryptor()  # noqa: S305
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        blocks = _blocks(rows[start : start + _ROWS_AT_ONCE])
        # update_into needs room for one block more, less a byte.
        state = np.zeros((blocks.shape[1] + 1, 2), dtype=np.uint64)
        room = state.view(np.uint8).reshape(-1).data
        for block in blocks:
            np.bitwise_xor(block, state[:-1], out=block)
            encryptor.update_into(block.view(np.uint8).reshape(-1).data, room)
        keys[start : start + len(state) - 1] = state[:-1].view(">u8")
    return keys


def first_of_equal(rows: Rows, *, before: Rows | None = None) -> Rows:
    """Return the first of each run of adjacent equal rows.

    Args:
        rows: By rising key, so that equal ones lie side by side.
        before: The row right before them, if any, as a matrix of one row.

    Example:
        >>> first_of_equal(np.array([[1], [1], [2]], dtype=np.uint8)).tolist()
        [[1], [2]]
    """
    first = np.ones(len(rows), dtype=bool)
    heads = rows[:, :_COMPARED_FIRST]
    alike = 1 + np.flatnonzero((heads[1:] == heads[:-1]).all(axis=1))
    first[alike] = (rows[alike] != rows[alike - 1]).any(axis=1)
    if before is not None:
        first[:1] = (rows[:1] != before).any(axis=1)
    return rows if first.all() else rows[first]


def _blocks(rows: Rows) -> NDArray[np.uint64]:
    """Arrange rows by block, row, word: the input of one encryption is contiguous."""
    count, length = rows.shape
    number = -(-length // _BLOCK)
    padded = np.zeros((count, number * _BLOCK), dtype=np.uint8)
    padded[:, :length] = rows
    whole = padded.view(f"V{_BLOCK}").T.copy()
    return whole.view(np.uint64).reshape(number, count, 2)


def by_part(rows: Rows, *, seed: bytes, bits: int) -> list[Rows]:
    """Return the rows of every part, each in the order of arrival.

    Args:
        rows: Of one length.
        seed: The seed of `keys_of`.
        bits: The number of key bits that select the part of a row: from 1 to 16.

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
