"""A test of the uniformity of released orders: whole releases, from table to Parquet file.

Every batch is opened, stored in PostgreSQL, sealed, opened, mixed, signed, written and shredded by
the `Releaser`. Then the places of the rows in the files are compared with their places in the
table: Pearson's statistic of one against the other, and the number of rows that stayed in place.

`--leave 0.02` uses a wrong shuffler, which leaves that share of rows in place: the test must detect
it.

Run: python -m benchmarks.uniformity [--batches 2000] [--leave SHARE] [--json] [--database DSN]
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import numpy as np
import psycopg
import pyarrow.parquet
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from numpy.typing import NDArray
from scipy.stats import chi2, poisson

from benchmarks.house import House
from benchmarks.intake import fresh_database
from croupier.engines.mixing import mixed
from croupier.numerics.keystream import Keystream
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import Rows
from croupier.protocol.wire import Epoch, seal_outer
from croupier.shuffler.database.store import Store
from croupier.shuffler.release import sealed_batch
from croupier.shuffler.release.release import Releaser
from croupier.shuffler.release.rounds import open_round
from croupier.shuffler.release.storage import DirectoryStorage
from croupier.shuffler.tags import TAG_BYTES

PEOPLE = 100


class Shuffler:
    """A database, a key directory, a directory of released files, and rounds of 100 people."""

    def __init__(self, database: str, folder: Path) -> None:
        self.database, self.folder = database, folder
        house = House.at(folder, b"of keys that live for a run")
        self.keys = house.release
        self.plan = Plan.from_document(
            {
                "schema": 2,
                "randomizer": {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0},
                "population": {"enrolled": PEOPLE},
                "protections": {"minimum_batch": PEOPLE},
                **house.create(),
            }
        )
        self.own = {"keys": house.release, "handover": house.handover}
        self.own["shuffler"] = house.sign(self.plan)

    async def fill(self, store: Store) -> list[bytes]:
        """Open a round and store a report of everybody; return the values in the table's order."""
        analyzer = X25519PrivateKey.generate().public_key().public_bytes_raw()
        batch = await open_round(self.plan, store=store, analyzer=analyzer, **self.own)
        key = self.keys.outer_key(batch.identity)
        epoch = Epoch.of(
            self.plan, round_number=batch.round_number, batch=batch.identity, analyzer=analyzer
        )
        inner = [os.urandom(epoch.inner_length) for _ in range(PEOPLE)]
        sealed = [seal_outer(entry, key=key.public_key(), epoch=epoch) for entry in inner]
        of = dict(zip(sealed, inner, strict=True))
        await store.accept(
            batch.identity, [os.urandom(TAG_BYTES) + envelope for envelope in sealed]
        )
        with psycopg.connect(self.database) as connection:
            query = f"SELECT envelope FROM croupier.env_{batch.identity.hex()}"  # noqa: S608
            return [of[bytes(envelope)] for (envelope,) in connection.execute(query.encode())]

    def release(self, connection: psycopg.Connection) -> list[bytes]:
        """Release the only batch and return the rows of its file."""
        with tempfile.TemporaryDirectory(dir=self.folder) as directory:
            releaser = Releaser(
                plan=self.plan,
                connection=connection,
                **self.own,
                storage=DirectoryStorage(Path(directory)),
                now=lambda: datetime.now(UTC) + timedelta(days=1),
            )
            (outcome,) = releaser.run()
            name = outcome.receipt.file.name  # type: ignore[union-attr]
            rows: list[bytes] = pyarrow.parquet.read_table(f"{directory}/{name}")[
                "inner"
            ].to_pylist()
        return rows

    async def places(self, batches: int) -> NDArray[np.int64]:
        """A matrix of places in the table, one row per released batch."""
        store = await Store.connect(self.database)
        await store.migrate()
        found = []
        with psycopg.connect(self.database, autocommit=True) as connection:
            for done in range(batches):
                before = {entry: place for place, entry in enumerate(await self.fill(store))}
                found.append([before[row] for row in self.release(connection)])
                if sys.stderr.isatty():
                    print(f"\r{done + 1:,} of {batches:,}", end="", file=sys.stderr)
        await store.close()
        return np.array(found)


def leaving(share: float) -> object:
    """A wrong shuffler, which leaves a share of the rows in place."""

    def mix(rows: Rows) -> Rows:
        order = np.arange(len(rows))
        moving = np.sort(np.argsort(Keystream().words(len(rows)))[round(share * len(rows)) :])
        order[moving] = moving[np.argsort(Keystream().words(len(moving)))]
        return rows[order]

    return mix


def judge(places: NDArray[np.int64], *, false_alarm: float) -> dict[str, float]:
    """Both statistics, with limits that a uniform law exceeds with chance `false_alarm`.

    Two independent uniform orders agree in one place on average, with variance one; hence mean and
    variance of Pearson's statistic are those of chi-square with (n - 1)^2 degrees of freedom, once
    scaled. The number of rows that stay is nearly Poisson, with one expected per batch.
    """
    batches = len(places)
    counts = np.zeros((PEOPLE, PEOPLE))
    for place in range(PEOPLE):
        counts[place] = np.bincount(places[:, place], minlength=PEOPLE)
    expected = batches / PEOPLE
    return {
        "chi_square": (PEOPLE - 1) / PEOPLE * float(((counts - expected) ** 2 / expected).sum()),
        "chi_square_limit": float(chi2.isf(false_alarm / 2, (PEOPLE - 1) ** 2)),
        "stayed": int((places == np.arange(PEOPLE)).sum()),
        "stayed_limit": int(poisson.isf(false_alarm / 2, batches)),
    }


def main() -> None:
    """Release, compare, print, and fail if the orders are not uniform."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, default=2000)
    parser.add_argument("--leave", type=float, help="Share of rows that a wrong shuffler leaves.")
    parser.add_argument("--false-alarm", type=float, default=1e-9)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--database", default="host=127.0.0.1 user=postgres dbname=test")
    given = parser.parse_args()
    mix = mixed if given.leave is None else leaving(given.leave)
    with (
        tempfile.TemporaryDirectory() as folder,
        fresh_database(given.database) as database,
        patch.object(sealed_batch, "mixed", mix),
    ):
        places = asyncio.run(Shuffler(database, Path(folder)).places(given.batches))
    found = judge(places, false_alarm=given.false_alarm)
    result = {"batches": given.batches, "people": PEOPLE, **found}
    if given.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:18} {value:,.6g}")
    if found["chi_square"] > found["chi_square_limit"] or found["stayed"] > found["stayed_limit"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
