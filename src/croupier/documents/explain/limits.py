"""The verdict on the page of a plan: green only where limits are set, kept, and say something."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.text import limit_text
from croupier.assessment.policy import Verdict, judged
from croupier.documents.explain.sentence import Form, Sentence, promised
from croupier.model.judgement import Judgement
from croupier.model.metric import Metric

__all__ = ["LimitRow", "VerdictLine", "limit_rows", "verdict_line"]

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


def verdict_line(ladder: Ladder, found: Sequence[Verdict]) -> VerdictLine:
    """Judge the plan.

    It is all clear only if the policy is met and everything is bounded against the most exposed
    adversary whom the declared operators make real.
    """
    judgement, unlimited = judged(found), _unlimited(ladder)
    besides = []
    if any(verdict.met and verdict.idle for verdict in found):
        besides.append(_idle(found))
    if unlimited:
        named = ", ".join(metric.heading for metric in unlimited)
        besides.append(f"No limit is proved against {ladder.headline.rung} for: {named}.")
    partly = judgement is Judgement.MET and unlimited
    return VerdictLine(
        kind="partly" if partly else _KINDS[judgement],
        judged=_judged(found),
        besides=tuple(besides),
    )


def _judged(found: Sequence[Verdict]) -> str:
    failed = sum(not verdict.met for verdict in found)
    if failed:
        counts = sum(not verdict.met or verdict.limits_something for verdict in found)
        verb = "is" if failed == 1 else "are"
        return f"Not met: {failed} of {counts} limits {verb} not proved to be kept."
    counts = sum(verdict.limits_something for verdict in found)
    if not counts:
        return "No limit is set that limits anything. Set one under [policy]."
    every = f"All {counts} limits are" if counts > 1 else "The limit is"
    return f"{every} met by proof."


def _idle(found: Sequence[Verdict]) -> str:
    count = sum(verdict.met and not verdict.limits_something for verdict in found)
    more = " more" if count < len(found) else ""
    return f"{count}{more} limits nothing." if count == 1 else f"{count}{more} limit nothing."


def _unlimited(ladder: Ladder) -> list[Metric]:
    """The metrics of which nothing short of certainty is proved in the headline's row."""
    found = []
    for metric, cell in ladder.headline.cells.items():
        worst = 0.0 if metric.protects else 1.0
        chance = metric not in (Metric.EPSILON, Metric.ALPHA)
        if cell.proved is None or (chance and cell.proved.value == worst):
            found.append(metric)
    return found


@dataclass(frozen=True, kw_only=True)
class LimitRow:
    """A limit beside what is proved.

    Attributes:
        verdict: What is said of it.
        most: The limit.
        proved: What is promised, or why nothing is.
    """

    verdict: Verdict
    most: str
    proved: Sentence


def limit_rows(found: Sequence[Verdict]) -> Iterator[LimitRow]:
    """Yield every limit beside what is proved."""
    for verdict in found:
        limit, cell, metric = verdict.limit, verdict.cell, verdict.limit.metric
        proved = Sentence(f"not bounded: {cell.reason}")
        if cell.proved is not None:
            number = promised(cell, limit.rung, form=Form.PROMISE)
            proved = Sentence(replace(number, direction=None))
        side = "at least" if metric.protects else "at most"
        most = limit_text(metric, limit.value)
        yield LimitRow(verdict=verdict, most=f"{side} {most}", proved=proved)
