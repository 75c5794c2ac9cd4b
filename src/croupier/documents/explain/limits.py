"""The verdict on the page of a plan: green only for limits that somebody else set, or approved."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.table import who_is_looking
from croupier.assessment.ladder.text import limit_text
from croupier.assessment.policy import Check
from croupier.assessment.verdict import Verdict, allows_any_guess
from croupier.documents.explain.near import heading
from croupier.documents.explain.people.parties import all_of_them
from croupier.documents.explain.sentence import Form, Sentence, promised
from croupier.model.judgement import Judgement
from croupier.model.metric import Metric
from croupier.protocol.approval import Approval

__all__ = ["LimitRow", "VerdictLine", "demand_lines", "limit_rows", "verdict_line"]

_KINDS = {Judgement.NOT_MET: "not-met", Judgement.NO_LIMIT: "no-limits", Judgement.MET: "met"}


@dataclass(frozen=True, kw_only=True)
class VerdictLine:
    """The one line that is read first.

    Attributes:
        kind: How it looks; only "met" is green.
        judged: Whether the limits are met.
        besides: What else must be known.
    """

    kind: str
    judged: str
    besides: tuple[str, ...]


def verdict_line(ladder: Ladder, found: Check, approval: Approval | None = None) -> VerdictLine:
    """Judge the plan.

    It is all clear only if an organisation's policy is met and everything is bounded against the
    most exposed adversary whom the declared operators make real.
    """
    bare = _unlimited(ladder)
    besides = []
    if approval is not None:
        besides.append(f"Approved by {approval.by} on {approval.date}.")
    if found.met and found.own:
        besides.append("The plan sets these limits itself; nobody else has set or approved any.")
    if any(verdict.met and verdict.idle for verdict in found):
        besides.append(_idle(found))
    if ladder.plan.operators == "separate" and not ladder.plan.names_operators:
        besides.append(
            f"This assumes that separate operators run {all_of_them(ladder.plan)}; the plan does "
            f"not name {'both' if len(ladder.plan.shufflers) == 1 else 'all of them'}."
        )
    if found.unlimited and found.judgement is Judgement.NOT_MET:
        besides.append(_not_limited(found))
    if bare:
        named = ", ".join(metric.heading for metric in bare)
        besides.append(f"No limit is proved against {ladder.headline.rung} for: {named}.")
    kind = _KINDS[found.judgement]
    if found.met and (bare or found.own):
        kind = "partly" if bare else "own-limits"
    return VerdictLine(kind=kind, judged=_judged(found), besides=tuple(besides))


def _judged(found: Check) -> str:
    if found.judgement is Judgement.NOT_MET:
        failed = len(found.failed) + len(found.unmet)
        counts = sum(not verdict.met or verdict.limits_something for verdict in found)
        counts += len(found.demands)
        verb = "is" if failed == 1 else "are"
        return f"Not met: {failed} of {counts} limits {verb} not proved to be kept."
    if found.judgement is Judgement.NO_LIMIT:
        return _not_limited(found)
    counting = [verdict for verdict in found if verdict.limits_something]
    if found.own:
        return f"Met, the plan's own limits: {len(counting)} of {len(counting)} by proof."
    theirs = sum(verdict.organisation for verdict in counting) + len(found.demands)
    return f"All {theirs} limits of {found.owner} are met by proof."


def _not_limited(found: Check) -> str:
    """Say against whom nothing is limited."""
    rows = "; ".join(f"{rung} ({who_is_looking(found.plan, rung)})" for rung in found.unlimited)
    return f"No limit is set on what is learnt about an answer by: {rows}."


def _idle(found: Check) -> str:
    count = sum(verdict.met and not verdict.limits_something for verdict in found)
    more = "further limit" if count < len(found) else "limit"
    verb = " does" if count == 1 else "s do"
    return f"{count} {more}{verb} not count: the table of limits says why."


def _unlimited(ladder: Ladder) -> list[Metric]:
    """The metrics of which nothing short of near certainty is proved in the headline's row."""
    return [
        metric
        for metric, cell in ladder.headline.cells.items()
        if cell.proved is None or allows_any_guess(metric, cell.proved.value)
    ]


@dataclass(frozen=True, kw_only=True)
class LimitRow:
    """A limit beside what is proved.

    Attributes:
        verdict: What is said of it.
        number: The heading of its metric.
        owner: Who sets it.
        most: The limit.
        proved: What is promised, or why nothing is.
    """

    verdict: Verdict
    number: str
    owner: str
    most: str
    proved: Sentence


def limit_rows(found: Check) -> Iterator[LimitRow]:
    """Yield every limit beside what is proved."""
    for verdict in found:
        limit, cell, metric = verdict.limit, verdict.cell, verdict.limit.metric
        proved = Sentence(f"not bounded: {cell.reason}")
        if cell.proved is not None:
            number = promised(cell, limit.rung, form=Form.PROMISE)
            proved = Sentence(replace(number, direction=None))
        side = "at least" if metric.protects else "at most"
        most = limit_text(metric, limit.value)
        owner = found.owner if verdict.organisation else "the plan"
        yield LimitRow(
            verdict=verdict,
            number=heading(found.plan, metric),
            owner=owner,
            most=f"{side} {most}",
            proved=proved,
        )


_DEMANDED = {
    "max_delta": "a delta of at most {0:g}; the plan has {1:g}",
    "min_corrupt_fraction": "that at least {0:.6g} of a batch are taken to be corrupt; the plan "
    "takes {1:.6g}",
}


def demand_lines(found: Check) -> Iterator[str]:
    """Say what the policy demands of the plan's assumptions."""
    for demand in found.demands:
        what = _DEMANDED[demand.key].format(demand.limit, demand.value)
        yield f"The policy demands {what}: {'met' if demand.met else 'NOT MET'}."
