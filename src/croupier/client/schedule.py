"""The turns of people: rounds in which they answer, send a null, or stay away.

Nothing here sees a value. Each turn is drawn once per collection and remembered.
"""

from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from croupier.errors import ParameterError
from croupier.numerics.keystream import Keystream
from croupier.plan.plan import Plan

__all__ = ["Turn", "draw_turn", "rounds_of_a_collection"]


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A person's turn in one collection.

    Attributes:
        answers: The round of the collection in which the report has content.
        first: The first round in which something is sent.
        last: The last such round; in all others between the two, a null is sent.
    """

    answers: int
    first: int
    last: int


def rounds_of_a_collection(plan: Plan) -> int:
    """Return the number of rounds in one collection, of which a person answers one."""
    return 1 if plan.participation_model.one_batch else plan.participation_model.rounds


def draw_turn(plan: Plan, *, group: int | None, rng: Keystream) -> Turn:
    """Draw a person's turn, independently of the value.

    Args:
        plan: The plan of the collection.
        group: The public group of a `divide` plan, or the bin of choice; without a
            choice a bin is drawn.
        rng: The source of the draw.
    """
    participation = plan.participation_model
    lots, grouping = participation.lots, participation.grouping
    if grouping == "none" and group is not None:
        raise ParameterError("group", must=f"be left out for {participation.model}")
    if grouping == "assigned" and group is None:
        raise ParameterError("group", must="be given: the plan divides people by groups")
    if group is None:
        own = rng.integer(len(lots)) if len(lots) > 1 else 0
    else:
        own = _group(group, len(lots))
    return _turn(plan, sum(map(len, lots[:own])), lots[own], rng)


def _turn(plan: Plan, start: int, weights: Any, rng: Keystream) -> Turn:
    drawn = rng.integer(sum(weights)) if len(weights) > 1 else 0
    answers = start + next(at for at, end in enumerate(accumulate(weights)) if drawn < end)
    if not plan.participation_model.padded:
        return Turn(answers=answers, first=answers, last=answers)
    return Turn(answers=answers, first=start, last=start + len(weights) - 1)


def _group(group: int, groups: int) -> int:
    if group not in range(groups):
        raise ParameterError("group", must=f"be in [0, {groups - 1}]", got=group)
    return group
