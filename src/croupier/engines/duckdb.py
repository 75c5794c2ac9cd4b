"""The engine of one machine: DuckDB finds the distinct rows, processes run the steps."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar

import duckdb
import pyarrow as pa
from pyarrow import parquet

from croupier.engines.base import Engine, OnePiece, Ordered, Step, summed, with_rows
from croupier.engines.buckets import Buckets
from croupier.engines.scratch import scratch_directory
from croupier.engines.workers import in_order, map_pieces
from croupier.errors import ParameterError, UnreadableFileError
from croupier.protocol.batch_file import COLUMN, ROWS_A_GROUP, Rows, array_of, rows_in, write_pieces

__all__ = ["DuckDB"]

_GIGABYTE = 1 << 30
_OVERHEAD = 1 << 28
"""The memory of Python and its packages, in bytes."""
_ROWS_A_PIECE = 1 << 12
"""Rows that a process gets at a time: half a second of opening."""


class DuckDB(Engine):
    """An engine on the cores and in the memory of one machine; the rest goes to scratch space.

    Data that DuckDB spills in `count` comes from the files that it reads, which are public. `order`
    spills by itself, encrypted: see `Buckets`.

    Args:
        memory: The number of bytes this process may use, half a gigabyte or more. Each of the
            processes that run steps takes about a tenth of one in addition.
        processes: The number of processes that run steps; one per core by default.
        scratch: The directory for data that does not fit in memory.
    """

    name: ClassVar[str] = "duckdb"

    def __init__(
        self,
        *,
        memory: int = 4 * _GIGABYTE,
        processes: int | None = None,
        scratch: Path | None = None,
    ) -> None:
        if memory < 2 * _OVERHEAD:
            raise ParameterError("memory", must=f"be at least {2 * _OVERHEAD:,} bytes", got=memory)
        self._memory = memory - _OVERHEAD
        self._processes = processes or os.cpu_count() or 1
        self._held = ExitStack()
        self._scratch = self._held.enter_context(scratch_directory(scratch))

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
        rows = _number_of_rows(files)
        distinct = 0

        def seen(pieces: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            nonlocal distinct
            for piece in pieces:
                distinct += len(piece)
                yield piece

        with closing(self._connect()) as connection, _reading(files):
            found = connection.read_parquet([str(path) for path in files])
            least = "" if beside is None else f', min("{beside}") AS "{beside}"'
            unique = found.aggregate(f'"{column}"{least}', f'"{column}"')
            reader = unique.to_arrow_reader(_ROWS_A_PIECE)
            pieces = seen(_pieces(reader, column, beside))
            counts = summed(self._run(step, pieces, advance))
        advance(rows - distinct)
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
        size = sum(path.stat().st_size for path in files)
        buckets = Buckets(self._scratch, seed=seed, size=size, memory=self._memory)
        nulls = 0
        with closing(buckets):
            if step is None:
                for rows in _read(files, column, ROWS_A_GROUP):
                    buckets.add(rows)
                    advance(len(rows))
            else:
                read = _read(files, column, _ROWS_A_PIECE)
                pieces = (_piece({column: array_of(rows)}) for rows in read)
                for batch in self._run(step, pieces, advance):
                    found = batch.column(column)
                    nulls += found.null_count
                    buckets.add(rows_in(found.drop_null()))
            if buckets.length is None:
                return Ordered(0, 0, nulls)
            distinct = 0

            def counted() -> Iterator[Rows]:
                nonlocal distinct
                for rows in buckets.ordered():
                    distinct += len(rows)
                    yield rows

            write_pieces(counted(), target, length=buckets.length, column=column)
            return Ordered(buckets.rows, distinct, nulls)

    def close(self) -> None:
        """Remove the scratch space."""
        self._held.close()

    def _run(
        self,
        step: Step,
        pieces: Iterable[pa.RecordBatch],
        advance: Callable[[int], None],
    ) -> Iterator[pa.RecordBatch]:
        """Run the step over pieces, in several processes."""
        for length, batches in map_pieces(OnePiece(step), pieces, processes=self._processes):
            yield from batches
            advance(length)

    def _connect(self) -> duckdb.DuckDBPyConnection:
        connection = duckdb.connect(
            config={
                "memory_limit": f"{self._memory}B",
                "temp_directory": str(self._scratch / "duckdb"),
                "threads": self._processes,
                "preserve_insertion_order": False,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        # It would be drawn on the standard output, among the results.
        return connection.execute("SET enable_progress_bar = false")


@contextmanager
def _reading(files: Sequence[Path]) -> Iterator[None]:
    """Name the files in the error about a page that DuckDB cannot read."""
    try:
        yield
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error:
        raise UnreadableFileError(" or ".join(path.name for path in files)) from None


def _number_of_rows(files: Sequence[Path]) -> int:
    return sum(parquet.read_metadata(path).num_rows for path in files)


def _read(files: Sequence[Path], column: str, size: int) -> Iterator[Rows]:
    """Yield the rows in pieces; the next row group is read meanwhile."""
    for path in files:
        with (
            parquet.ParquetFile(path, pre_buffer=False) as file,
            ThreadPoolExecutor(1) as pool,
        ):
            read = partial(file.read_row_group, columns=[column], use_threads=False)
            for table in in_order(pool, read, range(file.num_row_groups), workers=1):
                for batch in table.to_batches(size):
                    yield rows_in(batch.column(column))


def _pieces(
    reader: Iterable[pa.RecordBatch], column: str, beside: str | None
) -> Iterator[pa.RecordBatch]:
    """Yield the columns in pieces that hold only their own rows, since they are sent."""
    for batch in reader:
        for start in range(0, len(batch), _ROWS_A_PIECE):
            own = batch.slice(start, _ROWS_A_PIECE)
            columns = {column: array_of(rows_in(own.column(column)))}
            if beside is not None:
                columns[beside] = pa.array(own.column(beside).to_numpy().copy())
            yield _piece(columns)


def _piece(columns: dict[str, pa.Array]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([*columns.values()], names=[*columns])
