"""The engines compared with the bare libraries, in one run.

Order: rows of 128 random bytes. Bare is a sort by a random column, without a key, without dropping
repeated rows, and without encrypting data that is spilled or sent. Open: rows of a released batch.
Bare only calls HPKE's open for every row: in Spark inside mapInArrow, in DuckDB mode in as many
processes. On both sides, starting a session is not counted, but starting processes is. Every
measurement runs in a separate process, and bare and ours take turns.

Run: python -m benchmarks.engines [--json] [--rows 2e7] [--open-rows 4e5] [--rounds 3]
     [--memory 2e9] [--only duckdb_order ...] [--directory DIRECTORY]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from pyarrow import parquet

from benchmarks.generate import PASSPHRASE, generate
from croupier.analyzer.keys import AnalyzerKeys
from croupier.engines.base import COUNTS, engine
from croupier.engines.workers import map_pieces
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import COLUMN
from croupier.protocol.unsealing import opener
from croupier.protocol.wire import Epoch, Seal

ROOT = Path(__file__).parents[1]
CORES = os.cpu_count() or 1
BATCH = 8192
COUNTED = pa.schema([("count", pa.int64())])
SUMMARIES = {"seconds": median, "cpu": median, "memory": max}
TARGETS = {
    "duckdb_order_ratio": "at most 1.5",
    "spark_order_ratio": "at most 1.3",
    "spark_open_ratio": "at most 1.25",
    "duckdb_open_ratio": "at least 0.85",
}


@dataclass(frozen=True)
class OpenAndCount:
    """The typical work of an engine: open reports and count their first bytes after the head."""

    key: bytes
    epoch: Epoch

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return one table of counts per batch."""
        key = X25519PrivateKey.from_private_bytes(self.key)
        plaintext = opener(Seal.INNER, key=key, epoch=self.epoch)
        for batch in batches:
            opened = b"".join(map(plaintext, batch.column(0).to_pylist()))
            reports = np.frombuffer(opened, dtype=np.uint8).reshape(-1, self.epoch.report_size)
            counts = np.bincount(reports[:, 2], minlength=256)
            names = pa.array(["value"] * 256)
            yield pa.RecordBatch.from_arrays(
                [names, pa.array(np.arange(256)), pa.array(counts)], schema=COUNTS
            )


