"""The adversary: what is seen, known, controlled and wanted."""

from dataclasses import dataclass
from enum import StrEnum

from croupier.numerics.validate import number_of_people

__all__ = ["Adversary", "Goal", "Knowledge", "View"]


class View(StrEnum):
    """One thing that can be observed."""

    ESTIMATE = "published estimates"
    BATCH = "rows of the released batch"
    PARTICIPATION = "who sent something in which round"
    LENGTHS = "message lengths"
    COUNTS = "messages per person"
    CIPHERTEXT_LINKS = "which sealed envelope is whose"
    HANDED_OVER = "sealed rows that another shuffler has mixed"
    REPORTS = "every report with its sender"


class Knowledge(StrEnum):
    """Prior knowledge about the other people."""

    NOTHING = "nothing about anybody"
    EVERYONE_ELSE = "the value of everybody else"


class Goal(StrEnum):
    """The aim of the adversary."""

    DISTINGUISH = "tell two values of one person apart"
    LINK = "find the sender of a report"
    GUESS = "guess the value of one person"


@dataclass(frozen=True, kw_only=True)
class Adversary:
    """An adversary: what it sees and knows, how many people it corrupts, what it wants.

    Example:
        >>> reader = Adversary(sees={View.BATCH})
        >>> reader.at_most(Adversary(sees={View.BATCH, View.LENGTHS}, corrupt=10))
        True
    """

    sees: frozenset[View]
    knows: Knowledge = Knowledge.EVERYONE_ELSE
    corrupt: int = 0
    wants: Goal = Goal.DISTINGUISH

    def __post_init__(self) -> None:
        object.__setattr__(self, "sees", frozenset(self.sees))
        object.__setattr__(self, "corrupt", number_of_people("corrupt", self.corrupt, least=0))

    def at_most(self, other: "Adversary") -> bool:
        """Tell whether `other` wants the same and sees, knows and corrupts at least as much."""
        return (
            self.wants == other.wants
            and self.sees <= other.sees
            and self.corrupt <= other.corrupt
            and other.knows in (self.knows, Knowledge.EVERYONE_ELSE)
        )

    def __str__(self) -> str:
        seen = ", ".join(sorted(self.sees)) or "nothing"
        corrupt = f", with {self.corrupt:,} corrupt people" if self.corrupt else ""
        return f"sees {seen}; knows {self.knows}{corrupt}; wants to {self.wants}"
