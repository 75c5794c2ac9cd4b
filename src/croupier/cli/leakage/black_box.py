"""`croupier leakage black-box`: leakage measured from samples alone."""

from collections.abc import Hashable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from croupier.auditing.blackbox import sampled_bayes_risk, sampled_bayes_security
from croupier.cli.options.mechanism import count
from croupier.cli.output.column_files import ColumnFile
from croupier.cli.output.terminal import Json, out, print_json, say_drawn
from croupier.documents.plots.bayes_security import plot_convergence
from croupier.documents.plots.figure import require_plottable, save_plot
from croupier.errors import ParameterError
from croupier.model import Direction
from croupier.numerics.rounding import ceiling_digits, floor_digits, nearest_digits

__all__ = ["HELP", "command"]

HELP = """Measure what outputs tell about inputs, from a file of independent samples.

One row per sample: the input that was fed in, and the output that came out. The mechanism need not
be known. Samples can show that something leaks, never that nothing does.

Example: croupier leakage black-box samples.csv --input given --output sent
"""


def command(
    file: Annotated[
        Path, typer.Argument(help="A .csv or .parquet file of samples.", metavar="FILE")
    ],
    input_column: Annotated[str, typer.Option("--input", help="The column of inputs.")],
    output_column: Annotated[str, typer.Option("--output", help="The column of outputs.")],
    support_size: Annotated[
        int | None,
        typer.Option(parser=count, metavar="N", help="Most outputs that exist; bounds both sides."),
    ] = None,
    confidence: Annotated[float, typer.Option(help="Coverage of each interval.")] = 0.95,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the attack's learning curve into this file.")
    ] = None,
    json: Json = False,
) -> None:
    """Measure what samples show."""
    require_plottable(plot)
    samples = _samples(file, input_column, output_column)
    facts: dict[str, Any] = {"confidence": confidence, "support_size": support_size}
    security = sampled_bayes_security(samples, **facts)
    risk = sampled_bayes_risk(samples, **facts)
    if plot is not None:
        save_plot(plot, plot_convergence, risk, inputs=len(samples))
    told, guessed = security.evidence, risk.evidence
    if json:
        print_json(
            bayes_security=told.measured,
            bayes_security_interval=[told.lower, told.upper],
            guess_uninformed=guessed.measured,
            guess_uninformed_interval=[guessed.lower, guessed.upper],
            direction=str(Direction.UPPER if support_size is None else Direction.EXACT),
            pair=[str(entry) for entry in security.pair],
            confidence=confidence,
            samples={str(value): len(sample) for value, sample in samples.items()},
            convergence=[
                {"learned_from": row.learned_from, "risk": row.risk, "risk_upper": row.risk_upper}
                for row in risk.log
            ],
        )
        return
    sure = f"{100 * confidence:g} % confidence"
    out.print(f"Bayes security: at most {ceiling_digits(told.upper)}  ({sure})")
    if support_size is not None:
        out.print(
            f"  and at least {floor_digits(told.lower)}, with at most {support_size:,} outputs"
        )
    out.print(f"  measured {nearest_digits(told.measured)}, between two of {len(samples):,} inputs")
    out.print(f"Guessing the input: right at least {floor_digits(guessed.lower)}  ({sure})")
    luck = nearest_digits(1 / len(samples))
    out.print(f"  measured {nearest_digits(guessed.measured)}; by luck alone {luck}")
    out.print()
    out.print("Measured, not proved: a better attack may exist. It meets no policy.")
    say_drawn(plot)


def _samples(file: Path, input_column: str, output_column: str) -> dict[Hashable, Any]:
    """The outputs of every input, in the order of the rows."""
    inputs, outputs = (
        np.concatenate([*ColumnFile(file, column, flag=flag).batches()])
        for column, flag in ((input_column, "--input"), (output_column, "--output"))
    )
    given, place = np.unique(inputs, return_inverse=True)
    if len(given) > 1000:
        raise ParameterError("--input", must="hold at most 1,000 different inputs", got=len(given))
    return {value: outputs[place == number] for number, value in enumerate(given.tolist())}
