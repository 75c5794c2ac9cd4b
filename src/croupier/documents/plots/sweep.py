"""What a swept plan leaks, over the key that was varied first."""

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

from croupier.assessment.sweep import Combination, Sweep
from croupier.documents.plots.figure import Target, curve, drawing
from croupier.model.guarantee import Metric
from croupier.model.rung import Rung

__all__ = ["save_sweep_plot"]

_WIDE = 20
"""From this ratio of the largest to the least value on, an axis is logarithmic."""


def save_sweep_plot(path: Target, sweep: Sweep, *, metric: Metric, rung: Rung) -> None:
    """Draw what is proved over the first key, one line per combination of the other keys.

    Combinations without a ladder are left out; what has no bound is an arrowhead at the edge.
    """
    across, *others = sweep.names
    places = _places([one.values[across] for one in sweep])
    lines: dict[str, dict[float, float]] = {}
    for one in sweep:
        if one.ladder is not None:
            label = ", ".join(f"{name} = {_said(one.values[name])}" for name in others)
            place = places[str(one.values[across])]
            lines.setdefault(label or "proved", {})[place] = _bound(one, metric, rung)
    bounds = [value for line in lines.values() for value in line.values() if math.isfinite(value)]
    side = "at least" if metric.protects else "at most"
    title = f"{sweep.plan.name} {sweep.plan.digest[:8]}, rung {rung}"
    with drawing(path, title=title, across=across, up=f"{metric}, {side}") as axes:
        if not _numbers(one.values[across] for one in sweep):
            axes.set_xticks(list(places.values()), list(places))
        elif _wide(list(places.values())):
            axes.set_xscale("log")
        if _wide(bounds):
            axes.set_yscale("log")
        for label, line in lines.items():
            curve(axes, line, label=label, marker="o")


def _places(values: list[Any]) -> dict[str, float]:
    """Where each value stands on the axis: numbers by their size, others side by side."""
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
