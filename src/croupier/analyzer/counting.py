"""Sums from sealed reports: the analyzer's step over every row, wherever an engine runs it.

No report leaves the step: it opens and decodes a block, adds it to the sums that an estimate needs,
and forgets it.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from croupier.analyzer.keys import KeySource
from croupier.engines.base import COUNTS
from croupier.errors import SealError
from croupier.plan.plan import Plan
from croupier.protocol.unsealing import opener
from croupier.protocol.wire import Decoded, Epoch, Seal, decode_reports, question

__all__ = ["CountReports", "ReportCounts"]

_ANSWER, _NULL, _TALLY = "answer", "null", "tally"
_CANNOT_OPEN, _DUPLICATE, _ROW = "cannot_open", "duplicate", "row"
_MALFORMED = "malformed."
_OPENED_AT_ONCE = 1 << 12
"""The number of opened rows in memory at a time."""


@dataclass(frozen=True)
class CountReports:
    """The step over one batch: open seals, decode reports strictly, sum supports.

    Attributes:
        plan: The plan of the collection.
        epoch: The epoch that seals must be bound to. A ciphertext of another batch does not open,
            so none counts twice however often it was released.
        key: The place of the analyzer's keys.
    """

    plan: Plan
    epoch: Epoch
    key: KeySource

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the sums over all rows of the first column, in one batch of the schema `COUNTS`."""
        number = self.epoch.round_number
        randomizer = question(self.plan, number)
        tally = np.zeros(randomizer.tally_size, dtype=np.int64)
        key = self.key.load(self.epoch.analyzer)
        counts, open_one = Counter[str](), opener(Seal.INNER, key=key, epoch=self.epoch)
        for batch in batches:
            for start in range(0, batch.num_rows, _OPENED_AT_ONCE):
                sealed = batch.column(0).slice(start, _OPENED_AT_ONCE).to_pylist()
                rows = self._rows(sealed, open_one)
                decoded = decode_reports(self.plan, rows, round_number=number)
                counts[_CANNOT_OPEN] += len(sealed) - len(rows)
                counts += _counted(decoded)
                tally += randomizer.tally(decoded.reports)
        yield _as_batch(counts, tally)

    def _rows(
        self, sealed: list[bytes | None], open_one: Callable[[bytes], bytes]
    ) -> NDArray[np.uint8]:
        opened = []
        for inner in sealed:
            try:
                opened.append(open_one(inner or b""))
            except SealError:
                continue
        return np.frombuffer(b"".join(opened), dtype=np.uint8).reshape(
            len(opened), self.epoch.report_size
        )


def _counted(decoded: Decoded) -> Counter[str]:
    found = Counter({_ANSWER: len(decoded.reports), _NULL: decoded.nulls})
    return found + Counter({_MALFORMED + why: count for why, count in decoded.malformed.items()})


def _as_batch(counts: Counter[str], tally: NDArray[np.int64]) -> pa.RecordBatch:
    named = {name: count for name, count in counts.items() if count}
    entries = np.flatnonzero(tally)
    columns = [
        pa.array([*named, *[_TALLY] * len(entries)], pa.utf8()),
        pa.array(np.append(np.zeros(len(named), dtype=np.int64), entries), pa.int64()),
        pa.array(np.append(np.array([*named.values()], dtype=np.int64), tally[entries])),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=COUNTS)


@dataclass(frozen=True, eq=False)
class ReportCounts:
    """The sums over the rows of one batch.

        rows = answers + nulls + duplicate + cannot_open + the sum of malformed

    Attributes:
        rows: The number of rows in the file.
        duplicate: Rows equal to another row of the file.
        cannot_open: Altered, or sealed for another key, plan, batch or round.
        malformed: Opened, but not a report of the plan, by reason.
        nulls: Reports without an answer.
        answers: Reports with one.
        tally: The answers, as the randomizer of the round sums them.
    """

    rows: int
    duplicate: int
    cannot_open: int
    malformed: Mapping[str, int]
    nulls: int
    answers: int
    tally: NDArray[np.int64]

    @classmethod
    def of(cls, table: pa.Table, *, plan: Plan, round_number: int) -> "ReportCounts":
        """Read the counts from the result of `Engine.count`."""
        randomizer = question(plan, round_number)
        tally = np.zeros(randomizer.tally_size, dtype=np.int64)
        is_tally = pc.equal(table["name"], _TALLY)
        entries = table.filter(is_tally)
        tally[entries["entry"].to_numpy()] = entries["count"].to_numpy()
        rest = table.filter(pc.invert(is_tally)).to_pylist()
        named = Counter({row["name"]: row["count"] for row in rest})
        return cls(
            rows=named[_ROW],
            duplicate=named[_DUPLICATE],
            cannot_open=named[_CANNOT_OPEN],
            malformed={
                name.removeprefix(_MALFORMED): count
                for name, count in sorted(named.items())
                if name.startswith(_MALFORMED)
            },
            nulls=named[_NULL],
            answers=named[_ANSWER],
            tally=tally,
        )

    @property
    def opened(self) -> int:
        """The number of distinct rows that opened, whatever their content."""
        return self.answers + self.nulls + sum(self.malformed.values())
