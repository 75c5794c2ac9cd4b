"""The people of an evaluation: synthetic ones, or rows of a file."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from croupier.cli.options.mechanism import count
from croupier.cli.options.public_groups import read_coordinates, read_public_column
from croupier.cli.output.column_files import ColumnFile
from croupier.datasets.catalogue import DATASETS, Scales, dataset
from croupier.datasets.community import Community
from croupier.errors import ParameterError

__all__ = ["AttackRadius", "Data", "Name", "People", "Privileged", "PublicColumns", "Radii"]
__all__ += ["Subject", "Value", "file_subject", "synthetic_subject"]

Name = Annotated[str | None, typer.Option("--dataset", help=f"Synthetic: {', '.join(DATASETS)}.")]
Data = Annotated[
    Path | None, typer.Option("--data", help="A .csv or .parquet file, one row per person.")
]
PublicColumns = Annotated[
    str | None, typer.Option("--columns", help="Its public numeric columns, separated by commas.")
]
Value = Annotated[str | None, typer.Option("--value", help="Its column of secret values.")]
Privileged = Annotated[
    str | None, typer.Option("--privileged", help="Its column that only the attacker uses.")
]
Radii = Annotated[
    str | None, typer.Option("--radii", help="Radii of groups, ascending, separated by commas.")
]
AttackRadius = Annotated[
    float | None,
    typer.Option("--attack-radius", help="Radius around a person that the attacker looks at."),
]
People = Annotated[
    int | None,
    typer.Option(
        "--people", parser=count, metavar="N", help="Synthetic people.  [default: as in the paper]"
    ),
]

_MOST_VALUES = 50
_TEST_SEED = 1


@dataclass(frozen=True, kw_only=True)
class Subject:
    """The people to evaluate on, and the scales.

    Attributes:
        community: The people.
        title: Their name, and whether they are synthetic.
        scales: The distances to look at.
        test: Other people of the same kind, where values have coarser levels.
    """

    community: Community
    title: str
    scales: Scales
    test: Community | None = None


def synthetic_subject(
    name: str, *, people: int | None, radii: str | None, attack_radius: float | None
) -> Subject:
    """A synthetic community by its name, at its own scales or the user's."""
    found = dataset(name)
    n = found.people if people is None else people
    if n < 100:
        raise ParameterError("--people", must="be at least 100", got=n)
    scales = found.scales
    if radii is not None:
        scales = replace(scales, radii=_distances(radii), sizes=())
    if attack_radius is not None:
        scales = replace(scales, near=attack_radius)
    community = found.make(n=n, seed=0)
    test = found.make(n=n, seed=_TEST_SEED) if community.levels else None
    return Subject(community=community, title=f"Synthetic {name}", scales=scales, test=test)


def file_subject(
    file: Path,
    *,
    columns: str | None,
    value: str | None,
    privileged: str | None,
    radii: str | None,
    attack_radius: float | None,
) -> Subject:
    """The people of a file, at the user's scales."""
    if columns is None or value is None or radii is None or attack_radius is None:
        must = "be given with --data, and so must --columns, --radii and --attack-radius"
        raise ParameterError("--value", must=must)
    secret = np.concatenate([*ColumnFile(file, value, text=True, flag="--value").batches()])
    labels, values = np.unique(secret.astype(str), return_inverse=True)
    if not 2 <= len(labels) <= _MOST_VALUES:
        must = f"have 2 to {_MOST_VALUES} different entries"
        raise ParameterError("--value", must=must, got=len(labels))
    known = None
    if privileged is not None:
        known = read_public_column(file, privileged, flag="--privileged")
        known = known if known.dtype.kind in "iuf" else known.astype(str)
    community = Community(
        labels=tuple(labels.tolist()),
        values=values,
        places=read_coordinates(file, columns),
        privileged=known,
        synthetic=False,
    )
    if attack_radius <= 0:
        raise ParameterError("--attack-radius", must="be positive", got=attack_radius)
    scales = Scales(near=attack_radius, length=attack_radius, radii=_distances(radii))
    return Subject(community=community, title=file.name, scales=scales)


def _distances(text: str) -> tuple[float, ...]:
    try:
        radii = tuple(float(entry) for entry in text.split(","))
    except ValueError:
        radii = (-1.0,)
    if not all(radius >= 0 for radius in radii) or list(radii) != sorted(set(radii)):
        raise ParameterError("--radii", must="be ascending distances", got=text, hint="Try 0,5,10.")
    return radii
