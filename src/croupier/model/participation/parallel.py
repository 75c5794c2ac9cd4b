"""Parallel participation: all questions at once, of which each person answers one."""

from dataclasses import dataclass

from croupier.model.participation.crowd import Crowd, everybody
from croupier.model.participation.rectifiable import Weighted

__all__ = ["Parallel"]


@dataclass(frozen=True, kw_only=True)
class Parallel(Weighted):
    """All questions are asked at once; each person secretly answers one, drawn by lot.

    Attributes:
        weights: The weight of each question, as integers.
        rectified: True if all answers are padded to one length.
    """

    plain = "parallel"
    adaptive = False

    @property
    def one_batch(self) -> bool:
        """True: all questions share a batch."""
        return True

    @property
    def question_weights(self) -> tuple[int, ...]:
        """The weights."""
        return self.weights

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Everybody: there is one batch."""
        del rounds_seen
        return everybody(n)
