"""The queries of release, and the steps by which it moves a batch from state to state."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

from psycopg import Connection
from psycopg.errors import LockNotAvailable

from croupier.errors import CroupierError
from croupier.hosting.database.migrations import OlderSchemaError
from croupier.protocol.receipt import Receipt, ReceiptError
from croupier.shuffler.database import statements
from croupier.shuffler.database.batch import Batch, State
from croupier.shuffler.database.schema import MIGRATIONS

__all__ = [
    "BusyError",
    "append_receipt",
    "batches",
    "clock",
    "drop_envelopes",
    "envelopes",
    "has_receipt",
]
__all__ += [
    "decile",
    "is_known",
    "last_receipt",
    "last_run",
    "last_taken_over",
    "move",
    "nobody_opening",
]
__all__ += ["prepared", "progress", "receipt_of", "receipts_by_event"]
__all__ += [
    "record_run",
    "require_schema",
    "shred_all",
    "sole_releaser",
    "stored",
    "tagged_envelopes",
    "unfinished",
]

_ROWS_A_PIECE = 4096
_PATIENCE = "5s"
"""The wait for another release to end: the database may notice late that one was killed."""


class BusyError(CroupierError):
    """Another process is releasing the same plan."""

    def __init__(self) -> None:
        super().__init__("Another release of this plan is running. Wait for it, then run again.")


@contextmanager
def sole_releaser(connection: Connection[Any], *, plan: str) -> Iterator[None]:
    """Keep every other release of the plan away while the connection lasts."""
    lock = int.from_bytes(bytes.fromhex(plan)[:8], signed=True)
    try:
        with connection.transaction():
            connection.execute(f"SET LOCAL lock_timeout = '{_PATIENCE}'")
            connection.execute("SELECT pg_advisory_lock(%s)", [lock])
    except LockNotAvailable:
        raise BusyError from None
    try:
        yield
    finally:
        if not connection.broken:
            connection.execute("SELECT pg_advisory_unlock(%s)", [lock])


@contextmanager
def nobody_opening(connection: Connection[Any]) -> Iterator[bool]:
    """Yield whether nobody is opening a round now; if so, nobody can begin before the end."""
    free = _value(connection, "SELECT pg_try_advisory_lock(%s)", statements.OPENING)
    try:
        yield free
    finally:
        if free and not connection.broken:
            connection.execute("SELECT pg_advisory_unlock(%s)", [statements.OPENING])


def record_run(connection: Connection[Any], *, plan: str) -> None:
    """Record that release has run for a plan."""
    connection.execute(statements.HAS_RUN, [bytes.fromhex(plan)])


def last_run(connection: Connection[Any], *, plan: str) -> datetime | None:
    """Return when release last ran for a plan; None if it never did, or on an earlier schema."""
    if not _value(connection, statements.TABLE_EXISTS, "croupier.release_runs"):
        return None
    return cast("datetime | None", _value(connection, statements.LAST_RUN, bytes.fromhex(plan)))


def decile(connection: Connection[Any], batch: Batch, *, minimum: int) -> int:
    """Return how many tenths of the minimum a batch has, at most 10; 0 without a table."""
    if not _value(connection, statements.TABLE_EXISTS, statements.envelope_table(batch.identity)):
        return 0
    counted = _value(connection, statements.count_up_to(batch.identity), minimum)
    return 10 * int(counted) // minimum


def is_known(connection: Connection[Any], identity: bytes) -> bool:
    """Tell whether a batch of that name was ever opened, for any plan."""
    return bool(_value(connection, statements.IS_KNOWN, identity))


def clock(connection: Connection[Any]) -> datetime:
    """Return the database's time (UTC): one clock for all hosts that open rounds."""
    return cast("datetime", _value(connection, statements.CLOCK)).astimezone(UTC)


def prepared(connection: Connection[Any]) -> bool:
    """Tell whether the tables exist."""
    return bool(_value(connection, MIGRATIONS.is_prepared))


def require_schema(connection: Connection[Any]) -> None:
    """Refuse a database whose tables are of another version.

    Raises:
        NewerSchemaError: A newer version has migrated it.
        OlderSchemaError: It lacks migrations of this version.
    """
    missing = MIGRATIONS.pending(name for (name,) in connection.execute(MIGRATIONS.applied))
    if missing:
        raise OlderSchemaError(missing)


def progress(
    connection: Connection[Any], plan: str, *, round_number: int, receipt_number: int
) -> statements.Progress:
    """List rounds and receipts of a plan, starting at one of each, inclusive."""
    digest = bytes.fromhex(plan)
    return statements.Progress.of_rows(
        connection.execute(statements.ROUNDS_FROM, [digest, round_number]),
        connection.execute(statements.RECEIPTS_FROM, [digest, receipt_number]),
    )


