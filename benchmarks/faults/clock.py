"""A database whose clock is wrong for a while: 31 days ahead, then two days behind.

A batch that still waits for people is deleted when it is as old as the plan says, by the database's
clock. One wrong answer of a time server must not delete what was acknowledged a minute ago.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.conninfo import make_conninfo

from benchmarks.faults.result import Result, timed
from benchmarks.faults.rig import MINIMUM, Site, site

__all__ = ["run"]


def run() -> Result:
    """Release under a wrong clock, then under the right one."""
    with timed("clock") as result, site() as where:
        where.open_round()
        where.serve()
        where.is_ready()
        where.fill(MINIMUM - 1)
        for days in (31, -2):
            with _clock_off(where, days=days):
                done = where.release()
            result.faults += 1
            if days > 0 and "clock" not in done.said:
                result.verdict.violations.append("a clock 31 days ahead was not noticed")
            result.remarks.append(
                f"{days:+} days: release ended with {done.code}: {_first(done.said)}"
            )
        if where.keys.batches():
            where.fill(MINIMUM)
            where.stop("server")
            where.age(days=1)
            where.release()
        result.verdict.add(where.judge())
    return result


@contextmanager
def _clock_off(where: Site, *, days: int) -> Iterator[None]:
    """Let the commands find another clock before that of PostgreSQL."""
    right = where.database
    with psycopg.connect(where.cluster.database, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA IF NOT EXISTS wrong")
        for name in ("now", "clock_timestamp", "statement_timestamp", "transaction_timestamp"):
            connection.execute(
                f"CREATE OR REPLACE FUNCTION wrong.{name}() RETURNS timestamptz LANGUAGE sql "
                f"AS $$ SELECT pg_catalog.{name}() + interval '{days} days' $$".encode()
            )
    where.database = make_conninfo(right, options="-c search_path=wrong,pg_catalog")
    try:
        yield
    finally:
        where.database = right


def _first(said: str) -> str:
    return (said.strip().splitlines() or [""])[0]
