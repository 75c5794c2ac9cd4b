"""Intake: envelopes wait in memory, a micro-batch is committed, then its senders are told."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from croupier.errors import CroupierError, ParameterError
from croupier.shuffler.database.batch import State
from croupier.shuffler.database.store import Store, StoreError
from croupier.shuffler.tags import TAG_BYTES

__all__ = ["Intake", "IntakeFullError", "IntakeLimits", "IntakeTally"]


@dataclass(frozen=True, kw_only=True)
class IntakeLimits:
    """Limits on what one worker process holds and writes at once.

    Attributes:
        waiting: Bytes in memory; senders beyond that are told to come back.
        delay: Seconds that the first in the queue may have waited while more are admitted, so that
            everybody who is admitted is answered soon.
        burst: Bytes that are admitted however long the first has waited.
        commit: Bytes per transaction, if one sender does not bring more.
        writers: Connections that commit at the same time.
        linger: Seconds for which a row waits for others when nobody is ahead of it.
        patience: Seconds after which intake reports a failure if the first still waits.
    """

    waiting: int = 8 << 20
    delay: float = 0.25
    burst: int = 16 << 10
    commit: int = 512 << 10
    writers: int = 1
    linger: float = 0.005
    patience: float = 5.0


@dataclass
class IntakeTally:
    """Sums of events that reveal nothing about a single report.

    Attributes:
        committed: Rows that were committed, repeated ones included.
        refused: Rows whose batch was closed.
        failed: Rows that could not be committed.
        commits: Transactions.
        replaced: Writers that ended and were replaced.
    """

    committed: int = 0
    refused: int = 0
    failed: int = 0
    commits: int = 0
    replaced: int = 0


class IntakeFullError(CroupierError):
    """The queue is full: nothing was taken, offer it again later."""

    def __init__(self) -> None:
        super().__init__("Too much waits to be committed. Offer it again in a second.")


class _Offer(NamedTuple):
    batch: bytes
    tagged: bool
    rows: Sequence[bytes]
    size: int
    since: float
    answer: "asyncio.Future[State | None]"


@dataclass
class Intake:
    """A bounded queue before the store. One per process; made and used in one event loop.

    A row is an envelope, after its tag if it has one. Rows offered together are committed together
    or not at all. Nothing is acknowledged before its commit, so a process that dies loses no
    acknowledged row.

    Attributes:
        connect: Makes a connection; every writer has its own and makes a new one if it fails.
        limits: Limits on what is held and written at once.
        tally: Sums of events so far.
        told: Called after every commit with None, or the reason why it failed.
        failed: Called with the kind of every error that is not the database's.
    """

    connect: Callable[[], Awaitable[Store]]
    limits: IntakeLimits = IntakeLimits()
    tally: IntakeTally = field(default_factory=IntakeTally)
    told: Callable[[StoreError | None], None] = lambda _error: None
    failed: Callable[[str], None] = lambda _kind: None
    _offers: deque[_Offer] = field(default_factory=deque)
    _held: list[list[_Offer]] = field(default_factory=list)
    _waiting: int = 0
    _closing: bool = False
    _filled: asyncio.Event = field(default_factory=asyncio.Event)
    _writers: set[asyncio.Task[None]] = field(default_factory=set)

    def start(self) -> None:
        """Start writing; every writer connects when it first has something to write."""
        for _ in range(self.limits.writers):
            self._start_writer()

    def _start_writer(self) -> None:
        writer = asyncio.create_task(self._write())
        self._writers.add(writer)
        writer.add_done_callback(self._replace)

    def _replace(self, ended: asyncio.Task[None]) -> None:
        """Start another writer, unless this one had nothing left to do."""
        if self._closing:
            return
        self._writers.discard(ended)
        self.tally.replaced += 1
        self._start_writer()

    async def close(self) -> None:
        """Write what waits, then stop. Nothing may be offered any more."""
        self._closing = True
        self._filled.set()
        await asyncio.gather(*self._writers, return_exceptions=True)
        self._fail(self._take_all(), StoreError(RuntimeError()))

    def has_room(self, size: int) -> bool:
        """Tell whether so many more bytes may be offered now."""
        if self._closing or self._waiting + size > self.limits.waiting:
            return False
        return self._waiting + size <= self.limits.burst or self._age() <= self.limits.delay

    def failure(self) -> str | None:
        """Say why nothing can be stored, in a fixed sentence; None if there is no known reason."""
        if any(writer.done() for writer in self._writers):
            return "A writer to the database has ended."
        if self._age() > self.limits.patience:
            return "Reports wait, but none is committed."
        return None

    def _age(self) -> float:
        """Return how long the first in the queue has waited: the queue is served in order."""
        for offers in (*self._held, self._offers):
            if offers:
                return time.monotonic() - offers[0].since
        return 0.0

    async def offer(self, batch: bytes, rows: Sequence[bytes], *, tagged: bool) -> State | None:
        """Wait until the rows are committed, if their batch is open.

        Returns:
            The state of the batch: open means stored. None if there is no such batch.

        Raises:
            IntakeFullError: There is no room; `has_room` tells beforehand.
            StoreError: It is unknown whether they are stored; offering them again is safe.
        """
        size = sum(map(len, rows))
        if not size:
            raise ParameterError("rows", must="have at least one row", hint="Offer an envelope.")
        if not self.has_room(size):
            raise IntakeFullError
        answer: asyncio.Future[State | None] = asyncio.get_running_loop().create_future()
        self._offers.append(_Offer(batch, tagged, rows, size, time.monotonic(), answer))
        self._waiting += size
        self._filled.set()
        return await answer

    async def _write(self) -> None:
        store: Store | None = None
        while await self._has_offers():
            store = await self._commit_next(store)
        if store is not None:
            await store.close()

    async def _has_offers(self) -> bool:
        """Wait for offers; return False if there will be none."""
        while not self._offers:
            if self._closing:
                return False
            self._filled.clear()
            await self._filled.wait()
            await asyncio.sleep(self.limits.linger)
        return True

    async def _commit_next(self, store: Store | None) -> Store | None:
        """Commit one micro-batch; return the connection if it can be used again.

        Errors go to those whose rows were being committed. Without a connection they go to all:
        nobody is left waiting for one.
        """
        taken: list[_Offer] = []
        try:
            if store is None:
                store = await self.connect()
            if not self._offers:  # another writer was faster
                return store
            taken = self._take()
            self._held.append(taken)
            state = await store.accept(
                taken[0].batch, _first_of_each_tag(taken), tagged=taken[0].tagged
            )
        except StoreError as error:
            self._fail(taken or self._take_all(), error)
            self.told(error)
        except Exception as error:  # noqa: BLE001 - who stops writing stops intake for ever
            self._fail(taken or self._take_all(), StoreError(error))
            self.failed(type(error).__name__)
        except BaseException:
            self._fail(taken, StoreError(RuntimeError()))
            raise
        else:
            self._tell(taken, state)
            self.told(None)
            return store
        finally:
            self._held = [held for held in self._held if held is not taken]
        await self._abandon(store)
        return None

    async def _abandon(self, store: Store | None) -> None:
        """End a connection whose state is unknown."""
        try:
            if store is not None:
                await store.close()
        except Exception as error:  # noqa: BLE001 - it is not used again
            self.failed(type(error).__name__)

    def _take(self) -> list[_Offer]:
        """Take the next offers of one batch and kind, as many as one transaction should have."""
        taken = [self._offers.popleft()]
        size = taken[0].size
        while self._offers and self._offers[0][:2] == taken[0][:2]:
            size += self._offers[0].size
            if size > self.limits.commit:
                break
            taken.append(self._offers.popleft())
        return taken

    def _take_all(self) -> list[_Offer]:
        taken = list(self._offers)
        self._offers.clear()
        return taken

    def _tell(self, offers: Sequence[_Offer], state: State | None) -> None:
        rows = self._leave(offers)
        self.tally.commits += 1
        if state == "open":
            self.tally.committed += rows
        else:
            self.tally.refused += rows
        for offer in offers:
            if not offer.answer.done():  # the sender may have gone
                offer.answer.set_result(state)

    def _fail(self, offers: Sequence[_Offer], error: StoreError) -> None:
        self.tally.failed += self._leave(offers)
        for offer in offers:
            if not offer.answer.done():
                offer.answer.set_exception(error)

    def _leave(self, offers: Sequence[_Offer]) -> int:
        """Free their room; return their number of rows."""
        self._waiting -= sum(offer.size for offer in offers)
        return sum(len(offer.rows) for offer in offers)


def _first_of_each_tag(offers: Sequence[_Offer]) -> list[bytes]:
    if not offers[0].tagged:
        return [row for offer in offers for row in offer.rows]
    rows: dict[bytes, bytes] = {}
    for offer in offers:
        for row in offer.rows:
            rows.setdefault(row[:TAG_BYTES], row)
    return list(rows.values())
