"""Axes that neither magnify nor hide: limits, ticks, labels and legends once all is drawn."""

from typing import TYPE_CHECKING, Any

import numpy as np

from croupier.documents.plots.ticks import place_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LABEL", "settle", "settled"]

LABEL = "_label of a dot"
"""Marks the words that are moved to a free place; legends leave out what begins with "_"."""

_DECADES = 1.0
"""How much a logarithmic axis spans at least."""

_SHARE = 0.1
"""How much of its largest value a linear axis spans at least."""

_HEIGHTS = 8, -15, 22, -29, 36, -43, 50, -57, 64
_BESIDE = tuple((right, above) for above in _HEIGHTS for right in (8, -8))
"""Where a label may stand, in points right of its dot and above it; the first that is free.

From the fifth on a thin line leads to the dot."""


def settled(axes: Any) -> "Axes":
    """Settle one plot, and return it."""
    settle([axes])
    found: Axes = axes
    return found


def settle(grid: list[Any]) -> None:
    """Open up the limits that were left to the data, and place ticks, labels and legends.

    A logarithmic axis that must show 0 becomes linear below the least value that is shown. What
    hardly changes is drawn as a level line, not as the whole height of the axes. If a legend
    would cover something, all go below their axes: one alone makes the other axes lower too.
    """
    for axes in grid:
        for name in "xy":
            _show_zero(axes, name)
            _open_up(axes, name)
            place_ticks(getattr(axes, f"{name}axis"))
        if axes.get_legend_handles_labels()[0]:
            axes.legend(framealpha=0.9, edgecolor="none")
    figure = grid[0].get_figure()
    figure.draw_without_rendering()
    for axes in grid:
        _free_labels(axes)
    explained = [axes for axes in grid if axes.get_legend() is not None]
    if any(_covers(axes, _box(axes.get_legend()), axes.texts) for axes in explained):
        for _ in range(2):  # the first legends make the axes lower, and move with them
            for axes in explained:
                _move_below(axes)
            figure.draw_without_rendering()
        for axes in grid:
            _free_labels(axes)


def _move_below(axes: Any) -> None:
    """Put the legend below the name of the horizontal axis, in as many columns as fit."""
    below = axes.xaxis.get_tightbbox()
    frame = axes.get_window_extent()
    room = 0.0 if below is None else max(0.0, frame.y0 - below.y0)
    handles, labels = axes.get_legend_handles_labels()
    widest = max(map(len, labels)) + 6
    letters = frame.width / axes.figure.dpi * 14
    axes.legend(
        handles,
        labels,
        frameon=False,
        loc="upper center",
        bbox_to_anchor=(0.5, -(room + 6) / frame.height),
        ncols=max(1, min(3, int(letters // widest))),
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
        axis = getattr(axes, f"{name}axis")
        written = axis.get_major_formatter()
        getattr(axes, f"set_{name}scale")("symlog", linthresh=least)
        axis.set_major_formatter(written)


def _open_up(axes: Any, name: str) -> None:
    """Widen an axis whose limits were left to data that are nearly all the same."""
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


def _free_labels(axes: Any) -> None:
    """Move the labels of dots off lines, off each other, and inside the axes."""
    frame = axes.get_window_extent()
    labels = [text for text in axes.texts if text.get_label() == LABEL]
    for label in labels:
        others = [text for text in axes.texts if text is not label]
        tried = {place: _box(_put(label, place)) for place in _BESIDE}
        inside = [place for place, box in tried.items() if _holds(frame, box)]
        free = [place for place in inside if not _covers(axes, tried[place], others)]
        _put(label, [*free, *inside, *_BESIDE][0])


def _put(label: Any, place: tuple[int, int]) -> Any:
    label.set_horizontalalignment("left" if place[0] > 0 else "right")
    label.xyann = place
    label.arrow_patch.set_visible(place not in _BESIDE[:4])
    return label


def _holds(frame: Any, box: Any) -> bool:
    across = frame.x0 <= box.x0 and box.x1 <= frame.x1
    return bool(across and frame.y0 <= box.y0 and box.y1 <= frame.y1)


def _box(text: Any) -> Any:
    """The box of words, without the line that leads from them to a dot."""
    whole = text.get_window_extent()
    leads = getattr(text, "arrow_patch", None) is not None
    return (super(type(text), text).get_window_extent() if leads else whole).padded(2)


def _covers(axes: Any, box: Any, words: list[Any]) -> bool:
    """Tell whether a box lies on a line, a bar, a dot or a word."""
    if any(_box(text).overlaps(box) for text in words):
        return True
    drawn = [(artist, artist.get_path()) for artist in axes.patches]
    drawn += [(many, path) for many in axes.collections for path in many.get_paths()]
    drawn += [(line, line.get_path()) for line in axes.lines if line.get_linestyle() != "None"]
    if any(
        artist.get_transform().transform_path(path).intersects_bbox(box, filled=False)
        for artist, path in drawn
    ):
        return True
    dots = [line for line in axes.lines if line.get_marker() not in {"None", None, ""}]
    return any(
        box.padded(3).contains(x, y)
        for line in dots
        for x, y in line.get_transform().transform(line.get_path().vertices).tolist()
    )
