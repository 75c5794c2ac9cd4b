"""An estimate as a table and as JSON, and the options that shape it, the same in every command."""

from typing import Annotated, Any

import typer

from croupier.cli.output.terminal import out, print_table
from croupier.model import Estimate

__all__ = ["All", "Confidence", "Simultaneous", "estimate_document", "how_intervals_hold"]
__all__ += ["print_estimate"]

Confidence = Annotated[float, typer.Option(help="Coverage of the intervals.")]
Simultaneous = Annotated[bool, typer.Option("--simultaneous", help="All intervals together.")]
All = Annotated[bool, typer.Option("--all", help="Print every value.")]

_SHOWN = 20


def estimate_document(estimate: Estimate) -> list[dict[str, Any]]:
    """Every value with its share or mean."""
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
    """Print value, share or mean, and interval; the first few unless `everything` is asked for."""
    shares = estimate.quantity == "share"
    factor, unit, form = (100, " %", ".2f") if shares else (1, "", ".6g")
    shown = len(estimate.values) if everything else min(_SHOWN, len(estimate.values))
    rows = [
        (
            str(estimate.values[i]),
            f"{factor * estimate.points[i]:{form}}{unit}",
            f"{factor * estimate.lower[i]:{form}} to {factor * estimate.upper[i]:{form}}",
        )
        for i in range(shown)
    ]
    interval = f"{100 * confidence:g} % interval"
    print_table(("value", estimate.quantity, interval), rows, right=(1, 2))
    more = len(estimate.values) - shown
    if more:
        out.print(f"{more:,} more: --all")


def how_intervals_hold(*, simultaneous: bool) -> str:
    """Whether the intervals hold singly or together."""
    held = "together" if simultaneous else "singly; --simultaneous for all together"
    return f"Intervals hold {held}."
