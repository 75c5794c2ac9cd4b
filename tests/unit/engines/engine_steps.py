"""Steps that other processes can import."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from croupier.engines.base import COUNTS
from croupier.protocol.batch_file import COLUMN, array_of, rows_in


def last_byte(batches):
    """How often each value of the last byte occurs."""
    for batch in batches:
        counts = np.bincount(rows_in(batch.column(0))[:, -1], minlength=256)
        names, entries = ["value"] * 256, np.arange(256)
        yield pa.RecordBatch.from_arrays([pa.array(names), entries, counts], schema=COUNTS)


def nothing(batches):
    """Counts nothing at all."""
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"name": [], "entry": [], "count": []}, schema=COUNTS)


@dataclass(frozen=True)
class Shorten:
    """Leaves the first bytes of a row, and of some rows nothing."""

    length: int
    column: str = COLUMN

    def __call__(self, batches):
        for batch in batches:
            rows = rows_in(batch.column(self.column))
            left = rows[rows[:, 0] != 0, : self.length]
            yield pa.RecordBatch.from_arrays([array_of(left)], names=[self.column])


def failing(batches):
    """Breaks in the middle."""
    yield next(batches)
    raise RuntimeError("the step broke")
