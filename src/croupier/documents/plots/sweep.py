"""A metric of a swept plan over the key that was varied first."""

import math
from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any

from croupier.assessment.sweep import Combination, Sweep
from croupier.documents.plots.axes import settled
from croupier.documents.plots.figure import named_axes
from croupier.documents.plots.marks import curve
from croupier.documents.plots.ticks import count, metric_ticks, number, write_ticks
from croupier.model.metric import Metric
from croupier.model.rung import Rung

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_sweep"]

_WIDE = 20
"""From this ratio of the largest to the least value on, an axis is logarithmic."""


def plot_sweep(sweep: Sweep, *, metric: Metric, rung: Rung, ax: "Axes | None" = None) -> "Axes":
    """Draw what is proved over the first key, one line per combination of the other keys.

    Args:
        sweep: The plans and what is proved about them.
        metric: What is drawn.
        rung: Against whom.
        ax: The axes to draw on; those of a new figure if left out.

    Returns:
        The axes. What has no bound is an arrowhead at the edge; the title says how many
        combinations have no ladder.
    """
    across, *others = sweep.names
    given = [one.values[across] for one in sweep]
    places = _places(given)
    lines: dict[str, dict[float, float]] = {}
    for one in sweep:
        if one.ladder is not None:
            label = ", ".join(f"{name} = {_said(one.values[name])}" for name in others)
            place = places[str(one.values[across])]
            lines.setdefault(label or "proved", {})[place] = _bound(one, metric, rung)
    bounds = [value for line in lines.values() for value in line.values() if math.isfinite(value)]
    axes = named_axes(ax, title=_title(sweep, rung), across=across)
    metric_ticks(axes.yaxis, metric, ", at least" if metric.protects else ", at most")
    if not _numbers(given):
        axes.set_xticks(list(places.values()), list(places))
    else:
        write_ticks(axes.xaxis, count if all(isinstance(one, int) for one in given) else number)
        if _wide(list(places.values())):
            axes.set_xscale("log")
            write_ticks(axes.xaxis, count if min(places.values()) >= 1 else number)
    if _wide(bounds):
        axes.set_yscale("log")
        metric_ticks(axes.yaxis, metric, ", at least" if metric.protects else ", at most")
    joined = {} if _numbers(given) else {"linestyle": "none"}
    for label, line in lines.items():
        curve(axes, line, label=label, marker="o", **joined)
    found = settled(axes)
    if not (metric.is_epsilon or metric is Metric.ALPHA) and found.get_yscale() == "linear":
        low, high = found.get_ylim()
        found.set_ylim(max(low, 0.0), min(high, 1.01))
    return found


def _title(sweep: Sweep, rung: Rung) -> str:
    missing = sum(one.ladder is None for one in sweep)
    left_out = f"\n{missing:,} of {len(sweep):,} combinations could not be assessed"
    plan = f"{sweep.plan.name} {sweep.plan.digest[:8]}"
    return f"{plan}: {rung}, {rung.meaning}" + (left_out if missing else "")


def _places(values: list[Any]) -> dict[str, float]:
    """The place of each value on the axis: numbers by their size, others side by side."""
    if _numbers(values):
        return {str(value): float(value) for value in values}
    return {text: float(place) for place, text in enumerate(dict.fromkeys(map(str, values)))}


def _numbers(values: Iterable[Any]) -> bool:
    return all(isinstance(value, Real) for value in values)


def _said(value: Any) -> str:
    return f"{value:,g}" if isinstance(value, Real) else str(value)


def _bound(one: Combination, metric: Metric, rung: Rung) -> float:
    proved = one.ladder[rung][metric].proved if one.ladder else None
    return math.inf if proved is None else proved.value


def _wide(values: list[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) / min(values) >= _WIDE
