"""Attacks beside what is proved: how close they come."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from croupier.auditing.attacks.attacks import Played
from croupier.documents.plots.axes import settled
from croupier.documents.plots.figure import BLUE, GREY, ORANGE, named_axes
from croupier.documents.plots.marks import row_inches, row_names
from croupier.documents.plots.ticks import number, write_ticks
from croupier.model.metric import Metric
from croupier.numerics.rounding import nearest_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_sandwich"]


def plot_sandwich(found: Sequence[Played], *, title: str, ax: "Axes | None" = None) -> "Axes":
    """Draw each attack: what is proved from both sides, and what was measured.

    Everything is a share of the proved limit. An interval without an upper end is an arrow to the
    right edge; an attack without a proved limit is a line of words.

    Args:
        found: The attacks, one per row.
        title: What was attacked.
        ax: The axes to draw on; those of a new figure if left out.

    Returns:
        The axes.
    """
    rows = list(found)
    axes = named_axes(
        ax, title=title, across="measured / proved limit", inches=row_inches(len(rows))
    )
    write_ticks(axes.xaxis, number)
    axes.axvline(1.0, color=ORANGE, label="proved: at most")
    right = 1.1 * max([1.0, *map(_reach, rows)])
    for row, one in enumerate(rows):
        if one.cell.proved and one.cell.proved.value:
            _draw(axes, row, one, limit=one.cell.proved.value, right=right)
        else:
            _say(axes, row, one)
    axes.plot([], [], "|", color=GREY, markersize=12, label="proved: at least")
    sure = f"{100 * rows[0].evidence.confidence:.4g}" if rows else "95"
    axes.plot([], [], "o-", color=BLUE, markersize=4, label=f"measured, {sure} % interval")
    row_names(axes, [_name(one) for one in rows])
    axes.set_xlim(0, right)
    return settled(axes)


def _name(one: Played) -> str:
    """Name a row: who attacks, and what is measured."""
    if one.metric is Metric.EPSILON and one.evidence.delta is not None:
        return f"{one.rung}: {one.heading}, delta {number(one.evidence.delta)}"
    return f"{one.rung}: {one.heading}"


def _reach(one: Played) -> float:
    """Return how far right the row goes."""
    limit, seen = one.cell.proved, one.evidence
    if limit is None or not limit.value:
        return 0.0
    return (seen.upper if math.isfinite(seen.upper) else seen.measured) / limit.value


def _draw(axes: Any, row: int, one: Played, *, limit: float, right: float) -> None:
    seen = one.evidence
    if one.cell.lower is not None:
        axes.plot([one.cell.lower / limit], [row], "|", color=GREY, markersize=12)
    bounded = math.isfinite(seen.upper)
    end = seen.upper / limit if bounded else 0.985 * right
    axes.plot([seen.lower / limit, end], [row, row], color=BLUE)
    axes.plot([seen.measured / limit], [row], "o", color=BLUE, markersize=4)
    if not bounded:
        axes.plot([end], [row], ">", color=BLUE)


def _say(axes: Any, row: int, one: Played) -> None:
    proved = "not bounded" if one.cell.proved is None else "proved: 0"
    measured = nearest_digits(one.evidence.measured)
    axes.text(
        0.01,
        row,
        f"{proved}; measured {measured}",
        transform=axes.get_yaxis_transform(),
        verticalalignment="center",
        color=GREY,
    )
