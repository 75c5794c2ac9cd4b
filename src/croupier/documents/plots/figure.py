"""One look for all plots."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from croupier.documents.plots.axes import settle
from croupier.errors import MissingExtraError, ParameterError

__all__ = ["BLUE", "GREY", "NOT_BOUNDED", "ORANGE", "Target", "curve", "drawing", "mark", "panels"]
__all__ += ["require_folder", "require_plottable", "row_points", "sizes_around"]

Target = Path | StringIO
"""A file, in the format of its suffix, or a text buffer for SVG."""

_SUFFIXES = (".png", ".svg", ".pdf")
_SVG: Any = {"svg.fonttype": "none", "svg.hashsalt": "croupier", "font.size": 9.5}
_NOTHING_ABOUT_THE_FILE = dict.fromkeys(("Creator", "Date", "Format", "Type"))
BLUE, ORANGE, GREY = "#0b6e99", "#d9730d", "#555555"
NOT_BOUNDED = "not bounded"
_EDGE = 0.97
"""Where on the axes, of 1, stands what has no bound."""


def require_folder(parameter: str, file: Path) -> None:
    """Refuse a file whose folder is not there. Ask before a computation of minutes."""
    folder = file.parent
    if not folder.is_dir():
        must = "be in a folder that exists"
        raise ParameterError(parameter, must=must, got=str(file), hint=f"Try mkdir -p {folder}.")


def require_plottable(target: Target | None) -> None:
    """Refuse a plot, if one is asked for, that could not be saved. Ask before long work."""
    if target is not None:
        _figure_for(target)


def _figure_for(target: Target) -> Any:
    """Matplotlib's figure, if it is installed and can be saved as `target`."""
    if isinstance(target, Path) and target.suffix not in _SUFFIXES:
        raise ParameterError("plot", must=f"end in {', '.join(_SUFFIXES)}", got=str(target))
    if isinstance(target, Path):
        require_folder("plot", target)
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, slow to import
    except ImportError:
        raise MissingExtraError("A plot", package="matplotlib", extra="plots") from None
    return Figure


@contextmanager
def drawing(
    target: Target,
    *,
    title: str,
    across: str,
    up: str,
    inches: tuple[float, float] = (7, 4.5),
) -> Iterator[Any]:
    """Axes to draw on, saved when the block ends.

    To a path, in the format of its suffix; to a text buffer as SVG. The letters of SVG are text.
    """
    with panels(target, [(title, across, up)], inches=inches) as (axes,):
        yield axes


@contextmanager
def panels(
    target: Target,
    labels: Sequence[tuple[str, str, str]],
    *,
    inches: tuple[float, float],
    rows: int = 1,
) -> Iterator[list[Any]]:
    """Axes side by side, with a legend where there is something to explain.

    Each has a title and a name for either axis; they fill so many rows of equal length. At the end
    limits that were left to the data are opened up, and legends moved off what is drawn.
    """
    made = _figure_for(target)
    from matplotlib import rc_context  # noqa: PLC0415 - an extra, slow to import

    svg = not isinstance(target, Path) or target.suffix == ".svg"
    with rc_context(_SVG if svg else {}):
        figure = made(figsize=inches, layout="constrained")
        grid = figure.subplots(rows, len(labels) // rows, squeeze=False).ravel().tolist()
        for axes, (title, across, up) in zip(grid, labels, strict=True):
            axes.set_title(title)
            axes.set_xlabel(across)
            axes.set_ylabel(up)
            axes.grid(visible=True, which="major", alpha=0.3)
            axes.spines[["top", "right"]].set_visible(False)
        yield grid
        settle(figure)
        if svg:
            figure.savefig(target, format="svg", metadata=_NOTHING_ABOUT_THE_FILE)
        else:
            figure.savefig(target, dpi=150)


def sizes_around(n: int, points: int) -> list[int]:
    """Batch sizes to plot over: three decades below n, two above."""
    ends = max(2, n / 1000), 100 * n
    return sorted({round(size) for size in np.geomspace(*ends, points).tolist()} | {n})


def curve(axes: Any, points: Mapping[Any, float], *, label: str, **look: Any) -> None:
    """A line through points; where nothing bounds it, arrowheads at the upper edge."""
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


def row_points(
    axes: Any, rows: Mapping[Any, float], style: str, *, label: str, **look: Any
) -> None:
    """Points, one in each row; where nothing bounds it, an arrowhead at the right edge."""
    finite = {row: value for row, value in rows.items() if math.isfinite(value)}
    endless = [row for row in rows if row not in finite]
    named = {line.get_label() for line in axes.lines}
    if finite:
        shown = {"label": None if label in named else label}
        axes.plot(list(finite.values()), list(finite), style, **shown, **look)
    if endless:
        axes.plot(
            [_EDGE] * len(endless),
            endless,
            ">",
            color=look.get("color"),
            transform=axes.get_yaxis_transform(),
            label=None if NOT_BOUNDED in named else NOT_BOUNDED,
        )


def mark(
    axes: Any, place: float, value: float, label: str, *, beside: tuple[int, int] = (8, 8)
) -> None:
    """A dot with words at the point that was asked for, so many points right of it and up.

    At the upper edge, and said to be so, if nothing bounds it.
    """
    where: Any = "data"
    if not math.isfinite(value):
        value, where = _EDGE, axes.get_xaxis_transform()
        label, beside = f"{label}: {NOT_BOUNDED}", (beside[0], -14)
    axes.plot(
        [place], [value], "o", color=BLUE, **({} if where == "data" else {"transform": where})
    )
    axes.annotate(
        label,
        (place, value),
        xycoords=where,
        xytext=beside,
        textcoords="offset points",
        horizontalalignment="left" if beside[0] > 0 else "right",
    )
