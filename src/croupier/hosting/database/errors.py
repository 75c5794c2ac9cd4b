"""Causes of database errors as fixed sentences, since its own text may quote what was written."""

import re
from typing import NamedTuple

import psycopg
from psycopg.conninfo import conninfo_to_dict

from croupier.errors import CroupierError
from croupier.hosting.incidents import see

__all__ = ["POOLED", "READ_ONLY", "TIMESTAMPED", "Cause", "StoreError", "cause_of"]


class Cause(NamedTuple):
    """The cause of a database error.

    Attributes:
        sentence: The cause, without any names: it may be shown to anybody.
        advice: The next step for the operator.
        incident: The name of the incident.
    """

    sentence: str
    advice: str
    incident: str = "database"


_UNKNOWN = Cause(
    "the database failed",
    "Check --database, that PostgreSQL runs, and its log.",
)
_MALFORMED = Cause(
    "--database is not a PostgreSQL connection string",
    "Write postgresql://USER@HOST:PORT/NAME, with special characters of a password as %XX.",
)
_NO_SERVICE = Cause(
    "the service that --database or PGSERVICE names is not defined",
    "Correct its name, or define it in the file that PGSERVICEFILE names or in ~/.pg_service.conf.",
)
_NO_DATABASE = Cause(
    "the database does not exist",
    "Check --database. Only for a new installation, create it: createdb.",
)
_NO_ROLE = Cause(
    "the database's role does not exist",
    "Check the user in --database. Only for a new installation, create it: createuser.",
)
_PASSWORD = Cause(
    "the database refused the password",
    "Correct it in CROUPIER_DATABASE or in ~/.pgpass.",
)
_NOT_ADMITTED = Cause(
    "the database does not admit this role from this host",
    "Add a line for it to the server's pg_hba.conf, or correct --database.",
)
_DENIED = Cause(
    "the database's role lacks a permission",
    "Let it own the database: ALTER DATABASE name OWNER TO role.",
)
_REFUSED = Cause(
    "nothing listens where the database should be",
    "Start PostgreSQL, or correct host and port in --database.",
    "database-down",
)
_NO_HOST = Cause(
    "the name of the database's host is not known",
    "Correct the host in --database, or check the name service.",
    "database-down",
)
_TLS = Cause(
    "no encrypted connection to the database could be made",
    "Check the server's certificate and sslmode in --database.",
)
_SILENT = Cause(
    "the database did not answer in time",
    "Check the network to it, its load, and locks in pg_stat_activity.",
    "database-down",
)
_LOST = Cause(
    "the connection to the database was lost",
    "Check that PostgreSQL runs, and its log.",
    "database-down",
)
_STARTING = Cause(
    "the database is starting or stopping",
    "Wait until it accepts connections, and look at its log.",
    "database-down",
)
_CLOSED = Cause(
    "the database accepts no connections",
    "Allow them: ALTER DATABASE name ALLOW_CONNECTIONS true.",
    "database-down",
)
_CROWDED = Cause(
    "the database has too many connections",
    "Raise max_connections, or start fewer workers: each takes three.",
    "database-connections",
)
_FULL = Cause(
    "the database's disk is full",
    "Free space on the host of PostgreSQL; nothing that was acknowledged is lost.",
    "disk-full",
)
_MEMORY = Cause(
    "the database is out of memory",
    "Give its host more, or lower work_mem and max_connections.",
)
READ_ONLY = Cause(
    "the database is read-only",
    "Name the primary server in --database, not a standby.",
    "database-read-only",
)
_TABLES = Cause(
    "tables of croupier are missing from the database",
    "Check --database; croupier serve makes the tables of a new one.",
)
_CONTENDED = Cause(
    "the database could not settle concurrent changes",
    "Run it again.",
)
POOLED = Cause(
    "a connection pooler is between croupier and the database",
    "It drops the locks and settings of a session: name PostgreSQL itself in --database.",
)
TIMESTAMPED = Cause(
    "the database stores when each row was committed",
    "Set track_commit_timestamp = off in postgresql.conf and restart PostgreSQL.",
)

