"""The trust ladder as a table, the same on the page of a plan and in a notebook."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from croupier.assessment.ladder.text import cell_text
from croupier.model.html import Html, column, element, table
from croupier.model.metric import LADDER, Metric
from croupier.model.rung import Rung

if TYPE_CHECKING:
    from croupier.assessment.ladder.ladder import Ladder, Row
    from croupier.plan.plan import Plan

__all__ = ["CAPTION", "Line", "ladder_card", "ladder_meanings", "ladder_reasons", "ladder_rows"]
__all__ += ["who_is_looking"]

CAPTION = "What each adversary gains, from seeing nothing to seeing everything."


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the table: the gains of one adversary.

    Attributes:
        row: The proofs.
        name: The adversary's name.
        sees: A few words that say who is looking.
        counts: True for the headline of the ladder.
        texts: The text of each cell, by metric.
    """

    row: "Row"
    name: str
    sees: str
    counts: bool
    texts: Mapping[Metric, str]


def ladder_rows(ladder: "Ladder") -> list[Line]:
    """Every cell, luck alone on top."""
    metrics, plan = ladder[Rung.BATCH].cells, ladder.plan
    return [
        Line(
            row=row,
            name=row.rung,
            sees="sees nothing" if row is ladder.blind else who_is_looking(plan, Rung(row.rung)),
            counts=row is ladder.headline,
            texts={metric: cell_text(row[metric]) for metric in metrics},
        )
        for row in (ladder.blind, *ladder)
    ]


def who_is_looking(plan: "Plan", rung: Rung) -> str:
    """Say who is looking, with the share of clients that the plan assumes to be corrupt."""
    if rung is not Rung.CLIENTS:
        return rung.meaning
    share = plan.population.corrupt_fraction
    if not share or not plan.corrupt:
        return "reads the batch and controls none of the clients"
    return f"also controls {100 * share:.3g} % of the clients"


def ladder_reasons(ladder: "Ladder", metrics: Collection[Metric] = LADDER) -> list[str]:
    """The reasons why some cells of these columns have no limit, each with its rows."""
    rows: dict[tuple[str, str], list[str]] = {}
    for row in ladder:
        for metric, cell in row.cells.items():
            if cell.proved is None and metric in metrics:
                rows.setdefault((metric.heading, cell.reason), []).append(row.rung)
    return sorted(
        f"{heading}, not bounded ({', '.join(rungs)}): {reason}; treat it as known."
        for (heading, reason), rungs in rows.items()
    )


def ladder_meanings(ladder: "Ladder") -> dict[str, str]:
    """Return the meaning of every column by its heading."""
    cells = ladder[Rung.BATCH].cells
    return {
        metric.heading: f"{metric.meaning}, at {'least' if metric.protects else 'most'}"
        for metric in cells
    }


def ladder_card(ladder: "Ladder") -> Html:
    """The table for a notebook, with the meanings of its columns."""
    meanings = ladder_meanings(ladder)
    rows = [(_name(line), list(_cells(line))) for line in ladder_rows(ladder)]
    reasons = [element("p", reason) for reason in ladder_reasons(ladder)]
    terms = [
        element("div", element("dt", head), element("dd", meaning))
        for head, meaning in meanings.items()
    ]
    listed = element("dl", *terms, class_="meanings")
    return Html("".join([table(CAPTION, ("who is looking", *meanings), rows), *reasons, listed]))


def _name(line: Line) -> Html:
    named = f"{line.name} {element('small', line.sees)}"
    if line.counts:
        named += f" {element('small', 'this row counts here', class_='holds')}"
    return Html(named)


def _cells(line: Line) -> Iterator[Html]:
    for metric, text in line.texts.items():
        proved = line.row[metric].proved
        marks = {"data_rung": line.row.rung, "data_metric": metric, "data_form": "cell"}
        shown = element("data", text, value=repr(proved.value), **marks) if proved else text
        yield column(shown, metric.heading, class_="number")
