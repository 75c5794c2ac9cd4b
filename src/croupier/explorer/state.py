"""Everything that the page shows of one plan, part by part, the quickest first."""

from collections.abc import Iterator
from typing import Any

from croupier.assessment.advice import advice
from croupier.assessment.ladder.ladder import Ladder, columns
from croupier.assessment.ladder.rungs import Rungs
from croupier.assessment.ladder.text import NOT_BOUNDED, limit_text, proved_text
from croupier.assessment.policy import Check, checked, enough_people
from croupier.assessment.verdict import Verdict
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
    late, after the verdict.

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
    check = checked(ladder)  # needs no column that is late
    yield _verdict(ladder, check, [])
    yield {"part": "result"} | result(plan)
    yield _risk(ladder)
    for metric, cells in columns(rungs, late):
        yield {"part": "column"} | column(plan, metric, rungs.blind.get(metric), cells, file=file)
    if not check.met:
        enough = enough_people(plan, check.failed) if check.failed else None
        yield _verdict(ladder, check, _advice(ladder, check, enough))


def _subtitle(plan: Plan) -> str:
    mechanisms = ", ".join(dict.fromkeys(each.mechanism for each in plan.randomizers))
    domain = plan.randomizers[0].domain
    if len(plan.questions) > 1:
        return f"{mechanisms}, {len(plan.questions):,} questions"
    if isinstance(domain, Texts):
        return f"{mechanisms}, texts of up to {domain.longest:,} letters"
    return mechanisms if isinstance(domain, Product) else f"{mechanisms}, {domain.size:,} values"


def _verdict(ladder: Ladder, check: Check, advised: list[str]) -> Part:
    words = [f"Limits that are proved to be kept: {sum(one.met for one in check)} of {len(check)}."]
    if check.judgement is Judgement.NO_LIMIT:
        rows = " and ".join(check.unlimited)
        words = [f"No limit is set on what {rows} may learn about an answer."]
    return {
        "part": "verdict",
        "judgement": _JUDGEMENTS[check.judgement],
        "headline": ladder.headline.rung,
        "words": words,
        "limits": [_limit(verdict) for verdict in check],
        "advice": advised,
    }


_JUDGEMENTS = {
    Judgement.MET: "MET",
    Judgement.NOT_MET: "NOT MET",
    Judgement.NO_LIMIT: "NO LIMIT SET",
}


def _limit(verdict: Verdict) -> dict[str, Any]:
    limit, proved = verdict.limit, verdict.cell.proved
    return {
        "control": f"limit.{limit.rung}.{limit.key}",
        "rung": limit.rung,
        "metric": limit.metric.heading,
        "limit": limit_text(limit.metric, limit.value),
        "proved": NOT_BOUNDED if proved is None else proved_text(limit.metric, proved.value),
        "met": verdict.met,
        "idle": verdict.idle,
    }


def _advice(ladder: Ladder, check: Check, enough: int | None) -> list[str]:
    if check.judgement is Judgement.NO_LIMIT:
        return ['Add a limit under "What is acceptable".']
    return [advice(ladder, check.failed, enough)]


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
