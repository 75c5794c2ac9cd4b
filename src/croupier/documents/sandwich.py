"""A measured attack between what is proved from above and from below."""

from dataclasses import dataclass

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.ladder import Ladder
from croupier.auditing.attacks.attacks import Attacks, Played

__all__ = ["Sandwich", "sandwiches"]


@dataclass(frozen=True)
class Sandwich:
    """One attack beside the cell of the trust ladder that speaks of it.

    Attributes:
        played: What was measured.
        cell: What is proved; nothing for what no bound speaks of.
    """

    played: Played
    cell: Cell

    @property
    def refuted(self) -> bool:
        """Whether the attack did better than was proved possible, almost certainly."""
        return self.cell.promise is not None and self.played.refutes(self.cell.promise)

    @property
    def gap(self) -> float | None:
        """By which part of the proved limit the measurement stays below it."""
        limit = self.cell.promise.value if self.cell.promise else 0.0
        return 1 - self.played.evidence.measured / limit if limit else None


def sandwiches(ladder: Ladder, attacks: Attacks) -> tuple[Sandwich, ...]:
    """Every attack beside its cell."""
    return tuple(Sandwich(played, ladder[played.rung][played.metric]) for played in attacks)
