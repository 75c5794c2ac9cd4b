"""Counts that several workers made, as one table."""

from collections.abc import Iterable

import pyarrow as pa

from croupier.engines.base import COUNTS

__all__ = ["summed", "with_rows"]

_FOLD = 1 << 20
"""Rows that may wait to be added up."""


def summed(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """One row for every name and entry, in that order.

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
    """The counts, and what the engine itself counted."""
    own = {"name": ["row", "duplicate"], "entry": [0, 0], "count": [rows, rows - distinct]}
    return summed([*counts.to_batches(), pa.RecordBatch.from_pydict(own, schema=COUNTS)])


def _added(total: pa.Table, batches: list[pa.RecordBatch]) -> pa.Table:
    every = pa.concat_tables([total, pa.Table.from_batches(batches, schema=COUNTS)])
    added = every.group_by(["name", "entry"]).aggregate([("count", "sum")])
    return added.select(["name", "entry", "count_sum"]).rename_columns(COUNTS.names).cast(COUNTS)
