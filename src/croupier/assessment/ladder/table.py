"""The trust ladder as a table of a page."""

from typing import TYPE_CHECKING

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.text import NOT_BOUNDED, cell_text
from croupier.model.guarantee import Metric
from croupier.model.html import Html, column, element, table
from croupier.model.rung import Rung
from croupier.numerics.rounding import nearest_digits

if TYPE_CHECKING:
    from croupier.assessment.ladder.ladder import Ladder, Step

__all__ = ["HEADS", "ladder_table"]

HEADS = {
    Metric.EPSILON: "epsilon",
    Metric.REIDENTIFICATION: "sender found",
    Metric.GUESS_COIN: "coin, %",
    Metric.GUESS_UNIFORM: "uniform, %",
    Metric.GUESS_INFORMED: "informed, %",
    Metric.BAYES_SECURITY: "Bayes security",
    Metric.ALPHA: "alpha",
}
_MEANING = {
    Metric.EPSILON: "how far any conclusion may move (0: not at all); at least and at most",
    Metric.REIDENTIFICATION: "how often a report is traced to its sender, at most",
    Metric.GUESS_COIN: "right guesses between two values, knowing everyone else, at most",
    Metric.GUESS_UNIFORM: "right guesses among all values, knowing nobody, at most",
    Metric.GUESS_INFORMED: "right guesses among all values, knowing everyone else, at most",
    Metric.BAYES_SECURITY: "how much of the chance of error remains (1: all), at least",
    Metric.ALPHA: "how far the order may move the odds inside a group, at most",
}


def ladder_table(ladder: "Ladder") -> Html:
    """Every cell, the blind guess on top, and what the columns mean."""
    metrics = [metric for metric in HEADS if metric in ladder[Rung.BATCH].cells]
    rows = [_row(ladder, step, metrics) for step in (ladder.blind, *ladder)]
    head = ("rung", *(HEADS[metric] for metric in metrics))
    caption = "What somebody on each rung gains, from seeing nothing to seeing everything."
    return Html(table(caption, head, rows) + "".join(_reasons(ladder)) + _meanings(metrics))


def _meanings(metrics: list[Metric]) -> Html:
    terms = [
        element("div", element("dt", HEADS[metric]), element("dd", _MEANING[metric]))
        for metric in metrics
    ]
    return element("dl", *terms, class_="meanings")


def _reasons(ladder: "Ladder") -> list[Html]:
    """Why some cells have no limit."""
    reasons = {
        f"{HEADS[metric].capitalize()}, not bounded: {cell.reason}; treat it as known."
        for step in ladder
        for metric, cell in step.cells.items()
        if cell.promise is None
    }
    return [element("p", reason) for reason in sorted(reasons)]


def _row(ladder: "Ladder", step: "Step", metrics: list[Metric]) -> tuple[str, list[Html]]:
    cells = [column(_entry(step, metric), HEADS[metric], class_="number") for metric in metrics]
    return _name(ladder, step), cells


def _entry(step: "Step", metric: Metric) -> str:
    cell = step[metric]
    if step.rung not in set(Rung):
        return _blind(cell, step.rung)
    if cell.promise is None:
        return NOT_BOUNDED
    return _marked(cell_text(cell), cell.promise.value, step.rung, metric)


def _blind(cell: Cell, rung: str) -> str:
    """A blind guess bounds nothing: to the nearest digit. No order is seen."""
    if cell.promise is None:
        return "0"
    guess = cell.metric.startswith("guess")
    text = nearest_digits(100 * cell.promise.value) if guess else cell_text(cell)
    return _marked(text, cell.promise.value, rung, cell.metric)


def _marked(text: str, value: float, rung: str, metric: str) -> Html:
    return element(
        "data",
        text,
        value=repr(value),
        data_rung=rung,
        data_metric=metric,
        data_form="cell",
    )


def _name(ladder: "Ladder", step: "Step") -> Html:
    if step is ladder.blind:
        return Html("blind guess " + element("small", "sees nothing"))
    who = element("small", Rung(step.rung).adversary)
    holds = element("small", "the rung that counts here", class_="holds")
    counts = f" {holds}" if step is ladder.headline else ""
    return Html(f"{step.rung} {who}{counts}")
