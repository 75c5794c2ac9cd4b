"""The engine of a cluster: Spark moves rows to where they belong, and starts lost tasks again.

What runs in a task is a function of its rows and of secrets in its closure, so that a task that is
run twice gives the same twice. Secrets are neither in a plan nor in an event log: those hold names
of functions. What Spark writes to disk or sends, closures too, is encrypted.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyarrow import parquet
from pyspark import TaskContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from croupier.errors import CroupierError, ParameterError
from croupier.pipeline.batch_file import COLUMN, rows_in, write_pieces
from croupier.pipeline.engines.base import COUNTS, Engine, Ordered, Step
from croupier.pipeline.engines.counts import summed, with_rows
from croupier.pipeline.engines.scratch import scratch_directory
from croupier.pipeline.mixing import ordered
from croupier.pipeline.order_key import Rows, keys_of

__all__ = ["SETTINGS", "Spark", "SparkStartError"]

_PARTITION = 1 << 24
"""Bytes that one task puts in order, and that are read by one: few are lost with an executor."""
_SEEN = "seen by the step"
_TOTALS = ("rows", "distinct", "nulls")
_TICK = 0.5

SETTINGS = {
    "spark.authenticate": "true",
    "spark.io.encryption.enabled": "true",
    "spark.network.crypto.enabled": "true",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "8192",
    "spark.sql.files.maxPartitionBytes": str(_PARTITION),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""What every session is started with."""


class SparkStartError(CroupierError):
    """Spark did not start."""

    def __init__(self, master: str) -> None:
        self.master = master
        super().__init__(
            f"Spark did not start on {master}. Check that Java 17 is installed, that the master "
            "runs, and that its secret is set."
        )


