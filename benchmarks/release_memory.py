"""Peak memory of a release without an engine, per row.

Rows are random, one in a hundred is a duplicate, and opening a seal is replaced by cutting it off,
which holds as much memory and takes a thousandth of the time. Each size runs in a process of its
own.

Run: python -m benchmarks.release_memory [ROWS ...]
"""

import asyncio
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import psycopg
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from benchmarks.house import House
from benchmarks.intake import PASSPHRASE, fresh_database
from croupier.engines.mixing import rows_of
from croupier.plan.plan import Plan
from croupier.shuffler.database.store import Store
from croupier.shuffler.release.opening import Opener, Piece
from croupier.shuffler.release.release import Releaser
from croupier.shuffler.release.rounds import open_round
from croupier.shuffler.release.storage import DirectoryStorage

SERVER = "host=127.0.0.1 user=postgres dbname=test"
ENVELOPE, INNER = 128, 80
TABLES = {
    "schema": 2,
    "name": "memory",
    "randomizer": {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1},
    "population": {"enrolled": 100_000_000},
    "protections": {"minimum_batch": 100},
}


def peak(rows: int) -> tuple[int, int]:
    """Release a batch of this size; return the resident bytes before, and at the peak."""
    with TemporaryDirectory() as name, fresh_database(SERVER) as database:
        folder = Path(name)
        house = House.at(folder, PASSPHRASE.encode())
        plan = Plan.from_document(TABLES | house.create())
        own = {"keys": house.release, "handover": house.handover, "shuffler": house.sign(plan)}
        asyncio.run(_fill(plan, database, own, rows))
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        before = _resident("VmRSS")
        with (
            psycopg.connect(database, autocommit=True) as connection,
            patch.object(Opener, "__call__", _cut),
        ):
            releaser = Releaser(
                plan=plan,
                connection=connection,
                storage=DirectoryStorage(folder),
                now=lambda: tomorrow,
                host_now=lambda: tomorrow,
                **own,  # type: ignore[arg-type]
            )
            (outcome,) = releaser.run()
        if outcome.receipt is None or outcome.receipt.counts.released != rows:
            raise SystemExit("the batch was not released")
        return before, _resident("VmHWM")


async def _fill(plan: Plan, database: str, own: dict[str, object], rows: int) -> None:
    store = await Store.connect(database)
    await store.migrate()
    analyzer = X25519PrivateKey.generate().public_key().public_bytes_raw()
    batch = await open_round(plan, store=store, analyzer=analyzer, **own)  # type: ignore[arg-type]
    await store.close()
    table = f"croupier.env_{batch.identity.hex()}"
    with psycopg.connect(database) as connection:
        connection.execute("CREATE EXTENSION pgcrypto")
        random = f"SELECT gen_random_bytes(16), gen_random_bytes({ENVELOPE})"
        again = f"SELECT gen_random_bytes(16), envelope FROM {table} LIMIT {rows // 100}"  # noqa: S608
        for source in (f"{random} FROM generate_series(1, {rows})", again):
            connection.execute(f"INSERT INTO {table} (tag, envelope) {source}".encode())


def _cut(_: Opener, envelopes: Iterable[bytes]) -> Piece:
    return rows_of((one[-INNER:] for one in envelopes), length=INNER), Counter()


def _resident(entry: str) -> int:
    found = re.search(rf"{entry}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return 1024 * int(found[1]) if found else 0


def main() -> None:
    """Print the peak of each size, and the growth per row from each size to the next."""
    if sys.argv[1:2] == ["--one"]:
        print(*peak(int(sys.argv[2])))
        return
    last: tuple[int, int] | None = None
    for rows in map(int, sys.argv[1:] or ["200000", "1000000", "2000000"]):
        command = [sys.executable, "-m", "benchmarks.release_memory", "--one", str(rows)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        before, most = map(int, done.stdout.split())
        growth = "" if last is None else f", {(most - last[1]) / (rows - last[0]):.0f} B per row"
        print(f"{rows:,} rows: {before / 1e9:.2f} GB before, {most / 1e9:.2f} GB peak{growth}")
        last = rows, most


if __name__ == "__main__":
    main()
