"""The dummies of released batches, as far as receipts and the analyzer's key show them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.shuffler.check import ShufflerCheck
from croupier.auditing.shuffler.dummies import added_checks, dummy_checks
from croupier.auditing.shuffler.sent import Sent
from croupier.plan.plan import Plan
from croupier.protocol.receipt import Receipt

__all__ = ["Foreign", "ReleasedDummies"]

_WHO = ("the first shuffler", "the second shuffler")


@dataclass(frozen=True, eq=False)
class Foreign:
    """The rows of a batch that no test client sent, opened with the analyzer's key.

    Attributes:
        tally: The number of each report among them.
        others: The number that are no answer, or do not open.
    """

    tally: NDArray[np.int64]
    others: int


@dataclass(frozen=True)
class ReleasedDummies:
    """The receipts of batches with dummies, beside what test clients sent into them.

    Attributes:
        plan: The plan.
        receipts: The last shuffler's receipts.
        taken_over: The first of two shufflers' receipts, by the batch's name.
        sent: The test reports, each once.
        alone: True if nobody else sent a report into these batches.
    """

    plan: Plan
    receipts: Sequence[Receipt]
    taken_over: Mapping[str, Receipt]
    sent: Sent
    alone: bool

    def checks(self, foreign: Mapping[str, Foreign], false_alarm: float) -> list[ShufflerCheck]:
        """Test what the shufflers signed for, and the dummies of batches without other people."""
        tables = [table for table in self.plan.dummies if table is not None]
        if not tables or any(each.kept < 1 for each in self.plan.shufflers):
            return []
        signed = [receipt for receipt in self.receipts if receipt.event == "released"]
        known = [receipt.batch for receipt in signed if not self._others(receipt)]
        tested = [foreign[name] for name in known if name in foreign]
        level = false_alarm / (len(tables) + bool(tested))
        checks = []
        if self.alone:
            more = sum(self._others(receipt) != 0 for receipt in signed)
            words = "batches whose receipt counts other reports than were sent"
            checks.append(ShufflerCheck("accepted", words, more, 1))
        for hop, table in enumerate(self.plan.dummies):
            added = [self._signed(receipt, hop).counts.added or 0 for receipt in signed]
            if table is not None and added:
                who = "the shuffler" if len(self.plan.shufflers) == 1 else _WHO[hop]
                checks += added_checks(table, added, self._bins, who=who, false_alarm=level)
        if tested:
            others = sum(each.others for each in tested)
            checks.append(ShufflerCheck("dummies", "made-up rows that are no answer", others, 1))
            counts = np.stack([each.tally for each in tested])
            checks += dummy_checks(tables, counts, false_alarm=level)
        return checks

    def notes(self) -> list[str]:
        """Name the batches whose dummies cannot be told from other people's reports."""
        found = []
        for receipt in self.receipts:
            others = self._others(receipt) if receipt.event == "released" else 0
            if others > 0:
                found.append(
                    f"The dummies of round {receipt.round} are not tested: its receipt counts "
                    f"{others:,} reports that no test client sent"
                )
        return found

    @property
    def _bins(self) -> int:
        return self.plan.randomizer.alphabet_size or 0

    def _signed(self, receipt: Receipt, hop: int) -> Receipt:
        """Return the receipt of one shuffler for the batch of the last one's receipt."""
        return receipt if hop == len(self.plan.shufflers) - 1 else self.taken_over[receipt.batch]

    def _others(self, receipt: Receipt) -> int:
        """Count the reports of other people in a batch, as the first shuffler signed for."""
        own = sum(batch == receipt.batch for batch in self.sent.batch)
        return self._signed(receipt, 0).counts.accepted - own
