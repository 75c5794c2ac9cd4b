"""Senders around the seals, in databases with each of the three default isolation levels.

An operator may have set it for other applications. A report that is acknowledged while its batch is
being sealed must still be released. Every seal is made to meet such reports: a slow writer holds it
back until others, who have seen an open batch, wait behind it. They are frozen, as if they got no
processor time, until the receipt is signed; then they continue.
"""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import Connection

from benchmarks.faults.result import Result, timed
from benchmarks.faults.rig import MINIMUM, Site, site
from benchmarks.faults.verdict import Verdict

__all__ = ["LEVELS", "run"]

LEVELS = ("read committed", "repeatable read", "serializable")
_FEWEST = 3
_WRITERS = 2
_PATIENCE = 10.0


def run(*, seconds: float = 120.0) -> Result:
    """Release one round after the other under each level, for the given time in total."""
    with timed("isolation") as result:
        for level in LEVELS:
            seals, verdict = _under(level, seconds=seconds / len(LEVELS))
            result.faults += seals
            result.remarks.append(
                f"{level}: {verdict.acknowledged:,} acknowledged around {seals} seals, "
                f"{verdict.lost:,} lost"
            )
            verdict.violations = [f"{level}: {sentence}" for sentence in verdict.violations]
            result.verdict.add(verdict)
    return result


def _under(level: str, *, seconds: float) -> tuple[int, Verdict]:
    with site() as where:
        with psycopg.connect(where.cluster.database, autocommit=True) as connection:
            setting = f"ALTER DATABASE {where.name} SET default_transaction_isolation = '{level}'"
            connection.execute(setting.encode())
        where.open_round()
        where.serve()
        where.is_ready()
        where.senders.start()
        seals = tries = 0
        end = time.monotonic() + seconds
        while time.monotonic() < end or tries < _FEWEST:
            tries += 1
            where.fill(MINIMUM)
            where.age(days=1)
            before = _receipts(where)
            with _slow_writer(where) as writer:
                releasing = where.start_release("--next-round")
                waiting = _waiting_writers(writer)
                _send(waiting, signal.SIGSTOP)
            try:
                _wait_for_receipt(where, number=before + 1)
            finally:
                _send(waiting, signal.SIGCONT)
            releasing.wait()
            seals += bool(waiting)
        where.finish()
        return seals, where.judge()


@contextmanager
def _slow_writer(where: Site) -> Iterator[Connection]:
    """Hold the lock of a writer who is storing reports in the open batch."""
    with psycopg.connect(where.cluster.database) as connection:
        connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
        for (table,) in connection.execute(
            "SELECT 'croupier.env_' || encode(batch, 'hex') FROM croupier.batches "
            "WHERE state = 'open'"
        ).fetchall():
            connection.execute(f"LOCK TABLE {table} IN ROW EXCLUSIVE MODE".encode())
        yield connection


def _waiting_writers(connection: Connection) -> list[int]:
    """Wait until a seal is held back with writers behind it; return their processes, if any."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        rows = connection.execute(
            "SELECT pid, mode FROM pg_locks WHERE NOT granted AND locktype = 'relation'"
        ).fetchall()
        writers = [pid for pid, mode in rows if mode == "RowExclusiveLock"]
        if len(writers) >= _WRITERS and len(rows) > len(writers):
            return writers
        time.sleep(0.05)
    return []


def _send(processes: list[int], number: signal.Signals) -> None:
    for pid in processes:
        os.kill(pid, number)


def _wait_for_receipt(where: Site, *, number: int) -> None:
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end and _receipts(where) < number:
        time.sleep(0.05)


def _receipts(where: Site) -> int:
    with psycopg.connect(where.cluster.database) as connection:
        row = connection.execute("SELECT count(*) FROM croupier.receipts").fetchone()
    return int(row[0]) if row else 0