class Spark(Engine):
    """Runs on a cluster, or on the cores of this machine.

    Args:
        master: Where: a URL such as "spark://host:7077", or "local[*]" for this machine.
        memory: How many bytes Spark may use here, and on every executor.
        scratch: For what is written before it has its place. On a cluster, a directory under the
            same path on all machines, like those of the files.
        settings: Further settings of Spark. On a cluster, `spark.authenticate.secret` must be what
            its machines were started with.

    Attributes:
        scratch: The directory of this session; removed with it.
    """

    name: ClassVar[str] = "spark"
    scratch: Path

    def __init__(
        self,
        *,
        master: str = "local[*]",
        memory: int = 1 << 31,
        scratch: Path | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        if SparkSession.getActiveSession() is not None:
            raise ParameterError(
                "master",
                must="be of the only session in this process",
                hint="Stop the other Spark session: what it was started with would apply here.",
            )
        self._held = ExitStack()
        self.scratch = self._held.enter_context(scratch_directory(scratch))
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        chosen = SETTINGS | {
            "spark.driver.memory": f"{memory >> 20}m",
            "spark.executor.memory": f"{memory >> 20}m",
            "spark.local.dir": str(self.scratch / "local"),
            "spark.sql.warehouse.dir": str(self.scratch / "warehouse"),
        }
        if master.startswith("local"):
            chosen |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
        builder = SparkSession.builder.master(master).appName("croupier")
        for key, value in (chosen | dict(settings or {})).items():
            builder = builder.config(key, value)
        try:
            with _no_word_of_pandas():
                self._session = builder.getOrCreate()
        except (PySparkRuntimeError, Py4JJavaError) as error:
            self._held.close()
            raise SparkStartError(master) from error
        self._held.callback(self._session.stop)
        self._session.sparkContext.setLogLevel("ERROR")

    def count(
        self,
        files: Sequence[Path],
        step: Step,
        *,
        column: str = COLUMN,
        advance: Callable[[int], None] = lambda _: None,
    ) -> pa.Table:
        """As `Engine.count` says."""
        rows = sum(parquet.read_metadata(path).num_rows for path in files)
        found = self._collect(self._counts(files, step, column), rows=rows, advance=advance)
        table = pa.Table.from_pylist([row.asDict() for row in found], schema=COUNTS)
        own = pa.compute.equal(table["name"], _SEEN)
        distinct = pa.compute.sum(table.filter(own)["count"]).as_py() or 0
        counts = summed(table.filter(pa.compute.invert(own)).to_batches())
        return with_rows(counts, rows=rows, distinct=distinct)

    def order(  # noqa: PLR0913 - keyword-only facts about one batch
        self,
        files: Sequence[Path],
        target: Path,
        *,
        seed: bytes,
        step: Step | None = None,
        column: str = COLUMN,
        advance: Callable[[int], None] = lambda _: None,
    ) -> Ordered:
        """As `Engine.order` says."""
        if target.exists():
            raise FileExistsError(target)
        rows = sum(parquet.read_metadata(path).num_rows for path in files)
        with scratch_directory(self.scratch) as parts:
            frame = self._parts(files, parts, seed=seed, step=step, column=column)
            found = self._collect(frame, rows=rows, advance=advance)
            total = Ordered(*(sum(row[name] for row in found) for name in _TOTALS))
            found = sorted((row for row in found if row["rows"]), key=lambda row: row["part"])
            if found:
                pieces = (_read(parts / _name(row["part"]), row["length"]) for row in found)
                write_pieces(pieces, target, length=found[0]["length"], column=column)
        return total

    def close(self) -> None:
        """Stop the session and remove the scratch space."""
        self._held.close()

    def _counts(self, files: Sequence[Path], step: Step, column: str) -> DataFrame:
        partitions = self._partitions(files)
        self._session.conf.set("spark.sql.shuffle.partitions", partitions)
        counts = _mapped(self._frame(files, column).distinct(), _seen(step), _spark(COUNTS))
        # Every task adds up before anything is moved.
        return counts.groupBy("name", "entry").agg(sf.sum("count").alias("count"))

    def _parts(
        self,
        files: Sequence[Path],
        folder: Path,
        *,
        seed: bytes,
        step: Step | None,
        column: str,
    ) -> DataFrame:
        """Rows go to the task of their keys' top bits, which puts them in order and writes them."""
        bits = (self._partitions(files) - 1).bit_length()
        place = _place(step, seed=seed, bits=bits, column=column)
        placed = _mapped(self._frame(files, column), place, f"part int, `{column}` binary")
        together = placed.repartitionById(1 << bits, sf.col("part")).select(column)
        write = _write(folder, seed=seed, column=column)
        facts = "part long, rows long, distinct long, nulls long, length long"
        return _mapped(together, write, facts)

    def _frame(self, files: Sequence[Path], column: str) -> DataFrame:
        return self._session.read.parquet(*map(str, files)).select(sf.col(f"`{column}`"))

    def _partitions(self, files: Sequence[Path]) -> int:
        """Enough that each fits in memory, and that every core has several."""
        size = sum(path.stat().st_size for path in files)
        return max(size // _PARTITION, 2 * self._session.sparkContext.defaultParallelism)

    def _collect(self, frame: DataFrame, *, rows: int, advance: Callable[[int], None]) -> list[Any]:
        """The answer; meanwhile progress is told by the tasks that are done."""
        told = 0
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(frame.collect)
            while not wait([answer], _TICK).done:
                done = int(rows * self._share_done())
                advance(max(0, done - told))
                told = max(told, done)
            found: list[Any] = answer.result()
        advance(rows - told)
        return found

    def _share_done(self) -> float:
        """How much of the running stages is done: an estimate, for a progress bar."""
        tracker = self._session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        shares = [stage.numCompletedTasks / stage.numTasks for stage in stages if stage]
        return min(shares, default=0.0)


Batches = Iterator[pa.RecordBatch]


def _mapped(frame: DataFrame, step: Step, schema: str) -> DataFrame:
    with _no_word_of_pandas():
        return frame.mapInArrow(step, schema)


@contextmanager
def _no_word_of_pandas() -> Iterator[None]:
    """Spark looks for pandas where only Arrow is used, and warns of its version 3."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        yield


def _seen(step: Step) -> Step:
    """The step, which also counts the rows that it is given."""

    def count_and_step(batches: Batches) -> Batches:
        seen = 0

        def passing() -> Batches:
            nonlocal seen
            for batch in batches:
                seen += len(batch)
                yield batch

        yield from step(passing())
        own = {"name": [_SEEN], "entry": [0], "count": [seen]}
        yield pa.RecordBatch.from_pydict(own, schema=COUNTS)

    return count_and_step


def _place(step: Step | None, *, seed: bytes, bits: int, column: str) -> Step:
    """What opens the rows and says to which part each belongs; nulls, to be counted, to the first.

    They travel like rows, so that a task that is run again does not count them again.
    """

    def place(batches: Batches) -> Batches:
        for batch in batches if step is None else step(batches):
            found = batch.column(column)
            kept = found.drop_null()
            part = np.zeros(len(found), dtype=np.int32)
            if len(kept):
                part[: len(kept)] = keys_of(rows_in(kept), seed=seed)[:, 0] >> np.uint64(64 - bits)
            nulls = pa.nulls(found.null_count, pa.binary())
            values = pa.concat_arrays([kept.cast(pa.binary()), nulls])
            yield pa.RecordBatch.from_arrays([pa.array(part), values], names=["part", column])

    return place


def _write(folder: Path, *, seed: bytes, column: str) -> Step:
    """What puts a part in order and writes it; two tasks that do the same write the same."""

    def write(batches: Batches) -> Batches:
        columns = [batch.column(column) for batch in batches]
        nulls = sum(found.null_count for found in columns)
        kept = [found.drop_null() for found in columns]
        pieces = [rows_in(found) for found in kept if len(found)]
        task = cast("TaskContext", TaskContext.get())
        part = task.partitionId()
        facts = {"part": part, "rows": 0, "distinct": 0, "nulls": nulls, "length": 0}
        if pieces:
            rows = np.concatenate(pieces)
            distinct = ordered(rows, seed=seed)
            partial = folder / f".{part}-{task.taskAttemptId()}"
            partial.write_bytes(distinct.data)
            partial.replace(folder / _name(part))
            facts |= {"rows": len(rows), "distinct": len(distinct), "length": rows.shape[1]}
        arrays = [pa.array([value], pa.int64()) for value in facts.values()]
        yield pa.RecordBatch.from_arrays(arrays, names=list(facts))

    return write


def _name(part: int) -> str:
    return f"{part}.rows"


def _read(path: Path, length: int) -> Rows:
    return np.fromfile(path, dtype=np.uint8).reshape(-1, length)


def _spark(schema: pa.Schema) -> str:
    names = {pa.utf8(): "string", pa.int64(): "long"}
    return ", ".join(f"{field.name} {names[field.type]}" for field in schema)
