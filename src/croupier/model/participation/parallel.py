"""All questions at once, of which each person answers one."""

from dataclasses import dataclass

from croupier.model.participation.crowd import Crowd, everybody
from croupier.model.participation.rectifiable import Rectifiable, checked_weights

__all__ = ["Parallel"]


@dataclass(frozen=True, kw_only=True)
class Parallel(Rectifiable):
    """All questions are asked at once; each person secretly answers one, drawn by lot.

    Attributes:
        weights: How likely each question is, as integers.
        rectified: Whether all answers are padded to one length.
    """

    plain = "parallel"
    adaptive = False

    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", checked_weights(self.weights))

    @property
    def rounds(self) -> int:
        """One a question."""
        return len(self.weights)

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
