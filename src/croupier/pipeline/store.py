"""The shuffler's database: batches, their states and their envelopes.

What is stored tells neither when nor in which order reports came. A row of a batch's table is an
envelope that intake cannot open and, for a person's credential, a keyed hash of it whose key is
never in the database.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal, Self

import psycopg

from croupier.errors import CroupierError
from croupier.pipeline.tags import TAG_BYTES

__all__ = ["OPENING", "Batch", "State", "Store", "StoreError"]

State = Literal["open", "sealed", "released", "shredded", "disposed"]

_SESSION = {
    # An acknowledged report survives a crash, whatever the server's default is.
    "synchronous_commit": "on",
    "statement_timeout": "30s",
    "application_name": "croupier",
}
_MIGRATING = 0x63726F7570696572
"""The advisory lock under which one process at a time migrates: "croupier" in ASCII."""
OPENING = _MIGRATING + 1
"""The advisory lock of whoever makes secrets that no batch names yet, or sweeps such secrets."""


class StoreError(CroupierError):
    """The database did not answer, or not as expected; what was written stays unsaid.

    Whether the last statement took effect is not known: repeat it, every one may be repeated.
    """

    def __init__(self, cause: Exception) -> None:
        self.cause = type(cause).__name__
        super().__init__(
            f"the database failed with {self.cause}. Check --database and that PostgreSQL runs."
        )


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


class Store:
    """One connection to the database. Statements follow each other; make one store a writer."""

    def __init__(self, connection: psycopg.AsyncConnection) -> None:
        self._connection = connection

    @classmethod
    async def connect(cls, database: str) -> Self:
        """Connect to a database given as a libpq connection string or URL."""
        with _failures():
            connection = await psycopg.AsyncConnection.connect(
                database, autocommit=True, client_encoding="utf8"
            )
        store = cls(connection)
        for name, value in _SESSION.items():
            await store._execute("SELECT set_config(%s, %s, false)", name, value)
        return store

    async def close(self) -> None:
        """End the connection."""
        await self._connection.close()

    async def migrate(self) -> None:
        """Bring the schema to the newest version; safe to repeat and to run from many processes."""
        directory = files("croupier.pipeline") / "migrations"
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

    async def size(self, batch: bytes) -> int:
        """How many bytes the envelopes of a batch take, without counting them one by one."""
        query = "SELECT coalesce(pg_table_size(to_regclass(%s)), 0)"
        ((size,),) = await self._execute(query, f"croupier.env_{batch.hex()}")
        return size  # type: ignore[no-any-return]

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[None]:
        with _failures():
            async with self._connection.transaction():
                yield

    async def _execute(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        with _failures():
            cursor = await self._connection.execute(query.encode(), arguments, prepare=True)
            return await cursor.fetchall() if cursor.description else []


@contextmanager
def _failures() -> Iterator[None]:
    """Errors of the database, without their text: it may quote what was written."""
    try:
        yield
    except psycopg.Error as error:
        raise StoreError(error) from None
