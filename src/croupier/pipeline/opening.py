"""Opens the envelopes of a sealed batch, in several processes, and counts what does not open."""

import multiprocessing
import os
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.errors import SealError
from croupier.pipeline.mixing import Rows, rows_of
from croupier.pipeline.wire import Epoch, open_outer

__all__ = ["Opened", "open_envelopes"]

_AHEAD = 2
"""Pieces that wait for each process, so that none idles and few are in memory."""


@dataclass(frozen=True)
class Opened:
    """What a batch holds.

    Attributes:
        inner: The inner ciphertexts, in the order of their envelopes.
        wrong_length: How many envelopes are not as long as the plan's.
        cannot_open: How many were sealed for something else, or altered.
    """

    inner: Rows
    wrong_length: int
    cannot_open: int

    @property
    def received(self) -> int:
        """How many envelopes there were."""
        return len(self.inner) + self.wrong_length + self.cannot_open


def open_envelopes(
    pieces: Iterable[list[bytes]],
    *,
    key: X25519PrivateKey,
    epoch: Epoch,
    processes: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> Opened:
    """Open every envelope; what does not open is counted by reason and dropped.

    Opening holds Python's lock, so that only processes make it faster. The key reaches them
    through a pipe and never through a file.

    Args:
        pieces: Some thousand envelopes each.
        key: The batch's private key.
        epoch: What the envelopes must be bound to.
        processes: How many open; 1 opens in this process.
        advance: Is told how many more are done.
    """
    found, refused = [rows_of([], length=epoch.inner_length)], Counter[str]()
    for inner, reasons in _worked(pieces, key, epoch, processes):
        found.append(inner)
        refused += reasons
        advance(len(inner) + reasons.total())
    return Opened(np.concatenate(found), refused["length"], refused["seal"])


Piece = tuple[Rows, Counter[str]]
"""What opened, and how many did not, by reason."""


def _worked(
    pieces: Iterable[list[bytes]], key: X25519PrivateKey, epoch: Epoch, processes: int
) -> Iterator[Piece]:
    if processes == 1:
        yield from map(partial(_open_piece, key, epoch), pieces)
        return
    pool = ProcessPoolExecutor(
        processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_prepare,
        initargs=(key.private_bytes_raw(), epoch),
    )
    with pool:
        yield from _in_order(pool, pieces, ahead=_AHEAD * processes)


def _in_order(pool: Executor, pieces: Iterable[list[bytes]], *, ahead: int) -> Iterator[Piece]:
    waiting: deque[Future[Piece]] = deque()
    for piece in pieces:
        waiting.append(pool.submit(_open_here, piece))
        if len(waiting) >= ahead:
            yield waiting.popleft().result()
    for future in waiting:
        yield future.result()


_held: dict[str, tuple[X25519PrivateKey, Epoch]] = {}


def _prepare(key: bytes, epoch: Epoch) -> None:
    """Give a process the key, and end it with its parent: no key outlives the job."""
    _held["now"] = X25519PrivateKey.from_private_bytes(key), epoch
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _open_here(envelopes: list[bytes]) -> Piece:
    return _open_piece(*_held["now"], envelopes)


def _open_piece(key: X25519PrivateKey, epoch: Epoch, envelopes: list[bytes]) -> Piece:
    inner, refused = [], Counter[str]()
    for envelope in envelopes:
        try:
            inner.append(open_outer(envelope, key=key, epoch=epoch).inner)
        except SealError as error:
            refused[error.reason] += 1
    return rows_of(inner, length=epoch.inner_length), refused
