"""The interface of engines: drop repeated rows, run a step over the rest, count or order.

An engine knows nothing of seals, plans or estimates. The work on a row is a `Step`, a function from
a stream of Arrow batches to another one, and every engine runs it in parallel.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Self

from croupier.errors import MissingExtraError, UnknownNameError
from croupier.protocol.batch_file import COLUMN

try:
    import pyarrow as pa
except ImportError:
    raise MissingExtraError("An engine", package="pyarrow", extra="duckdb") from None

__all__ = ["COUNTS", "ENGINES", "Engine", "OnePiece", "Ordered", "Step", "engine", "summed"]
__all__ += ["with_rows"]

Step = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""Runs over a part of the rows, in another process, perhaps twice: it is picklable, a function of
its input, and keeps nothing. The column arrives as binary or fixed-size binary."""

COUNTS = pa.schema([("name", pa.utf8()), ("entry", pa.int64()), ("count", pa.int64())])
"""The output of a counting step, in any number of batches, and of `Engine.count`."""

_FOLD = 1 << 20
"""Rows of counts that may wait to be added up."""

ENGINES = {"duckdb": "DuckDB", "spark": "Spark"}
"""The engines by name: each is a module beside this one, a class and an extra."""


@dataclass(frozen=True)
class Ordered:
    """The result of ordering.

    Attributes:
        rows: The number of rows that the step left.
        distinct: The number of them that were written: one of each set of equal rows.
        nulls: The number of rows that the step made null. With a step that yields as many rows as
            it gets, `rows` and `nulls` together are the rows of the files, unless some were lost.
    """

    rows: int
    distinct: int
    nulls: int = 0


class Engine(ABC):
    """A runner of steps over Parquet files that may exceed memory. A context manager."""

    name: ClassVar[str]

    @abstractmethod
    def count(
        self,
        files: Sequence[Path],
        step: Step,
        *,
        column: str = COLUMN,
        beside: str | None = None,
        advance: Callable[[int], None] = lambda _: None,
    ) -> pa.Table:
        """Run a step over every distinct row and sum what it counts.

        Args:
            files: Parquet files with one column of fixed-size binary, of the same size in all.
            step: Takes batches of the distinct rows, yields batches of the schema `COUNTS`.
            column: The name of the column.
            beside: The name of a column of whole numbers that the step gets as well. Of equal rows
                the one with the least number stays.
            advance: A function that receives how many more rows are done.

        Returns:
            A table of the schema `COUNTS`, one row per (name, entry), in that order. The engine
            adds ("row", 0, the rows of the files) and ("duplicate", 0, the rows of the files that
            the step did not see, since an equal one was there).
        """

    @abstractmethod
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
        """Write each distinct row once, by rising `order_key.keys_of` under the seed.

        Args:
            files: See `count`.
            target: The file to write, as `batch_file` does; it must not exist. Without a single
                row, no file is written.
            seed: 32 secret bytes, drawn for this batch and destroyed with it.
            step: The work done on the rows first, such as opening them; yields one column of this
                name, with values of one length, or null for rows that are only counted.
            column: The name of the column, in the files and in the target.
            advance: A function that receives how many more rows are done.
        """

    def close(self) -> None:  # noqa: B027 - an engine that holds nothing has nothing to close
        """Release processes, memory and scratch space."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def engine(name: str, **settings: Any) -> Engine:
    """Return an engine by its name.

    Args:
        name: One of `ENGINES`.
        settings: The arguments of that engine's constructor.

    Raises:
        MissingExtraError: Its package is not installed.
    """
    if name not in ENGINES:
        raise UnknownNameError(name, what="an engine", known=ENGINES)
    try:
        module = import_module(f"croupier.engines.{name}")
    except ModuleNotFoundError as error:
        package = str(error.name)
        raise MissingExtraError(f"The engine {name}", package=package, extra=name) from None
    made: Engine = getattr(module, ENGINES[name])(**settings)
    return made


@dataclass(frozen=True, repr=False)
class OnePiece:
    """A runner of a step over some rows, in a process of its own.

    Attributes:
        step: The step.
    """

    step: Step

    def __call__(self, piece: pa.RecordBatch) -> tuple[int, list[pa.RecordBatch]]:
        """Return the number of rows, and the output of the step."""
        return len(piece), list(self.step(iter([piece])))


def summed(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Sum counts into one row per name and entry, in that order.

    >>> one = pa.RecordBatch.from_pydict(
    ...     {"name": ["value", "null"], "entry": [3, 0], "count": [1, 2]}, schema=COUNTS)
    >>> summed([one, one]).to_pydict()
    {'name': ['null', 'value'], 'entry': [0, 3], 'count': [4, 2]}
    """
    total, waiting = COUNTS.empty_table(), []
    for batch in batches:
        waiting.append(batch)
        if sum(map(len, waiting)) > _FOLD:
            total, waiting = _added(total, waiting), []
    return _added(total, waiting).sort_by([("name", "ascending"), ("entry", "ascending")])


def with_rows(counts: pa.Table, *, rows: int, distinct: int) -> pa.Table:
    """Add to the counts what the engine itself counted."""
    own = {"name": ["row", "duplicate"], "entry": [0, 0], "count": [rows, rows - distinct]}
    return summed([*counts.to_batches(), pa.RecordBatch.from_pydict(own, schema=COUNTS)])


def _added(total: pa.Table, batches: list[pa.RecordBatch]) -> pa.Table:
    every = pa.concat_tables([total, pa.Table.from_batches(batches, schema=COUNTS)])
    added = every.group_by(["name", "entry"]).aggregate([("count", "sum")])
    return added.select(["name", "entry", "count_sum"]).rename_columns(COUNTS.names).cast(COUNTS)
