"""The shuffler's database: batches, their states and their envelopes.

What is stored tells neither when nor in which order reports came. A row of a batch's table is an
envelope that intake cannot open and, for a person's credential, a keyed hash of it whose key is
never in the database.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, NamedTuple, Self

import psycopg

from croupier.shuffler.database.connection import connect_async, hang_up
from croupier.shuffler.database.errors import StoreError
from croupier.shuffler.tags import TAG_BYTES

__all__ = ["OPENING", "RECEIPTS_FROM", "ROUNDS_FROM", "Batch", "Progress", "State", "Store"]
__all__ += ["StoreError"]

State = Literal["open", "sealed", "released", "shredded", "disposed"]

_MIGRATING = 0x63726F7570696572
"""The advisory lock under which one process at a time migrates: "croupier" in ASCII."""
OPENING = _MIGRATING + 1
"""The advisory lock of whoever makes secrets that no batch names yet, or sweeps such secrets."""
_PATIENCE = 31.0
"""Seconds for a statement of whoever can wait for a lock."""
_PAGE = 8192
"""Bytes by which a table grows."""
ROUNDS_FROM = """
    SELECT round, batch, keys FROM croupier.batches
    WHERE plan = %s AND round >= %s ORDER BY round
"""
RECEIPTS_FROM = """
    SELECT document FROM croupier.receipts WHERE plan = %s AND number >= %s ORDER BY number
