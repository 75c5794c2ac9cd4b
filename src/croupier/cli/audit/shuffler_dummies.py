"""`croupier audit shuffler --keys`: open the rows that no test client sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from croupier.auditing.shuffler.released_dummies import Foreign
from croupier.auditing.shuffler.sent import Sent
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import Rows
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.receipt import Receipt

if TYPE_CHECKING:
    from croupier.analyzer.keys import KeySource
    from croupier.analyzer.released import ReleasedBatch

__all__ = ["OpenedBatches"]


@dataclass(frozen=True, kw_only=True)
class OpenedBatches:
    """Released batches as the analyzer sees them.

    Attributes:
        plan: The plan.
        files: The batches, each beside its receipts.
        listed: The list of the last shuffler's keys; if left out, the one beside the receipts.
        keys: The directory of the analyzer's keys and the file of their passphrase, if given.
    """

    plan: Plan
    files: list[Path]
    listed: ShufflerKeys | None
    keys: tuple[Path, Path | None] | None

    def __post_init__(self) -> None:
        if self.keys is not None and not any(self.plan.dummies):
            hint = "Leave it out: nothing else needs the analyzer's keys."
            raise ParameterError("--keys", must="be of a plan with dummies", hint=hint)

    @cached_property
    def _batches(self) -> "tuple[ReleasedBatch, ...]":
        from croupier.analyzer.released import verified_batches  # noqa: PLC0415 - as analyze does

        return verified_batches(self.plan, self.files, shuffler=self.listed) if self.files else ()

    @property
    def taken_over(self) -> Mapping[str, Receipt]:
        """The first of two shufflers' receipts, verified, by the batch's name."""
        if len(self.plan.shufflers) == 1:
            return {}
        return {
            each.receipt.batch: each.taken_over
            for each in self._batches
            if each.taken_over is not None
        }

    def foreign(self, sent: Sent, batches: Mapping[str, Rows]) -> Mapping[str, Foreign] | None:
        """Open the rows that no test client sent, by the batch's name; None without the keys."""
        if self.keys is None or any(each.kept < 1 for each in self.plan.shufflers):
            return None
        from croupier.analyzer.keys import KeySource  # noqa: PLC0415 - as analyze does

        key, known = KeySource(*self.keys), {row.tobytes() for row in sent.inner}
        return {
            each.receipt.batch: self._opened(each, batches[each.receipt.batch], known, key)
            for each in self._batches
        }

    def _opened(
        self, batch: "ReleasedBatch", rows: Rows, known: set[bytes], key: "KeySource"
    ) -> Foreign:
        import pyarrow as pa  # noqa: PLC0415 - an extra, slow to import

        from croupier.analyzer.counting import CountReports, ReportCounts  # noqa: PLC0415 - as above

        made_up = [entry for row in rows if (entry := row.tobytes()) not in known]
        block = pa.RecordBatch.from_arrays([pa.array(made_up, pa.binary())], names=["row"])
        count = CountReports(self.plan, batch.epoch(self.plan), key)
        table = pa.Table.from_batches(list(count(iter([block]))))
        found = ReportCounts.of(table, plan=self.plan, round_number=batch.receipt.round)
        return Foreign(found.tally, len(made_up) - found.answers)
