"""The largest shift of an estimate by the corrupt people of a plan, as a proved number."""

from croupier.assessment.ladder.cell import Cell
from croupier.model.adversary import Adversary
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.numerics.rounding import float_above
from croupier.plan.plan import Plan

__all__ = ["manipulation"]

_PROOF = "the largest difference between the scores of two reports, times the share of liars"
_DRAWN = "each part of what people draw has its expected number of answers"


def manipulation(plan: Plan) -> Cell:
    """Return the largest shift of an estimate by the corrupt people of the smallest batch.

    Direction: upper.
    """
    shift = plan.manipulation
    if shift is None:
        return Cell(
            metric=Metric.MANIPULATION, reason="no bound is known for a mechanism of the plan"
        )
    return Cell(
        metric=Metric.MANIPULATION,
        proved=Guarantee(
            metric=Metric.MANIPULATION,
            value=float_above(shift),
            direction=Direction.UPPER,
            adversary=Adversary(sees=frozenset(), corrupt=plan.corrupt),
            theorem=_PROOF,
            assumptions=(_DRAWN,),
        ),
    )