@dataclass(frozen=True)
class OnlyOpen:
    """The bare work: call HPKE's open and drop the result."""

    key: bytes
    info: bytes

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Return the number of rows."""
        # Imported inside, since Spark serialises globals, and these names cannot be serialised.
        from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite  # noqa: PLC0415

        key = X25519PrivateKey.from_private_bytes(self.key)
        suite = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
        for batch in batches:
            for row in batch.column(0).to_pylist():
                suite.decrypt(row, key, self.info)
            yield pa.RecordBatch.from_pydict({"count": [len(batch)]}, schema=COUNTED)


@dataclass(frozen=True)
class OnlyOpenPiece:
    """The same in a separate process, over rows that it reads itself."""

    step: OnlyOpen
    path: str

    def __call__(self, place: tuple[int, int]) -> int:
        """Open some rows of a group; return their number."""
        group, start = place
        with parquet.ParquetFile(self.path) as file:
            rows = file.read_row_group(group).slice(start, BATCH)
        counts = self.step(iter(rows.to_batches()))
        return sum(count["count"] for batch in counts for count in batch.to_pylist())


@dataclass(frozen=True)
class Used:
    """The resources that this process and its descendants use.

    Attributes:
        cpu: Processor seconds, with those of children that have ended.
        memory: Bytes in memory; shared memory is divided among its processes.
    """

    cpu: float
    memory: float

    @classmethod
    def now(cls) -> "Used":
        """Read the current use from /proc."""
        ticks, parents = {}, {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                fields = path.read_text().rpartition(")")[2].split()
                number = int(path.parent.name)
                parents[number], ticks[number] = int(fields[1]), sum(map(int, fields[11:15]))
        family = found = {os.getpid()}
        while found:
            found = {child for child, parent in parents.items() if parent in family} - family
            family = family | found
        cpu = sum(ticks.get(member, 0) for member in family) / os.sysconf("SC_CLK_TCK")
        return cls(cpu, float(sum(map(resident, family))))


def resident(number: int) -> int:
    """The bytes of a process in memory, with its share of shared memory; 0 if it has ended."""
    try:
        text = Path(f"/proc/{number}/smaps_rollup").read_text()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in text.splitlines() if line[:4] == "Pss:")


def measured(work: Callable[[], Any]) -> dict[str, float]:
    """Measure seconds, processor seconds and peak memory of this process and its descendants."""
    before, start, stop = Used.now(), time.monotonic(), threading.Event()
    seen = [before]

    def watch() -> None:
        while not stop.wait(0.25):
            seen.append(Used.now())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        seconds, after = time.monotonic() - start, Used.now()
        stop.set()
        watcher.join()
    memory = max(used.memory for used in seen)
    return {"seconds": seconds, "cpu": after.cpu - before.cpu, "memory": memory}


def counting(work: Callable[[], int]) -> dict[str, float]:
    """Measure work that returns the number of its rows."""
    rows: list[int] = []
    return measured(lambda: rows.append(work())) | {"rows": rows[0]}


def secrets_of(directory: Path) -> tuple[bytes, Epoch]:
    """The key and the epoch of a batch that `generate` made."""
    plan = Plan.from_toml((directory / "plan.toml").read_text())
    batch = bytes.fromhex(json.loads((directory / "truth.json").read_text())["batch"])
    key = AnalyzerKeys(directory / "keys" / "analyzer", PASSPHRASE).sealing_key("analyzer")
    analyzer = key.public_key().public_bytes_raw()
    return key.private_bytes_raw(), Epoch.of(plan, round_number=0, batch=batch, analyzer=analyzer)


def only_open(directory: Path) -> OnlyOpen:
    """The bare step for a batch."""
    key, epoch = secrets_of(directory)
    public = X25519PrivateKey.from_private_bytes(key).public_key()
    return OnlyOpen(key, epoch.info(Seal.INNER, public))


def duckdb_order_bare(directory: Path, memory: int, scratch: Path) -> dict[str, float]:
    """Sort by a random column in DuckDB."""
    import duckdb  # noqa: PLC0415 - not needed by all measurements

    settings = {"memory_limit": f"{memory}B", "temp_directory": str(scratch / "spill")}
    with duckdb.connect(config=settings) as connection:
        source, target = directory / "random.parquet", scratch / "bare.parquet"
        query = (
            f"COPY (SELECT file.{COLUMN} FROM read_parquet('{source}') file ORDER BY random()) "  # noqa: S608
            f"TO '{target}' (FORMAT parquet, COMPRESSION uncompressed)"
        )
        return measured(lambda: connection.execute(query))


def duckdb_order_ours(directory: Path, memory: int, scratch: Path) -> dict[str, float]:
    """Our order on one machine."""
    with engine("duckdb", memory=memory, scratch=scratch) as made:
        source, target = directory / "random.parquet", scratch / "ours.parquet"
        return measured(lambda: made.order([source], target, seed=os.urandom(32)))


def bare_session(memory: int, scratch: Path) -> Any:
    """A Spark session with default settings."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", f"{memory >> 20}m")
    builder = builder.config("spark.local.dir", str(scratch))
    session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def spark_order_bare(directory: Path, memory: int, scratch: Path) -> dict[str, float]:
    """Sort by a random column in Spark."""
    from pyspark.sql.functions import rand  # noqa: PLC0415

    session = bare_session(memory, scratch)
    frame = session.read.parquet(str(directory / "random.parquet"))
    frame.limit(1000).orderBy(rand()).count()
    ordered = frame.orderBy(rand()).write.option("compression", "none")
    return measured(lambda: ordered.parquet(str(scratch / "bare")))


def spark_order_ours(directory: Path, memory: int, scratch: Path) -> dict[str, float]:
    """Our order in Spark."""
    with engine("spark", memory=memory, scratch=scratch) as made:
        warm_up(made, scratch)
        source, target = directory / "random.parquet", scratch / "ours.parquet"
        return measured(lambda: made.order([source], target, seed=os.urandom(32)))


def warm_up(made: Any, scratch: Path) -> None:
    """Let a session load its classes."""
    generate(scratch / "small", rows=1000, kind="random")
    source = scratch / "small" / "random.parquet"
    made.order([source], scratch / "small.parquet", seed=bytes(32))


def spark_open_bare(directory: Path, memory: int, scratch: Path) -> dict[str, float]:
    """Open every row in Spark's mapInArrow."""
    import warnings  # noqa: PLC0415

    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
    session = bare_session(memory, scratch)
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", BATCH)
    source, step = str(directory / "batch.parquet"), only_open(directory)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from step(batches)

    frame = session.read.parquet(source).mapInArrow(run, "count long")
    session.read.parquet(source).limit(100).mapInArrow(run, "count long").collect()
    return counting(lambda: sum(row["count"] for row in frame.collect()))


def spark_open_ours(directory: Path, memory: int, scratch: Path) -> dict[str, float]:
    """Our distinct, open and count in Spark."""
    with engine("spark", memory=memory, scratch=scratch) as made:
        warm_up(made, scratch)
        return counted(made, directory)


