"""A database for the demo: on a running server, or on a server that the demo starts."""

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from croupier.errors import CroupierError
from croupier.hosting.database.errors import StoreError

__all__ = ["NoDatabaseError", "temporary_database"]

_CANDIDATES = (
    "host=127.0.0.1 dbname=postgres",
    "host=127.0.0.1 user=postgres dbname=postgres",
    "dbname=postgres",
)
_PLACES = ("/usr/lib/postgresql", "/usr/local/opt", "/opt/homebrew/opt")
_SECONDS = 3


class NoDatabaseError(CroupierError):
    """No PostgreSQL answers, and none can be started."""

    def __init__(self) -> None:
        super().__init__(
            "The demo needs PostgreSQL: no server answers, and initdb and pg_ctl are missing. "
            "Install it (Debian: apt install postgresql), or name a server with --database."
        )


@contextmanager
def temporary_database(server: str | None = None) -> Iterator[str]:
    """Yield a database as a connection string, and drop it at the end.

    Args:
        server: A connection string of a role that may create databases. If left out, the server
            of this machine is tried, then one is started in a temporary directory.
    """
    for candidate in (server,) if server else _CANDIDATES:
        try:
            connection = psycopg.connect(candidate, autocommit=True, connect_timeout=_SECONDS)
        except psycopg.Error as error:
            if server:
                raise StoreError(error, database=server) from None
            continue
        with connection:
            yield from _own(connection, candidate)
        return
    with _cluster() as started, psycopg.connect(started, autocommit=True) as connection:
        yield from _own(connection, started)


def _own(connection: "psycopg.Connection[tuple[object, ...]]", server: str) -> Iterator[str]:
    name = f"croupier_demo_{os.urandom(6).hex()}"
    connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    try:
        yield make_conninfo(server, dbname=name)
    finally:
        connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


@contextmanager
def _cluster() -> Iterator[str]:
    """Yield a server of the demo's own, which ends with the block."""
    programs = _programs()
    with tempfile.TemporaryDirectory(prefix="croupier-demo-") as folder:
        data = Path(folder) / "cluster"
        data.mkdir()
        ahead = []
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            Path(folder).chmod(0o755)
            shutil.chown(data, "postgres")
            ahead = ["runuser", "-u", "postgres", "--"]

        def run(program: str, *arguments: object) -> None:
            command = [*ahead, str(programs / program), "-D", str(data), *map(str, arguments)]
            subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - its programs

        run("initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8")
        port = _free_port()
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
        run("pg_ctl", "-l", data / "log", "-w", "-o", options, "start")
        try:
            yield f"host=127.0.0.1 port={port} user=postgres dbname=postgres"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")


def _programs() -> Path:
    on_path = shutil.which("initdb")
    found = [Path(on_path).parent] if on_path else []
    for place in _PLACES:
        found += sorted((p.parent for p in Path(place).glob("*/bin/initdb")), reverse=True)
    if not found:
        raise NoDatabaseError
    return found[0]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
