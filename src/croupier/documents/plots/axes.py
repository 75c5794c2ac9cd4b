"""Axes that neither magnify nor hide: limits and legends once everything is drawn."""

from typing import Any

import numpy as np

__all__ = ["settle"]

_DECADES = 1.0
"""How much a logarithmic axis spans at least."""

_SHARE = 0.1
"""How much of its largest value a linear axis spans at least."""


def settle(figure: Any) -> None:
    """Open up the limits that were left to the data, and place the legends.

    A logarithmic axis that must show 0 becomes linear below the least value that is shown. What
    hardly changes is drawn as a level line, not as the whole height of the axes. If a legend
    would cover something, all go below their axes: one alone makes the other axes lower too.
    """
    for axes in figure.axes:
        for name in "xy":
            _show_zero(axes, name)
            _open_up(axes, name)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(framealpha=0.9, edgecolor="none")
    figure.draw_without_rendering()
    explained = [axes for axes in figure.axes if axes.get_legend() is not None]
    if any(_covers(axes, axes.get_legend()) for axes in explained):
        for axes in explained:
            axes.legend(
                framealpha=0.9,
                edgecolor="none",
                loc="upper center",
                bbox_to_anchor=(0.5, -0.18),
                ncols=2,
            )


def _shown(axes: Any, name: str) -> Any:
    """The values of lines along one axis, of those that are drawn where the data say."""
    along = [
        np.asarray(line.get_data()["xy".index(name)], dtype=np.float64)
        for line in axes.lines
        if line.get_transform().contains_branch_seperately(axes.transData)["xy".index(name)]
    ]
    values = np.concatenate([np.empty(0), *along])
    return values[np.isfinite(values)]


def _show_zero(axes: Any, name: str) -> None:
    if getattr(axes, f"get_{name}scale")() != "log":
        return
    values = _shown(axes, name)
    if (values == 0).any():
        least = values[values > 0].min(initial=1.0)
        getattr(axes, f"set_{name}scale")("symlog", linthresh=least)


def _open_up(axes: Any, name: str) -> None:
    if not getattr(axes, f"get_autoscale{name}_on")() or not len(_shown(axes, name)):
        return
    low, high = getattr(axes, f"get_{name}lim")()
    scale = getattr(axes, f"get_{name}scale")()
    if scale == "log" and high < 10**_DECADES * low:
        middle, factor = (low * high) ** 0.5, 10 ** (_DECADES / 2)
        getattr(axes, f"set_{name}lim")(middle / factor, middle * factor)
    most = max(abs(low), abs(high))
    if scale == "linear" and high - low < _SHARE * most:
        middle = (low + high) / 2
        getattr(axes, f"set_{name}lim")(middle - _SHARE * most, middle + _SHARE * most)


def _covers(axes: Any, legend: Any) -> bool:
    """Whether a legend lies on a line, a bar, a dot or a word."""
    box = legend.get_window_extent().padded(4)
    drawn = [(artist, artist.get_path()) for artist in (*axes.lines, *axes.patches)]
    drawn += [(many, path) for many in axes.collections for path in many.get_paths()]
    if any(text.get_window_extent().overlaps(box) for text in axes.texts):
        return True
    return any(
        artist.get_transform().transform_path(path).intersects_bbox(box, filled=False)
        for artist, path in drawn
    )