def duckdb_open_bare(directory: Path, memory: int, scratch: Path) -> dict[str, float]:  # noqa: ARG001
    """Open every row in as many processes as there are cores."""
    source = directory / "batch.parquet"
    about = parquet.read_metadata(source)
    tasks = [
        (group, start)
        for group in range(about.num_row_groups)
        for start in range(0, about.row_group(group).num_rows, BATCH)
    ]
    work = OnlyOpenPiece(only_open(directory), str(source))
    return counting(lambda: sum(map_pieces(work, tasks, processes=CORES)))


def duckdb_open_ours(directory: Path, memory: int, scratch: Path) -> dict[str, float]:
    """Our distinct, open and count on one machine."""
    with engine("duckdb", memory=memory, scratch=scratch) as made:
        return counted(made, directory)


def counted(made: Any, directory: Path) -> dict[str, float]:
    """Count a batch that `generate` made without malformed rows, and check the sum."""
    key, epoch = secrets_of(directory)

    def run() -> int:
        table = made.count([directory / "batch.parquet"], OpenAndCount(key, epoch))
        counts: Counter[str] = Counter()
        for row in table.to_pylist():
            counts[row["name"]] += row["count"]
        if counts["value"] + counts["duplicate"] != counts["row"]:
            msg = f"the counts do not add up: {counts}"
            raise SystemExit(msg)
        return counts["row"]

    return counting(run)


MEASUREMENTS = {
    work.__name__: work
    for work in (
        duckdb_order_bare,
        duckdb_order_ours,
        spark_order_bare,
        spark_order_ours,
        duckdb_open_bare,
        duckdb_open_ours,
        spark_open_bare,
        spark_open_ours,
    )
}


def apart(name: str, directory: Path, memory: int) -> dict[str, float]:
    """Run a measurement in a separate process."""
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        return apart_in(Path(scratch), name, directory, memory)


def apart_in(scratch: Path, name: str, directory: Path, memory: int) -> dict[str, float]:
    """Run it in a separate process, and keep its output in a directory."""
    arguments = ["--measure", name, "--directory", str(directory), "--memory", str(memory)]
    arguments += ["--scratch", str(scratch)]
    command = [sys.executable, "-m", "benchmarks.engines", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)  # noqa: S603 - ourselves
    if done.returncode:
        raise SystemExit(done.stderr)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def prepare(directory: Path, *, rows: int, open_rows: int) -> None:
    """The two batches."""
    if not (directory / "random.parquet").exists():
        generate(directory, rows=rows, kind="random")
    if not (directory / "truth.json").exists():
        prepare_opening(directory, rows=open_rows)


def prepare_opening(directory: Path, *, rows: int) -> None:
    """A released batch and its true counts."""
    truth = generate(directory, rows=rows, kind="inner", duplicate=0.03, processes=CORES)
    (directory / "truth.json").write_text(json.dumps(truth))


def compare(directory: Path, *, only: list[str], rounds: int, memory: int) -> dict[str, float]:
    """Compute every ratio, with the measurements behind it."""
    result: dict[str, float] = {}
    for name in only:
        what = "cpu" if name == "spark_open" else "seconds"
        turns = [
            {who: apart(f"{name}_{who}", directory, memory) for who in ("bare", "ours")}
            for _ in range(rounds)
        ]
        inverse = name == "duckdb_open"
        ratios = [turn["ours"][what] / turn["bare"][what] for turn in turns]
        result[f"{name}_ratio"] = median(1 / ratio if inverse else ratio for ratio in ratios)
        for who in ("bare", "ours"):
            for unit, summary in SUMMARIES.items():
                result[f"{name}_{who}_{unit}"] = summary(turn[who][unit] for turn in turns)
    return result


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=20_000_000)
    parser.add_argument("--open-rows", type=lambda text: int(float(text)), default=400_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", type=lambda text: int(float(text)), default=2 << 30)
    names = [name.removesuffix("_ratio") for name in TARGETS]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--directory", type=Path, help="keeps the batches for another run")
    parser.add_argument("--measure", choices=MEASUREMENTS, help=argparse.SUPPRESS)
    parser.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(MEASUREMENTS[given.measure](given.directory, given.memory, given.scratch)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        directory = given.directory or Path(temporary)
        prepare(directory, rows=given.rows, open_rows=given.open_rows)
        result = compare(directory, only=given.only, rounds=given.rounds, memory=given.memory)
    if given.json:
        print(json.dumps({"rows": given.rows, "open_rows": given.open_rows, **result}))
        return
    for name, value in result.items():
        print(f"{name:28} {value:12.3f}  {TARGETS.get(name, '')}")


if __name__ == "__main__":
    main()
