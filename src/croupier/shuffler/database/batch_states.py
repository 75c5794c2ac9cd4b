"""What the database knows about batches: their states, their envelopes, their receipts.

    open -> sealed -> released -> shredded
              |-> open                       too few: held
              '-> disposed -> shredded       too few for too long

Every step is one transaction that names the state it starts from, so that it happens once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

from psycopg import Connection
from psycopg.errors import LockNotAvailable
from psycopg.sql import SQL, Composed, Identifier

from croupier.errors import CroupierError
from croupier.protocol.receipt import Receipt, ReceiptError
from croupier.shuffler.database.store import OPENING, RECEIPTS_FROM, ROUNDS_FROM, Progress, State

__all__ = ["Batch", "BusyError", "append_receipt", "clock", "drop_envelopes", "envelopes"]
__all__ += [
    "has_receipt",
    "is_known",
    "last_receipt",
    "move",
    "nobody_opening",
    "prepared",
    "progress",
]
__all__ += ["receipt_of", "sole_releaser", "stored", "tagged_envelopes", "unfinished"]

_ROWS_A_PIECE = 4096
_PATIENCE = "5s"
"""For another release to end: of one that was killed, the database may learn a little later."""


class BusyError(CroupierError):
    """Another process is releasing the same plan."""

    def __init__(self) -> None:
        super().__init__("Another release of this plan is running. Wait for it, then run again.")


@dataclass(frozen=True)
class Batch:
    """One round's envelopes.

    Attributes:
        plan: The digest of the plan.
        round_number: Which round.
        identity: The 16 bytes that name the batch.
        state: Where it stands.
        opened: When its round began (UTC), to the second.
        opening: The signed document that announced it.
        query: What its round asks, as the analyzer signed it; None where the plan says it.
    """

    plan: str
    round_number: int
    identity: bytes
    state: State
    opened: datetime
    opening: str
    query: str | None = None

    @property
    def table(self) -> Identifier:
        """Where its envelopes are."""
        return Identifier("croupier", f"env_{self.identity.hex()}")


@contextmanager
def sole_releaser(connection: Connection[Any], *, plan: str) -> Iterator[None]:
    """Keep every other release of the plan away as long as the connection lasts."""
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
    """Whether nobody is opening a round now; if so, nobody begins to before the end."""
    row = connection.execute("SELECT pg_try_advisory_lock(%s)", [OPENING]).fetchone()
    free = bool(row and row[0])
    try:
        yield free
    finally:
        if free and not connection.broken:
            connection.execute("SELECT pg_advisory_unlock(%s)", [OPENING])


def is_known(connection: Connection[Any], identity: bytes) -> bool:
    """Whether a batch of that name was ever opened, of whatever plan."""
    query = "SELECT FROM croupier.batches WHERE batch = %s"
    return connection.execute(query, [identity]).fetchone() is not None


def clock(connection: Connection[Any]) -> datetime:
    """What time it is where rounds are opened: one clock for all hosts (UTC)."""
    row = connection.execute("SELECT now()").fetchone()
    return cast("tuple[datetime]", row)[0].astimezone(UTC)


def prepared(connection: Connection[Any]) -> bool:
    """Whether the tables are there."""
    row = connection.execute("SELECT to_regclass('croupier.batches') IS NOT NULL").fetchone()
    return bool(row and row[0])


def progress(
    connection: Connection[Any], plan: bytes, *, round_number: int, receipt_number: int
) -> Progress:
    """List rounds and receipts of a plan, from one of each on, both included."""
    rounds = connection.execute(ROUNDS_FROM, [plan, round_number])
    receipts = connection.execute(RECEIPTS_FROM, [plan, receipt_number])
    return Progress(
        [(number, bytes(batch), opening) for number, batch, opening in rounds],
        [document for (document,) in receipts],
    )


def unfinished(connection: Connection[Any], *, plan: str) -> list[Batch]:
    """The batches of a plan that are not shredded, by round."""
    rows = connection.execute(
        "SELECT round, batch, state, opened, keys, query FROM croupier.batches "
        "WHERE plan = %s AND state <> 'shredded' ORDER BY round",
        [bytes.fromhex(plan)],
    )
    return [
        Batch(plan, number, bytes(batch), state, opened.astimezone(UTC), opening, query)
        for number, batch, state, opened, opening, query in rows
    ]


def move(connection: Connection[Any], batch: Batch, state: State) -> Batch:
    """Bring a batch from the state it has into the next.

    Waits for intake to finish writing: a writer holds the row of the batch while it writes.
    """
    done = connection.execute(
        "UPDATE croupier.batches SET state = %s WHERE batch = %s AND state = %s",
        [state, batch.identity, batch.state],
    )
    if done.rowcount != 1:
        raise BusyError
    return replace(batch, state=state)


def stored(connection: Connection[Any], batch: Batch) -> int:
    """How many envelopes are stored, at most one a credential; none if the table is lost."""
    name = batch.table.as_string(connection)
    found = connection.execute("SELECT to_regclass(%s) IS NOT NULL", [name]).fetchone()
    if not (found and found[0]):
        return 0
    row = connection.execute(SQL("SELECT count(*) FROM {}").format(batch.table)).fetchone()
    return int(row[0]) if row else 0


def envelopes(connection: Connection[Any], batch: Batch) -> Iterator[list[bytes]]:
    """The stored envelopes in pieces, without their tags."""
    for piece in _pieces(connection, SQL("SELECT envelope FROM {}").format(batch.table)):
        yield [envelope for (envelope,) in piece]


def tagged_envelopes(
    connection: Connection[Any], batch: Batch
) -> Iterator[list[tuple[bytes | None, bytes]]]:
    """The stored envelopes in pieces, each after its tag; a relay's have none."""
    yield from _pieces(connection, SQL("SELECT tag, envelope FROM {}").format(batch.table))


