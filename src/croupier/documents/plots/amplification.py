"""Epsilon over the size of the batch."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from croupier.accounting.amplify import proved_curve
from croupier.accounting.blanket import lower_curve
from croupier.accounting.curve import Curve
from croupier.documents.plots.axes import settled
from croupier.documents.plots.figure import BLUE, GREY, ORANGE, named_axes, sizes_around
from croupier.documents.plots.marks import curve, mark
from croupier.documents.plots.ticks import count, metric_ticks, number, write_ticks
from croupier.model.metric import Metric
from croupier.model.randomizer import Randomizer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_amplification"]

_POINTS, _COMPOSED = 21, 6


def plot_amplification(  # noqa: PLR0913 - keyword-only facts about one collection
    randomizer: Randomizer | None,
    *,
    epsilon_local: float,
    n: int,
    delta: float,
    corrupt: int = 0,
    report_probability: float = 1.0,
    rounds: int = 1,
    compose: Callable[[Curve], float] | None = None,
    advance: Callable[[int], None] = lambda _: None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw upper bound, lower bound and epsilon_local over n, and return the axes.

    Args:
        randomizer: The mechanism; None for any with this `epsilon_local`.
        epsilon_local: What one report may leak.
        n: The size that is marked.
        delta: The failure probability of the bounds.
        corrupt: How many people tell the adversary what they sent.
        report_probability: How likely a person reports.
        rounds: How often a person takes part.
        compose: Returns epsilon of all rounds from the curve of one; drawn at some of the sizes.
        advance: Called after each of about 21 sizes.
        ax: The axes to draw on; those of a new figure if left out.
    """
    what = "unknown randomizer" if randomizer is None else randomizer.mechanism
    title = f"{what}, epsilon_local {epsilon_local:.3g}, delta {number(delta)}"
    across = "people in the batch" + (f", {corrupt:,} of them corrupt" if corrupt else "")
    others: Any = {"corrupt": corrupt, "report_probability": report_probability}
    sizes = [size for size in sizes_around(n, _POINTS) if size > corrupt]
    some = {n, *sizes_around(n, _COMPOSED)} if compose else set()
    upper, lower, together = {}, {}, {}
    for size in sorted({*sizes, *(size for size in some if size > corrupt)}):
        local = epsilon_local if randomizer is None else None
        proved = proved_curve(randomizer, epsilon_local=local, n=size, **others)
        upper[size] = proved.epsilon(delta)
        if randomizer is not None:
            lower[size] = lower_curve(randomizer, n=size, **others).epsilon(delta)
        if compose is not None and size in some:
            together[size] = compose(proved)
        advance(1)
    one = "one round" if together else "proved"
    axes = named_axes(ax, title=title, across=across)
    axes.set_xscale("log")
    axes.set_yscale("log")
    metric_ticks(axes.yaxis, Metric.EPSILON, " after shuffling")
    write_ticks(axes.xaxis, count)
    if math.isfinite(epsilon_local):
        alone = "one report, not shuffled (epsilon_local)"
        axes.axhline(epsilon_local, color=GREY, linestyle=":", label=alone)
    curve(axes, upper, color=BLUE, label=f"{one}: at most")
    if lower:
        curve(axes, lower, color=ORANGE, linestyle="--", label=f"{one}: at least")
    mark(axes, n, upper[n], f"n = {n:,}")
    if together:
        label = f"{rounds:,} rounds: at most"
        curve(axes, together, color=BLUE, linestyle="-.", marker=".", label=label)
        mark(axes, n, together[n], f"n = {n:,}, {rounds:,} rounds")
    return settled(axes)
