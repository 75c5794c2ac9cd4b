"""Epsilon of every participation model under every attack."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from croupier.documents.plots.axes import settled
from croupier.documents.plots.figure import BLUE, GREY, ORANGE, named_axes
from croupier.documents.plots.marks import row_inches, row_names, row_points
from croupier.documents.plots.ticks import metric_ticks, number
from croupier.model.metric import Metric
from croupier.sidechannels.participation import Remaining

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_sidechannels"]

_COLOURS = (GREY, ORANGE, BLUE)


def plot_sidechannels(
    cells: Mapping[str, Sequence[Remaining]],
    *,
    epsilon_local: float,
    delta: float,
    n: int,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw a row per model and a dot per view; the worst crowd is a tick, joined by a line.

    Args:
        cells: What remains of each model under each attack.
        epsilon_local: What one report may leak.
        delta: The failure probability of the bounds.
        n: How many people there are.
        ax: The axes to draw on; those of a new figure if left out.

    Returns:
        The axes. What is not bounded is an arrow to the right edge.
    """
    title = f"epsilon_local {epsilon_local:.3g}, delta {number(delta)}, n = {n:,}"
    models = list(cells)
    observed = [found.observed for found in cells[models[0]]]
    axes = named_axes(ax, title=title, inches=row_inches(2 * len(models)))
    axes.set_xscale("log")
    metric_ticks(axes.xaxis, Metric.EPSILON, ", at most")
    height = 0.8 / len(observed)
    for place, (seen, colour) in enumerate(zip(observed, _COLOURS, strict=True)):
        rows = {
            row - 0.4 + (place + 0.5) * height: cells[model][place]
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
    axes.margins(x=0.08)
    row_names(axes, models)
    return settled(axes)
