"""Questions together: everybody answers all of them, in one report."""

from dataclasses import dataclass

from croupier.model.participation.base import Participation
from croupier.model.participation.crowd import Crowd, everybody
from croupier.numerics.validate import whole_number

__all__ = ["Together"]


@dataclass(frozen=True, kw_only=True)
class Together(Participation):
    """All questions are asked at once; each person answers all of them in one report.

    Attributes:
        questions: The number of questions.

    Example:
        >>> [crowd.people for crowd in Together(questions=3).crowds(10, rounds_seen=True)]
        [10]
    """

    model = "together"
    adaptive = False

    questions: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "questions", whole_number("questions", self.questions, least=1))

    @property
    def rounds(self) -> int:
        """The number of questions."""
        return self.questions

    @property
    def one_batch(self) -> bool:
        """True: all questions share a batch."""
        return True

    @property
    def answers_all(self) -> bool:
        """True: a report answers every question."""
        return True

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Everybody: there is one batch."""
        del rounds_seen
        return everybody(n)
