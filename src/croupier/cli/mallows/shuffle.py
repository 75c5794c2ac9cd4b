"""`croupier mallows shuffle`: reports, mixed inside groups."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from croupier.cli.mallows.components import Components
from croupier.cli.options.public_groups import (
    Columns,
    Edges,
    Geodesic,
    GroupColumn,
    Nearest,
    Radius,
    RuleOptions,
    Sets,
    Steps,
)
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

Row i of the reports and row i of the public file belong to one person, or number i, counted from
0, where the file lists contacts or sets. The resulting order is visible: against a reader of rows,
this guarantees alpha inside groups, not amplification.

Example: croupier mallows shuffle reports.parquet --public places.csv --columns x,y --radius 0.05
--alpha 4 -o mixed.parquet
"""


def command(
    file: Annotated[
        Path, typer.Argument(help="Reports that `croupier randomize` wrote.", metavar="FILE")
    ],
    public: Annotated[Path, typer.Option(help="A file of public data, as for `mallows order`.")],
    alpha: Annotated[float, typer.Option(help="Limit of alpha inside groups.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write to.")],
    columns: Columns = None,
    radius: Radius = None,
    nearest: Nearest = None,
    geodesic: Geodesic = False,
    group_column: GroupColumn = None,
    edges: Edges = None,
    steps: Steps = None,
    sets: Sets = None,
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
    rule = RuleOptions(
        columns=columns,
        radius=radius,
        nearest=nearest,
        geodesic=geodesic,
        group_column=group_column,
        edges=edges,
        steps=steps,
        sets=sets,
    )
    groups, coordinates = rule.read(public)
    if len(reports) != groups.n:
        raise ParameterError("--public", must=f"be about {len(reports):,} people", got=groups.n)
    found = best_order(groups, coordinates)
    shuffler = MallowsShuffler.for_alpha(groups, alpha=alpha, reference=found.order)
    guarantee = shuffler.guarantee(groups)
    components = Components.of(shuffler)
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
            components=components.mixed,
            people_alone=components.alone,
            theorem=guarantee.theorem,
            assumptions=list(guarantee.assumptions),
            secure=insecure_seed is None,
        )
        return
    out.print(
        f"Wrote {len(batch):,} reports to {output}: alpha <= {ceiling_digits(guarantee.value)}"
    )
    out.print(f"  order: {found.name}")
    components.print()
    if insecure_seed is not None:
        out.print("The seed repeats the order: it hides nobody.")
