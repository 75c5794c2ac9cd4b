"""Two shufflers in a row compared with two releases of one shuffler, per report, in one run.

The same number of reports passes a plan with one shuffler, and both hops of a plan with two. All
shufflers add dummies. Envelopes are sealed and stored before the time is taken.

Run: python -m benchmarks.two_shufflers [--reports 1000000] [--json]
"""

import argparse
import asyncio
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psycopg
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

from benchmarks.house import House, two_houses
from benchmarks.intake import PASSPHRASE, SERVER, fresh_database
from croupier.engines.workers import map_pieces
from croupier.plan.plan import Plan
from croupier.protocol.key_list import Onward, ShufflerKey
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.seen_lists import SeenLists
from croupier.protocol.wire import Epoch, encode_report, seal_report
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.database.store import Store
from croupier.shuffler.release.predecessor import Predecessor
from croupier.shuffler.release.release import Releaser
from croupier.shuffler.release.rounds import open_round
from croupier.shuffler.release.second_release import SecondReleaser
from croupier.shuffler.release.storage import DirectoryStorage

_DUMMIES = {"epsilon": 1.0, "delta": 1e-8}
_TABLES: dict[str, Any] = {
    "schema": 2,
    "name": "hops",
    "randomizer": {"mechanism": "plain", "k": 10},
    "population": {"enrolled": 100_000_000},
    "protections": {"minimum_batch": 100},
}
_PIECE = 2000


@dataclass(frozen=True)
class _Sealing:
    """A picklable function that seals a piece of reports, all of one value."""

    epoch: Epoch
    key: bytes
    report: bytes

    def __call__(self, size: int) -> list[bytes]:
        key = X25519PublicKey.from_public_bytes(self.key)
        return [seal_report(self.report, key=key, epoch=self.epoch) for _ in range(size)]


@dataclass(frozen=True)
class _Side:
    """One shuffler, its files and its database."""

    house: House
    database: str
    plan: Plan
    listed: ShufflerKeys

    @property
    def own(self) -> dict[str, Any]:
        release, handover = self.house.release, self.house.handover
        return {"keys": release, "handover": handover, "shuffler": self.listed}

    def open(self, analyzer: bytes, **settings: Any) -> Batch:
        """Open a round."""

        async def opened() -> Batch:
            store = await Store.connect(self.database)
            await store.migrate()
            found = await open_round(
                self.plan, store=store, analyzer=analyzer, **self.own, **settings
            )
            await store.close()
            return found

        return asyncio.run(opened())

    def fill(self, batch: Batch, reports: int) -> None:
        """Store sealed reports, as intake does but in one transaction."""
        opening = ShufflerKey.model_validate_json(batch.opening)
        report = encode_report(self.plan, 0, round_number=0)
        seal = _Sealing(opening.epoch(self.plan), bytes.fromhex(opening.key), report)
        copy = f"COPY croupier.env_{batch.identity.hex()} (envelope) FROM STDIN (FORMAT binary)"
        with (
            psycopg.connect(self.database) as connection,
            connection.cursor().copy(copy.encode()) as rows,
        ):
            rows.set_types(["bytea"])
            for piece in map_pieces(seal, _pieces(reports), processes=os.cpu_count() or 1):
                for envelope in piece:
                    rows.write_row([envelope])

    def release(self, first: Predecessor | None = None) -> float:
        """Release the batch; return the seconds that it took."""
        tomorrow = datetime.now(UTC) + timedelta(days=1)
        out = self.house.folder / "out"
        out.mkdir(exist_ok=True)
        begun = time.monotonic()
        with psycopg.connect(self.database, autocommit=True) as connection:
            job = Releaser if first is None else partial(SecondReleaser, first=first)
            releaser = job(
                plan=self.plan,
                connection=connection,
                storage=DirectoryStorage(out),
                processes=os.cpu_count() or 1,
                now=lambda: tomorrow,
                host_now=lambda: tomorrow,
                **self.own,
            )
            released = [each for each in releaser.run() if each.receipt and each.receipt.file]
        if not released:
            raise SystemExit("nothing was released")
        return time.monotonic() - begun


def _pieces(reports: int) -> Iterator[int]:
    for start in range(0, reports, _PIECE):
        yield min(_PIECE, reports - start)


def _analyzer(house: House) -> bytes:
    return house.analyzer.sealing_key("analyzer").public_key().public_bytes_raw()


def single(reports: int) -> float:
    """Release with one shuffler; return the seconds."""
    with TemporaryDirectory() as name, fresh_database(SERVER) as database:
        house = House.at(Path(name), PASSPHRASE.encode())
        roots = house.create()
        shufflers = [each | {"dummies": _DUMMIES} for each in roots["shufflers"]]  # type: ignore[attr-defined]
        plan = Plan.from_document(_TABLES | roots | {"shufflers": shufflers})
        side = _Side(house, database, plan, house.sign(plan))
        side.fill(side.open(_analyzer(house)), reports)
        return side.release()


def both(reports: int) -> tuple[float, float]:
    """Release with two shufflers; return the seconds of each."""
    with (
        TemporaryDirectory() as name,
        fresh_database(SERVER) as one,
        fresh_database(SERVER) as other,
    ):
        houses = two_houses(Path(name), PASSPHRASE.encode(), _TABLES, dummies=_DUMMIES)
        plan = Plan.load(Path(name) / "plan.toml")
        first, second = (
            _Side(house, database, plan, house.listed(plan))
            for house, database in zip(houses, (one, other), strict=True)
        )
        opened = second.open(_analyzer(houses[0]))
        opening = ShufflerKey.model_validate_json(opened.opening)
        offered = [Onward(keys=second.listed, opening=opening)]
        first.fill(first.open(_analyzer(houses[0]), offered=offered), reports)
        at_first = first.release()
        storage = DirectoryStorage(first.house.folder / "out")
        lists = SeenLists(second.house.release.path)
        return at_first, second.release(Predecessor(plan, storage, lists))


def main() -> None:
    """Measure one after the other, and print the ratio."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.two_shufflers")
    parser.add_argument("--reports", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    before = single(given.reports)
    at_first, at_second = both(given.reports)
    after = single(given.reports)
    alone = (before + after) / 2
    found = {
        "reports": given.reports,
        "single_seconds": round(alone, 2),
        "first_seconds": round(at_first, 2),
        "second_seconds": round(at_second, 2),
        "ratio": round((at_first + at_second) / (2 * alone), 3),
    }
    if given.json:
        print(json.dumps(found))
        return
    for key, value in found.items():
        print(f"{key:16} {value:,}")


if __name__ == "__main__":
    main()
