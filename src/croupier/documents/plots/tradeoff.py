"""Loss of the attacker and loss of the analyst, as groups of a shuffle grow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from croupier.auditing.locality.tradeoff import Learned, Point
from croupier.documents.plots.axes import settled
from croupier.documents.plots.figure import GREY, ORANGE, named_axes
from croupier.documents.plots.ticks import metric_ticks, percent, write_ticks
from croupier.model.evidence import Evidence
from croupier.model.metric import Metric
from croupier.numerics.rounding import floor_digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_tradeoff"]

_FEWEST, _MOST = (0.72, 0.86, 0.93), (0.02, 0.20, 0.35)
"""Colours of the smallest and the largest groups."""


def plot_tradeoff(points: Sequence[Point], *, title: str, ax: "Axes | None" = None) -> "Axes":
    """Draw rho over lambda, one dot per setting, from no shuffling to a uniform shuffle.

    Args:
        points: The settings, and what was measured of each.
        title: What was shuffled.
        ax: The axes to draw on; those of a new figure if left out.

    Returns:
        The axes. Bars go from the least trial to the greatest.
    """
    some = points[0].error
    bars = f"medians of {some.trials} trials, bars at {floor_digits(100 * some.confidence)} %"
    across = "analyst's error / error of the uniform guess (low: trends remain)"
    axes = named_axes(ax, title=f"{title}\n{bars}", across=across)
    metric_ticks(axes.yaxis, Metric.VULNERABLE_SHARE, " of people (low: private)")
    write_ticks(axes.xaxis, percent)
    right = [point.error.measured for point in points]
    up = [point.vulnerable.measured for point in points]
    axes.plot(right, up, color=GREY, alpha=0.4, linewidth=1, zorder=1)
    for number, point in enumerate(points):
        end = number in {0, len(points) - 1}
        axes.errorbar(
            point.error.measured,
            point.vulnerable.measured,
            xerr=_bars(point.error),
            yerr=_bars(point.vulnerable),
            fmt="s" if end else "o",
            markersize=6,
            markeredgecolor=GREY,
            color=(ORANGE if number == 0 else GREY) if end else _shade(number, len(points)),
            ecolor=GREY,
            elinewidth=1,
            label=point.setting.name,
        )
    axes.set_xlim(0, 1.05 * max(1.0, *(point.error.upper for point in points)))
    axes.set_ylim(-0.02, 1.05 * max(0.1, *(point.vulnerable.upper for point in points)))
    return settled(axes)


def _bars(found: Evidence | Learned) -> list[list[float]]:
    """The distances by which the interval reaches down and up."""
    return [[found.measured - found.lower], [found.upper - found.measured]]


def _shade(number: int, points: int) -> tuple[float, ...]:
    """Darker for larger groups."""
    share = (number - 1) / max(1, points - 3)
    return tuple(few + share * (most - few) for few, most in zip(_FEWEST, _MOST, strict=True))
