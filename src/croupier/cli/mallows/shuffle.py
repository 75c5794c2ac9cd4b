"""`croupier mallows shuffle`: reports, mixed inside groups."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from croupier.cli.options.public_groups import Columns, Nearest, Radius, read_groups
from croupier.cli.output.column_files import (
    ColumnFile,
    check_suffix,
    parse_reports,
    report_writer,
    stored_randomizer,
)
from croupier.cli.output.terminal import Json, out, print_json
from croupier.errors import ParameterError
from croupier.numerics.keystream import Keystream
from croupier.numerics.rounding import ceiling_digits
from croupier.shufflers.mallows import MallowsShuffler
from croupier.shufflers.ordering import best_order

__all__ = ["HELP", "command"]

HELP = """Shuffle reports so that those of one group are hard to tell apart, and trends remain.

Row i of the reports and row i of the public file belong to one person. The resulting order
is visible: against a reader of rows, this guarantees alpha inside groups, not amplification.

Example: croupier mallows shuffle reports.parquet --public places.csv --columns x,y --radius 0.05
--alpha 4 -o mixed.parquet
"""


def command(
    file: Annotated[
        Path, typer.Argument(help="Reports that `croupier randomize` wrote.", metavar="FILE")
    ],
    public: Annotated[Path, typer.Option(help="A file of public columns, one row per person.")],
    columns: Columns,
    alpha: Annotated[float, typer.Option(help="Limit of alpha inside groups.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write to.")],
    radius: Radius = None,
    nearest: Nearest = None,
    insecure_seed: Annotated[
        int | None,
        typer.Option(help="Seed of a repeatable order, for simulations: it hides nobody."),
    ] = None,
    json: Json = False,
) -> None:
    """Shuffle inside groups."""
    check_suffix(output)
    source = ColumnFile(file, None)
    if source.specification is None:
        raise ParameterError("FILE", must="be Parquet that `croupier randomize` wrote")
    randomizer = stored_randomizer(source)
    reports = np.concatenate([parse_reports(part, randomizer) for part in source.batches()])
    groups, coordinates = read_groups(public, columns, radius=radius, nearest=nearest)
    if len(reports) != groups.n:
        raise ParameterError("--public", must=f"have {len(reports):,} rows", got=groups.n)
    found = best_order(groups, coordinates)
    shuffler = MallowsShuffler.for_alpha(groups, alpha=alpha, reference=found.order)
    guarantee = shuffler.guarantee(groups)
    people = np.bincount(np.asarray(shuffler.components))
    alone = int((people == 1).sum())
    batch = shuffler.shuffle(reports, rng=Keystream(insecure_seed=insecure_seed))
    with report_writer(output, randomizer) as writer:
        writer.write(batch)
    if json:
        print_json(
            output=str(output),
            rows=len(batch),
            alpha=guarantee.value,
            direction=str(guarantee.direction),
            order=found.name,
            people_alone=alone,
            theorem=guarantee.theorem,
            assumptions=list(guarantee.assumptions),
            secure=insecure_seed is None,
        )
        return
    out.print(
        f"Wrote {len(batch):,} reports to {output}: alpha <= {ceiling_digits(guarantee.value)}"
    )
    out.print(f"  {found.name}; {len(people):,} components, each mixed separately")
    if alone:
        out.print(f"  {alone:,} of {groups.n:,} people share no group and were not moved")
    if insecure_seed is not None:
        out.print("The seed repeats the order: it hides nobody.")
