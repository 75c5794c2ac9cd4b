"""One question, one batch."""

from dataclasses import dataclass

from croupier.model.participation.base import Participation
from croupier.model.participation.crowd import Crowd, everybody

__all__ = ["SingleRound"]


@dataclass(frozen=True, kw_only=True)
class SingleRound(Participation):
    """Everybody answers the one question, in one batch."""

    model = "single"
    adaptive = False

    @property
    def rounds(self) -> int:
        """One."""
        return 1

    @property
    def one_batch(self) -> bool:
        """True: there is only one batch."""
        return True

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Everybody."""
        del rounds_seen
        return everybody(n)
