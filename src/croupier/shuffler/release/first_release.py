"""Release by the first of two shufflers: it hands nothing over that can never be released."""

from dataclasses import dataclass, replace

from croupier.errors import CroupierError
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.release.release import BatchOutcome, Releaser
from croupier.shuffler.release.successor import Successor

__all__ = ["FirstReleaser"]


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
        if said is None or (outcome.receipt is not None and outcome.reason != self.no_key):
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