_BY_SQLSTATE = {
    "08P01": POOLED,  # the answer of poolers to the settings of a session
    "25006": READ_ONLY,
    "28000": _NOT_ADMITTED,
    "28P01": _PASSWORD,
    "3D000": _NO_DATABASE,
    "3F000": _TABLES,
    "40001": _CONTENDED,
    "40P01": _CONTENDED,
    "42501": _DENIED,
    "42883": _TABLES,
    "42P01": _TABLES,
    "53100": _FULL,
    "53200": _MEMORY,
    "53300": _CROWDED,
    "55000": _CLOSED,
    "55P03": _SILENT,
    "57014": _SILENT,
    "57P01": _STARTING,
    "57P02": _STARTING,
    "57P03": _STARTING,
    "57P05": _LOST,
}
"""Causes by the code that the server sends with an error (PostgreSQL manual, appendix A)."""

_BY_TEXT = (
    (r"definition of service|service file", _NO_SERVICE),
    (r'database ".*" does not exist', _NO_DATABASE),
    (r'role ".*" does not exist', _NO_ROLE),
    (r"password authentication failed|no password supplied", _PASSWORD),
    (r"pg_hba\.conf|authentication failed|not permitted to log in", _NOT_ADMITTED),
    (r"permission denied", _DENIED),
    (r"too many (clients|connections)|remaining connection slots", _CROWDED),
    (r"is (starting up|shutting down|in recovery mode)|not yet accepting", _STARTING),
    (r"not currently accepting connections", _CLOSED),
    (r"unsupported startup parameter", POOLED),
    (r"resolve host|translate host name", _NO_HOST),
    (r"timeout expired|timed out", _SILENT),
    (r"Connection refused|No such file or directory|unreachable|No route", _REFUSED),
    (r"SSL|certificate", _TLS),
    (r"server closed the connection|connection is (closed|lost)|reset by peer", _LOST),
    (r"invalid (integer|connection)|missing", _MALFORMED),
)
"""Causes by the text of libpq, which passes on no code when a connection cannot be made."""

_NAMED = re.compile(r"[\w.,:/\[\]-]*", re.ASCII)
"""The pattern of a host, a port or a name. Anything else may be part of a password."""


def cause_of(error: BaseException) -> Cause:
    """Find the cause of a database error by its code, or by its kind if it has none."""
    if isinstance(error, TimeoutError | psycopg.errors.ConnectionTimeout):
        return _SILENT
    if not isinstance(error, psycopg.Error):
        return _UNKNOWN
    if error.sqlstate is not None:
        return _BY_SQLSTATE.get(error.sqlstate, _UNKNOWN)
    if isinstance(error, psycopg.ProgrammingError):
        return _MALFORMED
    text = str(error)
    return next((cause for pattern, cause in _BY_TEXT if re.search(pattern, text)), _UNKNOWN)


class StoreError(CroupierError):
    """The database did not answer, or not as expected; the error never shows what was written.

    It is unknown whether the last statement took effect: repeat it, every one may be repeated.

    Args:
        reason: The error, or a cause that was found in another way.
        database: The connection string, to name host, port and database.

    Attributes:
        cause: A fixed sentence that names nothing.
        incident: The name of the incident.
    """

    def __init__(self, reason: BaseException | Cause, *, database: str = "") -> None:
        sentence, advice, incident = reason if isinstance(reason, Cause) else cause_of(reason)
        self.cause, self.incident = sentence, incident
        super().__init__(f"{sentence}{_place(database)}. {advice} {see(incident)}")


def _place(database: str) -> str:
    """Name the database of a connection string; return nothing if in doubt."""
    try:
        parts = conninfo_to_dict(database)
    except psycopg.Error:
        return ""
    host, port, name = (str(parts.get(key) or "") for key in ("host", "port", "dbname"))
    if not all(map(_NAMED.fullmatch, (host, port, name))) or "/" in name:
        return ""
    server = ":".join(filter(None, (host, port)))
    where = " at ".join(filter(None, (name, server)))
    return f" ({where})" if where else ""
