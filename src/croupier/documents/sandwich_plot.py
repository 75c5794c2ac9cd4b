"""How close attacks come to what is proved."""

import math
from collections.abc import Sequence

from croupier.documents.figure import BLUE, GREY, ORANGE, Target, drawing
from croupier.documents.sandwich import Sandwich
from croupier.numerics.rounding import floor_digits

__all__ = ["save_sandwich_plot"]


def save_sandwich_plot(path: Target, found: Sequence[Sandwich], *, title: str) -> None:
    """Draw each attack with a proved limit: what is proved from both sides, and what was measured.

    Everything is a share of the proved limit. An interval without an upper end stops there.
    """
    bounded = [one for one in reversed(found) if one.cell.promise and one.cell.promise.value]
    height = 1.6 + 0.3 * len(bounded)
    across = "share of what is proved to be the most"
    with drawing(path, title=title, across=across, up="", inches=(7, height)) as axes:
        axes.axvline(1.0, color=ORANGE, label="proved: at most")
        for row, one in enumerate(bounded):
            limit = one.cell.promise.value if one.cell.promise else 1.0
            seen = one.played.evidence
            if one.cell.lower is not None:
                axes.plot([one.cell.lower / limit], [row], "|", color=GREY, markersize=12)
            upper = seen.upper if math.isfinite(seen.upper) else max(seen.measured, limit)
            bars = [[(seen.measured - seen.lower) / limit], [(upper - seen.measured) / limit]]
            axes.errorbar(
                seen.measured / limit, row, xerr=bars, fmt="o", color=BLUE, markersize=4, capsize=3
            )
        axes.plot([], [], "|", color=GREY, markersize=12, label="proved: at least")
        sure = floor_digits(100 * bounded[0].played.evidence.confidence) if bounded else "95.0"
        axes.plot([], [], "o", color=BLUE, markersize=4, label=f"measured, {sure} %")
        axes.set_yticks(
            range(len(bounded)), [f"{one.played.rung} {one.played.name}" for one in bounded]
        )
        axes.set_xlim(*_ends(bounded))


def _ends(bounded: Sequence[Sandwich]) -> tuple[float, float]:
    """From below the least share that is shown to a little beyond the limit."""
    shares = [
        value / one.cell.promise.value
        for one in bounded
        for value in (one.played.evidence.lower, one.cell.lower)
        if one.cell.promise is not None and value is not None
    ]
    span = 1 - min([0.99, *shares])
    return max(0.0, 1 - 1.1 * span), 1 + 0.5 * span
