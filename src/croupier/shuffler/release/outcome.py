"""The outcome of a batch in one run of release."""

from dataclasses import dataclass
from datetime import datetime

from croupier.protocol.receipt import Receipt
from croupier.shuffler.database.batch import Batch

__all__ = ["BatchOutcome"]


@dataclass(frozen=True)
class BatchOutcome:
    """The outcome of a batch: a receipt if it was released or disposed of, else it is held.

    Attributes:
        batch: The batch.
        receipt: The signed statement about it; None if it is held and nothing left.
        people: For a held batch, the most people it can have; None before its round is over.
        until: For a held batch, the end of its round or the time of its disposal; None for one that
            the first shuffler has not handed over yet.
        problem: For a held batch, a problem that somebody should solve; None if it only waits.
        incident: The name of the incident that the problem is.
        reason: For a batch that this run disposed of, why; None for one that an earlier run signed.
    """

    batch: Batch
    receipt: Receipt | None = None
    people: int | None = None
    until: datetime | None = None
    problem: str | None = None
    incident: str | None = None
    reason: str | None = None
