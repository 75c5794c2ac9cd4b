"""The cells that follow from the dummies of one honest shuffler, whoever else works together."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

from croupier.accounting.exposure import Exposure
from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.metrics import Columns
from croupier.leakage.dummies import guess_among_dummies
from croupier.model.adversary import Adversary, Goal
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import NEAR, Metric
from croupier.numerics.rounding import float_above, float_below
from croupier.plan.plan import Plan
from croupier.shufflers.dummies import DummyTable

__all__ = ["DummyCells", "worst"]

_DECOYS = "a report hides among the dummies of its own value"
_SHARED = "exact law of the dummies, all values equally likely"


@dataclass(frozen=True)
class DummyCells:
    """The gains of everybody against one person, if one shuffler is honest and adds dummies.

    Attributes:
        plan: The plan.
        shuffler: The place of the honest shuffler, from 0.
        exposure: The privacy curve of its dummies.
        adversary: The adversary of the row.
        alone: True if the adversary knows or can drop everything else: then the exact law of the
            dummies is reached, and not only a bound.
    """

    plan: Plan
    shuffler: int
    exposure: Exposure
    adversary: Adversary
    alone: bool

    @property
    def _table(self) -> DummyTable:
        return self.plan.shufflers[self.shuffler].dummies.table  # type: ignore[union-attr]

    @property
    def columns(self) -> Columns:
        """The metrics that follow from the privacy curve."""
        return Columns(
            exposure=self.exposure,
            adversary=self.adversary,
            delta=self.plan.guarantee.delta or 0.0,
            values=self._values,
            windows=self.plan.windows,
            attacked=self.alone,
        )

    def cell(self, metric: Metric) -> Cell:
        """The gain in one metric."""
        columns = self.columns
        if metric is Metric.EPSILON:
            return columns.epsilon()
        if metric is Metric.GUESS_OF_TWO:
            return columns.guess_of_two()
        if metric is Metric.BAYES_SECURITY:
            return columns.bayes_security()
        if metric is Metric.REIDENTIFICATION:
            return self._link()
        if metric in NEAR:
            near = columns.within_informed()
            return near if metric is Metric.WITHIN_INFORMED else _about(near, metric)
        informed = self._informed(columns)
        return informed if metric is Metric.GUESS_INFORMED else _about(informed, metric)

    @property
    def _values(self) -> int:
        return min(question.domain.size for question in self.plan.randomizers)

    def _link(self) -> Cell:
        """The chance to point at a person's report: 1 in as many as there are of its value.

        It is an average over the dummies: where they happen to be none, the report is found. It
        is reached if the value of the report is known, which local noise prevents.
        """
        value = self._table.alone
        certain = self.plan.randomizer.shows_value
        exact = self.alone and certain and self.plan.shufflers[self.shuffler].kept == 1
        return self._cell(Metric.REIDENTIFICATION, Goal.LINK, value, _DECOYS, exact=exact)

    def _informed(self, columns: Columns) -> Cell:
        """The guess of a value with everybody else's known.

        One report that is the value with the chance p, any other with the chance q, and else
        nothing, is guessed with the chance 1/k + (p - q) (G - 1/k), G that of a report without
        noise: each count has the same law in all three cases but the first.
        """
        chances, k = self.plan.randomizer.answer_chances, self._values
        if chances is None or self.plan.reports > 1:
            return columns.guess_informed()
        own, other = chances
        told = self.plan.shufflers[self.shuffler].kept * (own - other)
        luck = Fraction(1, k)
        value = luck + told * (guess_among_dummies(self._table, values=k) - luck)
        return self._cell(Metric.GUESS_INFORMED, Goal.GUESS, value, _SHARED, exact=self.alone)

    def _cell(
        self, metric: Metric, wants: Goal, value: Fraction, theorem: str, *, exact: bool
    ) -> Cell:
        proved = Guarantee(
            metric=metric,
            value=float_above(value),
            direction=Direction.EXACT if exact else Direction.UPPER,
            adversary=replace(self.adversary, wants=wants),
            theorem=theorem,
            assumptions=self.exposure.assumptions,
        )
        attained = replace(proved, value=float_below(value)) if exact else None
        return Cell(metric=metric, proved=proved, attained=attained)


def worst(cells: Iterable[Cell]) -> Cell:
    """Return the cell in which most is gained, or one in which nothing is proved."""

    def gain(cell: Cell) -> tuple[bool, float]:
        if cell.proved is None:
            return True, 0.0
        return False, -cell.proved.value if cell.metric.protects else cell.proved.value

    return max(cells, key=gain)


def _about(cell: Cell, metric: Metric) -> Cell:
    """Keep the promise of an informed guess, which holds for an uninformed one, not its reach."""
    if cell.proved is None:
        return Cell(metric=metric, reason=cell.reason)
    return Cell(
        metric=metric, proved=replace(cell.proved, metric=metric, direction=Direction.UPPER)
    )
