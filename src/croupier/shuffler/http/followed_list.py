"""The list of the shuffler's keys that a worker follows, and a newer one that it was offered."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from croupier.errors import CroupierError, UntrustedError
from croupier.hosting.http.logs import log
from croupier.plan.plan import Plan
from croupier.protocol.key_directory import KeyFileError
from croupier.protocol.party_keys import ShufflerKeys, Signers
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.handover import Handover
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.openings import signed_opening
from croupier.shuffler.witness import Witness

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["FollowedList", "Usable"]


@dataclass(frozen=True)
class Usable:
    """A list of keys, and what follows from it.

    Attributes:
        shuffler: The list.
        signers: The keys whose signatures are valid by it.
        signing: The intake keys that it names and that are here.
    """

    shuffler: ShufflerKeys
    signers: Signers
    signing: "Mapping[str, Ed25519PrivateKey]"


class FollowedList:
    """The list of keys that a worker shows and verifies with.

    A worker starts with the list that workers here followed last: two that show different lists at
    the same time would make clients refuse both. A newer list takes effect once `settle` finds that
    a round needs it.

    Args:
        plan: The plan.
        newest: The newest list.
        keys: Intake's key directory.
        handover: The directory in which release puts the tag keys of batches.
        witness: The witness of intake.

    Attributes:
        used: The list that is followed.
        offered: The newest one; the same if there is no other.
    """

    def __init__(
        self,
        plan: Plan,
        newest: ShufflerKeys,
        *,
        keys: IntakeKeys,
        handover: Handover,
        witness: Witness,
    ) -> None:
        self._plan = plan
        self._keys = keys
        self._handover = handover
        self._witness = witness
        self._refused: tuple[Usable, Sequence[Batch]] | None = None
        self._recorded: ShufflerKeys | None = None
        self.used = self.offered = self._usable(newest)
        before = witness.followed_list(plan)
        if before is not None and before.version < newest.version:
            with suppress(KeyFileError):  # keys that it names were removed since
                self.used = self._usable(before)

    @property
    def is_recorded(self) -> bool:
        """True if the witness has recorded the list that is followed."""
        return self._recorded == self.used.shuffler

    def forget_record(self) -> None:
        """Record the list again: the witness was lost, and begun anew."""
        self._recorded = None

    def offer(self, newest: ShufflerKeys) -> None:
        """Offer a list that is at least as new.

        Raises:
            KeyFileError: The directory lacks the newest intake keys that the list names.
            UntrustedError: It is not signed for this plan, or is an older one.
        """
        if newest != self.offered.shuffler:
            newest.require_not_before(self.used.shuffler)
            self.offered = self._usable(newest)

    def settle(self, ours: Sequence[Batch]) -> None:
        """Change to the offered list once it names other keys for a round, if all rounds fit it.

        Until then, the earlier list says the same of every round. If a key were valid from a round
        on that was opened without it, no client would believe that round any more: then the earlier
        list stays. The first list of a worker must fit.

        Args:
            ours: The plan's batches, those that lack their tag key left out.

        Raises:
            KeyFileError: By the first list, a tag key is sealed to another intake key.
            UntrustedError: By the first list, the opening of a round is not signed; or another one
                was followed before this worker started.
        """
        if (self.offered, ours) != self._refused and self._counts(ours):
            objection = self._objection(ours)
            if objection is None:
                self.used, self._refused = self.offered, None
            else:
                if self._refused is None or self._refused[0] is not self.offered:
                    log.warning(
                        "newer list of keys is not followed: the one before stays",
                        version=self.offered.shuffler.version,
                        cause=str(objection),
                    )
                self._refused = (self.offered, ours)
        if self._recorded is None:
            self._witness.require_list(self.used.shuffler)
            for batch in ours:
                misfit = self._misfit(batch, self.used)
                if misfit is not None:
                    raise misfit
        if not self.is_recorded and self._witness.follow_list(self.used.signers, ours):
            self._recorded = self.used.shuffler

    def tag_key(self, batch: Batch) -> bytes:
        """Return the tag key of a batch, as the list that is followed names its keys.

        Raises:
            KeyFileError: It is missing, damaged, or not for this intake.
        """
        return self._tag_key(batch, self.used)

    def _usable(self, shuffler: ShufflerKeys) -> Usable:
        """Return a list with what follows from it; its newest intake keys must be here."""
        signers = Signers.of(self._plan, shuffler)
        newest = shuffler.intake[-1]
        self._keys.opener(newest.seal)
        signing = {newest.key: self._keys.signer(newest.key)}
        for entry in shuffler.intake[:-1]:
            with suppress(KeyFileError):  # keys of rounds that ended long ago
                signing[entry.key] = self._keys.signer(entry.key)
        return Usable(shuffler, signers, signing)

    def _counts(self, ours: Iterable[Batch]) -> bool:
        """Tell whether the offered list names other keys for a round than the one in use."""
        used, offered = self.used.shuffler, self.offered.shuffler
        return offered != used and any(
            offered.release_key(number) != used.release_key(number)
            or offered.intake_key(number) != used.intake_key(number)
            for number in (batch.round_number for batch in ours)
        )

    def _objection(self, ours: Iterable[Batch]) -> CroupierError | None:
        """Return why the offered list cannot be followed; a fault of both is no reason."""
        try:
            self._witness.require_list(self.offered.shuffler)
        except UntrustedError as error:
            return error
        for batch in ours:
            misfit = self._misfit(batch, self.offered)
            if misfit is not None and self._misfit(batch, self.used) is None:
                return misfit
        return None

    def _misfit(self, batch: Batch, usable: Usable) -> CroupierError | None:
        """Return why a round or its intake cannot be verified by a list of keys; None if it can."""
        try:
            signed_opening(batch, usable.signers)
            if batch.undecided:
                self._tag_key(batch, usable)
        except CroupierError as error:
            return error
        return None

    def _tag_key(self, batch: Batch, usable: Usable) -> bytes:
        number = batch.round_number
        key = self._keys.opener(usable.shuffler.intake_key(number).seal)
        return self._handover.take(
            batch.identity, round_number=number, key=key, signers=usable.signers
        )
