"""All statements about batches and receipts.

`Store` runs them where rounds are served and opened, `batch_states` where they are released.
"""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple, Self

from croupier.shuffler.database.schema import MIGRATIONS

__all__ = ["ACCEPT", "ADD_RECEIPT", "ALL_BATCHES", "BATCHES_OF_PLANS", "CLOCK", "COUNT_FOUND"]
__all__ += ["CREATE_ENVELOPES", "HAS_RECEIPT", "HAS_RUN", "IS_KNOWN", "IS_OF_PLAN"]
__all__ += [
    "LAST_RECEIPT",
    "LAST_RUN",
    "LAST_TAKEN_OVER",
    "MOVE",
    "OPENING",
    "OPEN_BATCH",
]
__all__ += ["RECEIPTS_BY_EVENT", "RECEIPTS_FROM", "RECEIPTS_OF_PLANS", "RECEIPT_OF", "RECEIVED"]
__all__ += ["ROUNDS_FROM", "SHRED_ALL", "SIGNS_OF_LIFE", "TABLE_EXISTS", "UNFINISHED_BATCHES"]
__all__ += ["Progress", "copy_rows", "count_rows", "count_up_to", "drop_table", "envelope_table"]
__all__ += ["select_rows"]

OPENING = MIGRATIONS.lock + 1
"""The advisory lock for making secrets that no batch names yet, and for sweeping such secrets."""

_COLUMNS = "batch, plan, round, state, opened, keys, query, onward"

OPEN_BATCH = f"""
    INSERT INTO croupier.batches (batch, plan, round, state, opened, keys, query, onward)
    VALUES (%s, %s, %s, 'open', date_trunc('second', now()), %s, %s, %s)
    ON CONFLICT (plan, round) DO NOTHING RETURNING {_COLUMNS}
"""  # noqa: S608 - a constant
CREATE_ENVELOPES = "SELECT croupier.create_envelopes(%s)"
ALL_BATCHES = f"SELECT {_COLUMNS} FROM croupier.batches WHERE plan = %s ORDER BY round DESC"  # noqa: S608
UNFINISHED_BATCHES = f"""
    SELECT {_COLUMNS} FROM croupier.batches
    WHERE plan = %s AND state <> 'shredded' ORDER BY round
"""  # noqa: S608
IS_KNOWN = "SELECT EXISTS (SELECT FROM croupier.batches WHERE batch = %s)"
IS_OF_PLAN = "SELECT EXISTS (SELECT FROM croupier.batches WHERE batch = %s AND plan = %s)"
MOVE = "UPDATE croupier.batches SET state = %s WHERE batch = %s AND state = %s"
ROUNDS_FROM = """
    SELECT round, batch, keys FROM croupier.batches
    WHERE plan = %s AND round >= %s ORDER BY round
"""
SHRED_ALL = """
    UPDATE croupier.batches SET state = 'shredded'
    WHERE plan = %s AND state <> 'shredded' RETURNING batch
"""
CLOCK = "SELECT now()"
BATCHES_OF_PLANS = f"""
    SELECT {_COLUMNS}, CASE WHEN state = 'open' THEN
        coalesce(pg_table_size(to_regclass('croupier.env_' || encode(batch, 'hex'))), 0) END
    FROM unnest(%s::bytea[], %s::integer[]) AS seen (plan, first)
    JOIN croupier.batches USING (plan) WHERE round >= first ORDER BY round DESC
"""  # noqa: S608
RECEIPTS_OF_PLANS = """
    SELECT plan, document FROM unnest(%s::bytea[], %s::integer[]) AS seen (plan, first)
    JOIN croupier.receipts USING (plan) WHERE number >= first ORDER BY number
"""
SIGNS_OF_LIFE = """
    SELECT plan, now(), pg_is_in_recovery(), ran
    FROM unnest(%s::bytea[]) AS served (plan) LEFT JOIN croupier.release_runs USING (plan)
"""
LAST_RUN = "SELECT ran FROM croupier.release_runs WHERE plan = %s"
HAS_RUN = """
    INSERT INTO croupier.release_runs (plan, ran) VALUES (%s, date_trunc('second', now()))
    ON CONFLICT (plan) DO UPDATE SET ran = excluded.ran
"""

ACCEPT = "SELECT croupier.accept(%b, %b, %s, %s)"
COUNT_FOUND = "SELECT croupier.stored(%b, %s, %b, %s)"
TABLE_EXISTS = "SELECT to_regclass(%s) IS NOT NULL"

RECEIPTS_FROM = """
    SELECT document FROM croupier.receipts WHERE plan = %s AND number >= %s ORDER BY number
"""
LAST_RECEIPT = """
    SELECT document FROM croupier.receipts WHERE plan = %s ORDER BY number DESC LIMIT 1
"""
LAST_TAKEN_OVER = """
    SELECT document FROM croupier.receipts
    WHERE plan = %s AND document::json ->> 'taken_over' IS NOT NULL ORDER BY number DESC LIMIT 1
"""
HAS_RECEIPT = """
    SELECT EXISTS (
        SELECT FROM croupier.receipts WHERE plan = %s AND number = %s AND document = %s
    )
"""
RECEIPTS_BY_EVENT = """
    SELECT document::json ->> 'event', count(*) FROM croupier.receipts WHERE plan = %s GROUP BY 1
"""
RECEIPT_OF = """
    SELECT document FROM croupier.receipts WHERE plan = %s AND document::json ->> 'batch' = %s
"""
RECEIVED = """
    SELECT (document::json -> 'counts' ->> 'received')::bigint FROM croupier.receipts
    WHERE document::json ->> 'batch' = %s
"""
ADD_RECEIPT = "INSERT INTO croupier.receipts (plan, number, document) VALUES (%s, %s, %s)"


class Progress(NamedTuple):
    """The rounds of a plan from one on, each with batch and signed opening, and the receipts."""

    rounds: list[tuple[int, bytes, str]]
    receipts: list[str]

    @classmethod
    def of_rows(cls, rounds: Iterable[Any], receipts: Iterable[Any]) -> Self:
        """Combine the results of `ROUNDS_FROM` and `RECEIPTS_FROM`."""
        return cls([(*row,) for row in rounds], [document for (document,) in receipts])


def envelope_table(batch: bytes) -> str:
    """Return the table name of a batch's envelopes; hex digits need no quotes."""
    return f"croupier.env_{batch.hex()}"


def count_rows(batch: bytes) -> str:
    """Count the envelopes of a batch, one by one."""
    return f"SELECT count(*) FROM {envelope_table(batch)}"  # noqa: S608 - hex digits


def count_up_to(batch: bytes) -> str:
    """Count the envelopes of a batch, but no further than a number."""
    table = envelope_table(batch)
    return f"SELECT count(*) FROM (SELECT FROM {table} LIMIT %s) AS counted"  # noqa: S608 - hex


def select_rows(batch: bytes, columns: Literal["envelope", "tag, envelope"]) -> str:
    """Read the envelopes of a batch."""
    return f"SELECT {columns} FROM {envelope_table(batch)}"  # noqa: S608 - hex digits


def copy_rows(batch: bytes, *, length: int) -> str:
    """Send the envelopes of one length, in binary."""
    query = f"{select_rows(batch, 'envelope')} WHERE octet_length(envelope) = {length:d}"
    return f"COPY ({query}) TO STDOUT (FORMAT binary)"


def drop_table(batch: bytes) -> str:
    """Delete the envelopes of a batch, if they still exist."""
    return f"DROP TABLE IF EXISTS {envelope_table(batch)}"
