"""The leak of a collection that goes on: for one report, a month, a year and for ever."""

import math
from dataclasses import dataclass
from datetime import timedelta

from croupier.accounting.blanket import upper_curve
from croupier.accounting.exposure import Exposure
from croupier.assessment.ladder.exposures import exposures
from croupier.assessment.ladder.rungs import Rungs
from croupier.model.rung import Rung

__all__ = ["Period", "periods"]

_LENGTHS = {
    "one report": None,
    "30 days": timedelta(days=30),
    "365 days": timedelta(days=365),
}
_NO_END = "none"
_PERMANENT = "all reports are made from one permanent answer (data processing)"


@dataclass(frozen=True, kw_only=True)
class Period:
    """The proofs for all that one person answers within some time.

    Attributes:
        name: The time, in words.
        theorem: The proof against a reader of the batches.
        answers: The most answers of one person; None if there is no end of them.
        batch: The epsilon against a reader of the batches; None if there is no limit.
        batch_of_same: The same if the same people are in every batch, which nothing enforces.
        known: The epsilon against somebody who knows the sender of every report; None if there is
            no limit.
    """

    name: str
    theorem: str
    answers: int | None
    batch: float | None
    batch_of_same: float | None
    known: float | None


def periods(rungs: Rungs) -> tuple[Period, ...]:
    """Prove epsilon for one report, 30 days, 365 days and for ever; nothing without a window.

    Fresh noise composes. Where devices keep a permanent answer, its epsilon is never exceeded. If
    the same people are in every batch, all batches are made from the counts of their permanent
    answers, as a batch of these would show them: then they hide among each other for ever.

    Holds at the minimum batch and the plan's delta, as `assess` does.
    Direction: upper.
    """
    plan = rungs.plan
    if plan.collection.window is None:
        return ()
    delta = plan.guarantee.delta or 0.0
    kept = rungs.local.kept
    [readers] = exposures(rungs, Rung.BATCH)
    ever = (math.inf, _NO_END) if kept is None else (kept.epsilon_permanent, _PERMANENT)
    together = min(ever[0], _among_the_same(rungs, delta))
    found = []
    for name, length in _LENGTHS.items():
        number = 1 if length is None else plan.collection.answers_within(length) or 1
        batch = min((_proved(each, number, delta) for each in readers), default=ever)
        known = _proved(rungs.local, number, delta)[0]
        found.append(_period(name, batch, together, known, answers=number))
    return (*found, _period("for ever", ever, together, ever[0], answers=None))


def _among_the_same(rungs: Rungs, delta: float) -> float:
    """Bound what counts of permanent answers say of one person; infinite if none are kept."""
    kept, crowd = rungs.local.kept, rungs.exposure(Rung.BATCH).hidden
    if kept is None or crowd is None:
        return math.inf
    curve = upper_curve(kept.permanent, n=crowd.honest, report_probability=crowd.share)
    return curve.epsilon(delta)


def _proved(exposure: Exposure, answers: int, delta: float) -> tuple[float, str]:
    several = exposure.of(answers)
    return several.epsilon(delta), several.theorem


def _period(
    name: str, batch: tuple[float, str], together: float, known: float, *, answers: int | None
) -> Period:
    value, theorem = batch
    ends = (value, min(value, together), known)
    batch_end, same_end, known_end = (each if math.isfinite(each) else None for each in ends)
    return Period(
        name=name,
        theorem=theorem,
        answers=answers,
        batch=batch_end,
        batch_of_same=same_end,
        known=known_end,
    )
