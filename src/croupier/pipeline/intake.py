"""Intake: envelopes wait in memory, a micro-batch is committed, then its senders are told."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from croupier.pipeline.store import State, Store, StoreError
from croupier.pipeline.tags import TAG_BYTES

__all__ = ["Intake", "IntakeLimits", "IntakeTally"]


@dataclass(frozen=True, kw_only=True)
class IntakeLimits:
    """What one worker process holds and writes at once.

    Attributes:
        waiting: Bytes in memory; whoever comes beyond is told to come back.
        commit: Bytes of one transaction, if one sender does not bring more.
        writers: Connections that commit at the same time.
        linger: Seconds for which a row waits for company when nobody is ahead of it.
    """

    waiting: int = 8 << 20
    commit: int = 512 << 10
    writers: int = 1
    linger: float = 0.005


@dataclass
class IntakeTally:
    """What happened, in sums that say nothing of a single report."""

    committed: int = 0
    refused: int = 0
    failed: int = 0
    commits: int = 0


class _Offer(NamedTuple):
    batch: bytes
    tagged: bool
    rows: Sequence[bytes]
    answer: "asyncio.Future[State | None]"

    @property
    def size(self) -> int:
        return len(self.rows) * len(self.rows[0])


@dataclass
class Intake:
    """A bounded queue before the store. One a process; made and used in one event loop.

    A row is an envelope, after its tag if it has one. Rows offered together are committed together
    or not at all. Nothing is acknowledged before its commit, so a process that dies loses no
    acknowledged row.

    Attributes:
        connect: Makes a connection; every writer has its own and makes a new one if it fails.
        limits: What is held and written at once.
        tally: What happened so far.
    """

    connect: Callable[[], Awaitable[Store]]
    limits: IntakeLimits = IntakeLimits()
    tally: IntakeTally = field(default_factory=IntakeTally)
    _offers: deque[_Offer] = field(default_factory=deque)
    _waiting: int = 0
    _closing: bool = False
    _filled: asyncio.Event = field(default_factory=asyncio.Event)
    _writers: list[asyncio.Task[None]] = field(default_factory=list)

    def start(self) -> None:
        """Begin to write; every writer connects when it first has something to write."""
        self._writers = [asyncio.create_task(self._write()) for _ in range(self.limits.writers)]

    async def close(self) -> None:
        """Write what waits, then stop. Nothing may be offered any more."""
        self._closing = True
        self._filled.set()
        await asyncio.gather(*self._writers)

    def has_room(self, size: int) -> bool:
        """Whether so many more bytes may be offered now."""
        return self._waiting + size <= self.limits.waiting and not self._closing

    async def offer(self, batch: bytes, rows: Sequence[bytes], *, tagged: bool) -> State | None:
        """Wait until the rows are committed, if their batch is open; ask `has_room` before.

        Returns:
            The state of the batch: open means stored. None if there is no such batch.

        Raises:
            StoreError: Whether they are stored is not known; offering them again is safe.
        """
        answer: asyncio.Future[State | None] = asyncio.get_running_loop().create_future()
        offer = _Offer(batch, tagged, rows, answer)
        self._offers.append(offer)
        self._waiting += offer.size
        self._filled.set()
        return await answer

    async def _write(self) -> None:
        store: Store | None = None
        while True:
            if not self._offers:
                if self._closing:
                    break
                self._filled.clear()
                await self._filled.wait()
                await asyncio.sleep(self.limits.linger)
                continue
            if store is None:
                store = await self._reconnect()
                continue
            offers = self._take()
            try:
                state = await store.accept(
                    offers[0].batch, _first_of_each_tag(offers), tagged=offers[0].tagged
                )
            except StoreError as error:
                self._fail(offers, error)
                await store.close()
                store = None
            else:
                self._tell(offers, state)
        if store is not None:
            await store.close()

    def _take(self) -> list[_Offer]:
        """The next offers of one batch and kind, as many as one transaction should have."""
        taken = [self._offers.popleft()]
        size = taken[0].size
        while self._offers and self._offers[0][:2] == taken[0][:2]:
            size += self._offers[0].size
            if size > self.limits.commit:
                break
            taken.append(self._offers.popleft())
        return taken

    def _tell(self, offers: Sequence[_Offer], state: State | None) -> None:
        rows = self._leave(offers)
        self.tally.commits += 1
        if state == "open":
            self.tally.committed += rows
        else:
            self.tally.refused += rows
        for offer in offers:
            if not offer.answer.done():  # whoever asked may have gone
                offer.answer.set_result(state)

    def _fail(self, offers: Sequence[_Offer], error: StoreError) -> None:
        self.tally.failed += self._leave(offers)
        for offer in offers:
            if not offer.answer.done():
                offer.answer.set_exception(error)

    def _leave(self, offers: Sequence[_Offer]) -> int:
        """Give their room back; how many rows they were."""
        self._waiting -= sum(offer.size for offer in offers)
        return sum(len(offer.rows) for offer in offers)

    async def _reconnect(self) -> Store | None:
        """A new connection; without one, nobody is left waiting for it."""
        try:
            return await self.connect()
        except StoreError as error:
            self._fail([self._offers.popleft() for _ in range(len(self._offers))], error)
            return None


def _first_of_each_tag(offers: Sequence[_Offer]) -> list[bytes]:
    if not offers[0].tagged:
        return [row for offer in offers for row in offer.rows]
    rows: dict[bytes, bytes] = {}
    for offer in offers:
        for row in offer.rows:
            rows.setdefault(row[:TAG_BYTES], row)
    return list(rows.values())
