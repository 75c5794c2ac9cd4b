"""The parts of a plan's collection that the adversary on each rung sees."""

from dataclasses import dataclass

from croupier.model.adversary import Adversary, Goal
from croupier.model.rung import COMBINED, SEES, Rung, corrupts
from croupier.plan.plan import Plan

__all__ = ["RungViews"]


@dataclass(frozen=True, eq=False)
class RungViews:
    """The view of the adversary on each rung.

    Attributes:
        plan: The plan, assessed at its minimum batch.
    """

    plan: Plan

    @staticmethod
    def mixes(rung: str) -> bool:
        """Tell whether the adversary runs one shuffler, and sees only what is published."""
        return _place(rung) is not None

    @staticmethod
    def sees_all(rung: str) -> bool:
        """Tell whether all parties work together."""
        return rung != COMBINED and Rung(rung).sees_all

    def says_nothing(self, rung: str) -> bool:
        """Tell whether nothing is published to somebody who sees nothing else of the reports."""
        silent = self.plan.analyzer.publication == "none"
        return silent and (rung == Rung.ESTIMATE or self.mixes(rung))

    def sees_rows(self, rung: str) -> bool:
        """Tell whether the adversary sees reports one by one."""
        if rung == Rung.ESTIMATE or self.mixes(rung):
            return self.plan.analyzer.publication in ("sorted", "released-order")
        return True

    def reads_order(self, rung: str) -> bool:
        """Tell whether the adversary sees an order that reveals something."""
        if not self.plan.shuffling.alpha or self.mixes(rung):
            return False
        return rung != Rung.ESTIMATE or self.plan.analyzer.publication == "released-order"

    def knows_senders(self, rung: str) -> bool:
        """Tell whether the adversary sees every report with its sender.

        The only shuffler does if it is shown the reports in the order that it drew. One of two does
        not: the other one mixes as well.
        """
        shown = self.plan.analyzer.publication == "released-order"
        return self.sees_all(rung) or (rung == Rung.SHUFFLER and shown)

    def unknown_dummies(self, rung: str) -> list[int]:
        """The places of the shufflers whose dummies the adversary does not know."""
        adding = [place for place, made in enumerate(self.plan.dummies) if made is not None]
        return [place for place in adding if place != _place(rung) and not self.sees_all(rung)]

    def has_own_dummies(self, rung: str) -> bool:
        """Tell whether the adversary runs a shuffler that adds dummies, and not every party."""
        place = _place(rung)
        own = None if place is None else self.plan.dummies[place]
        return own is not None and not self.knows_senders(rung)

    @property
    def samples(self) -> bool:
        """Tell whether some shuffler drops reports by chance."""
        return any(each.kept < 1 for each in self.plan.shufflers)

    @property
    def reused(self) -> bool:
        """Tell whether several batches contain the same report of a person."""
        return self.plan.participation.noise == "reused" and self.plan.reports > 1

    @property
    def one_answer(self) -> bool:
        """Tell whether a person has one answer, and gives it for certain."""
        protocol = self.plan.participation_model
        if protocol.sampled:
            return False
        return protocol.rounds == 1 or (protocol.adaptive and len(self.plan.randomizers) == 1)

    @property
    def values(self) -> int:
        """The number of answers of the question with the fewest, the easiest to guess."""
        return min(question.domain.size for question in self.plan.randomizers)

    def adversary(self, rung: str, goal: Goal) -> Adversary:
        """Describe the adversary, with what it wants."""
        corrupt = self.plan.corrupt if corrupts(rung) else 0
        return Adversary(sees=SEES[rung], corrupt=corrupt, wants=goal)


def _place(rung: str) -> int | None:
    """Return the place of the one shuffler that the adversary runs, from 0; None for others."""
    return None if rung == COMBINED else Rung(rung).mixes
