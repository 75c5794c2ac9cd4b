"""All questions at once, of which each person answers one."""

from dataclasses import dataclass

from croupier.model.participation.crowd import Crowd, everybody
from croupier.model.participation.rectifiable import Weighted

__all__ = ["Parallel"]


@dataclass(frozen=True, kw_only=True)
class Parallel(Weighted):
    """All questions are asked at once; each person secretly answers one, drawn by lot.

    Attributes:
        weights: How likely each question is, as integers.
        rectified: Whether all answers are padded to one length.
    """

    plain = "parallel"
    adaptive = False

    @property
    def one_batch(self) -> bool:
        """That of all questions."""
        return True

    @property
    def question_weights(self) -> tuple[int, ...]:
        """The weights."""
        return self.weights

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Everybody: there is one batch."""
        del rounds_seen
        return everybody(n)
