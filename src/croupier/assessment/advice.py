"""Advice where limits of a policy are not met: only what can work, by cause."""

from collections.abc import Iterator, Sequence
from importlib.util import find_spec

from croupier.assessment.ladder.cause import cause, dummies_hide
from croupier.assessment.ladder.cell import is_vacuous
from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.verdict import Verdict
from croupier.errors import how_to_install
from croupier.model.metric import Metric
from croupier.model.rung import Rung

__all__ = ["advice", "bounding"]

_LIARS = (
    "Liars move less where devices add less noise: raise max_epsilon_local, or let shufflers add "
    "dummies in its place. See: croupier design --max-manipulation."
)


def advice(ladder: Ladder, failed: Sequence[Verdict], enough: int | None) -> str:
    """Say what to change so that limits that are not met can be met.

    Args:
        ladder: What is proved.
        failed: The limits that are not met.
        enough: The minimum batch that would be enough; None if there is none.
    """
    if ladder.plan.reports > 1 and find_spec("dp_accounting") is None:
        return f"Rounds are added up: a loose bound. {how_to_install('composition')}"
    if enough is not None:
        return f"Try minimum_batch = {enough:_}"
    beyond = dict.fromkeys(v.limit.metric.heading for v in failed if _is_beyond_luck(ladder, v))
    if beyond:
        return f"No plan beats luck alone: change the limit of {' and '.join(beyond)}."
    if any(_is_always_traced(verdict) for verdict in failed):
        return (
            "All shufflers and the analyzer together know whose report is whose: drop the limit of "
            f"{Metric.REIDENTIFICATION.heading} there."
        )
    remedies = list(dict.fromkeys(each for v in failed for each in _remedies(ladder, v)))
    if remedies:
        return " ".join(remedies)
    return (
        "No limit can be met where nothing is bounded: drop it, or change the plan."
        if any(verdict.cell.proved is None for verdict in failed)
        else f"No minimum batch is enough: {_less(ladder, failed)}."
    )


def bounding(ladder: Ladder, rung: Rung) -> str:
    """Say what would bound epsilon on a row where nothing does; empty if it is bounded."""
    if ladder[rung].epsilon is not None:
        return ""
    found = cause(ladder.plan, rung)
    return f"Nothing bounds {rung}, since {found.reason}: {found.remedy}."


def _remedies(ladder: Ladder, verdict: Verdict) -> Iterator[str]:
    """Yield what would bound each row of a limit that is not met.

    Where no epsilon is proved, a guess may be certain, or limited by something else. Noise on the
    device does not keep a report from being traced, nor does it change the order.
    """
    metric, rows = verdict.limit.metric, verdict.rows
    dropped = Rung.ALL_BUT_ONE in rows and not dummies_hide(ladder.plan, Rung.ALL_BUT_ONE)
    if metric is Metric.REIDENTIFICATION and dropped:
        yield "Whoever drops all other reports finds yours: let both shufflers add dummies."
    if metric is Metric.MANIPULATION and verdict.cell.proved is not None:
        yield _LIARS
    if metric in (Metric.REIDENTIFICATION, Metric.ALPHA, Metric.MANIPULATION):
        return
    if metric is Metric.EPSILON_PERMANENT and verdict.cell.proved is None:
        yield "Fresh noise adds up for ever: use memoised-k-rr."
        return
    if metric.is_epsilon or verdict.cell.proved is None or is_vacuous(verdict.cell):
        yield from filter(None, (bounding(ladder, rung) for rung in rows))


def _less(ladder: Ladder, failed: Sequence[Verdict]) -> str:
    """Name the parameters that lower what is proved on the rows of limits that are not met."""
    plan, rows = ladder.plan, [rung for verdict in failed for rung in verdict.rows]
    made = [each.dummies.delta for each in plan.shufflers if each.dummies is not None]
    rare = plan.reports * max(made, default=0.0) <= (plan.guarantee.delta or 0.0)
    rare |= all(verdict.limit.metric is not Metric.EPSILON for verdict in failed)
    dummies = rare and all(dummies_hide(plan, rung) for rung in rows)
    noisy = all(not made.shows_value for made in plan.randomizers)
    changes = ["the epsilon of dummies"] * dummies + ["max_epsilon_local"] * noisy
    if not changes:
        return "drop the limit, or change who sees what"
    text = f"lower {', or '.join(changes)}"
    return text if any(plan.dummies) else f"{text}, or run croupier design"


def _is_always_traced(verdict: Verdict) -> bool:
    """Tell whether a limit is about tracing reports, and the adversary knows their senders."""
    traced = verdict.limit.metric is Metric.REIDENTIFICATION
    return traced and any(rung.sees_all for rung in verdict.rows)


def _is_beyond_luck(ladder: Ladder, verdict: Verdict) -> bool:
    """Tell whether a limit asks for more than what holds if the adversary sees nothing."""
    metric, limit = verdict.limit.metric, verdict.limit.value
    if metric is Metric.REIDENTIFICATION:
        hidden = all(dummies_hide(ladder.plan, rung) for rung in verdict.rows)
        return limit * ladder.plan.population.enrolled < 1 and not hidden
    luck = ladder.blind[metric].proved
    if luck is None:
        return False
    return limit >= luck.value if metric.protects else limit <= luck.value
