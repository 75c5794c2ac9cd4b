"""Published estimates with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from croupier.documents.plots.axes import settled
from croupier.documents.plots.distributions import plot_distributions
from croupier.documents.plots.figure import BLUE, GREY, named_axes
from croupier.documents.plots.marks import row_inches, row_names
from croupier.documents.plots.ticks import number, percent, write_ticks
from croupier.documents.yes_or_no import shared_answer
from croupier.model.estimate import Estimate
from croupier.numerics.validate import one_line
from croupier.randomizers.estimates.distribution import DistributionEstimate
from croupier.randomizers.estimates.found_texts import FoundTexts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["estimates_inches", "plot_estimates"]

_SHOWN, _SHOWN_IN_ALL = 20, 60
"""The most values that are drawn of one question, and of several together."""

_CURVES = 7.5, 4.8
"""The size of a figure of curves, in inches."""

_LONGEST = 32
"""Longer names of values lose their middle."""

_TITLE = 46
"""Letters per line of the title, which stands above axes that names of values make narrow."""


@dataclass(frozen=True)
class _Row:
    """A value of a question: its name, its estimate and its interval."""

    name: str
    point: float
    lower: float
    upper: float
    written: str
    together: bool
    doubtful: bool


class _Drawn(NamedTuple):
    """A question: the words before its values, its estimate, and its corrupt people."""

    before: str
    estimate: Estimate
    corrupt: int


def plot_estimates(
    estimates: Sequence[Estimate],
    *,
    title: str,
    questions: Sequence[str] = (),
    corrupt: Sequence[int] = (),
    ax: "Axes | None" = None,
) -> "Axes":
    """Draw the largest values of every question, one per row, each with its interval.

    An estimate is unbiased or projected, while its interval holds what is possible: the estimate
    may lie outside. Then a hollow dot stands at the nearer end, with the number beside it. Means
    beside shares have no common axis: they are left out, and the title says so. Distributions of
    numbers are curves, and left out beside others. If values are left out, the intervals of the
    others hold together. Many questions with the same two answers have one row each, that of the
    second answer, the largest first.

    Args:
        estimates: One per question.
        title: What was estimated.
        questions: The name of each question; numbers from 1 if left out.
        corrupt: The number of people who may have lied about each question. A question mark stands
            beside texts that they could have made up.
        ax: The axes to draw on; those of a new figure if left out.

    Returns:
        The axes. The title says how many values are left out.
    """
    curves = [own for own in estimates if isinstance(own, DistributionEstimate)]
    if len(curves) == len(estimates):
        return plot_distributions(
            curves, title=title, questions=_names(estimates, questions), ax=ax
        )
    drawn = _drawn(estimates, questions, corrupt)
    rows = _rows(drawn)
    values = sum(len(one.estimate.values) for one in drawn)
    first = drawn[0].estimate
    shares = first.quantity == "share"
    answer = shared_answer(estimates)
    if answer is not None:
        rows.sort(key=lambda row: -row.point)
    elif len(rows) < values:
        title += f"\nthe {len(rows):,} largest of {values:,} values"
    if len(drawn) < len(estimates):
        left_out = ["means"] * (len(drawn) + len(curves) < len(estimates))
        title += f"\n{' and '.join(left_out + ['distributions'] * bool(curves))} are not drawn"
    if not rows:
        title += "\nno text stands out"
    if any(row.doubtful for row in rows):
        title += "\n? corrupt people could have made this text up"
    axes = named_axes(ax, title=title, inches=row_inches(len(rows)), longest_line=_TITLE)
    across = "share of people" if shares else "mean"
    axes.set_xlabel(across if answer is None else f"share of {one_line(answer)}")
    write_ticks(axes.xaxis, percent if shares else number)
    sure = f"{100 * first.coverage:.4g} % interval"
    if all(row.together for row in rows):
        sure += ", all together"
    for place, row in enumerate(rows):
        named = {} if place else {"label": sure}
        axes.plot([row.lower, row.upper], [place, place], "|-", color=BLUE, **named)
    _draw_points(axes, rows)
    if not rows:
        axes.set_xlim(0, 1)
    row_names(axes, [row.name for row in rows])
    several = "question: value" if answer is None else "question"
    axes.set_ylabel(several if len(estimates) > 1 else "value")
    return settled(axes)


def estimates_inches(estimates: Sequence[Estimate]) -> tuple[float, float]:
    """Return the size of a figure that has room for the rows, or for curves."""
    if all(isinstance(own, DistributionEstimate) for own in estimates):
        return _CURVES
    return row_inches(len(_rows(_drawn(estimates, (), ()))))


def _names(estimates: Sequence[Estimate], questions: Sequence[str]) -> Sequence[str]:
    return questions or [str(place) for place in range(1, len(estimates) + 1)]


def _drawn(
    estimates: Sequence[Estimate], questions: Sequence[str], corrupt: Sequence[int]
) -> list[_Drawn]:
    """The estimates of one kind, with what names them in a row: shares, or means if all are."""
    liars = corrupt or (0,) * len(estimates)
    named = [
        _Drawn(f"{name}: " * (len(estimates) > 1), own, most)
        for name, own, most in zip(_names(estimates, questions), estimates, liars, strict=True)
        if not isinstance(own, DistributionEstimate)
    ]
    return [one for one in named if one.estimate.quantity == "share"] or named


def _rows(drawn: Sequence[_Drawn]) -> list[_Row]:
    alone = shared_answer([one.estimate for one in drawn]) is not None
    most = max(3, min(_SHOWN, _SHOWN_IN_ALL // len(drawn)))
    rows = []
    for before, given, corrupt in drawn:
        written = percent if given.quantity == "share" else number
        doubtful = given.doubtful(corrupt) if isinstance(given, FoundTexts) else ()
        estimate, places = (given, [1]) if alone else given.largest(most)
        for i in places:
            value = one_line(str(estimate.values[i]))
            name = before.removesuffix(": ") if alone else f"{before}{value}"
            point, lower, upper = (
                float(part[i]) for part in (estimate.points, estimate.lower, estimate.upper)
            )
            if len(name) > _LONGEST:
                name = f"{name[: _LONGEST // 2]}…{name[1 - _LONGEST // 2 :]}"
            doubt = bool(doubtful and doubtful[i])
            rows.append(
                _Row(
                    name=f"{name} ?" if doubt else name,
                    point=point,
                    lower=lower,
                    upper=upper,
                    written=written(round(point, 4), (0, 1)),
                    together=estimate.holds_together,
                    doubtful=doubt,
                )
            )
    return rows


def _draw_points(axes: Any, rows: Sequence[_Row]) -> None:
    inside = {place: row for place, row in enumerate(rows) if row.lower <= row.point <= row.upper}
    axes.plot(
        [row.point for row in inside.values()], list(inside), "o", color=BLUE, label="estimate"
    )
    outside = [place for place in range(len(rows)) if place not in inside]
    ends = [min(max(rows[place].point, rows[place].lower), rows[place].upper) for place in outside]
    if outside:
        label = "estimate outside its interval, written beside it"
        axes.plot(ends, outside, "o", color=BLUE, markerfacecolor="white", label=label)
    for place in outside:
        row = rows[place]
        axes.annotate(
            row.written,
            (row.upper, place),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            color=GREY,
        )
