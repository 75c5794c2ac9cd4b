"""Estimates by part of a public file: a map, a line along one coordinate, or one row per part."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from croupier.analyzer.parts import PartEstimate, PartEstimates, Square
from croupier.documents.plots.axes import settled
from croupier.documents.plots.figure import BLUE, GREY, named_axes
from croupier.documents.plots.marks import row_inches, row_names
from croupier.documents.plots.ticks import number, percent, write_ticks
from croupier.numerics.validate import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["places_inches", "plot_places"]

_MAP = 7.0, 6.2
_ROWS = 60
"""The most rows that are drawn."""
_WRITTEN = 100
"""Up to so many squares have their numbers written in them."""
_TITLE = 62
_COLOURS = "Blues"


def plot_places(
    parts: PartEstimates, *, title: str, value: str | None = None, ax: "Axes | None" = None
) -> "Axes":
    """Draw the share of one value in every part, with its interval.

    Squares of a map are coloured; in each stand the share and half of its interval. Along one
    coordinate, and for parts with names, intervals are bars.

    Args:
        parts: The estimates by part.
        title: What was estimated.
        value: The value to draw: of the first question that has it. The last value of the first
            question if left out.
        ax: The axes to draw on; those of a new figure if left out.

    Returns:
        The axes. The title says what is estimated, and of how many questions one is drawn.
    """
    own, index = _drawn(parts, value)
    lines = [title, _subject(parts, own, index)]
    rest = [one for one in own if one.parts > 1]
    squares = [one for one in own if one.square is not None]
    if squares and rest:
        lines.append(f"{rest[0].parts:,} smaller squares are not drawn")
    axes = named_axes(ax, title="\n".join(lines), inches=places_inches(parts), longest_line=_TITLE)
    if not own:
        axes.text(0.5, 0.5, "no part has enough reports", transform=axes.transAxes, ha="center")
        return settled(axes)
    names = parts.displacement.columns
    if squares and squares[0].square is not None and len(squares[0].square.low) == 2:
        _draw_map(axes, squares, index)
        axes.set_xlabel(names[0])
        axes.set_ylabel(names[1])
        return settled(axes)
    if squares:
        _draw_line(axes, squares, index)
        axes.set_xlabel(names[0])
    else:
        _draw_rows(axes, own, index)
    return settled(axes)


def places_inches(parts: PartEstimates) -> tuple[float, float]:
    """Return the size of a figure that has room for the parts."""
    own, _ = _drawn(parts, None)
    if any(one.square is not None for one in own):
        return _MAP
    return row_inches(min(len(own), _ROWS) + 2)


def _drawn(parts: PartEstimates, value: str | None) -> tuple[list[PartEstimate], int]:
    """Return the estimates of the question that is drawn, and the place of its value."""
    for one in parts.estimates:
        names = [str(own) for own in one.estimate.values]
        if value is None or value in names:
            own = [each for each in parts.estimates if each.question == one.question]
            return own, len(names) - 1 if value is None else names.index(value)
    return [], 0


def _subject(parts: PartEstimates, own: Sequence[PartEstimate], index: int) -> str:
    if not own:
        return "by part"
    estimate = own[0].estimate
    what = one_line(str(estimate.values[index]))
    question = f"{one_line(own[0].question)}: " if len(parts.least) > 1 else ""
    if estimate.quantity == "share":
        what = f'share of "{what}"'
    held = ", all together" if parts.together else ""
    sure = f"{100 * parts.confidence:.4g} % intervals{held}"
    return f"{question}{what} among what was released there, {sure}"


def _draw_map(axes: Any, squares: Sequence[PartEstimate], index: int) -> None:
    from matplotlib.collections import PatchCollection  # noqa: PLC0415 - an extra, slow to import
    from matplotlib.patches import Rectangle  # noqa: PLC0415 - as above

    shares = squares[0].estimate.quantity == "share"
    points = [_within(one, index) for one in squares]
    cells = [one.square for one in squares if one.square is not None]
    patches = [Rectangle((cell.low[0], cell.low[1]), cell.side, cell.side) for cell in cells]
    drawn = PatchCollection(patches, cmap=_COLOURS, edgecolor="white", linewidth=1.2)
    drawn.set_array(points)
    low, high = (0.0, max(points)) if shares else (min(points), max(points))
    drawn.set_clim(low, high if high > low else low + 1)
    axes.add_collection(drawn)
    axes.grid(visible=False)
    axes.set_aspect("equal")
    side = cells[0].side
    for axis, place in (("x", 0), ("y", 1)):
        ends = [cell.low[place] for cell in cells]
        getattr(axes, f"set_{axis}lim")(min(ends), max(ends) + side)
    bar = axes.get_figure().colorbar(drawn, ax=axes, shrink=0.85)
    write_ticks(bar.ax.yaxis, percent if shares else number)
    if len(cells) > _WRITTEN:
        return
    for one, cell, point in zip(squares, cells, points, strict=True):
        dark = point > (drawn.get_clim()[0] + 2 * drawn.get_clim()[1]) / 3
        axes.text(
            cell.low[0] + side / 2,
            cell.low[1] + side / 2,
            _written(one, index, shares=shares),
            ha="center",
            va="center",
            fontsize=8 if len(cells) <= 36 else 6.5,
            color="white" if dark else "black",
        )


def _written(one: PartEstimate, index: int, *, shares: bool) -> str:
    """Return a share and half of its interval, as they stand in a square."""
    half = (float(one.estimate.upper[index]) - float(one.estimate.lower[index])) / 2
    point = _within(one, index)
    if shares:
        return f"{100 * point:.0f} %\n± {100 * half:.0f}"
    return f"{point:.3g}\n± {half:.2g}"


def _draw_line(axes: Any, squares: Sequence[PartEstimate], index: int) -> None:
    shares = squares[0].estimate.quantity == "share"
    write_ticks(axes.yaxis, percent if shares else number)
    for one in squares:
        cell = one.square
        if not isinstance(cell, Square):
            continue
        start, end = cell.low[0], cell.low[0] + cell.side
        low, high = float(one.estimate.lower[index]), float(one.estimate.upper[index])
        point = _within(one, index)
        axes.plot([(start + end) / 2] * 2, [low, high], "_-", color=BLUE)
        axes.plot([start, end], [point, point], color=BLUE, linewidth=2.5)
    if shares:
        axes.set_ylim(bottom=0)


def _draw_rows(axes: Any, own: Sequence[PartEstimate], index: int) -> None:
    shares = own[0].estimate.quantity == "share"
    shown = list(own[:_ROWS])
    write_ticks(axes.xaxis, percent if shares else number)
    for row, one in enumerate(shown):
        ends = [float(one.estimate.lower[index]), float(one.estimate.upper[index])]
        axes.plot(ends, [row, row], "|-", color=BLUE)
        axes.plot([_within(one, index)], [row], "o", color=BLUE)
    row_names(axes, [one_line(str(one.part)) for one in shown])
    if len(own) > len(shown):
        axes.text(1, -0.02, f"{len(own) - len(shown):,} more", transform=axes.transAxes, color=GREY)


def _within(one: PartEstimate, index: int) -> float:
    """Return the estimate, or the end of its interval that is nearer."""
    low, high = float(one.estimate.lower[index]), float(one.estimate.upper[index])
    return min(max(float(one.estimate.points[index]), low), high)
