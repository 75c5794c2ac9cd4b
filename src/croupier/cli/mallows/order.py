"""`croupier mallows order`: a reference order from public columns."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

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
from croupier.cli.output.terminal import Json, out, print_json, print_table
from croupier.errors import ParameterError
from croupier.numerics.rounding import floor_digits
from croupier.shufflers.mallows import MallowsShuffler
from croupier.shufflers.ordering import Ordering, best_order
from croupier.shufflers.theta import most_crowd, theta_for

__all__ = ["HELP", "command"]

HELP = """Find a reference order in which groups lie close together, from public columns only.

Groups are people near each other (--columns with --radius or --nearest, also --geodesic), of equal
entries (--group-column), some contacts away (--edges, --steps), or listed in sets (--sets).

Tries several orders and keeps the one with the least exact sensitivity; --output writes it.

Example: croupier mallows order places.csv --columns x,y --radius 0.05 --alpha 4
"""


def command(
    file: Annotated[
        Path,
        typer.Argument(help="A .csv or .parquet file of public data.", metavar="FILE"),
    ],
    columns: Columns = None,
    radius: Radius = None,
    nearest: Nearest = None,
    geodesic: Geodesic = False,
    group_column: GroupColumn = None,
    edges: Edges = None,
    steps: Steps = None,
    sets: Sets = None,
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
    groups, coordinates = rule.read(file)
    found = best_order(groups, coordinates)
    shuffler = None
    if alpha is not None:
        shuffler = MallowsShuffler.for_alpha(groups, alpha=alpha, reference=found.order)
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
            **({} if shuffler is None or alpha is None else _chosen(shuffler, alpha, found)),
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
    if shuffler is not None and alpha is not None:
        chosen = _chosen(shuffler, alpha, found)
        out.print(f"{_range(np.asarray(shuffler.theta))} keeps alpha {alpha:g}")
        Components.of(shuffler).print()
        if found.sensitivity:
            theta, crowd = (floor_digits(chosen[key]) for key in ("plan_theta", "plan_crowd"))
            out.print(f"In a plan: one theta, {theta}; if all report, crowds of at least {crowd}")
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
    return f"theta {least} to {greatest}, by component,"


def _chosen(shuffler: MallowsShuffler, alpha: float, found: Ordering) -> dict[str, Any]:
    """The thetas of `shuffle`, and that of a plan, whose order has one for everybody."""
    thetas, components = np.asarray(shuffler.theta), Components.of(shuffler)
    theta = theta_for(alpha, found.sensitivity)
    return {
        "components": components.mixed,
        "people_alone": components.alone,
        "theta": float(thetas.min()),
        "theta_greatest": float(thetas.max()),
        "plan_theta": theta,
        "plan_crowd": most_crowd(n=components.people, theta=theta),
    }
