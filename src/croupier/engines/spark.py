"""The engine of a cluster: Spark moves rows to their tasks, and restarts lost tasks.

A task is a function of its rows and of secrets in its closure, so a task that runs twice gives the
same result twice. Secrets are neither in a plan nor in an event log: those hold names of functions.
Everything that Spark writes to disk or sends, including closures, is encrypted.
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

from croupier.engines.base import COUNTS, Engine, Ordered, Step, summed, with_rows
from croupier.engines.mixing import ordered, rows_of
from croupier.engines.order import by_part
from croupier.engines.scratch import scratch_directory
from croupier.errors import CroupierError, DataError, ParameterError
from croupier.protocol.batch_file import COLUMN, Rows, rows_in, write_pieces

__all__ = ["SETTINGS", "Spark", "SparkStartError"]

_OPENED = 1 << 24
"""Bytes of rows per task that runs a step: few are lost with an executor."""
_ORDERED = 1 << 26
"""Bytes that one task sorts. Spark opens a cipher for every task and part: with smaller tasks that
dominates."""
_LEAST_MEMORY = 1 << 30
"""The least memory: Java alone needs 450 MB."""
_ROWS_A_BATCH = 1 << 13
_AT_ONCE = 8
"""Packed rows that are sent together: more take more memory and are not faster."""
_SEEN = "seen by the step"
_TOTALS = ("rows", "distinct", "nulls")
_TICK = 0.5
_PACKED = pa.schema(
    [("part", pa.int64()), ("packed", pa.binary()), ("length", pa.int64()), ("nulls", pa.int64())]
)
"""Rows of one part on their way to it, concatenated, and the length of each."""

SETTINGS = {
    "spark.authenticate": "true",
    "spark.io.encryption.enabled": "true",
    "spark.network.crypto.enabled": "true",
    "spark.shuffle.compress": "false",  # ciphertexts do not compress
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.maxBytesPerBatch": str(1 << 23),
    "spark.sql.execution.arrow.maxRecordsPerBatch": str(_ROWS_A_BATCH),
    "spark.sql.files.maxPartitionBytes": str(_OPENED),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
"""The settings that every session is started with."""


class SparkStartError(CroupierError):
    """Spark did not start."""

    def __init__(self, master: str) -> None:
        self.master = master
        super().__init__(
            f"Spark did not start on {master}. Check that Java 17 is installed, that the master "
            "runs, and that its secret is set."
        )


class Spark(Engine):
    """An engine on a cluster, or on the cores of this machine.

    Args:
        master: A URL such as "spark://host:7077", or "local[*]" for this machine.
        memory: The approximate number of bytes used here, and by every executor: half of them for
            Java, half for Python.
        scratch: The directory for temporary data. On a cluster, a directory under the same path on
            all machines, like those of the files.
        settings: Further settings of Spark. On a cluster, `spark.authenticate.secret` must be the
            one that its machines were started with.

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
        if memory < _LEAST_MEMORY:
            raise ParameterError("memory", must=f"be at least {_LEAST_MEMORY:,} bytes", got=memory)
        if SparkSession.getActiveSession() is not None:
            raise ParameterError(
                "master",
                must="be of the only session in this process",
                hint="Stop the other Spark session: its settings would apply here.",
            )
        self._held = ExitStack()
        self.scratch = self._held.enter_context(scratch_directory(scratch))
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        heap = f"{memory >> 21}m"
        chosen = SETTINGS | {
            "spark.driver.memory": heap,
            "spark.executor.memory": heap,
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
        beside: str | None = None,
        advance: Callable[[int], None] = lambda _: None,
    ) -> pa.Table:
        """Count as described in `Engine.count`."""
        rows = sum(parquet.read_metadata(path).num_rows for path in files)
        found = self._collect(self._counts(files, step, column, beside), rows=rows, advance=advance)
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
        """Order as described in `Engine.order`."""
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

    def _counts(
        self, files: Sequence[Path], step: Step, column: str, beside: str | None
    ) -> DataFrame:
        partitions = self._partitions(files, _OPENED)
        self._session.conf.set("spark.sql.shuffle.partitions", partitions)
        counts = _mapped(self._distinct(files, column, beside), _seen(step), _spark(COUNTS))
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
        """Send rows to the task of their keys' top bits, which sorts and writes them."""
        bits = (self._partitions(files, _ORDERED) - 1).bit_length()
        tasks = list(_tasks(files, _ORDERED if step is None else _OPENED))
        place = _place(tasks, step, seed=seed, bits=bits, column=column)
        numbers = self._session.range(0, len(tasks), 1, len(tasks))
        placed = _mapped(numbers, place, _spark(_PACKED))
        together = placed.repartitionById(1 << bits, sf.col("part").cast("int"))
        facts = "part long, rows long, distinct long, nulls long, length long"
        return _mapped(together, _write(folder, seed=seed), facts)

    def _distinct(self, files: Sequence[Path], column: str, beside: str | None) -> DataFrame:
        frame, own = self._session.read.parquet(*map(str, files)), sf.col(f"`{column}`")
        if beside is None:
            return frame.select(own).distinct()
        return frame.groupBy(own).agg(sf.min(f"`{beside}`").alias(beside))

    def _partitions(self, files: Sequence[Path], most: int) -> int:
        """Return enough partitions that each has so many bytes, and every core has several."""
        size = sum(path.stat().st_size for path in files)
        return max(size // most, 2 * self._session.sparkContext.defaultParallelism)

    def _collect(self, frame: DataFrame, *, rows: int, advance: Callable[[int], None]) -> list[Any]:
        """Return the result, and report progress by finished tasks meanwhile."""
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
        """Estimate the finished share of the running stages, for a progress bar."""
        tracker = self._session.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
        shares = [stage.numCompletedTasks / stage.numTasks for stage in stages if stage]
        return min(shares, default=0.0)


Batches = Iterator[pa.RecordBatch]
Reading = tuple[str, int, int]
"""A file, and its first row group and the one after the last that a task reads."""


def _mapped(frame: DataFrame, step: Step, schema: str) -> DataFrame:
    with _no_word_of_pandas():
        return frame.mapInArrow(step, schema)


@contextmanager
def _no_word_of_pandas() -> Iterator[None]:
    """Silence Spark's warning about pandas 3, since only Arrow is used."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas")
        yield


def _seen(step: Step) -> Step:
    """Wrap a step so that it also counts the rows that it gets."""

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


def _place(
    tasks: Sequence[Reading], step: Step | None, *, seed: bytes, bits: int, column: str
) -> Step:
    """Return the step that opens rows and packs those of a part, with the number of nulls.

    Spark moves packed rows at a fraction of the cost of single ones. Nulls are counted where they
    arrive, so a task that is run again does not count them again.
    """

    def place(batches: Batches) -> Batches:
        numbers = [number for batch in batches for number in batch.column(0).to_pylist()]
        read = _read_groups([tasks[number] for number in numbers], column)
        for rows, nulls in _gathered(read if step is None else step(read), column):
            yield _packed([(0, b"", 0, nulls)])
            parts = by_part(rows, seed=seed, bits=bits)
            for start in range(0, len(parts), _AT_ONCE):
                some = enumerate(parts[start : start + _AT_ONCE], start)
                yield _packed([(part, row.tobytes(), row.shape[1], 0) for part, row in some])

    return place


def _packed(rows: list[tuple[int, bytes, int, int]]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(list(zip(*rows, strict=True)), schema=_PACKED)


def _tasks(files: Sequence[Path], most: int) -> Iterator[Reading]:
    """Yield the input of each task: so many bytes, about."""
    for path in files:
        about = parquet.read_metadata(path)
        first, size = 0, 0
        for group in range(about.num_row_groups):
            size += about.row_group(group).total_byte_size
            if size >= most or group == about.num_row_groups - 1:
                yield str(path), first, group + 1
                first, size = group + 1, 0


def _read_groups(tasks: Sequence[Reading], column: str) -> Batches:
    """Yield the rows of a task. Python reads them itself: Spark would copy them twice."""
    for path, first, end in tasks:
        with parquet.ParquetFile(path) as file:
            for group in range(first, end):
                rows = file.read_row_group(group, columns=[column], use_threads=False)
                yield from rows.to_batches(_ROWS_A_BATCH)


def _gathered(batches: Batches, column: str) -> Iterator[tuple[Rows, int]]:
    """Yield the rows of a task together, or as many as one may order, and the number of nulls."""
    held: list[Rows] = []
    size = nulls = 0
    for batch in batches:
        found = batch.column(column)
        nulls += found.null_count
        if len(kept := found.drop_null()):
            held.append(rows_in(kept))
            size += held[-1].nbytes
        if size >= _ORDERED:
            rows, held, size = np.concatenate(held), [], 0
            yield rows, nulls
            nulls = 0
    if held or nulls:
        rows, held = np.concatenate(held or [np.empty((0, 0), dtype=np.uint8)]), []
        yield rows, nulls


def _write(folder: Path, *, seed: bytes) -> Step:
    """Return the step that sorts a part and writes it; two such tasks write the same."""

    def write(batches: Batches) -> Batches:
        packed = [row for batch in batches for row in batch.to_pylist()]
        task = cast("TaskContext", TaskContext.get())
        part, nulls = task.partitionId(), sum(row["nulls"] for row in packed)
        facts = {"part": part, "rows": 0, "distinct": 0, "nulls": nulls, "length": 0}
        lengths = {row["length"] for row in packed} - {0}
        if len(lengths) > 1:
            raise DataError(len(packed), "rows have several lengths", hint="Refuse the batch.")
        if lengths:
            rows = rows_of((row["packed"] for row in packed), length=lengths.pop())
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
    names = {pa.utf8(): "string", pa.int64(): "long", pa.binary(): "binary"}
    return ", ".join(f"{field.name} {names[field.type]}" for field in schema)
