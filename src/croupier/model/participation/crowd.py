"""The crowd in which a person hides."""

import math
from dataclasses import dataclass
from fractions import Fraction

from croupier.numerics.validate import number_of_people

__all__ = ["Crowd", "equal_groups", "everybody"]


@dataclass(frozen=True)
class Crowd:
    """The people among whom a person hides.

    Attributes:
        probability: The chance that the person is in this crowd, given the group.
        people: The number of people, the person included, from whom the crowd is drawn.
        share: The chance that each of the others is in it.
        group: The public group, or bin, to which the person belongs; it is not drawn at random.
    """

    probability: Fraction
    people: int
    share: Fraction
    group: int = 0

    @property
    def expected(self) -> float:
        """The expected number of people in the crowd, the person included."""
        return float(1 + (self.people - 1) * self.share)

    @property
    def blind_guess(self) -> Fraction:
        """The chance that a guess is right by luck alone, if only the crowd is seen.

        The mean of 1/(1 + Bin(people - 1, share)): (1 - (1 - share)^people)/(people share), rounded
        up by 1e-14 of itself unless it is a fraction of small numbers.
        """
        if self.share == 1:
            return Fraction(1, self.people)
        somebody = -math.expm1(self.people * math.log1p(-float(self.share)))
        return Fraction(somebody) / (self.people * self.share) * (1 + Fraction(1, 10**14))


def everybody(n: int) -> tuple[Crowd, ...]:
    """One crowd of all n people."""
    return (Crowd(Fraction(1), number_of_people("n", n, least=1), Fraction(1)),)


def equal_groups(n: int, groups: int) -> tuple[Crowd, ...]:
    """Groups of people whose sizes differ by at most one."""
    n = number_of_people("n", n, least=groups)
    sizes = [n // groups + (number < n % groups) for number in range(groups)]
    return tuple(Crowd(Fraction(1), size, Fraction(1), group) for group, size in enumerate(sizes))
