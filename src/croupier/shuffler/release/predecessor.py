"""The first shuffler's published batches, as the second one takes them over.

The second shuffler believes nothing that the first one could make up without a trace: receipts must
be signed and form one chain, one batch has one receipt, and the file must be the one that it names.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from croupier.errors import CroupierError
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import require_released
from croupier.protocol.key_list import ShufflerKey
from croupier.protocol.party_keys import LIST_FILE, ShufflerKeys, Signers
from croupier.protocol.receipt import Receipt, require_chain
from croupier.protocol.seen_lists import SeenLists
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.release.storage import Storage

__all__ = ["HandOverError", "Predecessor"]


class HandOverError(CroupierError):
    """The first shuffler hands over what it must not."""

    incident = "hand-over"

    def __init__(self, problem: str) -> None:
        self.problem = problem
        super().__init__(f"The first shuffler's hand-over {problem}.")


@dataclass(frozen=True)
class Predecessor:
    """The place in which the first shuffler publishes.

    Attributes:
        plan: The plan, with two shufflers.
        storage: The place.
        lists: The newest list of the first shuffler's keys that was seen.
    """

    plan: Plan
    storage: Storage
    lists: SeenLists

    @cached_property
    def keys(self) -> ShufflerKeys | None:
        """The list of the first shuffler's keys; None if it is not there yet.

        Raises:
            UntrustedError: It is not the first shuffler's, or older than one that was seen.
        """
        text = self.storage.read(LIST_FILE)
        if text is None:
            return None
        read = ShufflerKeys.verified(text, self.plan)
        self.lists.remember(read)
        return read

    @cached_property
    def receipts(self) -> list[Receipt]:
        """All receipts of the first shuffler, by number, checked to be one chain.

        Raises:
            ReceiptError: One is not signed, is of another plan, or there is a gap or a second one.
        """
        found = [Receipt.read(text, which=name) for name, text in self.storage.receipts().items()]
        by_number = sorted(found, key=lambda receipt: receipt.number)
        require_chain(by_number, Signers.of(self.plan, self.keys))
        return by_number

    def receipt(self, batch: bytes) -> Receipt | None:
        """Return the receipt about a batch; None if there is none."""
        own = [receipt for receipt in self.receipts if receipt.batch == batch.hex()]
        return own[0] if own else None

    def given_up(self, batch: Batch) -> str | None:
        """Say why the first shuffler will never hand a batch over; None if it still may."""
        own = self.receipt(batch.identity)
        if own is not None:
            return "The first shuffler disposed of it." if own.file is None else None
        later = [receipt for receipt in self.receipts if receipt.round >= batch.round_number]
        if any(each.recovery and batch.round_number in each.recovery.lost for each in later):
            return "The first shuffler signed that it lost the round."
        return "The first shuffler went on to a later round without it." if later else None

    def handed_over_in_vain(self, own: Sequence[Receipt]) -> list[int]:
        """Return the rounds that it hands over although the second shuffler gave them up.

        Args:
            own: The second shuffler's receipts, by number. Only what the first one signed after
                the last batch that was taken over is compared.
        """
        disposed = {receipt.batch for receipt in own if receipt.event == "disposed"}
        lost = {n for receipt in own if receipt.recovery for n in receipt.recovery.lost}
        taken = {receipt.taken_over for receipt in own}
        last = max((each.number for each in self.receipts if each.digest in taken), default=-1)
        return [
            receipt.round
            for receipt in self.receipts
            if receipt.file is not None and receipt.number > last
            if receipt.batch in disposed or receipt.round in lost
        ]

    @property
    def next_round(self) -> int:
        """The least round that the first shuffler can still open."""
        return max((receipt.round + 1 for receipt in self.receipts), default=0)

    def require_follows(self, receipt: Receipt, last: str | None) -> None:
        """Refuse a hand-over if a receipt is missing between it and the last one taken over.

        Args:
            receipt: The receipt of the hand-over.
            last: The digest of the receipt that was taken over last; None if there was none.
        """
        if last is None:
            if self.receipts[0].number:
                raise HandOverError("has a gap: the receipts before it are missing")
        elif not any(each.digest == last for each in self.receipts if each.number < receipt.number):
            raise HandOverError("has a gap: the receipt that was taken over last is missing")

    def require_fits(self, receipt: Receipt, opening: ShufflerKey) -> None:
        """Refuse a hand-over that is about another round, for other keys, or of too few people."""
        if receipt.round != opening.round:
            raise HandOverError(f"is of round {receipt.round}, and the batch of {opening.round}")
        if (receipt.analyzer, receipt.onward) != (opening.analyzer, opening.key):
            raise HandOverError("is for other keys than this round was opened with")
        minimum = self.plan.protections.minimum_batch
        if receipt.counts.accepted < minimum:
            people = f"{receipt.counts.accepted:,}"
            raise HandOverError(f"has {people} people, and the minimum is {minimum:,}")

    def copy(self, receipt: Receipt, target: Path) -> None:
        """Copy the file of a hand-over, and refuse one that differs from what was signed.

        Raises:
            HandOverError: It is missing, or another file.
            ReceiptError: It is not laid out as a batch is.
        """
        if receipt.file is None:
            raise HandOverError("has no file")
        target.unlink(missing_ok=True)
        self.storage.copy(receipt.file, target)
        if not receipt.file.is_at(target):
            target.unlink(missing_ok=True)
            raise HandOverError(f"lacks {receipt.file.name}, or it is not the one that was signed")
        require_released(target, receipt, plan=self.plan, hop=0, name=receipt.file.name)
