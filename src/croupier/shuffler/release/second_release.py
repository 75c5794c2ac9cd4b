"""Release by the second of two shufflers: it takes batches over from the first.

Receipt, chain, people and file of the first one's batch are checked, and the receipt is recorded
beside the batch's own key before anything is opened: another hand-over of the batch is refused from
then on. Everything after that is as for one shuffler.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from croupier.errors import UntrustedError
from croupier.protocol.key_directory import DamagedKeyError
from croupier.protocol.receipt import Counts, Receipt, ReceiptError
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.openings import signed_opening
from croupier.shuffler.refusals import record_refusal
from croupier.shuffler.release.keys import TakenOver
from croupier.shuffler.release.predecessor import HandOverError, Predecessor
from croupier.shuffler.release.release import BatchOutcome, Releaser
from croupier.shuffler.release.sources import HandedOverSource, Source

__all__ = ["SecondReleaser"]

_REFUSED = (DamagedKeyError, HandOverError, ReceiptError, UntrustedError)


@dataclass(frozen=True, kw_only=True)
class SecondReleaser(Releaser):
    """A job that brings every batch of the second shuffler as far as the plan allows.

    Attributes:
        first: The place in which the first shuffler publishes.
    """

    takes_over: ClassVar[bool] = True

    first: Predecessor

    def _settle(self, batch: Batch) -> BatchOutcome:
        """Settle a batch, and record for `croupier status` why its hand-over is refused."""
        outcome = super()._settle(batch)
        refused = outcome.incident == HandOverError.incident
        record_refusal(self.keys.path, batch.identity, outcome.problem if refused else None)
        return outcome

    def _seal(self, batch: Batch) -> Batch | BatchOutcome:
        """Seal a batch that the first shuffler has settled; wait for one that it has not.

        A batch that it disposed of, lost or left out is disposed of here too. Until it is handed
        over, nothing is kept of it here but a key: it may wait for as long as the first shuffler
        takes. If the place of the first shuffler cannot be believed, nothing follows from it about
        any batch.
        """
        try:
            receipt = self.first.receipt(batch.identity)
            given_up = self.first.given_up(batch)
        except _REFUSED as error:
            return self._refused(batch, error)
        if given_up is not None:
            return self._without_hand_over(batch, given_up)
        incident, problem = self._problem(batch)
        # A key that only does not open is never given up: the passphrase may be another one.
        if receipt is not None and incident == "batch-key":
            return self._without_key(batch)
        if receipt is None or problem is not None:
            return BatchOutcome(batch, problem=problem, incident=incident)
        try:
            self._freeze(batch, receipt)
        except _REFUSED as error:
            return self._disposed_in_time(batch, error)
        self._next_link()
        return states.move(self.connection, batch, "sealed")

    def _decide(self, batch: Batch) -> Batch | BatchOutcome:
        """Decide as for one shuffler; a hand-over that cannot be read leaves the batch as it is."""
        try:
            return super()._decide(batch)
        except _REFUSED as error:
            return self._disposed_in_time(batch, error)

    def _not_released(
        self,
        batch: Batch,
        *,
        stored: int,  # noqa: ARG002
        people: int,
        crowd: int | None,  # noqa: ARG002
    ) -> Batch | BatchOutcome:
        """Hold a batch of which too few rows open, or whose key is gone; dispose of it in time."""
        minimum = self.plan.protections.minimum_batch
        if people >= minimum:
            return self._without_key(batch)
        few = f"has at most {people:,} rows that open, and the minimum is {minimum:,}"
        return self._disposed_in_time(batch, HandOverError(few))

    def _without_key(self, batch: Batch) -> Batch | BatchOutcome:
        """Hold a batch that was handed over and whose key is gone or damaged; dispose in time."""
        until = self._until(batch)
        if self._is_past(until):
            return self._without_hand_over(batch, f"Its key was gone or damaged for {self._age}.")
        problem = f"{self._key_check.problem(batch)} That is on {until:%Y-%m-%d %H:%M} UTC."
        return BatchOutcome(batch, problem=problem, incident="batch-key")

    def _disposed_in_time(self, batch: Batch, error: Exception) -> Batch | BatchOutcome:
        """Hold a batch whose hand-over is refused; dispose of it a disposal age after that began.

        The first shuffler may have released it long after its round was opened here.
        """
        until = self._until(batch)
        if self._is_past(until):
            return self._without_hand_over(batch, f"It was refused for {self._age}. {error}")
        return self._refused(batch, error, until=until)

    def _until(self, batch: Batch) -> datetime:
        """Return when a batch is disposed of that was handed over and cannot be released."""
        now = max(self._now(), self.host_now())
        return self.keys.refused_since(batch.identity, now) + self._disposal_age

    def _is_past(self, moment: datetime) -> bool:
        return self._clocks_agree() and self._now() >= moment

    @property
    def _age(self) -> str:
        age = self._disposal_age
        return f"{age.days} days" if age.days > 1 else f"{age.total_seconds() / 3600:g} hours"

    @staticmethod
    def _refused(batch: Batch, error: Exception, until: datetime | None = None) -> BatchOutcome:
        incident = HandOverError.incident
        return BatchOutcome(batch, until=until, problem=str(error), incident=incident)

    def _source(self, batch: Batch) -> Source:
        """Return the rows of the batch that was taken over, from a copy that nobody else changes.

        Raises:
            HandOverError: The first shuffler no longer shows that batch.
        """
        taken = self.keys.taken_over(batch.identity)
        if taken is None:  # its folder was lost
            raise HandOverError("cannot be compared with the one that was taken over")
        target = self._output.temporary(batch)
        self.first.copy(taken.receipt, target)
        return HandedOverSource(target)

    def _freeze(self, batch: Batch, receipt: Receipt) -> None:
        """Check a hand-over, and record it beside the batch's key before anything is opened.

        Raises:
            HandOverError: It is not what the round was opened for, or is a second one.
        """
        taken = self.keys.taken_over(batch.identity)
        if taken is not None:
            if taken.receipt != receipt:
                raise HandOverError("is a second one of this batch")
            return
        self.first.require_fits(receipt, signed_opening(batch, self._signers))
        last = states.last_taken_over(self.connection, plan=self.plan.digest)
        self.first.require_follows(receipt, None if last is None else last.taken_over)
        if self.first.keys is None:
            raise HandOverError("has no list of the keys that sign it")
        self.keys.take_over(batch.identity, TakenOver(receipt=receipt, keys=self.first.keys))

    def _without_hand_over(self, batch: Batch, reason: str) -> Batch:
        """Dispose of a batch that the first shuffler will never hand over, or not in time."""
        self._reasons[batch.identity] = reason
        with self.connection.transaction():
            if batch.state == "open":
                batch = states.move(self.connection, batch, "sealed")
            return self._sign(batch, Counts(received=0), None)
