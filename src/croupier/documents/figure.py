"""One look for all plots."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from croupier.errors import MissingExtraError, ParameterError

__all__ = ["BLUE", "GREY", "ORANGE", "drawing", "mark", "plottable"]
__all__ += ["sizes_around"]

_SUFFIXES = (".png", ".svg", ".pdf")
BLUE, ORANGE, GREY = "#0b6e99", "#d9730d", "#555555"


def plottable(path: Path) -> Any:
    """Matplotlib's figure, if it is installed and can be saved as `path`.

    Ask before a computation of minutes.
    """
    if path.suffix not in _SUFFIXES:
        raise ParameterError("plot", must=f"end in {', '.join(_SUFFIXES)}", got=path.name)
    try:
        from matplotlib.figure import Figure  # noqa: PLC0415 - an extra, slow to import
    except ImportError:
        raise MissingExtraError("A plot", package="matplotlib", extra="plots") from None
    return Figure


@contextmanager
def drawing(path: Path, *, title: str, across: str, up: str) -> Iterator[Any]:
    """Axes to draw on; saved to `path`, in the format of its suffix, when the block ends."""
    figure = plottable(path)(figsize=(7, 4.5), layout="constrained")
    axes: Any = figure.subplots()
    axes.set_title(title)
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(visible=True, which="major", alpha=0.3)
    yield axes
    axes.legend(framealpha=0.9, edgecolor="none")
    figure.savefig(path, dpi=150)


def sizes_around(n: int, points: int) -> list[int]:
    """Batch sizes to plot over: three decades below n, two above."""
    ends = max(2, n / 1000), 100 * n
    return sorted({round(size) for size in np.geomspace(*ends, points).tolist()} | {n})


def mark(axes: Any, place: float, value: float, label: str) -> None:
    """A dot with words at the point that was asked for."""
    axes.plot([place], [value], "o", color=BLUE)
    axes.annotate(label, (place, value), xytext=(8, 8), textcoords="offset points")
