"""What a swept plan leaks, over the key that was varied first."""

import math
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
    lines: dict[str, dict[Any, float]] = {}
    for one in sweep:
        if one.ladder is not None:
            label = ", ".join(f"{name} = {_said(one.values[name])}" for name in others)
            lines.setdefault(label or "proved", {})[_place(one, across)] = _bound(one, metric, rung)
    places = [place for line in lines.values() for place in line]
    bounds = [value for line in lines.values() for value in line.values() if math.isfinite(value)]
    side = "at least" if metric.protects else "at most"
    title = f"{sweep.plan.name} {sweep.plan.digest[:8]}, rung {rung}"
    with drawing(path, title=title, across=across, up=f"{metric}, {side}") as axes:
        if _wide(places):
            axes.set_xscale("log")
        if _wide(bounds):
            axes.set_yscale("log")
        for label, line in lines.items():
            curve(axes, line, label=label, marker="o")


def _place(one: Combination, name: str) -> Any:
    value = one.values[name]
    return value if isinstance(value, Real) else str(value)


def _said(value: Any) -> str:
    return f"{value:,g}" if isinstance(value, Real) else str(value)


def _bound(one: Combination, metric: Metric, rung: Rung) -> float:
    promise = one.ladder[rung][metric].promise if one.ladder else None
    return math.inf if promise is None else promise.value


def _wide(values: list[Any]) -> bool:
    if not values or not all(isinstance(value, Real) for value in values):
        return False
    return bool(min(values) > 0 and max(values) / min(values) >= _WIDE)
