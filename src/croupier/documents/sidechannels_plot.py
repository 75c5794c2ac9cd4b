"""Epsilon of every participation model under every attack."""

from collections.abc import Mapping, Sequence

from croupier.documents.figure import BLUE, GREY, ORANGE, Target, drawing
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
    """Draw bars: one group a model, one bar for what is seen; the worst crowd as a tick."""
    title = f"epsilon_local {epsilon_local:.3g}, delta {delta:g}, n = {n:,}"
    with drawing(path, title=title, across="epsilon at most", up="") as axes:
        models = list(cells)[::-1]
        observed = [found.observed for found in cells[models[0]]]
        height = 0.8 / len(observed)
        for number, (seen, colour) in enumerate(zip(observed, _COLOURS, strict=True)):
            places = [row + 0.4 - (number + 0.5) * height for row in range(len(models))]
            average = [cells[model][number].epsilon_upper for model in models]
            worst = [cells[model][number].worst_epsilon_upper for model in models]
            label = f"seen: {seen}"
            axes.barh(places, average, height=0.9 * height, color=colour, label=label)
            axes.plot(worst, places, "|", color="black", markersize=7)
        axes.plot([], [], "|", color="black", markersize=7, label="in the worst crowd")
        axes.axvline(epsilon_local, color="black", linestyle=":", label="one report, sender known")
        axes.set_yticks(range(len(models)), models)
        axes.set_xscale("log")
