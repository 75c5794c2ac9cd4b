"""The verdict on the page of a plan: green only where limits are set, kept, and say something."""

from collections.abc import Iterator, Sequence

from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.ladder.text import limit_text, promise_text, with_unit
from croupier.assessment.policy import Verdict, judged
from croupier.model.guarantee import Metric
from croupier.model.html import Html, column, element, table
from croupier.model.judgement import Judgement

__all__ = ["limits_part", "verdict_part"]

_CLASSES = {Judgement.NOT_MET: "not-met", Judgement.NO_LIMIT: "no-limits", Judgement.MET: "met"}


def verdict_part(ladder: Ladder, found: Sequence[Verdict]) -> Html:
    """The one line that is read first.

    It is all clear only if the policy is met and everything is bounded against the most exposed
    adversary whom the declared operators make real.
    """
    judgement = judged(found)
    unlimited = _unlimited(ladder)
    kind = _CLASSES[judgement]
    if judgement is Judgement.MET and unlimited:
        kind = "partly"
    words = [element("strong", _judged(found))]
    if any(verdict.met and verdict.idle for verdict in found):
        words.append(Html(f" {_idle(found)}"))
    if unlimited:
        named = ", ".join(metric.replace("_", " ") for metric in unlimited)
        words.append(Html(f" No limit is proved against {ladder.headline.rung} for: {named}."))
    return element("p", *words, class_=f"verdict {kind}")


def _judged(found: Sequence[Verdict]) -> str:
    failed = sum(not verdict.met for verdict in found)
    if failed:
        counts = sum(not verdict.met or verdict.limits_something for verdict in found)
        return f"Not met: {failed} of {counts} limits are not proved to be kept."
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
    """What nothing, or nothing short of certainty, is proved about on the headline's rung."""
    found = []
    for metric, cell in ladder.headline.cells.items():
        worst = 0.0 if metric.protects else 1.0
        chance = metric not in (Metric.EPSILON, Metric.ALPHA)
        if cell.promise is None or (chance and cell.promise.value == worst):
            found.append(metric)
    return found


def limits_part(found: Sequence[Verdict]) -> Iterator[Html]:
    """Every limit beside what is proved, if there are any."""
    if found:
        rows = [_row(verdict) for verdict in found]
        head = ("against", "what", "limit", "proved", "verdict")
        listed = table("The limits of the plan's policy; only proof counts.", head, rows)
        yield element("section", element("h2", "Limits"), listed)


def _row(verdict: Verdict) -> tuple[str, list[Html]]:
    limit, promise = verdict.limit, verdict.cell.promise
    proved: str = f"not bounded: {verdict.cell.reason}"
    if promise is not None:
        number = element(
            "data",
            promise_text(limit.metric, promise.value),
            value=repr(promise.value),
            data_rung=limit.rung,
            data_metric=limit.metric,
            data_form="promise",
        )
        proved = Html(with_unit(limit.metric, number))
    side = "at least" if limit.metric.protects else "at most"
    most = with_unit(limit.metric, limit_text(limit.metric, limit.value))
    return str(limit.rung), [
        column(limit.metric.replace("_", " "), "what", class_="number"),
        column(f"{side} {most}", "limit", class_="number"),
        column(proved, "proved", class_="number" if promise else ""),
        column(_said(verdict), "verdict", class_="" if verdict.idle else "number"),
    ]


def _said(verdict: Verdict) -> str:
    if not verdict.met:
        return element("strong", "NOT MET")
    return f"met, limits nothing: {verdict.idle}" if verdict.idle else "met"