def batches(connection: Connection[Any], *, plan: str) -> list[Batch]:
    """Return all batches of a plan, the newest round first."""
    rows = connection.execute(statements.ALL_BATCHES, [bytes.fromhex(plan)])
    return [Batch.of_row(*row) for row in rows]


def unfinished(connection: Connection[Any], *, plan: str) -> list[Batch]:
    """Return the batches of a plan that are not shredded, by round."""
    rows = connection.execute(statements.UNFINISHED_BATCHES, [bytes.fromhex(plan)])
    return [Batch.of_row(*row) for row in rows]


def move(connection: Connection[Any], batch: Batch, state: State) -> Batch:
    """Move a batch from its current state into the next.

    Wait for intake to finish writing: a writer locks the batch's row while it writes.
    """
    done = connection.execute(statements.MOVE, [state, batch.identity, batch.state])
    if done.rowcount != 1:
        raise BusyError
    return replace(batch, state=state)


def stored(connection: Connection[Any], batch: Batch) -> int:
    """Count the stored envelopes, at most one per credential; 0 if the table is lost."""
    table = statements.envelope_table(batch.identity)
    if not _value(connection, statements.TABLE_EXISTS, table):
        return 0
    return int(_value(connection, statements.count_rows(batch.identity)))


def envelopes(connection: Connection[Any], batch: Batch) -> Iterator[list[bytes]]:
    """Yield the stored envelopes in pieces, without their tags."""
    for piece in _pieces(connection, statements.select_rows(batch.identity, "envelope")):
        yield [envelope for (envelope,) in piece]


def tagged_envelopes(
    connection: Connection[Any], batch: Batch
) -> Iterator[list[tuple[bytes | None, bytes]]]:
    """Yield the stored envelopes in pieces, each after its tag; a relay's have none."""
    yield from _pieces(connection, statements.select_rows(batch.identity, "tag, envelope"))


def _pieces(connection: Connection[Any], query: str) -> Iterator[list[Any]]:
    with connection.transaction(), connection.cursor("envelopes", binary=True) as cursor:
        cursor.execute(query.encode())
        while piece := cursor.fetchmany(_ROWS_A_PIECE):
            yield piece


def shred_all(connection: Connection[Any], *, plan: str) -> None:
    """Move every batch of a plan into its last state, and delete the tables."""
    rows = connection.execute(statements.SHRED_ALL, [bytes.fromhex(plan)]).fetchall()
    for (identity,) in rows:
        connection.execute(statements.drop_table(identity).encode())


def drop_envelopes(connection: Connection[Any], batch: Batch) -> None:
    """Delete the batch's table, if it still exists."""
    connection.execute(statements.drop_table(batch.identity).encode())


def last_receipt(connection: Connection[Any], *, plan: str) -> Receipt | None:
    """Return the newest link of the plan's chain."""
    row = connection.execute(statements.LAST_RECEIPT, [bytes.fromhex(plan)]).fetchone()
    return Receipt.read(row[0]) if row else None


def last_taken_over(connection: Connection[Any], *, plan: str) -> Receipt | None:
    """Return the newest receipt of a batch that was taken over from another shuffler."""
    row = connection.execute(statements.LAST_TAKEN_OVER, [bytes.fromhex(plan)]).fetchone()
    return Receipt.read(row[0]) if row else None


def receipts_by_event(connection: Connection[Any], *, plan: str) -> dict[str, int]:
    """Count the receipts of a plan by what happened."""
    return dict(connection.execute(statements.RECEIPTS_BY_EVENT, [bytes.fromhex(plan)]).fetchall())


def has_receipt(connection: Connection[Any], receipt: Receipt) -> bool:
    """Tell whether a link of the chain is that very receipt."""
    values = (bytes.fromhex(receipt.plan), receipt.number, receipt.text)
    return bool(_value(connection, statements.HAS_RECEIPT, *values))


def receipt_of(connection: Connection[Any], batch: Batch) -> Receipt:
    """Return the one receipt of a batch that was released or disposed of."""
    values = [bytes.fromhex(batch.plan), batch.identity.hex()]
    row = connection.execute(statements.RECEIPT_OF, values).fetchone()
    if row is None:
        raise ReceiptError("of a settled batch is missing from the database")
    return Receipt.read(row[0])


def append_receipt(connection: Connection[Any], receipt: Receipt) -> None:
    """Add a link; the table's key refuses a number that is taken."""
    values = [bytes.fromhex(receipt.plan), receipt.number, receipt.text]
    connection.execute(statements.ADD_RECEIPT, values)


def _value(connection: Connection[Any], query: str, *arguments: object) -> Any:
    row = connection.execute(query.encode(), arguments).fetchone()
    return None if row is None else row[0]
