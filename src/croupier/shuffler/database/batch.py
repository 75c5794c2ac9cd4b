"""A batch: one round's envelopes, and their state.

    open -> sealed -> released -> shredded
                        |-> open                       too few people: held
                        '-> disposed -> shredded       too few people for too long

Every step is one transaction that names the state it starts from, so it happens exactly once.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, Self

__all__ = ["CLOCKS_AGREE", "UNDECIDED", "Batch", "State"]

State = Literal["open", "sealed", "released", "shredded", "disposed"]
UNDECIDED: frozenset[State] = frozenset({"open", "sealed"})
"""States in which a batch may still be released or disposed of."""
CLOCKS_AGREE = timedelta(minutes=10)
"""The largest difference of the database's and a host's clocks that counts as agreement."""


@dataclass(frozen=True)
class Batch:
    """One round's batch, as a row of the database describes it.

    Attributes:
        identity: The 16 random bytes that name it.
        plan: The digest of the plan.
        round_number: The round.
        state: The current state.
        opened: The time its round began (UTC), to the second.
        opening: The signed document that announced it.
        query: The query of its round, as the analyzer signed it; None if the plan fixes it.
        onward: The second shuffler's part in the round, as it signed it; None if there is none.
    """

    identity: bytes
    plan: str
    round_number: int
    state: State
    opened: datetime
    opening: str
    query: str | None = None
    onward: str | None = None

    @property
    def undecided(self) -> bool:
        """True if it may still be released or disposed of."""
        return self.state in UNDECIDED

    @classmethod
    def of_row(  # noqa: PLR0913, PLR0917 - the columns
        cls,
        identity: bytes,
        plan: bytes,
        round_number: int,
        state: State,
        opened: datetime,
        opening: str,
        query: str | None,
        onward: str | None,
    ) -> Self:
        """Return a batch from the columns that `statements` selects."""
        moment = opened.astimezone(UTC)
        return cls(identity, plan.hex(), round_number, state, moment, opening, query, onward)
