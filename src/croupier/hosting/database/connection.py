"""Connections to the shuffler's database: all are made here, with the settings reports depend on.

A server, a database and a role may each have defaults of their own. The settings of a connection
override them, and are compared with those of the session: a pooler in between would drop them.
"""

import asyncio
import os
import socket
from contextlib import suppress
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from croupier.hosting.database.errors import POOLED, TIMESTAMPED, StoreError

__all__ = ["connect", "connect_async", "hang_up"]

_SESSION = {
    # A writer must see that its batch was sealed while it waited.
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    # An acknowledged report survives a crash.
    "synchronous_commit": "on",
}
"""Pinned settings: no default and no connection string of the operator changes them."""
_DEFAULTS: dict[str, Any] = {
    "application_name": "croupier",
    # A peer that vanished is noticed within seconds, not within hours as by the system's defaults.
    "connect_timeout": 5,
    "keepalives": 1,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}
"""Defaults where the operator's string says nothing."""
_RELEASE_SECONDS = 3600
"""The limit for one statement of a release: the longest counts the rows of a batch."""
_LOOK_SECONDS = 0.1
"""The interval between checks for signals while a job waits."""
_SPARE_SECONDS = 1
"""The margin by which the server gives up a statement before the client disconnects."""


class _Job(Connection[Any]):
    """A connection whose every wait ends, even if the peer is connected but silent."""

    def wait(self, gen: Any, interval: float = _LOOK_SECONDS, timeout: float | None = None) -> Any:
        """Wait as the library does; disconnect after an error that the server did not send."""
        most = _RELEASE_SECONDS + _SPARE_SECONDS
        try:
            return super().wait(gen, interval, most if timeout is None else timeout)
        except psycopg.Error as error:
            if error.sqlstate is None:
                hang_up(self)
            raise


def connect(database: str) -> Connection[Any]:
    """Connect in autocommit mode, for a job that waits.

    Raises:
        StoreError: No connection could be made, or none that keeps its settings.
    """
    settings = _settings(_RELEASE_SECONDS)
    try:
        connection = _Job.connect(_parameters(database, settings), autocommit=True)
        try:
            found = connection.execute(_question(settings), [*settings]).fetchone()
            _require(connection, found, settings, database)
        except BaseException:
            connection.close()
            raise
    except psycopg.Error as error:
        raise StoreError(error, database=database) from None
    return connection


async def connect_async(database: str, *, patience: float) -> AsyncConnection[Any]:
    """Connect in autocommit mode, for a service that must not wait for ever.

    Args:
        database: A libpq connection string or URL.
        patience: Seconds after which the client gives up a statement; the server does earlier.

    Raises:
        StoreError: No connection was made, or none that keeps its settings and stores no times.
    """
    settings = _settings(patience - _SPARE_SECONDS)
    try:
        async with asyncio.timeout(patience):
            parameters = _parameters(database, settings)
            connection = await AsyncConnection.connect(parameters, autocommit=True)
    except (psycopg.Error, TimeoutError) as error:
        raise StoreError(error, database=database) from None
    timer = asyncio.get_running_loop().call_later(patience, hang_up, connection)
    try:
        cursor = await connection.execute(_question(settings), [*settings])
        found = await cursor.fetchone()
        _require(connection, found, settings, database)
        _require_no_times(found, database)
    except psycopg.Error as error:
        await connection.close()
        raise StoreError(error, database=database) from None
    except BaseException:
        await connection.close()
        raise
    finally:
        timer.cancel()
    return connection


def hang_up(connection: Connection[Any] | AsyncConnection[Any]) -> None:
    """Cut a connection without telling the server: everybody who waits for it stops waiting.

    Cancelling instead would wait for the server, which may be the one that does not answer.
    """
    if connection.closed:
        return
    line = socket.socket(fileno=connection.fileno())
    try:
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)
    finally:
        line.detach()  # the connection closes it


def _settings(seconds: float) -> dict[str, str]:
    return _SESSION | {"statement_timeout": f"{round(seconds * 1000)}ms"}


def _parameters(database: str, settings: dict[str, str]) -> str:
    """Complete the connection string with defaults and the pinned settings."""
    given = conninfo_to_dict(database)
    pinned = " ".join(f"-c {name}={_escaped(value)}" for name, value in settings.items())
    before = given.get("options") or os.environ.get("PGOPTIONS", "")
    options = f"{before} {pinned}".strip()
    return make_conninfo(**(_DEFAULTS | given | {"options": options, "client_encoding": "utf8"}))


def _escaped(value: str) -> str:
    return value.replace(" ", r"\ ")


def _question(settings: dict[str, str]) -> bytes:
    """Ask for the settings of the session, in the server's own spelling of the values."""
    return b"SELECT pg_backend_pid(), current_setting('track_commit_timestamp')" + (
        b", (SELECT setting || coalesce(unit, '') FROM pg_settings WHERE name = %s)" * len(settings)
    )


def _require(
    connection: Connection[Any] | AsyncConnection[Any],
    found: tuple[Any, ...] | None,
    settings: dict[str, str],
    database: str,
) -> None:
    """Refuse a session that is not the server's own, or that did not take its settings."""
    process, _, *values = found or (0, "")
    if process != connection.info.backend_pid or values != [*settings.values()]:
        raise StoreError(POOLED, database=database)


def _require_no_times(found: tuple[Any, ...] | None, database: str) -> None:
    if found and found[1] == "on":
        raise StoreError(TIMESTAMPED, database=database)
