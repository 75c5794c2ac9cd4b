"""Published distributions of numbers: the share of people up to each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from croupier.documents.plots.axes import settled
from croupier.documents.plots.figure import BLUE, GREY, named_axes
from croupier.documents.plots.ticks import percent, write_ticks
from croupier.randomizers.estimates.distribution import DistributionEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_distributions"]

_MARKED = (0.5, 0.9, 0.99)
_NEGLIGIBLE = 1e-4


def plot_distributions(
    estimates: Sequence[DistributionEstimate],
    *,
    title: str,
    questions: Sequence[str] = (),
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the share of people up to each number, with a band that holds the whole curve.

    The quantiles of a single distribution are marked, with intervals of their own.

    Args:
        estimates: The distributions.
        title: What was estimated.
        questions: The name of each.
        ax: The axes to draw on; those of a new figure if left out.
    """
    axes = named_axes(ax, title=title, across="number", up="share of people up to it")
    sure = f"{100 * estimates[0].confidence:.4g} %"
    last = []
    for place, estimate in enumerate(estimates):
        curve, color = estimate.curve, f"C{place}" if place else BLUE
        band = {} if place else {"label": f"{sure} band for the whole curve"}
        axes.fill_between(
            curve.numbers, curve.lower, curve.upper, step="post", color=color, alpha=0.2, **band
        )
        name = questions[place] if len(estimates) > 1 else "estimate"
        axes.step(curve.numbers, curve.shares, where="post", color=color, label=name)
        still = np.flatnonzero(curve.shares < 1 - _NEGLIGIBLE)
        last.append(curve.numbers[min(len(curve.numbers), *(still[-1:] + 2)) - 1])
    if len(estimates) == 1:
        _mark_quantiles(axes, estimates[0], sure)
    axes.set_xlim(min(each.grid.low for each in estimates), max(last))
    axes.set_ylim(0, 1.03)
    write_ticks(axes.yaxis, percent)
    return settled(axes)


def _mark_quantiles(axes: "Axes", estimate: DistributionEstimate, sure: str) -> None:
    for place, found in enumerate(estimate.quantiles(*_MARKED)):
        named = {} if place else {"label": f"quantiles, {sure} intervals"}
        axes.plot([found.lower, found.upper], [found.level] * 2, "|-", color=GREY, **named)  # type: ignore[arg-type]
        axes.annotate(
            f"p{100 * found.level:g} = {found.value:.4g}",
            (found.value, found.level),
            xytext=(8, -5),
            textcoords="offset points",
            va="top",
            color=GREY,
        )
