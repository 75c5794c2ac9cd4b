"""An estimate as a table and as JSON, and the options that shape it, the same in every command."""

from typing import Annotated, Any

import typer

from croupier.cli.output.terminal import out, print_table
from croupier.model import Estimate

__all__ = ["All", "Confidence", "Simultaneous", "estimate_document", "how_intervals_hold"]
__all__ += ["print_estimate"]

Confidence = Annotated[float, typer.Option(help="Coverage of the intervals.")]
Simultaneous = Annotated[
    bool, typer.Option("--simultaneous", help="Make all intervals hold together.")
]
All = Annotated[bool, typer.Option("--all", help="Print every value.")]

_SHOWN = 20


def estimate_document(estimate: Estimate) -> list[dict[str, Any]]:
    """Return every value with its share or mean."""
    return [
        {
            "value": value,
            estimate.quantity: float(estimate.points[index]),
            "standard_error": float(estimate.standard_errors[index]),
            "interval": [float(estimate.lower[index]), float(estimate.upper[index])],
        }
        for index, value in enumerate(estimate.values)
    ]


def print_estimate(estimate: Estimate, confidence: float, *, everything: bool) -> None:
    """Print value, share or mean, and interval; the largest few unless `everything` is asked for.

    A share that noise has moved beyond what is possible is shown at the end of its interval.
    """
    shares = estimate.quantity == "share"
    factor, unit, form = (100, " %", ".2f") if shares else (1, "", ".6g")
    places = range(len(estimate.values))
    shown = list(places)
    if not everything and len(places) > _SHOWN:
        largest = sorted(places, key=lambda i: -estimate.points[i])
        shown = (largest if shares else shown)[:_SHOWN]
    cut = estimate.points.clip(estimate.lower, estimate.upper)
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
        out.print("* Noise moved the estimate out of the possible range; --json prints it as is.")
    if len(shown) < len(places):
        which = "largest" if shares else "first"
        out.print(f"The {which} {len(shown)} of {len(places):,} values; all of them: --all")


def how_intervals_hold(*, simultaneous: bool) -> str:
    """Say whether the intervals hold singly or together."""
    held = "together" if simultaneous else "singly; --simultaneous for all together"
    return f"Intervals hold {held}."
