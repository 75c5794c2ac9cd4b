"""One entry of the trust ladder: what is promised, what is known from the other side."""

from dataclasses import dataclass, replace
from enum import StrEnum

from croupier.model.guarantee import Direction, Guarantee, Metric
from croupier.numerics.rounding import AtLeast, AtMost

__all__ = ["Cell", "Status", "best"]


class Status(StrEnum):
    """How sure a number is; only what is proved satisfies a policy."""

    PROVED = "proved"
    SCANNED = "scanned"
    CONJECTURED = "conjectured"
    NOT_BOUNDED = "not-bounded"


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What one adversary gains in one metric.

    Attributes:
        metric: What is measured.
        proved: The proved limit of what is gained: a ceiling, or a floor of what protects.
        attained: What an attack is proved to gain; None where nothing is known.
        reason: Why nothing is promised.
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
        """The end that is proved, as a number that knows its side."""
        return self.lower if self.metric.protects else self.upper

    @property
    def exact(self) -> bool:
        """Whether the promise is the truth."""
        return self.proved is not None and self.proved.direction is Direction.EXACT

    def met_by(self, limit: float) -> bool:
        """Whether the promise proves that the limit is kept."""
        return self.proved is not None and self.proved.proves(_side(self.metric), limit)


def best(cell: Cell, *, stronger: Cell | None = None, weaker: Cell | None = None) -> Cell:
    """The cell with what follows from adversaries who see more, or less.

    What is promised against somebody who sees more holds here; so does what is attained by somebody
    who sees less. What is exact for them is a bound here.
    """
    proved, attained = cell.proved, cell.attained
    if stronger is not None and not _vacuous(stronger):
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


def _side(metric: Metric, *, attained: bool = False) -> Direction:
    """On which side of the truth a promise lies, or what is attained."""
    return Direction.LOWER if metric.protects is not attained else Direction.UPPER


def _gains_less(metric: Metric, first: Guarantee, second: Guarantee) -> bool:
    return first.value > second.value if metric.protects else first.value < second.value


def _vacuous(cell: Cell) -> bool:
    """Whether the promise holds for any plan: that the sender of a report may be known."""
    probability = cell.metric is not Metric.EPSILON and cell.metric is not Metric.ALPHA
    worst = 0.0 if cell.metric.protects else 1.0
    return probability and cell.proved is not None and cell.proved.value == worst
