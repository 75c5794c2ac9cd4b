"""Published estimates with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from croupier.documents.plots.axes import settled
from croupier.documents.plots.figure import BLUE, GREY, named_axes
from croupier.documents.plots.marks import row_inches, row_names
from croupier.documents.plots.ticks import number, percent, write_ticks
from croupier.model.estimate import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["estimates_inches", "plot_estimates"]

_SHOWN, _SHOWN_IN_ALL = 20, 60
"""The most values that are drawn of one question, and of several together."""

_LONGEST = 32
"""Longer names of values lose their middle."""

_TITLE = 46
"""Letters per line of the title, which stands above axes that names of values make narrow."""


@dataclass(frozen=True)
class _Row:
    """A value of a question: its name, its estimate and its interval."""

    name: str
    point: float
    lower: float
    upper: float
    written: str


def plot_estimates(
    estimates: Sequence[Estimate],
    *,
    title: str,
    questions: Sequence[str] = (),
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the largest values of every question, one per row, each with its interval.

    An estimate is unbiased or projected, while its interval holds what is possible: the estimate
    may lie outside. Then a hollow dot stands at the nearer end, with the number beside it. Means
    beside shares have no common axis: they are left out, and the title says so.

    Args:
        estimates: One per question.
        title: What was estimated.
        questions: The name of each question; numbers from 1 if left out.
        ax: The axes to draw on; those of a new figure if left out.

    Returns:
        The axes. The title says how many values are left out.
    """
    drawn = _drawn(estimates, questions)
    rows = _rows(drawn)
    values = sum(len(estimate.values) for _, estimate in drawn)
    shares = drawn[0][1].quantity == "share"
    if len(rows) < values:
        title += f"\nthe {len(rows):,} largest of {values:,} values"
    if len(drawn) < len(estimates):
        title += "\nmeans are not drawn"
    axes = named_axes(ax, title=title, inches=row_inches(len(rows)), longest_line=_TITLE)
    axes.set_xlabel("share of people" if shares else "mean")
    write_ticks(axes.xaxis, percent if shares else number)
    sure = f"{100 * estimates[0].confidence:.4g} % interval"
    for place, row in enumerate(rows):
        named = {} if place else {"label": sure}
        axes.plot([row.lower, row.upper], [place, place], "|-", color=BLUE, **named)
    _draw_points(axes, rows)
    row_names(axes, [row.name for row in rows])
    axes.set_ylabel("question: value" if len(estimates) > 1 else "value")
    return settled(axes)


def estimates_inches(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Return the size of a figure that has room for the rows."""
    return row_inches(len(_rows(_drawn(estimates, ()))))


def _drawn(estimates: Sequence[Estimate], questions: Sequence[str]) -> list[tuple[str, Estimate]]:
    """The estimates of one kind, with what names them in a row: shares, or means if all are."""
    names = questions or [str(place) for place in range(1, len(estimates) + 1)]
    named = [
        (f"{name}: " * (len(estimates) > 1), own)
        for name, own in zip(names, estimates, strict=True)
    ]
    shares = [(before, own) for before, own in named if own.quantity == "share"]
    return shares or named


def _rows(drawn: Sequence[tuple[str, Estimate]]) -> list[_Row]:
    most = max(3, min(_SHOWN, _SHOWN_IN_ALL // len(drawn)))
    rows = []
    for before, estimate in drawn:
        written = percent if estimate.quantity == "share" else number
        for i in _largest(estimate, most):
            name = f"{before}{estimate.values[i]}"
            point, lower, upper = (
                float(part[i]) for part in (estimate.points, estimate.lower, estimate.upper)
            )
            if len(name) > _LONGEST:
                name = f"{name[: _LONGEST // 2]}…{name[1 - _LONGEST // 2 :]}"
            rows.append(_Row(name, point, lower, upper, written(round(point, 4), (0, 1))))
    return rows


def _largest(estimate: Estimate, most: int) -> list[int]:
    """Return all places in their order, or those of the largest values, the largest first."""
    if len(estimate.values) <= most:
        return list(range(len(estimate.values)))
    order: list[int] = np.argsort(-estimate.points, kind="stable").tolist()
    return order[:most]


def _draw_points(axes: Any, rows: Sequence[_Row]) -> None:
    inside = {place: row for place, row in enumerate(rows) if row.lower <= row.point <= row.upper}
    axes.plot(
        [row.point for row in inside.values()], list(inside), "o", color=BLUE, label="estimate"
    )
    outside = [place for place in range(len(rows)) if place not in inside]
    ends = [min(max(rows[place].point, rows[place].lower), rows[place].upper) for place in outside]
    if outside:
        label = "estimate outside its interval, written beside it"
        axes.plot(ends, outside, "o", color=BLUE, markerfacecolor="white", label=label)
    for place in outside:
        row = rows[place]
        axes.annotate(
            row.written,
            (row.upper, place),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            color=GREY,
        )
