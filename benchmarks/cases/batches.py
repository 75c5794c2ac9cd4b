"""Ordering and counting batches, beside the bare engines and bare HPKE.

As described in `benchmarks/engines.py`, the bare ones drop no repeated rows, use no key, and do not
encrypt data that they spill or send.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.case import Case, Peer, Sides

__all__ = ["CASES"]

MEMORY = 2 << 30
ROW = 128
SIDES = ("ours", "bare")
DUCKDB = Peer("duckdb", "pip install -c constraints.txt '.[duckdb]'")
SPARK = Peer("pyspark", "pip install -c constraints.txt '.[spark]'", programs=("java",))
PROCESSES = Peer("cryptography")


def ordering(engine: str) -> Callable[[int], AbstractContextManager[Sides]]:
    """Put rows of 128 bytes in random order."""

    @contextmanager
    def sides(rows: int) -> Iterator[Sides]:
        engines = import_module("benchmarks.engines")
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            engines.generate(directory, rows=rows, kind="random")

            def seconds(who: str) -> float:
                return float(engines.apart(f"{engine}_order_{who}", directory, MEMORY)["seconds"])

            def difference() -> float:
                """The number of rows of the two files that are not those of the source."""
                scratch = directory / "kept"
                scratch.mkdir()
                for who in SIDES:
                    engines.apart_in(scratch, f"{engine}_order_{who}", directory, MEMORY)
                source = sorted_rows(directory / "random.parquet")
                made = [scratch / "ours.parquet", next(scratch.glob("bare*"))]
                return sum(differing(source, sorted_rows(path)) for path in made)

            yield Sides(
                lambda: seconds("ours"), lambda: seconds("bare"), difference, 0, "rows that differ"
            )

    return sides


def sorted_rows(path: Path) -> NDArray[np.bytes_]:
    """The rows of a file, or of the files of a directory, in the order of their bytes."""
    column = import_module("pyarrow.parquet").read_table(path).column(0)
    return np.sort(np.frombuffer(b"".join(column.to_pylist()), dtype=f"S{ROW}"))


def differing(first: NDArray[np.bytes_], second: NDArray[np.bytes_]) -> int:
    """The number of rows that differ, place by place."""
    if len(first) != len(second):
        return abs(len(first) - len(second))
    return int((first != second).sum())


def opening(engine: str) -> Callable[[int], AbstractContextManager[Sides]]:
    """Open the reports of a released batch; our side also drops repeated ones and counts."""

    @contextmanager
    def sides(rows: int) -> Iterator[Sides]:
        engines = import_module("benchmarks.engines")
        with tempfile.TemporaryDirectory() as name:
            directory = Path(name)
            engines.prepare_opening(directory, rows=rows)

            def found(who: str) -> dict[str, float]:
                return dict(engines.apart(f"{engine}_open_{who}", directory, MEMORY))

            yield Sides(
                lambda: found("ours")["seconds"],
                lambda: found("bare")["seconds"],
                lambda: max(abs(found(who)["rows"] - rows) for who in SIDES),
                0,
                "rows that were not opened",
            )

    return sides


CASES = [
    Case(
        name="duckdb-order",
        question="Put {size} rows of 128 bytes in random order; bare DuckDB's ORDER BY random()",
        peer=DUCKDB,
        sides=ordering("duckdb"),
        size=2_000_000,
        small=2_000,
        rounds=3,
    ),
    Case(
        name="spark-order",
        question="Put {size} rows of 128 bytes in random order; bare Spark's orderBy(rand())",
        peer=SPARK,
        sides=ordering("spark"),
        size=2_000_000,
        small=2_000,
        rounds=3,
    ),
    Case(
        name="duckdb-open",
        question="Open and count {size} reports on all cores; bare HPKE in as many processes",
        peer=PROCESSES,
        sides=opening("duckdb"),
        size=100_000,
        small=500,
        rounds=3,
    ),
    Case(
        name="spark-open",
        question="Open and count {size} reports in Spark; bare HPKE in mapInArrow",
        peer=SPARK,
        sides=opening("spark"),
        size=100_000,
        small=500,
        rounds=3,
    ),
]
