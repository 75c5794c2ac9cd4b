"""What a shuffle takes from an attacker against what it leaves to an analyst."""

from collections.abc import Sequence

from croupier.auditing.locality.tradeoff import Learned, Point
from croupier.documents.plots.figure import GREY, ORANGE, Target, drawing
from croupier.model.evidence import Evidence
from croupier.numerics.rounding import floor_digits

__all__ = ["save_tradeoff_plot"]

_FEWEST, _MOST = (0.72, 0.86, 0.93), (0.02, 0.20, 0.35)
"""Colours of the smallest and the largest groups."""


def save_tradeoff_plot(path: Target, points: Sequence[Point], *, title: str) -> None:
    """Draw rho over lambda, a dot a setting, from no shuffling to a uniform shuffle.

    Bars go from the least trial to the greatest.
    """
    some = points[0].error
    bars = f"medians of {some.trials} trials, bars at {floor_digits(100 * some.confidence)} %"
    with drawing(
        path,
        title=f"{title}\n{bars}",
        across="analyst's error over that of the uniform guess, lambda (low: trends remain)",
        up="share of vulnerable people, rho (low: private)",
    ) as axes:
        across = [point.error.measured for point in points]
        up = [point.vulnerable.measured for point in points]
        axes.plot(across, up, color=GREY, alpha=0.4, linewidth=1, zorder=1)
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


def _bars(found: Evidence | Learned) -> list[list[float]]:
    """How far the interval reaches down and up."""
    return [[found.measured - found.lower], [found.upper - found.measured]]


def _shade(number: int, points: int) -> tuple[float, ...]:
    """Darker for larger groups."""
    share = (number - 1) / max(1, points - 3)
    return tuple(few + share * (most - few) for few, most in zip(_FEWEST, _MOST, strict=True))
