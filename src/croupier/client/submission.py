"""The bytes that a client sends in one round."""

from dataclasses import dataclass, field

from croupier.client.server import Spent
from croupier.protocol.key_list import ShufflerKey
from croupier.protocol.wire import Epoch, seal_report

__all__ = ["Submission", "seal"]


@dataclass(frozen=True, kw_only=True)
class Submission:
    """The bytes that a client sends in one round.

    Attributes:
        plan: The digest of the plan.
        round_number: The round.
        batch: The batch, 32 hexadecimal digits.
        body: The sealed bytes. A retry sends the same bytes.
        delay: The number of seconds to wait before sending.
        due: The time of sending a prepared report, in seconds since 1970; None if it is not one.
        is_delivered: True if a prepared report was accepted before.
        is_replacing: True if it took the place of a prepared report that was never delivered.
        spent: The token that admits it, if the plan admits by token and there is one.
    """

    plan: str
    round_number: int
    batch: str
    body: bytes
    delay: float
    due: float | None = None
    is_delivered: bool = False
    is_replacing: bool = False
    spent: Spent | None = field(default=None, repr=False)


def seal(report: bytes, *, epoch: Epoch, shuffler: ShufflerKey, owner: int | None = None) -> bytes:
    """Seal an encoded report into an envelope for one batch."""
    return seal_report(report, key=shuffler.public_key, epoch=epoch, owner=owner)
