"""How close attacks come to what is proved: each between its bounds, and a picture of all."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from croupier.assessment.ladder.cell import Cell
from croupier.assessment.ladder.ladder import Ladder
from croupier.auditing.attacks.attacks import Attacks, Played
from croupier.documents.plots.figure import BLUE, GREY, ORANGE, Target, drawing
from croupier.numerics.rounding import floor_digits, nearest_digits

__all__ = ["Sandwich", "sandwiches", "save_sandwich_plot"]


@dataclass(frozen=True)
class Sandwich:
    """One attack beside the cell of the trust ladder that speaks of it.

    Attributes:
        played: What was measured.
        cell: What is proved; nothing for what no bound speaks of.
    """

    played: Played
    cell: Cell

    @property
    def refuted(self) -> bool:
        """Whether the attack did better than was proved possible, almost certainly."""
        return self.cell.proved is not None and self.played.refutes(self.cell.proved)

    @property
    def gap(self) -> float | None:
        """By which part of the proved limit the measurement stays below it."""
        limit = self.cell.proved.value if self.cell.proved else 0.0
        return 1 - self.played.evidence.measured / limit if limit else None


def sandwiches(ladder: Ladder, attacks: Attacks) -> tuple[Sandwich, ...]:
    """Every attack beside its cell."""
    return tuple(Sandwich(played, ladder[played.rung][played.metric]) for played in attacks)


def save_sandwich_plot(path: Target, found: Sequence[Sandwich], *, title: str) -> None:
    """Draw each attack: what is proved from both sides, and what was measured.

    Everything is a share of the proved limit. An interval without an upper end goes on beyond the
    axis, as an arrowhead; an attack without a proved limit is a line of words.
    """
    rows = list(found)[::-1]
    height = 1.6 + 0.3 * len(rows)
    across = "measured / proved limit"
    with drawing(path, title=title, across=across, up="", inches=(7, height)) as axes:
        axes.axvline(1.0, color=ORANGE, label="proved: at most")
        right = 1.1 * max(1.0, *map(_reach, rows), 1.0)
        for row, one in enumerate(rows):
            if one.cell.proved and one.cell.proved.value:
                _draw(axes, row, one, limit=one.cell.proved.value, right=right)
            else:
                _say(axes, row, one)
        axes.plot([], [], "|", color=GREY, markersize=12, label="proved: at least")
        sure = floor_digits(100 * rows[0].played.evidence.confidence) if rows else "95.0"
        axes.plot([], [], "o", color=BLUE, markersize=4, label=f"measured, {sure} %")
        axes.set_yticks(range(len(rows)), [f"{one.played.rung} {one.played.name}" for one in rows])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_xlim(0, right)


def _reach(one: Sandwich) -> float:
    """How far right the row goes."""
    limit, seen = one.cell.proved, one.played.evidence
    if limit is None or not limit.value:
        return 0.0
    return (seen.upper if math.isfinite(seen.upper) else seen.measured) / limit.value


def _draw(axes: Any, row: int, one: Sandwich, *, limit: float, right: float) -> None:
    seen = one.played.evidence
    if one.cell.lower is not None:
        axes.plot([one.cell.lower / limit], [row], "|", color=GREY, markersize=12)
    bounded = math.isfinite(seen.upper)
    above = (seen.upper - seen.measured) / limit if bounded else 0.0
    bars = [[(seen.measured - seen.lower) / limit], [above]]
    axes.errorbar(
        seen.measured / limit, row, xerr=bars, fmt="o", color=BLUE, markersize=4, capsize=3
    )
    if not bounded:
        end = 0.985 * right
        axes.plot([seen.measured / limit, end], [row, row], color=BLUE)
        axes.plot([end], [row], ">", color=BLUE)


def _say(axes: Any, row: int, one: Sandwich) -> None:
    proved = "no proved limit" if one.cell.proved is None else "proved: 0"
    measured = nearest_digits(one.played.evidence.measured)
    axes.text(
        0.01,
        row,
        f"{proved}; measured {measured}",
        transform=axes.get_yaxis_transform(),
        verticalalignment="center",
        color=GREY,
    )
