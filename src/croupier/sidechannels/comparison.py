"""Models that others proposed, for rows of a comparison; croupier deploys none of them."""

from dataclasses import dataclass
from fractions import Fraction

from croupier.errors import ParameterError
from croupier.model.participation import Crowd, Participation
from croupier.numerics.validate import number_of_people

__all__ = ["RandomCheckIn", "ShuffleThenRandomize"]

_NEGLIGIBLE = Fraction(1, 10**30)


@dataclass(frozen=True, kw_only=True)
class ShuffleThenRandomize(Participation):
    """One person per round, in random order: an observer of the order traces every report.

    Attributes:
        people: The number of people, hence of rounds.

    Reference: wang2025, Definition 5 and Theorem 1.
    """

    model = "shuffle-then-randomize"
    adaptive = True

    people: int

    @property
    def rounds(self) -> int:
        """One round per person."""
        return self.people

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """Everybody, or nobody else if rounds are seen."""
        n = number_of_people("n", n, least=self.people, most=self.people)
        return (Crowd(Fraction(1), 1 if rounds_seen else n, Fraction(1)),)


@dataclass(frozen=True, kw_only=True)
class RandomCheckIn(Participation):
    """Each person picks one of K slots by lot; each slot keeps one of its people by lot.

    A person is kept with probability (K/n)(1 - (1 - 1/K)^n), at most K/n, and then sits in a
    uniform one of K slots. Nobody shuffles the others' reports, but clones still hide the person
    among K. Proof: reveal which slots hold no clone; among the rest every other slot says either
    value with equal chances, and by symmetry the person's slot is a uniform one of them, so that
    only the number of slots that say each value counts.

    Holds when all slots are taken. Numbers for which that fails with a probability above 1e-30 are
    refused; delta holds up to that probability.

    Attributes:
        slots: K.
    """

    model = "random-check-in"
    adaptive = True

    slots: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "slots", number_of_people("slots", self.slots, least=2))

    @property
    def rounds(self) -> int:
        """One round per slot."""
        return self.slots

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """The slots, or nobody else if the person's slot is seen; in either case only if kept."""
        other = 1 - Fraction(1, self.slots)
        if self.slots * float(other) ** (n - 1) > _NEGLIGIBLE:
            raise ParameterError("n", must=f"be far above the {self.slots:,} slots", got=n)
        kept = min(Fraction(1), Fraction(self.slots, n))
        return (Crowd(kept, 1 if rounds_seen else self.slots, Fraction(1)),)
