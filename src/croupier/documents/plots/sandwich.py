"""How close attacks come to what is proved: a picture of all."""

import math
from collections.abc import Sequence
from typing import Any

from croupier.auditing.attacks.attacks import Played
from croupier.documents.plots.figure import BLUE, GREY, ORANGE, Target, drawing
from croupier.numerics.rounding import floor_digits, nearest_digits

__all__ = ["save_sandwich_plot"]


def save_sandwich_plot(path: Target, found: Sequence[Played], *, title: str) -> None:
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
        sure = floor_digits(100 * rows[0].evidence.confidence) if rows else "95.0"
        axes.plot([], [], "o", color=BLUE, markersize=4, label=f"measured, {sure} %")
        axes.set_yticks(range(len(rows)), [f"{one.rung} {one.name}" for one in rows])
        axes.set_ylim(-0.6, len(rows) - 0.4)
        axes.set_xlim(0, right)


def _reach(one: Played) -> float:
    """How far right the row goes."""
    limit, seen = one.cell.proved, one.evidence
    if limit is None or not limit.value:
        return 0.0
    return (seen.upper if math.isfinite(seen.upper) else seen.measured) / limit.value


def _draw(axes: Any, row: int, one: Played, *, limit: float, right: float) -> None:
    seen = one.evidence
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


def _say(axes: Any, row: int, one: Played) -> None:
    proved = "no proved limit" if one.cell.proved is None else "proved: 0"
    measured = nearest_digits(one.evidence.measured)
    axes.text(
        0.01,
        row,
        f"{proved}; measured {measured}",
        transform=axes.get_yaxis_transform(),
        verticalalignment="center",
        color=GREY,
    )
