"""The second shuffler's openings and receipts, as the first one reads and heeds them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from pydantic import ValidationError

from croupier.errors import CroupierError, ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.key_list import Onward
from croupier.protocol.party_keys import LIST_FILE, ShufflerKeys, Signers
from croupier.protocol.receipt import Receipt
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.release.release import NO_KEY, BatchOutcome, Releaser
from croupier.shuffler.release.storage import Storage

__all__ = ["FirstReleaser", "Successor"]


@dataclass(frozen=True)
class Successor:
    """The place in which the second shuffler publishes.

    Attributes:
        plan: The plan, with two shufflers.
        storage: The place.
    """

    plan: Plan
    storage: Storage

    @cached_property
    def receipts(self) -> list[Receipt]:
        """The second shuffler's receipts, by number, each signed.

        Raises:
            ReceiptError: One is not signed, or is of another plan.
            UntrustedError: The list of keys is not the second shuffler's.
        """
        text = self.storage.read(LIST_FILE)
        keys = None if text is None else ShufflerKeys.verified(text, self.plan, hop=1)
        signers = Signers.of(self.plan, keys, hop=1)
        found = []
        for name, document in self.storage.receipts().items():
            receipt = Receipt.read(document, which=name, signers=signers)
            receipt.require_of(signers, which=name)
            found.append(receipt)
        return sorted(found, key=lambda receipt: receipt.number)

    def offered(self) -> list[Onward]:
        """Return the rounds that it has opened and not settled."""
        batches = {receipt.batch for receipt in self.receipts}
        found = [self._opening(name, text) for name, text in self.storage.openings().items()]
        return [
            each
            for each in found
            if each.opening.batch not in batches and each.opening.round not in self._lost
        ]

    def given_up(self, batch: Batch) -> str | None:
        """Say why it will never release a batch that is open here; None if it still may.

        Raises:
            ReceiptError: A receipt is not signed, or is of another plan.
            UntrustedError: The list of keys is not the second shuffler's.
        """
        own = [each for each in self.receipts if each.batch == batch.identity.hex()]
        if own:
            done = "released its batch" if own[0].event == "released" else "disposed of its batch"
            cause = " This database may be an older copy."
        elif batch.round_number in self._lost:
            done, cause = "signed that it lost the round", ""
        else:
            return None
        return (
            f"Round {batch.round_number} is open here, but the second shuffler has {done}: reports "
            f"that are sent for it now are never released.{cause}"
        )

    @property
    def _lost(self) -> set[int]:
        return {n for each in self.receipts if each.recovery for n in each.recovery.lost}

    def warnings(self) -> Iterator[str]:
        """Yield what its receipts say that the first shuffler's operator should look at."""
        last = self.receipts[-1] if self.receipts else None
        if last is not None and last.counts.duplicate:
            yield (
                f"The second shuffler dropped {last.counts.duplicate:,} duplicates of round "
                f"{last.round}: the same content under different seals, which croupier's clients "
                "and shufflers do not make."
            )

    def _opening(self, name: str, text: bytes) -> Onward:
        try:
            return Onward.model_validate_json(text)
        except ValidationError:
            raise ParameterError(
                "--to",
                must="hold openings of rounds that can be read",
                got=f"{self.storage.where}, with {name}",
                hint="Let the second shuffler's operator put the file back.",
            ) from None


@dataclass(frozen=True, kw_only=True)
class FirstReleaser(Releaser):
    """A job of the first shuffler that holds what the second one has signed to be done with.

    Its reports stay sealed, and are disposed of at the plan's disposal age.

    Attributes:
        second: The place in which the second shuffler publishes.
    """

    second: Successor

    def _settle(self, batch: Batch) -> BatchOutcome:
        said = self._given_up(batch)
        outcome = super()._settle(batch)
        if said is None or (outcome.receipt is not None and outcome.reason != NO_KEY):
            return outcome
        if outcome.receipt is not None:
            return replace(outcome, reason=said)
        return replace(outcome, problem=said, incident="database-set-back")

    def _lacks_key(self, batch: Batch) -> bool:
        """Tell whether a key of a batch is gone, here or at the second shuffler."""
        return self._given_up(batch) is not None or super()._lacks_key(batch)

    def _given_up(self, batch: Batch) -> str | None:
        """Say why the second shuffler will never release a batch; None if it still may.

        Nothing follows from a place that cannot be read or believed: batches are released and
        disposed of as the plan says, and whoever opens the next round is told.
        """
        try:
            return self.second.given_up(batch)
        except (CroupierError, OSError):
            return None
