"""Lines, dots and ranges, and what is drawn where nothing is bounded."""

import math
from collections.abc import Mapping
from typing import Any

from croupier.documents.plots.axes import LABEL
from croupier.documents.plots.figure import BLUE, GREY

__all__ = ["NOT_BOUNDED", "curve", "mark", "row_inches", "row_names", "row_points"]

NOT_BOUNDED = "not bounded"
_EDGE = 0.97
"""Where on the axes, of 1, stands what has no bound."""


def curve(axes: Any, points: Mapping[Any, float], *, label: str, **look: Any) -> None:
    """Draw a line through points; where nothing bounds it, arrowheads at the upper edge."""
    finite = {place: value for place, value in points.items() if math.isfinite(value)}
    endless = [place for place in points if place not in finite]
    if finite:
        axes.plot(list(finite), list(finite.values()), label=label, **look)
    if endless:
        axes.plot(
            endless,
            [_EDGE] * len(endless),
            "^",
            color=look.get("color"),
            transform=axes.get_xaxis_transform(),
            label=f"{label}: {NOT_BOUNDED}",
        )


def mark(axes: Any, place: float, value: float, label: str) -> None:
    """Draw a dot with words at the point that was asked for.

    At the upper edge, and said to be so, if nothing bounds it. The words find a free place when
    the axes are settled.
    """
    where = {} if math.isfinite(value) else {"transform": axes.get_xaxis_transform()}
    if where:
        value, label = _EDGE, f"{label}: {NOT_BOUNDED}"
    axes.plot([place], [value], "o", color=BLUE, **where)
    axes.annotate(
        label,
        (place, value),
        xycoords=where.get("transform", "data"),
        xytext=(8, 8),
        textcoords="offset points",
        label=LABEL,
        arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6},
    )


def row_points(
    axes: Any, rows: Mapping[Any, float], style: str, *, label: str, **look: Any
) -> None:
    """Draw a point in each row; where nothing bounds it, an arrow to the right edge, with words."""
    finite = {row: value for row, value in rows.items() if math.isfinite(value)}
    named = {line.get_label() for line in axes.lines}
    if finite:
        shown = {"label": None if label in named else label}
        axes.plot(list(finite.values()), list(finite), style, **shown, **look)
    for row in rows.keys() - finite.keys():
        _point_right(axes, row, look.get("color", GREY))


def _point_right(axes: Any, row: float, color: Any) -> None:
    where = axes.get_yaxis_transform()
    axes.plot([0.9, _EDGE], [row, row], color=color, transform=where)
    axes.plot([_EDGE], [row], ">", color=color, transform=where)
    words: Any = {"ha": "right", "va": "center", "color": GREY, "transform": where}
    axes.text(0.885, row, NOT_BOUNDED, **words)


def row_names(axes: Any, names: list[str]) -> None:
    """Name rows, the first on top."""
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.4, -0.6)


def row_inches(rows: int, *, width: float = 7.0) -> tuple[float, float]:
    """Return the size of a figure with so many rows."""
    return width, 1.7 + 0.27 * rows