def _pieces(connection: Connection[Any], query: Composed) -> Iterator[list[Any]]:
    with connection.transaction(), connection.cursor("envelopes", binary=True) as cursor:
        cursor.execute(query)
        while piece := cursor.fetchmany(_ROWS_A_PIECE):
            yield piece


def drop_envelopes(connection: Connection[Any], batch: Batch) -> None:
    """Delete the batch's table, if it is still there."""
    connection.execute(SQL("DROP TABLE IF EXISTS {}").format(batch.table))


def last_receipt(connection: Connection[Any], *, plan: str) -> Receipt | None:
    """The newest link of the plan's chain."""
    row = connection.execute(
        "SELECT document FROM croupier.receipts WHERE plan = %s ORDER BY number DESC LIMIT 1",
        [bytes.fromhex(plan)],
    ).fetchone()
    return Receipt.read(row[0]) if row else None


def has_receipt(connection: Connection[Any], receipt: Receipt) -> bool:
    """Tell whether a link of the chain is that very receipt."""
    query = "SELECT FROM croupier.receipts WHERE plan = %s AND number = %s AND document = %s"
    values = [bytes.fromhex(receipt.plan), receipt.number, receipt.text]
    return connection.execute(query, values).fetchone() is not None


def receipt_of(connection: Connection[Any], batch: Batch) -> Receipt:
    """The one receipt of a batch that was released or disposed of."""
    row = connection.execute(
        "SELECT document FROM croupier.receipts "
        "WHERE plan = %s AND document::json ->> 'batch' = %s",
        [bytes.fromhex(batch.plan), batch.identity.hex()],
    ).fetchone()
    if row is None:
        raise ReceiptError("of a settled batch is missing from the database")
    return Receipt.read(row[0])


def append_receipt(connection: Connection[Any], receipt: Receipt) -> None:
    """Add a link; a number that is taken is refused by the table's key."""
    connection.execute(
        "INSERT INTO croupier.receipts (plan, number, document) VALUES (%s, %s, %s)",
        [bytes.fromhex(receipt.plan), receipt.number, receipt.text],
    )
