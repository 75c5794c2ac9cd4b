"""The shuffler's database: batches, their states and their envelopes.

The stored data reveal neither when nor in which order reports arrived. A row of a batch's table is
an envelope that intake cannot open and, for a person's credential, a keyed hash of it whose key is
never in the database.
"""

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Literal, NamedTuple

import psycopg

from croupier.hosting.database.errors import READ_ONLY, StoreError
from croupier.hosting.database.session import Session
from croupier.shuffler.database import statements
from croupier.shuffler.database.batch import Batch, State
from croupier.shuffler.database.schema import MIGRATIONS
from croupier.shuffler.tags import TAG_BYTES

__all__ = ["Sight", "SignsOfLife", "Store", "StoreError"]

_PAGE = 8192
"""Bytes by which a table grows."""


class SignsOfLife(NamedTuple):
    """The clock of the database, and the time at which release last ran for a plan."""

    now: datetime
    ran: datetime | None


class Sight(NamedTuple):
    """The state of a plan in the database.

    Attributes:
        batches: The batches from a round on, the newest first.
        sizes: The bytes that the envelopes of each open batch take.
        receipts: The receipts from a number on.
        signs: The signs of life.
    """

    batches: list[Batch]
    sizes: dict[bytes, int]
    receipts: list[str]
    signs: SignsOfLife


class Store(Session):
    """One connection of the shuffler to its database."""

    migrations = MIGRATIONS

    @asynccontextmanager
    async def opening(self) -> AsyncIterator[None]:
        """Make secrets and announce their batch inside this block: nobody sweeps them meanwhile."""
        await self._execute("SELECT pg_advisory_lock(%s)", statements.OPENING)
        try:
            yield
        finally:
            if not self._connection.broken:
                await self._execute("SELECT pg_advisory_unlock(%s)", statements.OPENING)

    async def open_batch(  # noqa: PLR0913 - keyword-only facts about one batch
        self,
        identity: bytes,
        *,
        plan: str,
        round_number: int,
        opening: str,
        query: str | None = None,
        onward: str | None = None,
    ) -> Batch | None:
        """Create the table of a batch and announce it; None if its round is taken."""
        row = (identity, bytes.fromhex(plan), round_number, opening, query, onward)
        async with self._transaction():
            announced = await self._execute(statements.OPEN_BATCH, *row)
            if announced:
                await self._execute(statements.CREATE_ENVELOPES, identity)
        return Batch.of_row(*announced[0]) if announced else None

    async def batches(self, plan: str) -> list[Batch]:
        """Return every batch of a plan, the newest round first."""
        rows = await self._execute(statements.ALL_BATCHES, bytes.fromhex(plan))
        return [Batch.of_row(*row) for row in rows]

    async def progress(
        self, plan: str, *, round_number: int, receipt_number: int
    ) -> statements.Progress:
        """List rounds and receipts of a plan, starting at one of each, inclusive."""
        digest = bytes.fromhex(plan)
        rounds = await self._execute(statements.ROUNDS_FROM, digest, round_number)
        receipts = await self._execute(statements.RECEIPTS_FROM, digest, receipt_number)
        return statements.Progress.of_rows(rounds, receipts)

    async def has_batch(self, identity: bytes, *, plan: str) -> bool:
        """Tell whether a batch of that name was ever opened, for that plan."""
        return await self._value(statements.IS_OF_PLAN, identity, bytes.fromhex(plan))  # type: ignore[no-any-return]

    async def is_known(self, identity: bytes) -> bool:
        """Tell whether a batch of that name was ever opened, for any plan."""
        return await self._value(statements.IS_KNOWN, identity)  # type: ignore[no-any-return]

    async def accept(
        self, batch: bytes, rows: Sequence[bytes], *, tagged: bool = True
    ) -> State | None:
        """Store rows in one transaction, all or none; the first row of a tag stays.

        They are written in the order of their bytes. That order is a function of the set of rows,
        so it keeps no trace of the order of arrival; and it is the same for all writers, so two
        writers with the same tags wait for each other instead of deadlocking.

        Args:
            batch: The batch they belong to.
            rows: Envelopes of one length, each after its tag if they are tagged.
            tagged: True if they are. Rows without a tag are all kept, repeated ones too: they
                collapse when the batch is opened.

        Returns:
            The state of the batch, or None if there is none of that name. The rows are stored, or
            their tags were before, exactly if it is open.
        """
        arguments = (batch, b"".join(sorted(rows)), len(rows[0]), TAG_BYTES if tagged else 0)
        return await self._value(statements.ACCEPT, *arguments)  # type: ignore[no-any-return]

    async def count_stored(
        self, batch: bytes, given: Sequence[bytes], *, column: Literal["tag", "envelope"]
    ) -> int | None:
        """Count the rows that have one of the given tags or envelopes, all of one length.

        Tags are found by an index. Envelopes have none, so the whole table is read: ask for them
        last.

        Returns:
            None once the table is dropped and the number is unknown: 0 would be wrong then.
        """
        arguments = (batch, column, b"".join(given), len(given[0]))
        return await self._value(statements.COUNT_FOUND, *arguments)  # type: ignore[no-any-return]

    async def is_whole(self, batch: bytes) -> bool:
        """Tell whether a batch's table still has as many rows as its receipt says were received.

        A backup may have lost rows. All are counted: ask last, and only if the table exists.
        """
        signed = await self._execute(statements.RECEIVED, batch.hex())
        count = await self._value(statements.count_rows(batch))
        return bool(signed) and count >= max(received for (received,) in signed)

    async def look(self, since: Mapping[str, tuple[int, int]]) -> dict[str, Sight]:
        """Look at several plans, with as many statements as for one.

        Args:
            since: By plan, the number of the first round and of the first receipt to return.

        Raises:
            StoreError: It is a standby, which stores nothing.
        """
        plans = [*map(bytes.fromhex, since)]
        rounds = [number for number, _ in since.values()]
        batches = await self._execute(statements.BATCHES_OF_PLANS, plans, rounds)
        numbers = [number for _, number in since.values()]
        receipts = await self._execute(statements.RECEIPTS_OF_PLANS, plans, numbers)
        signs = await self._execute(statements.SIGNS_OF_LIFE, plans)
        if any(standby for _, _, standby, _ in signs):
            raise StoreError(READ_ONLY)
        found = {
            plan.hex(): Sight([], {}, [], SignsOfLife(now, ran)) for plan, now, _, ran in signs
        }
        for *row, size in batches:
            batch = Batch.of_row(*row)
            found[batch.plan].batches.append(batch)
            if size is not None:
                found[batch.plan].sizes[batch.identity] = size
        for plan, document in receipts:
            found[plan.hex()].receipts.append(document)
        return found

    async def decile(self, batch: bytes, *, minimum: int) -> int:
        """Return how many tenths of the minimum a batch has, at most 10; 0 without a table."""
        if not await self._value(statements.TABLE_EXISTS, statements.envelope_table(batch)):
            return 0
        return 10 * await self._value(statements.count_up_to(batch), minimum) // minimum  # type: ignore[no-any-return]

    async def try_to_write(self, batch: bytes, width: int) -> None:
        """Write rows of a width as `accept` does, and roll them back.

        They fill a page of the table, so that anything that keeps it from growing is found.
        """
        async with self._transaction():
            row = TAG_BYTES + width
            await self.accept(batch, [os.urandom(row) for _ in range(_PAGE // row + 1)])
            raise psycopg.Rollback