"""


@dataclass(frozen=True)
class Batch:
    """One round's batch, as everybody may see it.

    Attributes:
        batch: Its random name of 16 bytes.
        plan: The digest of the plan, 32 bytes.
        round: Its number within the plan.
        state: How far it is.
        keys: The signed key list document.
        query: The analyzer's signed question of an adaptive round, if any.
    """

    batch: bytes
    plan: bytes
    round: int
    state: State
    keys: str
    query: str | None = None


class Progress(NamedTuple):
    """The rounds of a plan from one on, each with batch and signed opening, and the receipts."""

    rounds: list[tuple[int, bytes, str]]
    receipts: list[str]


class Store:
    """One connection to the database. Statements follow each other; make one store a writer.

    Every call ends: a statement that is not answered in time is a failure, and its connection is
    cut off.
    """

    def __init__(self, connection: psycopg.AsyncConnection, *, patience: float) -> None:
        self._connection = connection
        self._patience = patience
        self._free = asyncio.Lock()
        self._user: asyncio.Task[Any] | None = None

    @classmethod
    async def connect(cls, database: str, *, patience: float = _PATIENCE) -> Self:
        """Connect to a database.

        Args:
            database: A libpq connection string or URL.
            patience: Seconds after which a statement has failed.
        """
        return cls(await connect_async(database, patience=patience), patience=patience)

    @property
    def closed(self) -> bool:
        """Whether the connection is of no use any more."""
        return bool(self._connection.closed)

    async def close(self) -> None:
        """End the connection."""
        await self._connection.close()

    async def migrate(self) -> None:
        """Bring the schema to the newest version; safe to repeat and to run from many processes."""
        directory = files("croupier.shuffler.database") / "migrations"
        scripts = {s.name: s for s in directory.iterdir() if s.name.endswith(".sql")}
        async with self._transaction():
            await self._execute("SELECT pg_advisory_xact_lock(%s)", _MIGRATING)
            await self._execute("CREATE SCHEMA IF NOT EXISTS croupier")
            await self._execute(
                "CREATE TABLE IF NOT EXISTS croupier.migrations (name text PRIMARY KEY)"
            )
            done = {name for (name,) in await self._execute("TABLE croupier.migrations")}
            for name in sorted(scripts.keys() - done):
                await self._connection.execute(scripts[name].read_bytes())
                await self._execute("INSERT INTO croupier.migrations VALUES (%s)", name)

    @asynccontextmanager
    async def opening(self) -> AsyncIterator[None]:
        """Make secrets and announce their batch in here: nobody sweeps them in between."""
        await self._execute("SELECT pg_advisory_lock(%s)", OPENING)
        try:
            yield
        finally:
            if not self._connection.broken:
                await self._execute("SELECT pg_advisory_unlock(%s)", OPENING)

    async def open_batch(self, batch: Batch) -> bool:
        """Make the table of a batch and announce it; False if its round is taken."""
        insertion = """
            INSERT INTO croupier.batches (batch, plan, round, state, opened, keys, query)
            VALUES (%s, %s, %s, 'open', date_trunc('second', now()), %s, %s)
            ON CONFLICT (plan, round) DO NOTHING RETURNING true
        """
        row = (batch.batch, batch.plan, batch.round, batch.keys, batch.query)
        async with self._transaction():
            announced = bool(await self._execute(insertion, *row))
            if announced:
                await self._execute("SELECT croupier.create_envelopes(%s)", batch.batch)
        return announced

    async def batches(self, plan: bytes) -> list[Batch]:
        """Every batch of a plan, the newest round first."""
        query = """
            SELECT batch, plan, round, state, keys, query FROM croupier.batches
            WHERE plan = %s ORDER BY round DESC
        """
        return [Batch(*row) for row in await self._execute(query, plan)]

    async def progress(self, plan: bytes, *, round_number: int, receipt_number: int) -> Progress:
        """List rounds and receipts of a plan, from one of each on, both included."""
        rounds = await self._execute(ROUNDS_FROM, plan, round_number)
        receipts = await self._execute(RECEIPTS_FROM, plan, receipt_number)
        return Progress(
            [(number, batch, opening) for number, batch, opening in rounds],
            [document for (document,) in receipts],
        )

    async def has_batch(self, batch: bytes) -> bool:
        """Whether a batch of that name was ever opened."""
        query = "SELECT EXISTS (SELECT FROM croupier.batches WHERE batch = %s)"
        ((found,),) = await self._execute(query, batch)
        return found  # type: ignore[no-any-return]

    async def accept(
        self, batch: bytes, rows: Sequence[bytes], *, tagged: bool = True
    ) -> State | None:
        """Store rows in one transaction: all or none, and the first of a tag stays.

        They are written in the order of their bytes. It is a function of the set of rows, so that
        it keeps nothing of the order in which they came; and it is the same for all writers, so
        that two who bring the same tags wait for each other instead of blocking each other.

        Args:
            batch: Where they belong.
            rows: Envelopes of one length, each after its tag if they are tagged.
            tagged: Whether they are. Of rows without a tag all are kept, repeated ones too: they
                collapse when the batch is opened.

        Returns:
            The state of the batch, or None if there is none of that name. The rows are stored, or
            their tags were before, exactly if it is open.
        """
        query = "SELECT croupier.accept(%b, %b, %s, %s)"
        arguments = (batch, b"".join(sorted(rows)), len(rows[0]), TAG_BYTES if tagged else 0)
        ((state,),) = await self._execute(query, *arguments)
        return state  # type: ignore[no-any-return]

    async def count_stored(
        self, batch: bytes, given: Sequence[bytes], *, place: Literal["tag", "envelope"]
    ) -> int | None:
        """How many rows have one of the given tags or envelopes, all of one length.

        Tags are found by an index. Envelopes have none, so that the whole table is read: ask for
        them last.

        Returns:
            None once the table is dropped and nobody can tell: none stored would be a lie then.
        """
        query = "SELECT croupier.stored(%b, %s, %b, %s)"
        ((count,),) = await self._execute(query, batch, place, b"".join(given), len(given[0]))
        return count  # type: ignore[no-any-return]

    async def is_whole(self, batch: bytes) -> bool:
        """Whether the table of a batch still has as many rows as its receipt says were received.

        A backup may have left rows out. All are counted: ask last, and only if the table is there.
        """
        query = """
            SELECT (document::json -> 'counts' ->> 'received')::bigint FROM croupier.receipts
            WHERE document::json ->> 'batch' = %s
        """
        signed = await self._execute(query, batch.hex())
        counting = f"SELECT count(*) FROM croupier.env_{batch.hex()}"  # noqa: S608 - hex digits
        ((count,),) = await self._execute(counting)
        return bool(signed) and count >= max(received for (received,) in signed)

    async def size(self, batch: bytes) -> int:
        """How many bytes the envelopes of a batch take, without counting them one by one."""
        query = "SELECT coalesce(pg_table_size(to_regclass(%s)), 0)"
        ((size,),) = await self._execute(query, f"croupier.env_{batch.hex()}")
        return size  # type: ignore[no-any-return]

    async def try_to_write(self, batch: bytes, width: int) -> None:
        """Write rows of a width as `accept` does, and take them back.

        They fill a page of the table, so that what keeps it from growing is found.
        """
        async with self._transaction():
            row = TAG_BYTES + width
            await self.accept(batch, [os.urandom(row) for _ in range(_PAGE // row + 1)])
            raise psycopg.Rollback

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[None]:
        async with self._answered(), self._connection.transaction():
            yield

    async def _execute(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        async with self._answered():
            cursor = await self._connection.execute(query.encode(), arguments, prepare=True)
            return await cursor.fetchall() if cursor.description else []

    @asynccontextmanager
    async def _answered(self) -> AsyncIterator[None]:
        """Hang up if the database is silent for too long; errors go without their text.

        Time counts from when the connection is free: whoever waits for another's statement must not
        cut it off.
        """
        task = asyncio.current_task()
        if self._user is task:  # in a transaction, whose time counts already
            yield
            return
        silent = False

        def give_up() -> None:
            nonlocal silent
            silent = True
            hang_up(self._connection)

        async with self._free:
            self._user = task
            timer = asyncio.get_running_loop().call_later(self._patience, give_up)
            try:
                yield
            except psycopg.Error as error:
                raise StoreError(TimeoutError() if silent else error) from None
            finally:
                timer.cancel()
                self._user = None
