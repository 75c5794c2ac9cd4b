"""The order of a plan without groups: uniform over everybody, so that it reveals nothing."""

from croupier.assessment.ladder.cell import Cell
from croupier.model.adversary import Adversary, View
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.model.rung import Rung

__all__ = ["uniform_alpha"]

_DRAWN_THERE = "whoever draws the order knows it"


def uniform_alpha(rung: str) -> Cell:
    """The alpha of a uniform order of everybody: 0, except for whoever draws the order.

    Every order is equally likely whoever sent what, so that the odds of two assignments move by
    exp(0), for any groups. One of two shufflers does not know the order that the other draws.

    >>> uniform_alpha("batch").upper, uniform_alpha("collusion").reason
    (0.0, 'whoever draws the order knows it')
    """
    if rung in (Rung.SHUFFLER, Rung.COLLUSION, Rung.EVERYBODY):
        return Cell(metric=Metric.ALPHA, reason=_DRAWN_THERE)
    nothing = Guarantee(
        metric=Metric.ALPHA,
        value=0.0,
        direction=Direction.EXACT,
        adversary=Adversary(sees=frozenset({View.BATCH})),
        theorem="uniform order of everybody",
    )
    return Cell(metric=Metric.ALPHA, proved=nothing, attained=nothing)
