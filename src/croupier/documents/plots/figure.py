"""One look for all plots."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from textwrap import fill
from typing import Any
from warnings import catch_warnings, filterwarnings

import numpy as np

from croupier.documents.plots.axes import settle
from croupier.errors import MissingExtraError, ParameterError

__all__ = ["BLUE", "GREY", "ORANGE", "Target", "drawing", "named_axes", "panels"]
__all__ += ["require_folder", "require_plottable", "save_plot", "sizes_around"]

Target = Path | StringIO
"""A file, in the format of its suffix, or a text buffer for SVG."""

_SUFFIXES = (".png", ".svg", ".pdf")
_LOOK: Any = {"svg.fonttype": "none", "svg.hashsalt": "croupier", "font.size": 9.5}
_INCHES = 7.0, 4.5
_NOTHING_ABOUT_THE_FILE = dict.fromkeys(("Creator", "Date", "Format", "Type"))
BLUE, ORANGE, GREY = "#0b6e99", "#d9730d", "#555555"


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


def named_axes(  # noqa: PLR0913 - keyword-only facts about one plot
    ax: Any,
    *,
    title: str,
    across: str = "",
    up: str = "",
    inches: tuple[float, float] = _INCHES,
    longest_line: int = 64,
) -> Any:
    """Return the axes that are given, or those of a new figure of pyplot, with their names.

    A notebook shows a figure of pyplot by itself. A title is broken into lines of so many letters.
    """
    if ax is None:
        try:
            from matplotlib import pyplot as plt  # noqa: PLC0415 - an extra, slow to import
        except ImportError:
            raise MissingExtraError("A plot", package="matplotlib", extra="plots") from None
        ax = plt.subplots(figsize=inches, layout="constrained")[1]
    lines = [fill(line, longest_line) for line in title.splitlines()]
    ax.set_title("\n".join(lines), parse_math=False)
    ax.set_xlabel(across)
    ax.set_ylabel(up)
    ax.grid(visible=True, which="major", alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def save_plot(
    target: Target,
    plot: Callable[..., Any],
    *arguments: Any,
    inches: tuple[float, float] = _INCHES,
    **named: Any,
) -> None:
    """Save what one of the functions `plot_...` draws.

    Args:
        target: A file, in the format of its suffix, or a text buffer for SVG.
        plot: The function.
        arguments: What it takes by place.
        inches: The width and the height of the figure.
        named: What it takes by name, without the axes.
    """
    with _figure(target, inches) as figure:
        plot(*arguments, **named, ax=figure.subplots())


@contextmanager
def drawing(
    target: Target, *, title: str, across: str, up: str, inches: tuple[float, float] = _INCHES
) -> Iterator[Any]:
    """Yield axes to draw on; settle and save them when the block ends."""
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
    """Yield axes side by side, with a legend where there is something to explain.

    Each has a title and a name for either axis; they fill so many rows of equal length. At the end
    limits that were left to the data are opened up, and legends moved off what is drawn.
    """
    with _figure(target, inches) as figure:
        grid = figure.subplots(rows, len(labels) // rows, squeeze=False).ravel().tolist()
        for axes, (title, across, up) in zip(grid, labels, strict=True):
            named_axes(axes, title=title, across=across, up=up)
        yield grid
        settle(grid)


@contextmanager
def _figure(target: Target, inches: tuple[float, float]) -> Iterator[Any]:
    """Yield a figure, saved when the block ends; the letters of SVG are text."""
    made = _figure_for(target)
    from matplotlib import rc_context  # noqa: PLC0415 - an extra, slow to import

    with rc_context(_LOOK), catch_warnings():
        filterwarnings("ignore", "Creating legend with loc=")  # on a busy machine; it is drawn
        figure = made(figsize=inches, layout="constrained")
        yield figure
        if isinstance(target, Path) and target.suffix != ".svg":
            figure.savefig(target, dpi=150)
        else:
            figure.savefig(target, format="svg", metadata=_NOTHING_ABOUT_THE_FILE)


def sizes_around(n: int, points: int) -> list[int]:
    """Batch sizes to plot over: three decades below n, two above."""
    ends = max(2, n / 1000), 100 * n
    return sorted({round(size) for size in np.geomspace(*ends, points).tolist()} | {n})
