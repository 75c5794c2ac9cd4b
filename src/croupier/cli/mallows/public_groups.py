"""Groups from the public columns of a file, the same in every command."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from croupier.cli.column_files import ColumnFile
from croupier.cli.mechanism_options import count
from croupier.errors import DataError, ParameterError
from croupier.shufflers.groups import Groups

__all__ = ["Columns", "Nearest", "Radius", "read_groups"]

Columns = Annotated[
    str, typer.Option("--columns", help="Public columns of numbers, with commas: where or when.")
]
Radius = Annotated[
    float | None, typer.Option("--radius", help="A group: everybody within this distance.")
]
Nearest = Annotated[
    int | None,
    typer.Option("--nearest", parser=count, metavar="N", help="A group: so many nearest, instead."),
]


def read_groups(
    public: Path, columns: str, *, radius: float | None, nearest: int | None
) -> tuple[Groups, NDArray[Any]]:
    """Everybody's group, and the coordinates it was made from."""
    if (radius is None) == (nearest is None):
        raise ParameterError("--radius", must="be given, or --nearest, not both")
    entries = [
        np.concatenate([*ColumnFile(public, name, flag="--columns").batches()])
        for name in columns.split(",")
    ]
    if any(column.dtype.kind not in "iuf" for column in entries):
        raise DataError(len(entries[0]), "public entries are not numbers", hint="Check --columns.")
    coordinates = entries[0] if len(entries) == 1 else np.column_stack(entries)
    if radius is not None:
        return Groups.by_radius(coordinates, radius), coordinates
    return Groups.nearest(coordinates, nearest or 0), coordinates
