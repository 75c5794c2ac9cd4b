"""One look for all plots."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from croupier.errors import MissingExtraError, ParameterError

__all__ = ["BLUE", "GREY", "ORANGE", "Target", "drawing", "mark", "panels"]
__all__ += ["plottable", "sizes_around"]

Target = Path | StringIO
"""A file, in the format of its suffix, or a text buffer for SVG."""

_SUFFIXES = (".png", ".svg", ".pdf")
_SVG: Any = {"svg.fonttype": "none", "svg.hashsalt": "croupier", "font.size": 9.5}
_NOTHING_ABOUT_THE_FILE = dict.fromkeys(("Creator", "Date", "Format", "Type"))
BLUE, ORANGE, GREY = "#0b6e99", "#d9730d", "#555555"


def plottable(target: Target) -> Any:
    """Matplotlib's figure, if it is installed and can be saved as `target`.

    Ask before a computation of minutes.
    """
    if isinstance(target, Path) and target.suffix not in _SUFFIXES:
        raise ParameterError("plot", must=f"end in {', '.join(_SUFFIXES)}", got=target.name)
    if isinstance(target, Path) and not target.parent.is_dir():
        raise ParameterError("plot", must="be in a folder that exists", got=str(target))
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

    Each has a title and a name for either axis; they fill so many rows of equal length.
    """
    made = plottable(target)
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
        for axes in grid:
            if axes.get_legend_handles_labels()[0]:
                axes.legend(framealpha=0.9, edgecolor="none")
        if svg:
            figure.savefig(target, format="svg", metadata=_NOTHING_ABOUT_THE_FILE)
        else:
            figure.savefig(target, dpi=150)


def sizes_around(n: int, points: int) -> list[int]:
    """Batch sizes to plot over: three decades below n, two above."""
    ends = max(2, n / 1000), 100 * n
    return sorted({round(size) for size in np.geomspace(*ends, points).tolist()} | {n})


def mark(
    axes: Any, place: float, value: float, label: str, *, beside: tuple[int, int] = (8, 8)
) -> None:
    """A dot with words at the point that was asked for, so many points right of it and up."""
    axes.plot([place], [value], "o", color=BLUE)
    axes.annotate(
        label,
        (place, value),
        xytext=beside,
        textcoords="offset points",
        horizontalalignment="left" if beside[0] > 0 else "right",
    )
