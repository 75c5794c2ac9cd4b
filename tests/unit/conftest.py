"""Released batches without a database, and an engine that is too simple to be wrong."""

import os
from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks.object_store import BUCKET, moto_server
from croupier.analyzer.keys import AnalyzerKeys
from croupier.engines.base import COUNTS, Engine
from croupier.engines.mixing import mixed, rows_of
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import write_batch
from croupier.protocol.query import Query
from croupier.protocol.receipt import FIRST, Counts, Receipt, ReleasedFile
from croupier.protocol.wire import Epoch, asks_by_query, encode_report, question, seal_inner
from tests.unit.parties import (  # noqa: F401 - fixtures of every party's tests
    House,
    make_parties,
    make_shuffler,
    parties,
    shuffler,
)

PASSPHRASE = "a passphrase"  # noqa: S105 - of directories that live for one test
TABLES = {
    "schema": 2,
    "name": "plan",
    "randomizer": {"mechanism": "k-rr", "k": 4, "max_epsilon_local": 2.0},
    "population": {"enrolled": 1_000_000},
    "protections": {"minimum_batch": 50},
    "guarantee": {"delta": 1e-6},
}


class Memory(Engine):
    """Plain Python, one process, everything in memory."""

    name = "memory"

    def count(self, files, step, *, column="inner", beside=None, advance=lambda _: None):
        rows = [row for file in files for row in pq.read_table(file)[column].to_pylist()]
        distinct = dict.fromkeys(rows)
        given = {column: list(distinct)}
        if beside is not None:
            for file in files:
                table = pq.read_table(file)
                for row, number in zip(
                    table[column].to_pylist(), table[beside].to_pylist(), strict=True
                ):
                    distinct[row] = min(number, number if distinct[row] is None else distinct[row])
            given[beside] = list(distinct.values())
        sums = Counter()
        for batch in step(iter([pa.RecordBatch.from_pydict(given)])):
            for counted in batch.to_pylist():
                sums[counted["name"], counted["entry"]] += counted["count"]
        advance(len(rows))
        sums["duplicate", 0] += len(rows) - len(distinct)
        sums["row", 0] += len(rows)
        found = [
            {"name": name, "entry": entry, "count": count}
            for (name, entry), count in sorted(sums.items())
        ]
        return pa.Table.from_pylist(found, schema=COUNTS)

    def order(self, files, target, **settings):
        raise NotImplementedError


class Site:
    """The keys of both parties, and what the shuffler has released."""

    def __init__(self, folder, **tables):
        self.folder = folder
        self.house = House(folder / "keys", PASSPHRASE.encode())
        self.keys = AnalyzerKeys(folder / "keys" / "analyzer", PASSPHRASE.encode())
        self.keys.create()
        self.shuffler = self.house.release.signing_key("release")
        self.analyzer = self.keys.signing_key("analyzer")
        self.inner = self.keys.sealing_key("analyzer").public_key()
        keys = {
            "shufflers": [{"key": self.house.public}],
            "analyzer": {"key": self.analyzer.public_key().public_bytes_raw().hex()},
        }
        given = {name: table for name, table in (TABLES | tables).items() if table is not None}
        self.plan = Plan.from_document(given | keys)
        self.file = folder / "plan.toml"
        self.file.write_text(self.plan.to_toml())
        self.out = folder / "released"
        self.out.mkdir()
        self.listed = self.house.listed(self.plan)
        (self.out / "shuffler-keys.json").write_bytes(self.listed.to_bytes())
        self.last = None
        self.queries = {}

    def epoch(self, round_number=0, asked="a question"):
        """A new batch of a round; where rounds ask by query, the analyzer signs one."""
        digest = b""
        if asks_by_query(self.plan):
            self.queries[round_number] = query = Query.make(
                self.plan, round_number=round_number, question=asked, signing_key=self.analyzer
            )
            digest = query.digest
        batch = os.urandom(16)
        return Epoch.of(
            self.plan,
            round_number=round_number,
            batch=batch,
            analyzer=self.inner.public_bytes_raw(),
            query=digest,
        )

    def sealed(self, reports, epoch):
        """Inner ciphertexts of reports, of None for nulls, and of whatever bytes are given."""
        number, size = epoch.round_number, epoch.report_size
        plain = [
            report.ljust(size, b"\0")
            if isinstance(report, bytes)
            else encode_report(self.plan, report, round_number=number)
            for report in reports
        ]
        return [seal_inner(data, epoch=epoch) for data in plain]

    def answers(self, values, round_number=0, *, epoch=None):
        """What clients with these values report, in a batch if it matters."""
        made = question(self.plan, round_number)
        return list((made if epoch is None else made.in_batches((epoch.name,))).randomize(values))

    def release(self, inner, epoch, *, repeated=0):
        """Publish ciphertexts, mixed, some of them twice, as the next link of the chain."""
        number = 0 if self.last is None else self.last.number + 1
        name = f"2026-03-0{1 + number}-round-{epoch.round_number}"
        rows = mixed(rows_of(inner, length=epoch.inner_length))
        rows = rows[[*range(len(rows)), *range(repeated)]]
        path = self.out / f"{name}.parquet"
        placed = self.plan.shuffling.groups is not None
        write_batch(rows, path, places=np.arange(len(rows)) if placed else None)
        self.receipt(
            path,
            event="released",
            round=epoch.round_number,
            batch=epoch.batch.hex(),
            query=epoch.query.hex(),
            analyzer=epoch.analyzer.hex(),
            counts=Counts(received=len(rows), released=len(rows)),
            file=ReleasedFile.of(path, name=path.name),
        )
        return path

    def receipt(self, path, **entries):
        """Sign the next link, and put it where that of a file is looked for."""
        before = {"number": 0, "previous": FIRST}
        if self.last is not None:
            before = {"number": self.last.number + 1, "previous": self.last.digest}
        draft = Receipt(plan=self.plan.digest, **before, **entries)
        self.last = draft.signed(self.shuffler)
        path.with_suffix(".receipt.json").write_text(self.last.text)

    def collect(self, values, round_number=0, **settings):
        """Reports of honest people, released."""
        epoch = self.epoch(round_number)
        reports = self.answers(values, round_number, epoch=epoch)
        return self.release(self.sealed(reports, epoch), epoch, **settings)


@pytest.fixture
def memory_engine():
    return Memory()


@pytest.fixture
def make_released(tmp_path, monkeypatch):
    """Makes the keys, the plan and the output directory of a collection."""
    monkeypatch.setenv("CROUPIER_PASSPHRASE", PASSPHRASE)
    return lambda folder=tmp_path, **tables: Site(folder, **tables)


@pytest.fixture
def released(make_released):
    return make_released()


@pytest.fixture(scope="session")
def moto():
    """An object store, the same for all tests of a process."""
    with moto_server() as server:
        yield server


@pytest.fixture
def prefix(moto, monkeypatch):
    """The address of an unused prefix, with the variables that open it."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in moto.environment.items():
        monkeypatch.setenv(name, value)
    return f"s3://{BUCKET}/{os.urandom(8).hex()}"
