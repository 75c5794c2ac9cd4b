"""One entry of the trust ladder: a guarantee, and what is known from the other side."""

from dataclasses import dataclass, replace
from enum import StrEnum

from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.numerics.rounding import AtLeast, AtMost

__all__ = ["Cell", "Status", "best", "bound_only", "is_vacuous"]


class Status(StrEnum):
    """The status of a number; only a proved one satisfies a policy."""

    PROVED = "proved"
    SCANNED = "scanned"
    CONJECTURED = "conjectured"
    NOT_BOUNDED = "not-bounded"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The gain of one adversary in one metric.

    Attributes:
        metric: The measure.
        proved: The proved limit: a ceiling of the gain, or a floor of the protection.
        attained: The gain that an attack is proved to reach; None if nothing is known.
        reason: The reason why nothing is promised.
    """

    metric: Metric
    proved: Guarantee | None = None
    attained: Guarantee | None = None
    reason: str = ""

    @property
    def status(self) -> Status:
        """Proved, or not bounded."""
        return Status.NOT_BOUNDED if self.proved is None else Status.PROVED

    @property
    def upper(self) -> AtMost | None:
        """The largest value that the truth may have."""
        end = self.attained if self.metric.protects else self.proved
        return None if end is None else AtMost(end.value)

    @property
    def lower(self) -> AtLeast | None:
        """The least value that the truth may have."""
        end = self.proved if self.metric.protects else self.attained
        return None if end is None else AtLeast(end.value)

    @property
    def proved_value(self) -> AtLeast | AtMost | None:
        """The proved end, as a number that is rounded to its safe side."""
        return self.lower if self.metric.protects else self.upper

    @property
    def exact(self) -> bool:
        """True if the promise is the exact value."""
        return self.proved is not None and self.proved.direction is Direction.EXACT

    def renamed(self, metric: Metric) -> "Cell":
        """Return the cell under another metric for which it holds."""

        def about(claim: Guarantee | None) -> Guarantee | None:
            return None if claim is None else replace(claim, metric=metric)

        proved, attained = about(self.proved), about(self.attained)
        return replace(self, metric=metric, proved=proved, attained=attained)

    def met_by(self, limit: float) -> bool:
        """Tell whether the promise proves that the limit is kept."""
        return self.proved is not None and self.proved.proves(_side(self.metric), limit)


def best(cell: Cell, *, stronger: Cell | None = None, weaker: Cell | None = None) -> Cell:
    """Improve a cell by what follows from adversaries who see more, or less.

    A promise against somebody who sees more holds here; so does a gain attained by somebody who
    sees less. An exact value for them is a bound here.
    """
    proved, attained = cell.proved, cell.attained
    if stronger is not None and not is_vacuous(stronger):
        theirs = stronger.proved
        if theirs and (proved is None or _gains_less(cell.metric, theirs, proved)):
            proved = replace(theirs, direction=_side(cell.metric))
    if weaker is not None:
        theirs = weaker.attained
        if theirs and (attained is None or _gains_less(cell.metric, attained, theirs)):
            attained = replace(theirs, direction=_side(cell.metric, attained=True))
    return Cell(
        metric=cell.metric,
        proved=proved,
        attained=attained,
        reason="" if proved else cell.reason,
    )


def bound_only(cell: Cell) -> Cell:
    """Return the promise of a cell without what is reached, and not as the exact value."""
    if cell.proved is None:
        return replace(cell, attained=None)
    proved = replace(cell.proved, direction=_side(cell.metric))
    return replace(cell, proved=proved, attained=None)


def _side(metric: Metric, *, attained: bool = False) -> Direction:
    """The side of the truth on which a promise, or an attained gain, lies."""
    return Direction.LOWER if metric.protects is not attained else Direction.UPPER


def _gains_less(metric: Metric, first: Guarantee, second: Guarantee) -> bool:
    return first.value > second.value if metric.protects else first.value < second.value


def is_vacuous(cell: Cell) -> bool:
    """Tell whether the promise holds for any plan: that the sender of a report may be known."""
    probability = not (cell.metric.is_epsilon or cell.metric is Metric.ALPHA)
    worst = 0.0 if cell.metric.protects else 1.0
    return probability and cell.proved is not None and cell.proved.value == worst
