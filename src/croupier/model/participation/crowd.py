"""Those among whom a person hides."""

import math
from dataclasses import dataclass
from fractions import Fraction

from croupier.numerics.validate import number_of_people

__all__ = ["Crowd", "equal_groups", "everybody"]


@dataclass(frozen=True)
class Crowd:
    """Those among whom a person hides.

    Attributes:
        probability: The chance that the person is in this crowd, given the group.
        people: From how many people, the person included, the crowd is drawn.
        share: With what chance each of the others is in it.
        group: The public group, or bin, to which the person belongs; no coin decides it.
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
        """How often a guess at one of the crowd is right, if who is in it is seen and no more.

        The mean of 1/(1 + Bin(people - 1, share)): (1 - (1 - share)^people)/(people share), where
        that is no fraction of small numbers rounded up by 1e-14 of it.
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
