"""Everything that the page shows of one plan, part by part, the quickest first."""

from collections.abc import Iterator
from typing import Any

from croupier.assessment.advice import advice
from croupier.assessment.ladder.ladder import Ladder, columns
from croupier.assessment.ladder.rungs import Rungs
from croupier.assessment.policy import Check, checked, enough_people
from croupier.documents.explain.limits import limit_rows, verdict_line
from croupier.documents.explain.sentences import grown, proved_for, repeated, seen_on_the_wire
from croupier.documents.explain.summary.risk import if_they_collude, risks
from croupier.explorer.controls.panel import panel
from croupier.explorer.mock import result
from croupier.explorer.picture import column, row
from croupier.model.domain import Product
from croupier.model.judgement import Judgement
from croupier.model.metric import Metric
from croupier.model.rung import LUCK
from croupier.model.texts import Texts
from croupier.plan.plan import Plan

__all__ = ["Part", "state"]

Part = dict[str, Any]
"""One piece of an answer to the page."""


def state(plan: Plan, *, file: str) -> Iterator[Part]:
    """Yield everything that the page shows of a plan.

    A guess by somebody who knows nobody's answer can take seconds. Unless it is limited, it comes
    late, after a first verdict; the last one has advice, and knows of every number.

    Args:
        plan: The plan.
        file: The name of its file in commands.
    """
    yield {
        "part": "plan",
        "document": plan.document(),
        "digest": plan.digest,
        "title": plan.headline,
        "subtitle": _subtitle(plan),
        "proved_for": proved_for(plan),
        "file": file,
        "groups": [group.document() for group in panel(plan)],
    }
    yield {"part": "rows", "rows": [row(plan, rung) for rung in (LUCK, *plan.rungs)]}
    rungs, found = Rungs(plan), {}
    limited = {limit.metric for limit in plan.limits}
    late = {Metric.GUESS_UNINFORMED} & set(rungs.metrics) - limited
    for metric, cells in columns(rungs, (each for each in rungs.metrics if each not in late)):
        found[metric] = cells
        yield {"part": "column"} | column(plan, metric, rungs.blind.get(metric), cells, file=file)
    ladder = Ladder.of(rungs, found)
    check = checked(ladder)  # no limit is about a column that is late
    yield _verdict(ladder, check, [])
    yield {"part": "result"} | result(plan)
    yield _risk(ladder)
    for metric, cells in columns(rungs, late):
        found[metric] = cells
        yield {"part": "column"} | column(plan, metric, rungs.blind.get(metric), cells, file=file)
    yield _verdict(Ladder.of(rungs, found), check, _advice(ladder, check))


def _subtitle(plan: Plan) -> str:
    mechanisms = ", ".join(dict.fromkeys(each.mechanism for each in plan.randomizers))
    domain = plan.randomizers[0].domain
    if len(plan.questions) > 1:
        return f"{mechanisms}, {len(plan.questions):,} questions"
    if isinstance(domain, Texts):
        return f"{mechanisms}, texts of up to {domain.longest:,} letters"
    return mechanisms if isinstance(domain, Product) else f"{mechanisms}, {domain.size:,} values"


def _verdict(ladder: Ladder, check: Check, advised: list[str]) -> Part:
    """Return the verdict as the officer's page has it: never green for the plan's own limits."""
    line = verdict_line(ladder, check)
    return {
        "part": "verdict",
        "judgement": check.judgement.upper(),
        "kind": line.kind,
        "headline": ladder.headline.rung,
        "words": [line.judged, *line.besides],
        "limits": [
            {
                "rung": row.verdict.limit.rung,
                "metric": row.verdict.limit.metric,
                "heading": row.number,
                "limit": row.most,
                "proved": str(row.proved),
                "met": row.verdict.met,
                "idle": row.verdict.idle,
            }
            for row in limit_rows(check)
        ],
        "advice": advised,
    }


def _advice(ladder: Ladder, check: Check) -> list[str]:
    if check.judgement is Judgement.NO_LIMIT:
        return ['Add a limit under "What is acceptable".']
    if check.met:
        return []
    return [advice(ladder, check.failed, enough_people(ladder.plan, check.failed))]


def _risk(ladder: Ladder) -> Part:
    plan = ladder.plan
    told = [if_they_collude(ladder), repeated(ladder), grown(ladder), seen_on_the_wire(plan)]
    return {
        "part": "risk",
        "risks": [
            {
                "asked": one.asked,
                "most": str(one.most),
                "luck": str(one.luck),
                "who": one.who,
                "why": None if one.why is None else str(one.why),
            }
            for one in risks(ladder)
        ],
        "sentences": [str(sentence) for sentence in told if sentence is not None],
    }
