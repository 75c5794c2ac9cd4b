"""Subsampling: a fresh random batch in each round."""

from dataclasses import dataclass
from fractions import Fraction

from croupier.model.participation.base import Participation
from croupier.model.participation.crowd import Crowd
from croupier.numerics.validate import number_of_people, whole_number

__all__ = ["Subsample"]


@dataclass(frozen=True, kw_only=True)
class Subsample(Participation):
    """The shuffler asks a fresh random batch in each round.

    Attributes:
        repeats: The number of rounds.
        batch: The number of people who are asked in each.
    """

    model = "subsample"
    adaptive = True

    repeats: int
    batch: int

    def __post_init__(self) -> None:
        for name in ("repeats", "batch"):
            object.__setattr__(self, name, number_of_people(name, getattr(self, name), least=1))

    @property
    def rounds(self) -> int:
        """One round per repeat."""
        return self.repeats

    @property
    def sampled(self) -> bool:
        """True: every round asks a sample."""
        return True

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """The batch of one round: by chance or, if rounds are seen, for certain."""
        share = self.chance(n)
        probability = Fraction(1) if rounds_seen else share
        return (Crowd(probability, self.batch, Fraction(1)),)

    def chance(self, n: int) -> Fraction:
        """The share of the people who are sampled."""
        people = number_of_people("n", n, least=1)
        whole_number("batch", self.batch, least=1, most=people)
        return Fraction(self.batch, people)

    @property
    def batches(self) -> int:
        """One batch per round."""
        return self.rounds

    def messages(self, n: int) -> tuple[Fraction, int]:
        """Some rounds on average, all of them at most."""
        return self.rounds * self.chance(n), self.rounds
