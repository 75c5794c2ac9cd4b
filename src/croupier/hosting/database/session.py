"""One connection to the database, on which every call ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Self

import psycopg

from croupier.hosting.database.connection import connect_async, hang_up
from croupier.hosting.database.errors import StoreError
from croupier.hosting.database.migrations import Migrations

__all__ = ["Session"]

_PATIENCE = 31.0
"""Seconds for a statement that may wait for a lock."""


class Session:
    """One connection. Statements run one at a time; make one session per writer.

    Every call ends: a statement that is not answered in time counts as failed, and its connection
    is cut.

    Attributes:
        migrations: The changes that made the tables of the party.
    """

    migrations: ClassVar[Migrations]

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
            patience: Seconds after which a statement counts as failed.
        """
        return cls(await connect_async(database, patience=patience), patience=patience)

    @property
    def closed(self) -> bool:
        """True if the connection is no longer usable."""
        return bool(self._connection.closed)

    async def close(self) -> None:
        """End the connection."""
        await self._connection.close()

    async def migrate(self, *, create: bool = True) -> None:
        """Bring the schema to the newest version; safe to repeat and to run from many processes.

        Args:
            create: False to leave a database as it is that never had the tables.

        Raises:
            NewerSchemaError: The database has migrations that this version does not know.
        """
        own = self.migrations
        async with self._transaction():
            await self._execute("SELECT pg_advisory_xact_lock(%s)", own.lock)
            if not create and not await self._value(own.is_prepared):
                return
            await self._execute(f"CREATE SCHEMA IF NOT EXISTS {own.schema}")
            await self._execute(
                f"CREATE TABLE IF NOT EXISTS {own.schema}.migrations (name text PRIMARY KEY)"
            )
            done = [name for (name,) in await self._execute(own.applied)]
            for name in own.pending(done):
                await self._connection.execute(own.script(name))
                await self._execute(own.apply, name)

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[None]:
        async with self._answered(), self._connection.transaction():
            yield

    async def _execute(self, query: str, *arguments: object) -> list[tuple[Any, ...]]:
        async with self._answered():
            cursor = await self._connection.execute(query.encode(), arguments, prepare=True)
            return await cursor.fetchall() if cursor.description else []

    async def _value(self, query: str, *arguments: object) -> Any:
        ((value,),) = await self._execute(query, *arguments)
        return value

    @asynccontextmanager
    async def _answered(self) -> AsyncIterator[None]:
        """Disconnect if the database is silent for too long; errors lose their text.

        The time counts from when the connection is free: a task that waits for another's statement
        must not cut it off.
        """
        task = asyncio.current_task()
        if self._user is task:  # in a transaction, whose time is running already
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
