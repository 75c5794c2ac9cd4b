"""`croupier mallows order`: a reference order from public columns."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from croupier.cli.options.public_groups import Columns, Nearest, Radius, read_groups
from croupier.cli.output.terminal import Json, out, print_json, print_table
from croupier.errors import ParameterError
from croupier.numerics.rounding import floor_digits
from croupier.shufflers.mallows import MallowsShuffler
from croupier.shufflers.ordering import best_order

__all__ = ["HELP", "command"]

HELP = """Find a reference order in which groups lie close together, from public columns only.

Tries several orders and keeps the one with the least exact sensitivity; --output writes it.

Example: croupier mallows order places.csv --columns x,y --radius 0.05 --alpha 4
"""


def command(
    file: Annotated[
        Path, typer.Argument(help="A .csv or .parquet file, one row per person.", metavar="FILE")
    ],
    columns: Columns,
    radius: Radius = None,
    nearest: Nearest = None,
    alpha: Annotated[
        float | None, typer.Option(help="Also print the theta that keeps this alpha.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .csv file to write the order to.")
    ] = None,
    json: Json = False,
) -> None:
    """Find a reference order."""
    if output is not None and output.suffix != ".csv":
        raise ParameterError("--output", must="end in .csv", got=output.name)
    groups, coordinates = read_groups(file, columns, radius=radius, nearest=nearest)
    found = best_order(groups, coordinates)
    thetas = None
    if alpha is not None:
        shuffler = MallowsShuffler.for_alpha(groups, alpha=alpha, reference=found.order)
        thetas = np.asarray(shuffler.theta)
    if output is not None:
        np.savetxt(output, found.order, fmt="%d", header="person", comments="")
    if json:
        print_json(
            people=groups.n,
            mean_group=float(groups.sizes.mean()),
            order=found.name,
            width=found.width,
            sensitivity=found.sensitivity,
            paper_bound=found.paper_bound,
            direction="exact",
            alpha=alpha,
            components=None if thetas is None else len(thetas),
            theta=None if thetas is None else float(thetas.min()),
            theta_greatest=None if thetas is None else float(thetas.max()),
            candidates=[
                {"order": c.name, "width": c.width, "sensitivity": c.sensitivity}
                for c in found.candidates
            ],
        )
        return
    rows = [[c.name, f"{c.width:,}", f"{c.sensitivity:,}"] for c in found.candidates]
    print_table(["order", "width", "sensitivity"], rows, right=(1, 2))
    out.print()
    people = f"{groups.n:,} people, groups of {groups.sizes.mean():.3g} on average"
    out.print(f"{people}. Bound from the width alone: {found.paper_bound:,}")
    if thetas is not None:
        out.print(f"{_range(thetas)} keeps alpha {alpha:g}")
    if output is not None:
        out.print(f"Wrote the order to {output}")


def _range(thetas: NDArray[np.float64]) -> str:
    """The thetas that `shuffle` uses, one per component."""
    mixed = thetas[np.isfinite(thetas)]
    if not len(mixed):
        return "infinite theta (nobody shares a group)"
    least, greatest = floor_digits(float(mixed.min())), floor_digits(float(mixed.max()))
    if least == greatest:
        return f"theta {least}"
    return f"theta {least} to {greatest}, in {len(mixed):,} components,"
