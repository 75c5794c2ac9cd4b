"""Causes why no epsilon is proved on a row of the ladder, and what would bound it."""

from dataclasses import dataclass

from croupier.model.rung import COMBINED, Rung
from croupier.numerics.rounding import delta_text
from croupier.plan.plan import Plan

__all__ = ["Unbounded", "cause", "dummies_hide"]

_SENT = "the device sends the answer itself"
_NOISE = 'add noise on the device (mechanism = "k-rr" with max_epsilon_local)'
_SILENT = 'publish nothing (publication = "none")'


@dataclass(frozen=True)
class Unbounded:
    """The cause why no epsilon is proved.

    Attributes:
        reason: The cause, as a clause.
        remedy: The changes of the plan of which each one bounds epsilon, as a clause.
    """

    reason: str
    remedy: str


def cause(plan: Plan, rung: str) -> Unbounded:
    """Find why no epsilon is proved against the adversary on a row.

    Holds when the row's epsilon is not bounded: noise on the device alone does not bound it, and
    neither do dummies that the adversary does not know.
    """
    if not any(made.shows_value for made in plan.randomizers):
        return Unbounded("no epsilon is reached at this delta", "raise guarantee.delta")
    known = Rung.CLIENTS if rung == COMBINED else Rung(rung)
    if dummies_hide(plan, known):
        return _beyond_delta(plan)
    if known.sees_all:
        return Unbounded(f"{_SENT}, and every report is seen with its sender", _NOISE)
    if known.mixes is not None:
        return _own_dummies_only(plan, known.mixes)
    bare = _called(plan.dummies.index(None))
    return Unbounded(
        f"{_SENT}, and {bare} adds no dummies if it is the honest one",
        f"let both shufflers add dummies, or {_NOISE}",
    )


def dummies_hide(plan: Plan, rung: Rung) -> bool:
    """Tell whether dummies that the adversary on a row does not know hide a report there."""
    if rung.sees_all:
        return False
    if rung is Rung.ALL_BUT_ONE:
        return None not in plan.dummies
    return any(table for place, table in enumerate(plan.dummies) if place != rung.mixes)


def _own_dummies_only(plan: Plan, place: int) -> Unbounded:
    """The cause for somebody who runs the only shuffler that adds dummies."""
    if len(plan.shufflers) == 1:
        reason = f"{_SENT}, and whoever runs the shuffler knows its dummies"
        return Unbounded(reason, f"add a second shuffler with dummies, {_NOISE}, or {_SILENT}")
    other = _called(1 - place)
    reason = f"{_SENT}, and {other} adds no dummies"
    return Unbounded(reason, f"let {other} add dummies, {_NOISE}, or {_SILENT}")


def _beyond_delta(plan: Plan) -> Unbounded:
    """The cause where dummies protect, but fail more often than the plan's delta allows."""
    delta = plan.guarantee.delta or 0.0
    rounds = f" in {plan.reports:,} rounds" if plan.reports > 1 else ""
    share = f"guarantee.delta / {plan.reports}" if plan.reports > 1 else "guarantee.delta"
    return Unbounded(
        f"dummies fail{rounds} with a larger chance than delta {delta_text(delta)}",
        f"lower the delta of dummies to {share}, or raise guarantee.delta",
    )


def _called(place: int) -> str:
    return f"the {('first', 'second')[place]} shuffler"
