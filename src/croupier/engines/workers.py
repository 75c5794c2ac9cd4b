"""Work in several processes, in order, with few pieces in memory.

Opening a seal holds Python's lock, so only processes make it faster. Their data, including keys,
reaches them through a pipe and never through a file, and they end with their parent.
"""

import multiprocessing
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from typing import Any, TypeVar

__all__ = ["in_order", "map_pieces"]

_AHEAD = 2
"""Pieces that wait for each worker, so that none idles and few are in memory."""

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def map_pieces(
    work: Callable[[Piece], Result], pieces: Iterable[Piece], *, processes: int
) -> Iterator[Result]:
    """Yield the results of a function for pieces, in order.

    Args:
        work: Picklable; sent once to every process.
        pieces: Taken as they are needed.
        processes: The number of processes; 1 works in this process.
    """
    if processes == 1:
        yield from map(work, pieces)
        return
    pool = ProcessPoolExecutor(
        processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_prepare,
        initargs=(work,),
    )
    with pool:
        yield from in_order(pool, _work_here, pieces, workers=processes)


def in_order(
    pool: Executor,
    work: Callable[[Piece], Result],
    pieces: Iterable[Piece],
    *,
    workers: int,
) -> Iterator[Result]:
    """Work as `map` of the pool, but take only a few pieces before they are needed."""
    waiting: deque[Future[Result]] = deque()
    try:
        for piece in pieces:
            waiting.append(pool.submit(work, piece))
            if len(waiting) >= _AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


_held: dict[str, Callable[[Any], Any]] = {}


def _prepare(work: Callable[[Any], Any]) -> None:
    """Give a process its work, and end it with its parent: no key outlives the job."""
    _held["work"] = work
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _work_here(piece: Any) -> Any:
    return _held["work"](piece)
