"""An estimate as a table and as JSON, and the options that shape it, the same in every command."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

from croupier.cli.output.distributions import Statements, print_distribution
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


_MOVED = "* Noise moved the estimate out of the possible range; --json prints it as is."


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
        estimate, shown = estimate.largest(values if everything else _SHOWN)
    else:
        shown = list(range(values if everything else min(values, _SHOWN)))
    cut = estimate.points if projected else estimate.points.clip(estimate.lower, estimate.upper)
    moved = any(cut[i] != estimate.points[i] for i in shown)
    rows = [
        (
            str(estimate.values[i]),
            f"{factor * cut[i]:{form}}{unit}{'*' if cut[i] != estimate.points[i] else ' ' * moved}",
            f"{factor * estimate.lower[i]:{form}} to {factor * estimate.upper[i]:{form}}",
        )
        for i in shown
    ]
    interval = f"{100 * confidence:g} % interval"
    print_table(("value", estimate.quantity, interval), rows, right=(1, 2))
    if moved:
        out.print(_MOVED)
    if len(shown) < values:
        which = f"The {'largest' if shares else 'first'} {len(shown)} of {values:,} values"
        held = ", whose intervals hold together" if shares else ""
        say(f"{which}{held}; all of them: --all")


def print_shared(
    estimates: Mapping[str, Estimate], answer: str, confidence: float, *, projected: bool
) -> None:
    """Print the share of one answer to each question with two, the largest first."""
    place = 1
    order = sorted(estimates, key=lambda name: -float(estimates[name].points[place]))
    rows, moved = [], False
    for name in order:
        own = estimates[name]
        raw, low, high = (float(part[place]) for part in (own.points, own.lower, own.upper))
        shown = raw if projected else min(max(raw, low), high)
        moved = moved or shown != raw
        star = "*" if shown != raw else ""
        rows.append((name, f"{100 * shown:.2f} %{star}", f"{100 * low:.2f} to {100 * high:.2f}"))
    if moved:
        rows = [
            (name, share if share.endswith("*") else f"{share} ", ends)
            for name, share, ends in rows
        ]
    print_table(("question", answer, f"{100 * confidence:g} % interval"), rows, right=(1, 2))
    if moved:
        out.print(_MOVED)


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
