"""Ticks for people: one style and one unit per axis, and the names of metrics."""

import math
from collections.abc import Callable
from typing import Any

from croupier.model.metric import Metric

__all__ = ["Written", "count", "metric_ticks", "number", "one_in", "percent", "place_ticks"]
__all__ += ["write_ticks"]

View = tuple[float, float]
Written = Callable[[float, View], str]
"""Words for a value on an axis that shows values between two ends."""

_UNITS = {10**9: "G", 10**6: "M", 10**3: "k"}
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_PLAIN = 1e-4, 1e5
"""Between these ends a number is written out; beyond, all numbers of the axis are powers of 10."""

_FEW_DECADES = 2.5
"""Up to so many decades a logarithmic axis has ticks at 2 and 5 as well."""


def count(value: float, view: View) -> str:
    """People, reports or samples: 500, 1 k, 20 k, 1 M; written out where all are small."""
    if max(view) < 10_000:
        return f"{value:,g}"
    for unit, letter in _UNITS.items():
        if abs(value) >= unit:
            return f"{value / unit:g} {letter}"
    return f"{value:g}"


def number(value: float, view: View | None = None) -> str:
    """A number without a unit: all of an axis written out, or all as powers of ten."""
    sizes = [abs(end) for end in (*(view or ()), value) if end]
    if not value or (min(sizes) >= _PLAIN[0] and max(sizes) <= _PLAIN[1]):
        return f"{value:g}"
    power = math.floor(math.log10(abs(value)) + 1e-9)
    factor, raised = f"{value / 10**power:.3g}", str(power).translate(_RAISED)
    return f"10{raised}" if factor == "1" else f"{factor}·10{raised}"


def percent(value: float, view: View) -> str:  # noqa: ARG001 - one style at every size
    """A share in percent."""
    return f"{100 * value:.6g} %"


def one_in(value: float, view: View) -> str:
    """A chance as people say it; 0 and more than 1 have no such words."""
    if value <= 0 or value > 1 + 1e-9:
        return "0" if value == 0 else ""
    if min(view) >= 0.1:
        return percent(value, view)
    return "certain" if value > 1 - 1e-9 else f"1 in {1 / value:,.0f}"


_METRICS: dict[Metric, Written] = {
    Metric.REIDENTIFICATION: one_in,
    Metric.GUESS_OF_TWO: percent,
    Metric.GUESS_UNINFORMED: percent,
    Metric.GUESS_INFORMED: percent,
    Metric.WITHIN_UNINFORMED: percent,
    Metric.WITHIN_INFORMED: percent,
    Metric.VULNERABLE_SHARE: percent,
    Metric.GUESSED_SHARE: percent,
}


def write_ticks(axis: Any, written: Written) -> None:
    """Write what stands at the ticks of an axis."""
    axis.set_major_formatter(lambda value, _: written(value, tuple(axis.get_view_interval())))


def metric_ticks(axis: Any, metric: Metric, detail: str = "") -> None:
    """Name an axis by the heading of a metric, with a detail after it, and write its ticks."""
    axis.set_label_text(f"{metric.heading}{detail}")
    write_ticks(axis, _METRICS.get(metric, number))


def place_ticks(axis: Any) -> None:
    """Place ticks on a logarithmic axis so that every label of it is in the style of the axis.

    Ticks that somebody chose, and axes of another base than 10, stay as they are.
    """
    if axis.get_scale() != "log" or axis.get_transform().base != 10:
        return
    from matplotlib.ticker import LogFormatter, LogLocator, NullFormatter  # noqa: PLC0415 - an extra

    if not isinstance(axis.get_major_locator(), LogLocator):
        return
    low, high = sorted(axis.get_view_interval())
    few = math.log10(high / low) < _FEW_DECADES
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,)))
    axis.set_minor_formatter(NullFormatter())
    if isinstance(axis.get_major_formatter(), LogFormatter):
        write_ticks(axis, number)
