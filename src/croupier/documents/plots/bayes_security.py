"""Bayes security over the noise of a report, and over what a measurement learned from."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from croupier.auditing.blackbox.bayes_risk import SampledBayesRisk
from croupier.documents.plots.axes import settled
from croupier.documents.plots.figure import BLUE, GREY, ORANGE, named_axes
from croupier.documents.plots.marks import curve, mark
from croupier.documents.plots.ticks import count, metric_ticks, number, percent, write_ticks
from croupier.errors import ParameterError
from croupier.leakage.bayes_security import bayes_security
from croupier.leakage.bayes_security_bounds import private_floor
from croupier.model.metric import Metric
from croupier.model.randomizer import Randomizer
from croupier.randomizers import randomizer as named_randomizer

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_bayes_security", "plot_convergence"]

_POINTS = 25


def plot_bayes_security(
    randomizer: Randomizer,
    *,
    batch: Callable[[Randomizer], tuple[float, float]] | None = None,
    n: int | None = None,
    advance: Callable[[int], None] = lambda _: None,
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw beta* of the mechanism, and the least that any may have, over epsilon_local.

    Args:
        randomizer: The mechanism, whose epsilon_local is marked.
        batch: Returns the least and the most that it may be in a batch, with a mechanism.
        n: The size of that batch.
        advance: Called after each of about 25 values.
        ax: The axes to draw on; those of a new figure if left out.

    Returns:
        The axes.
    """
    given = dict(randomizer.specification)
    if "max_epsilon_local" not in given:
        raise ParameterError(
            "plot", must="be of a mechanism with an epsilon_local", got=randomizer.mechanism
        )
    chosen = float(given.pop("max_epsilon_local"))
    alone, least, most = {}, {}, {}
    for local in sorted({*np.linspace(0.1, max(6.0, 1.5 * chosen), _POINTS).tolist(), chosen}):
        made = randomizer
        if local != chosen:
            made = named_randomizer(**given, max_epsilon_local=local)
        alone[local] = bayes_security(made).value
        if batch is not None:
            least[local], most[local] = batch(made)
        advance(1)
    title = f"{randomizer.mechanism}, one report" + (f" and a batch of {n:,}" if n else "")
    axes = named_axes(ax, title=title, across="epsilon_local")
    write_ticks(axes.xaxis, number)
    metric_ticks(axes.yaxis, Metric.BAYES_SECURITY, " (1: nothing learned)")
    if batch is not None:
        name = f"batch of {n:,}"
        curve(axes, least, color=BLUE, label=f"{name}: at least")
        curve(axes, most, color=ORANGE, linestyle="--", label=f"{name}: at most")
    curve(axes, alone, color=GREY if least else BLUE, label="one report")
    floors = {local: private_floor(local) for local in alone}
    curve(axes, floors, color=GREY, linestyle=":", label="one report, least of any mechanism")
    axes.set_ylim(0, 1.05)
    mark(axes, chosen, (least or alone)[chosen], f"epsilon_local = {chosen:.3g}")
    return settled(axes)


def plot_convergence(found: SampledBayesRisk, *, inputs: int, ax: "Axes | None" = None) -> "Axes":
    """Draw how often the guess is right over the samples that it learned from.

    Args:
        found: The measurement.
        inputs: How many inputs there are to guess among.
        ax: The axes to draw on; those of a new figure if left out.

    Returns:
        The axes.
    """
    title = f"guessing one of {inputs:,} inputs from an output"
    axes = named_axes(ax, title=title, across="samples learned from", up="right guesses")
    axes.set_xscale("log")
    write_ticks(axes.xaxis, count)
    write_ticks(axes.yaxis, percent)
    measured = {row.learned_from: 1 - row.risk for row in found.log}
    bounds = {row.learned_from: 1 - row.risk_upper for row in found.log}
    curve(axes, measured, color=BLUE, marker=".", label="measured")
    label = f"at least, each at {100 * found.evidence.confidence:g} % confidence"
    curve(axes, bounds, color=ORANGE, linestyle="--", marker=".", label=label)
    axes.axhline(1 / inputs, color=GREY, linestyle=":", label="by luck alone")
    axes.set_ylim(0, 1.05 * max(1 / inputs, *measured.values()))
    return settled(axes)
