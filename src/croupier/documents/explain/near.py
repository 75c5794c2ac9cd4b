"""The distance w of guesses of a number, beside the words that speak of it."""

from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.table import ladder_meanings
from croupier.model.metric import NEAR, Metric
from croupier.plan.plan import Plan

__all__ = ["heading", "meanings", "off_by"]

_W = "to within w"


def off_by(plan: Plan) -> str:
    """Say how far a guess of a number may be off: a distance per question about a number."""
    return " or ".join(dict.fromkeys(f"{window.within:g}" for window in plan.windows))


def heading(plan: Plan, metric: Metric) -> str:
    """Return the heading of a metric, with its distance if it has one."""
    if metric in NEAR and plan.windows:
        return f"{metric.heading} (w = {off_by(plan)})"
    return metric.heading


def meanings(ladder: Ladder) -> dict[str, str]:
    """Return the meaning of every column of the ladder by its heading."""
    near = f"{_W} = {off_by(ladder.plan)}"
    return {head: said.replace(_W, near) for head, said in ladder_meanings(ladder).items()}
