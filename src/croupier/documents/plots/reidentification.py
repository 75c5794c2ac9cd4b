"""Re-identification over the size of the batch."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from croupier.documents.plots.axes import settled
from croupier.documents.plots.figure import BLUE, GREY, ORANGE, named_axes, sizes_around
from croupier.documents.plots.marks import curve, mark
from croupier.documents.plots.ticks import count, metric_ticks, write_ticks
from croupier.leakage.reidentification import reidentification, reidentified_by_luck
from croupier.model.metric import Metric
from croupier.model.randomizer import Randomizer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_reidentification"]

_POINTS = 25


def plot_reidentification(  # noqa: PLR0913 - keyword-only facts about one collection
    randomizer: Randomizer | None,
    *,
    epsilon_local: float,
    n: int,
    guesses: int = 1,
    report_probability: float = 1.0,
    advance: Callable[[int], None] = lambda _: None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw upper bound, attack and luck alone over n, and return the axes.

    Args:
        randomizer: The mechanism; None for any with this `epsilon_local`.
        epsilon_local: What one report may leak.
        n: How many honest people there are at the point that is marked.
        guesses: How many reports the adversary may name.
        report_probability: How likely a person reports.
        advance: Called after each of about 25 sizes.
        ax: The axes to draw on; those of a new figure if left out.
    """
    sizes = sizes_around(n, _POINTS)
    upper, lower = {}, {}
    for size in sizes:
        local = epsilon_local if randomizer is None else None
        bounds = reidentification(
            randomizer,
            epsilon_local=local,
            n=size,
            guesses=guesses,
            report_probability=report_probability,
        )
        upper[size], lower[size] = bounds.upper.value, bounds.lower.value
        advance(1)
    what = "unknown randomizer" if randomizer is None else randomizer.mechanism
    title = f"{what}, epsilon_local {epsilon_local:.3g}"
    if report_probability < 1:
        title += f", each reports with probability {report_probability:g}"
    axes = named_axes(ax, title=title, across="honest people in the batch")
    axes.set_xscale("log")
    axes.set_yscale("log")
    within = f" within {guesses:,} guesses" if guesses > 1 else ""
    metric_ticks(axes.yaxis, Metric.REIDENTIFICATION, within)
    write_ticks(axes.xaxis, count)
    curve(axes, upper, color=BLUE, label="proved: at most")
    if randomizer is not None:
        curve(axes, lower, color=ORANGE, linestyle="--", label="an attack: at least")
    luck = {
        size: reidentified_by_luck(n=size, guesses=guesses, report_probability=report_probability)
        for size in sizes
    }
    curve(axes, luck, color=GREY, linestyle=":", label="by luck alone")
    mark(axes, n, upper[n], f"{n:,} honest people")
    return settled(axes)
