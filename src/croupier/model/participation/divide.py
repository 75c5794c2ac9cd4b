"""Public groups, one question each."""

from dataclasses import dataclass

from croupier.model.participation.base import Participation
from croupier.model.participation.crowd import Crowd, equal_groups
from croupier.numerics.validate import number_of_people

__all__ = ["Divide"]


@dataclass(frozen=True, kw_only=True)
class Divide(Participation):
    """Public groups of people, each of which answers one question in a batch of its own.

    Attributes:
        groups: The number of groups, of nearly equal size.

    Example:
        >>> [crowd.people for crowd in Divide(groups=3).crowds(10, rounds_seen=True)]
        [4, 3, 3]
    """

    model = "divide"
    adaptive = True
    grouping = "assigned"

    groups: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", number_of_people("groups", self.groups, least=1))

    @property
    def rounds(self) -> int:
        """One round per group."""
        return self.groups

    @property
    def lots(self) -> tuple[tuple[int, ...], ...]:
        """The round of each group."""
        return ((1,),) * self.groups

    def crowds(self, n: int, *, rounds_seen: bool) -> tuple[Crowd, ...]:
        """The person's own group, which is public anyway."""
        del rounds_seen
        return equal_groups(n, self.groups)
