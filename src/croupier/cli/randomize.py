"""`croupier randomize`: the client's noise, over a column of a file."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.options.mechanism import Choice, takes_mechanism
from croupier.cli.output.column_files import ColumnFile, check_suffix, report_writer
from croupier.cli.output.terminal import Json, Quiet, out, print_json, progress
from croupier.documents.plots.figure import require_folder
from croupier.errors import ParameterError
from croupier.model.texts import Texts
from croupier.numerics.keystream import Keystream
from croupier.numerics.rounding import ceiling_digits

__all__ = ["HELP", "command"]

HELP = """Randomise a column of a CSV or Parquet file, row by row, into a new file.

The new file holds the reports only, in the order of the rows: shuffle it before anybody else sees
it. A Parquet file remembers the mechanism, so that `croupier estimate` finds it there.

Example: croupier randomize answers.csv --column emoji -o reports.parquet
--mechanism k-rr --k 50 --max-epsilon-local 4
"""


@takes_mechanism(default="k-rr")
def command(
    chosen: Choice,
    file: Annotated[Path, typer.Argument(help="A .csv or .parquet file.", metavar="FILE")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to write the reports to.")
    ],
    column: Annotated[str | None, typer.Option(help="The column. Default: the only one.")] = None,
    insecure_seed: Annotated[
        int | None,
        typer.Option(help="Seed of repeatable noise, for simulations: it protects nobody."),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Randomise a column."""
    randomizer = chosen.required()
    check_suffix(output)
    require_folder("--output", output)
    if output.resolve() == file.resolve():
        raise ParameterError("--output", must="be a different file from the input")
    text = chosen.labels is not None or isinstance(randomizer.domain, Texts)
    source = ColumnFile(file, column, text=text, values=randomizer.domain)
    rng = Keystream(insecure_seed=insecure_seed)
    rows = 0
    with (
        report_writer(output, randomizer) as writer,
        progress("Randomising", total=source.rows, quiet=quiet or json) as advance,
    ):
        for values in source.batches():
            writer.write(randomizer.randomize(values, rng=rng))
            rows += len(values)
            advance(len(values))
    if json:
        print_json(
            output=str(output),
            rows=rows,
            mechanism=randomizer.mechanism,
            epsilon_local=randomizer.epsilon_local,
            report_bytes=randomizer.report_format.size,
            secure=insecure_seed is None,
        )
    elif not quiet:
        epsilon = ceiling_digits(randomizer.epsilon_local)
        how = f"{randomizer.mechanism}, epsilon_local <= {epsilon}"
        out.print(f"Wrote {rows:,} reports to {output}: {how}")
        out.print("They are in the order of the rows: shuffle them before anybody sees them.")
        if insecure_seed is not None:
            out.print("The seed repeats the noise: it protects nobody.")
