"""Diagrams of boxes and arrows."""

from collections.abc import Iterable, Mapping
from typing import Any

from croupier.documents.plots.figure import BLUE, GREY

__all__ = ["arrows", "bare", "boxes", "listing"]

Place = tuple[float, float]


def bare(axes: Any, *, right: float = 1.0, up: float = 1.0) -> None:
    """Hide the axes: leave a blank sheet from (0, 0) to (right, up)."""
    axes.set_xlim(0, right)
    axes.set_ylim(0, up)
    axes.set_axis_off()


def boxes(
    axes: Any, places: Mapping[str, Place], *, filled: Iterable[str] = (), size: float = 10
) -> None:
    """Draw words in boxes around places, some of them filled."""
    chosen = set(filled)
    for words, place in places.items():
        axes.text(
            *place,
            words,
            ha="center",
            va="center",
            fontsize=size,
            color="white" if words in chosen else "black",
            bbox={
                "boxstyle": "round,pad=0.5",
                "facecolor": BLUE if words in chosen else "white",
                "edgecolor": BLUE,
            },
        )


def arrows(
    axes: Any,
    paths: Iterable[tuple[Place, Place, str]],
    *,
    both_ways: bool = False,
    dashed: bool = False,
) -> None:
    """Draw arrows between places, with words at their middle, above level ones."""
    for start, end, words in paths:
        axes.annotate(
            "",
            end,
            xytext=start,
            arrowprops={
                "arrowstyle": "<->" if both_ways else "->",
                "color": GREY,
                "linestyle": "--" if dashed else "-",
            },
        )
        middle = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
        axes.annotate(
            words,
            middle,
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=9,
            color=GREY,
        )


def listing(axes: Any, place: Place, title: str, lines: Iterable[str]) -> None:
    """Write a game or an algorithm: a title, then numbered lines."""
    x, y = place
    axes.text(x, y, title, va="top", fontweight="bold")
    for number, line in enumerate(lines, start=1):
        axes.text(x, y - 0.12 * number, f"{number}   {line}", va="top")
