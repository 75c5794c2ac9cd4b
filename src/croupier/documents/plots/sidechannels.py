"""Epsilon of every participation model under every attack."""

import math
from collections.abc import Mapping, Sequence

from croupier.documents.plots.figure import BLUE, GREY, ORANGE, Target, drawing, row_points
from croupier.sidechannels.participation import Remaining

__all__ = ["save_sidechannels_plot"]

_COLOURS = (GREY, ORANGE, BLUE)


def save_sidechannels_plot(
    path: Target,
    cells: Mapping[str, Sequence[Remaining]],
    *,
    epsilon_local: float,
    delta: float,
    n: int,
) -> None:
    """Draw points, one row a model and one dot for what is seen; the worst crowd as a tick.

    A line joins the two. What is not bounded stands at the right edge.
    """
    title = f"epsilon_local {epsilon_local:.3g}, delta {delta:g}, n = {n:,}"
    with drawing(path, title=title, across="epsilon at most", up="", inches=(7, 5)) as axes:
        models = list(cells)[::-1]
        observed = [found.observed for found in cells[models[0]]]
        height = 0.8 / len(observed)
        axes.set_xscale("log")
        for number, (seen, colour) in enumerate(zip(observed, _COLOURS, strict=True)):
            rows = {
                row + 0.4 - (number + 0.5) * height: cells[model][number]
                for row, model in enumerate(models)
            }
            average = {row: found.epsilon_upper for row, found in rows.items()}
            worst = {row: found.worst_epsilon_upper for row, found in rows.items()}
            for row, least in average.items():
                axes.plot([least, worst[row]], [row, row], color=colour, linewidth=1)
            row_points(axes, worst, "|", color="black", markersize=7, label="in the worst crowd")
            row_points(axes, average, "o", color=colour, markersize=4, label=f"seen: {seen}")
        if math.isfinite(epsilon_local):
            alone = "one report, sender known"
            axes.axvline(epsilon_local, color="black", linestyle=":", label=alone)
        axes.set_yticks(range(len(models)), models)
