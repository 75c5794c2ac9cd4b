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
from croupier.analyzer.parts import PartCounts, add_part
from croupier.engines.base import COUNTS
from croupier.errors import SealError
from croupier.plan.plan import Plan
from croupier.protocol.unsealing import opener
from croupier.protocol.wire import Decoded, Epoch, Seal, decode_reports, question

__all__ = ["CountReports", "ReportCounts"]

_ANSWER, _NULL, _TALLY, _TRAIT = "answer", "null", "tally", "trait"
_PART = "part"
_CANNOT_OPEN, _DUPLICATE, _ROW = "cannot_open", "duplicate", "row"
_MALFORMED = "malformed."
_OPENED_AT_ONCE = 1 << 12
"""The number of opened rows in memory at a time."""


@dataclass(frozen=True)
class CountReports:
    """The step over one batch: open seals, decode reports strictly, sum supports and traits.

    Attributes:
        plan: The plan of the collection.
        epoch: The epoch that seals must be bound to. A ciphertext of another batch does not open,
            so none counts twice however often it was released.
        key: The place of the analyzer's keys.
        part_of: If rows are counted by part as well, the number of the part of every place; a row's
            place is in the second column.
    """

    plan: Plan
    epoch: Epoch
    key: KeySource
    part_of: NDArray[np.int64] | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the sums over all rows of the first column, in one batch of the schema `COUNTS`."""
        number = self.epoch.round_number
        randomizer = question(self.plan, number)
        sums = {
            _TALLY: np.zeros(randomizer.tally_size, dtype=np.int64),
            _TRAIT: np.zeros(randomizer.trait_count, dtype=np.int64),
        }
        parts: dict[int, PartCounts] = {}
        key = self.key.load(self.epoch.analyzer)
        counts, open_one = Counter[str](), opener(Seal.INNER, key=key, epoch=self.epoch)
        for batch in batches:
            for start in range(0, batch.num_rows, _OPENED_AT_ONCE):
                some = batch.slice(start, _OPENED_AT_ONCE)
                rows, opened = self._rows(some.column(0).to_pylist(), open_one)
                counts[_CANNOT_OPEN] += len(some) - len(rows)
                for part, own in self._by_part(some, opened):
                    decoded = decode_reports(self.plan, rows[own], round_number=number)
                    counts += _counted(decoded)
                    tally = randomizer.tally(decoded.reports)
                    sums[_TALLY] += tally
                    sums[_TRAIT] += randomizer.traits(decoded.reports)
                    if part is not None and len(decoded.reports):
                        add_part(parts, part, PartCounts(len(decoded.reports), tally))
        listed = {name: _nonzero(each) for name, each in sums.items()}
        listed[_PART] = _listed(parts, size=randomizer.tally_size)
        yield _as_batch(counts, listed)

    def _rows(
        self, sealed: list[bytes | None], open_one: Callable[[bytes], bytes]
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the opened rows, and their indices among those that were sealed."""
        opened, indices = [], []
        for index, inner in enumerate(sealed):
            try:
                opened.append(open_one(inner or b""))
            except SealError:
                continue
            indices.append(index)
        rows = np.frombuffer(b"".join(opened), dtype=np.uint8)
        return rows.reshape(len(opened), self.epoch.report_size), np.array(indices, dtype=np.int64)

    def _by_part(
        self, some: pa.RecordBatch, opened: NDArray[np.int64]
    ) -> Iterator[tuple[int | None, NDArray[np.int64] | slice]]:
        """Yield every part, and which of the opened rows are in it; without parts, None and all."""
        if self.part_of is None:
            yield None, slice(None)
            return
        parts = self.part_of[some.column(1).to_numpy()[opened]]
        for part in np.unique(parts).tolist():
            yield part, np.flatnonzero(parts == part)


def _counted(decoded: Decoded) -> Counter[str]:
    found = Counter({_ANSWER: len(decoded.reports), _NULL: decoded.nulls})
    return found + Counter({_MALFORMED + why: count for why, count in decoded.malformed.items()})


_Entries = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Where sums are not zero, and the sums there."""


def _nonzero(sums: NDArray[np.int64], *, start: int = 0) -> _Entries:
    entries = np.flatnonzero(sums)
    return start + entries, sums[entries]


def _listed(parts: Mapping[int, PartCounts], *, size: int) -> _Entries:
    """List the parts: for each its number of answers, then its tally of so many entries."""
    found = [
        _nonzero(np.append(own.answers, own.tally), start=part * (1 + size))
        for part, own in parts.items()
    ]
    none = np.zeros(0, dtype=np.int64)
    entries, counts = zip((none, none), *found, strict=True)
    return np.concatenate(entries), np.concatenate(counts)


def _as_batch(counts: Counter[str], sums: Mapping[str, _Entries]) -> pa.RecordBatch:
    named = {name: count for name, count in counts.items() if count}
    names, entries = [*named], [np.zeros(len(named), dtype=np.int64)]
    values = [np.array([*named.values()], dtype=np.int64)]
    for name, (where, there) in sums.items():
        entries.append(where)
        values.append(there)
        names += [name] * len(where)
    columns = [
        pa.array(names, pa.utf8()),
        pa.array(np.concatenate(entries), pa.int64()),
        pa.array(np.concatenate(values), pa.int64()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=COUNTS)


def _entries(table: pa.Table, name: str, *, size: int) -> NDArray[np.int64]:
    """Return the sums of one name as an array."""
    own = table.filter(pc.equal(table["name"], name))
    sums = np.zeros(size, dtype=np.int64)
    sums[own["entry"].to_numpy()] = own["count"].to_numpy()
    return sums


def _parts(table: pa.Table, *, size: int) -> dict[int, PartCounts]:
    """Return the sums of every part, as `_listed` lists them."""
    own = table.filter(pc.equal(table["name"], _PART))
    numbers, entries = np.divmod(own["entry"].to_numpy(), 1 + size)
    order = np.argsort(numbers, kind="stable")
    found = {}
    for some in np.split(order, np.flatnonzero(np.diff(numbers[order])) + 1) if len(own) else ():
        sums = np.zeros(1 + size, dtype=np.int64)
        sums[entries[some]] = own["count"].to_numpy()[some]
        found[int(numbers[some[0]])] = PartCounts(int(sums[0]), sums[1:])
    return found


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
        traits: What the tally lacks and honest people's noise fixes, such as the number of reports
            with 0, 1, … bits set.
        parts: If rows were counted by part, the sums of each part that has an answer.
    """

    rows: int
    duplicate: int
    cannot_open: int
    malformed: Mapping[str, int]
    nulls: int
    answers: int
    tally: NDArray[np.int64]
    traits: NDArray[np.int64]
    parts: Mapping[int, PartCounts]

    @classmethod
    def of(cls, table: pa.Table, *, plan: Plan, round_number: int) -> "ReportCounts":
        """Read the counts from the result of `Engine.count`."""
        randomizer = question(plan, round_number)
        tally = _entries(table, _TALLY, size=randomizer.tally_size)
        traits = _entries(table, _TRAIT, size=randomizer.trait_count)
        is_sum = pc.is_in(table["name"], pa.array([_TALLY, _TRAIT, _PART]))
        rest = table.filter(pc.invert(is_sum)).to_pylist()
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
            traits=traits,
            parts=_parts(table, size=randomizer.tally_size),
        )

    @property
    def opened(self) -> int:
        """The number of distinct rows that opened, whatever their content."""
        return self.answers + self.nulls + sum(self.malformed.values())
