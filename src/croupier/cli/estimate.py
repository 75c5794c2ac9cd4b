"""`croupier estimate`: shares or a mean, from a column of reports."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from croupier.cli.column_files import ColumnFile, parse_reports, stored_randomizer
from croupier.cli.mechanism_options import Choice, takes_mechanism
from croupier.cli.output import Json, Quiet, out, print_json, print_table, progress
from croupier.errors import ParameterError
from croupier.model import Estimate

__all__ = ["HELP", "command"]

HELP = """Estimate shares or a mean from a column of reports, with intervals.

The mechanism is read from the file if `croupier randomize` wrote it as Parquet.

Example: croupier estimate reports.parquet
"""

_SHOWN = 20


@takes_mechanism()
def command(
    chosen: Choice,
    file: Annotated[Path, typer.Argument(help="A .csv or .parquet file of reports.")],
    column: Annotated[
        str | None, typer.Option(help="The column; the only one if left out.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Coverage of the intervals.")] = 0.95,
    simultaneous: Annotated[
        bool, typer.Option("--simultaneous", help="All intervals together.")
    ] = False,
    project: Annotated[
        bool, typer.Option("--project", help="Move shares onto the simplex.")
    ] = False,
    all_values: Annotated[bool, typer.Option("--all", help="Print every value.")] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Estimate from reports."""
    randomizer = chosen.randomizer
    if randomizer is None:
        source = ColumnFile(file, column)
        randomizer = stored_randomizer(source)
    else:
        hexadecimal = len(randomizer.report_format.bounds) > 1 and file.suffix.lower() == ".csv"
        source = ColumnFile(file, column, text=hexadecimal)
        if source.specification and stored_randomizer(source) != randomizer:
            raise ParameterError(
                "--mechanism",
                must="be the one that the file was randomised with",
                hint="Leave it out to have it read from the file.",
            )
    n, tally = 0, np.zeros(1, dtype=np.int64)
    with progress("Counting", total=source.rows, quiet=quiet or json) as advance:
        for entries in source.batches():
            tally = tally + randomizer.tally(parse_reports(entries, randomizer))
            n += len(entries)
            advance(len(entries))
    if not n:
        raise ParameterError("FILE", must="contain at least one report")
    estimate = randomizer.estimate_tally(tally, n, confidence=confidence)
    estimate = estimate.simultaneous() if simultaneous else estimate
    estimate = estimate.projected() if project else estimate
    if json:
        print_json(
            mechanism=randomizer.mechanism,
            epsilon_local=randomizer.epsilon_local,
            n=n,
            confidence=estimate.confidence,
            estimates=_rows(estimate),
        )
    elif not quiet:
        _print(estimate, confidence, everything=all_values, simultaneous=simultaneous)


def _rows(estimate: Estimate) -> list[dict[str, object]]:
    return [
        {
            "value": value,
            estimate.quantity: float(estimate.points[index]),
            "standard_error": float(estimate.standard_errors[index]),
            "interval": [float(estimate.lower[index]), float(estimate.upper[index])],
        }
        for index, value in enumerate(estimate.values)
    ]


def _print(estimate: Estimate, confidence: float, *, everything: bool, simultaneous: bool) -> None:
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
    held = "together" if simultaneous else "singly; --simultaneous for all together"
    out.print(f"\n{estimate.n:,} reports. Intervals hold {held}.")
