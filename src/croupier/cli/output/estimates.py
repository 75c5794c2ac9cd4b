"""An estimate as a table and as JSON, and the options that shape it, the same in every command."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

from croupier.cli.output.distributions import Statements, print_distribution
from croupier.cli.output.possible import MOVED, shown
from croupier.cli.output.terminal import out, print_table, say
from croupier.cli.output.texts import print_texts
from croupier.errors import ParameterError
from croupier.model import Estimate
from croupier.randomizers.estimates.distribution import DistributionEstimate
from croupier.randomizers.estimates.found_texts import FoundTexts

__all__ = ["All", "Confidence", "Simultaneous", "estimate_document", "how_intervals_hold"]
__all__ += ["PROJECTED", "Project", "is_projectable", "print_estimate", "print_shared"]
__all__ += ["require_confidence"]

Confidence = Annotated[float, typer.Option(help="Coverage of the intervals.")]
Simultaneous = Annotated[
    bool, typer.Option("--simultaneous", help="Make all intervals hold together.")
]
Project = Annotated[
    bool, typer.Option("--project", help="Project the shares of a question onto the simplex.")
]
All = Annotated[bool, typer.Option("--all", help="Print every value.")]

_SHOWN = 20

PROJECTED = (
    "Shares are projected: none is below 0, and those of a question sum to 100 %. That lowers the "
    "error and adds a bias; the intervals are those of the unbiased estimates, and still hold."
)


def require_confidence(confidence: float) -> None:
    """Refuse a coverage that no interval has."""
    if not 0 < confidence < 1:
        raise ParameterError("--confidence", must="be in (0, 1)", got=confidence, hint="Try 0.95.")


def estimate_document(estimate: Estimate) -> list[dict[str, Any]]:
    """Return every value with its share or mean; of texts, also how far one liar moves it."""
    rows = [
        {
            "value": value,
            estimate.quantity: float(estimate.points[index]),
            "standard_error": float(estimate.standard_errors[index]),
            "interval": [float(estimate.lower[index]), float(estimate.upper[index])],
        }
        for index, value in enumerate(estimate.values)
    ]
    if isinstance(estimate, FoundTexts):
        moved = estimate.moved_by_one.tolist()
        rows = [row | {"moved_by_one": own} for row, own in zip(rows, moved, strict=True)]
    return rows


def is_projectable(estimate: Estimate) -> bool:
    """Tell whether it is about shares that add up to one."""
    return type(estimate) is Estimate and estimate.quantity == "share"


def print_estimate(
    estimate: Estimate,
    confidence: float,
    *,
    everything: bool,
    asked: Statements,
    corrupt: int = 0,
    projected: bool = False,
) -> None:
    """Print value, share or mean, and interval; the largest few unless `everything` is asked for.

    A share that noise has moved beyond what is possible is shown at the end of its interval, but
    for one that was projected.
    """
    if isinstance(estimate, DistributionEstimate):
        print_distribution(estimate, asked, confidence=confidence, everything=everything)
        return
    if isinstance(estimate, FoundTexts):
        print_texts(estimate, confidence=confidence, everything=everything, corrupt=corrupt)
        return
    shares = estimate.quantity == "share"
    factor, unit, form = (100, " %", ".2f") if shares else (1, "", ".6g")
    values = len(estimate.values)
    if shares:
        estimate, places = estimate.largest(values if everything else _SHOWN)
    else:
        places = list(range(values if everything else min(values, _SHOWN)))
    points, lower, upper = (
        own[places] for own in (estimate.points, estimate.lower, estimate.upper)
    )
    ends = (points, points) if projected else (lower, upper)
    texts, moved = shown(points, *ends, factor=factor, form=form, unit=unit)
    rows = [
        (str(estimate.values[i]), text, f"{factor * low:{form}} to {factor * high:{form}}")
        for i, text, low, high in zip(places, texts, lower, upper, strict=True)
    ]
    interval = f"{100 * confidence:g} % interval"
    print_table(("value", estimate.quantity, interval), rows, right=(1, 2))
    if moved:
        out.print(MOVED)
    if len(places) < values:
        which = f"The {'largest' if shares else 'first'} {len(places)} of {values:,} values"
        held = ", whose intervals hold together" if shares else ""
        say(f"{which}{held}; all of them: --all")


def print_shared(
    estimates: Mapping[str, Estimate], answer: str, confidence: float, *, projected: bool
) -> None:
    """Print the share of one answer to each question with two, the largest first."""
    place = 1
    order = sorted(estimates, key=lambda name: -float(estimates[name].points[place]))
    points, lower, upper = (
        [float(getattr(estimates[name], part)[place]) for name in order]
        for part in ("points", "lower", "upper")
    )
    ends = (points, points) if projected else (lower, upper)
    texts, moved = shown(points, *ends)
    rows = [
        (name, text, f"{100 * low:.2f} to {100 * high:.2f}")
        for name, text, low, high in zip(order, texts, lower, upper, strict=True)
    ]
    print_table(("question", answer, f"{100 * confidence:g} % interval"), rows, right=(1, 2))
    if moved:
        out.print(MOVED)


def how_intervals_hold(estimates: Iterable[Estimate], *, everything: bool) -> str:
    """Say whether the intervals that are printed hold singly or together."""
    held = {one.holds_together or _is_cut(one, everything=everything) for one in estimates}
    if held == {True}:
        return "Intervals hold together."
    singly = "Intervals hold singly" if held == {False} else "All other intervals hold singly"
    return f"{singly}; --simultaneous for all together."


def _is_cut(estimate: Estimate, *, everything: bool) -> bool:
    """Tell whether only the largest shares are printed."""
    return not everything and estimate.quantity == "share" and len(estimate.values) > _SHOWN
