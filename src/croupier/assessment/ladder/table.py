"""The trust ladder as a table, the same on the page of a plan and in a notebook."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from croupier.assessment.ladder.text import cell_text
from croupier.model.guarantee import Metric
from croupier.model.html import Html, column, element, table
from croupier.model.rung import Rung

if TYPE_CHECKING:
    from croupier.assessment.ladder.ladder import Ladder, Row

__all__ = ["CAPTION", "HEADS", "Line", "ladder_card", "ladder_meanings", "ladder_reasons"]
__all__ += ["ladder_rows"]

CAPTION = "What somebody on each rung gains, from seeing nothing to seeing everything."
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


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the table: the gains of one adversary.

    Attributes:
        row: What is proved.
        name: Where they stand.
        sees: What they see.
        counts: Whether this is the headline of the ladder.
        texts: What is said, by metric.
    """

    row: "Row"
    name: str
    sees: str
    counts: bool
    texts: Mapping[Metric, str]


def ladder_rows(ladder: "Ladder") -> list[Line]:
    """Every cell, the blind guess on top."""
    metrics = [metric for metric in HEADS if metric in ladder[Rung.BATCH].cells]
    return [
        Line(
            row=row,
            name="blind guess" if row is ladder.blind else row.rung,
            sees="sees nothing" if row is ladder.blind else Rung(row.rung).adversary,
            counts=row is ladder.headline,
            texts={metric: cell_text(row[metric]) for metric in metrics},
        )
        for row in (ladder.blind, *ladder)
    ]


def ladder_reasons(ladder: "Ladder") -> list[str]:
    """Why some cells have no limit."""
    reasons = {
        f"{HEADS[metric].capitalize()}, not bounded: {cell.reason}; treat it as known."
        for row in ladder
        for metric, cell in row.cells.items()
        if cell.proved is None
    }
    return sorted(reasons)


def ladder_meanings(ladder: "Ladder") -> dict[str, str]:
    """Return the meaning of every column by its heading."""
    cells = ladder[Rung.BATCH].cells
    return {HEADS[metric]: _MEANING[metric] for metric in HEADS if metric in cells}


def ladder_card(ladder: "Ladder") -> Html:
    """The table for a notebook, with what its columns mean."""
    meanings = ladder_meanings(ladder)
    rows = [(_name(line), list(_cells(line))) for line in ladder_rows(ladder)]
    reasons = [element("p", reason) for reason in ladder_reasons(ladder)]
    terms = [
        element("div", element("dt", head), element("dd", meaning))
        for head, meaning in meanings.items()
    ]
    listed = element("dl", *terms, class_="meanings")
    return Html("".join([table(CAPTION, ("rung", *meanings), rows), *reasons, listed]))


def _name(line: Line) -> Html:
    named = f"{line.name} {element('small', line.sees)}"
    if line.counts:
        named += f" {element('small', 'the rung that counts here', class_='holds')}"
    return Html(named)


def _cells(line: Line) -> Iterator[Html]:
    for metric, text in line.texts.items():
        proved = line.row[metric].proved
        marks = {"data_rung": line.row.rung, "data_metric": metric, "data_form": "cell"}
        shown = element("data", text, value=repr(proved.value), **marks) if proved else text
        yield column(shown, HEADS[metric], class_="number")
