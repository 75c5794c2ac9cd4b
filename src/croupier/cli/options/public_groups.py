"""Groups from the public columns of a file, the same in every command."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from croupier.cli.options.mechanism import count
from croupier.cli.output.column_files import ColumnFile
from croupier.errors import DataError, ParameterError
from croupier.shufflers.groups import Groups

__all__ = ["Columns", "Nearest", "Radius", "read_coordinates", "read_groups"]
__all__ += ["read_public_column"]

Columns = Annotated[
    str,
    typer.Option("--columns", help="Public numeric columns, separated by commas: places or times."),
]
Radius = Annotated[
    float | None, typer.Option("--radius", help="Group everybody within this distance.")
]
Nearest = Annotated[
    int | None,
    typer.Option("--nearest", parser=count, metavar="N", help="Group this many nearest people."),
]


def read_groups(
    public: Path, columns: str, *, radius: float | None, nearest: int | None
) -> tuple[Groups, NDArray[Any]]:
    """Read everybody's group, and the coordinates that define it."""
    if (radius is None) == (nearest is None):
        raise ParameterError("--radius", must="be given, or --nearest, not both")
    coordinates = read_coordinates(public, columns)
    if radius is not None:
        return Groups.by_radius(coordinates, radius), coordinates
    return Groups.nearest(coordinates, nearest or 0), coordinates


def read_coordinates(public: Path, columns: str) -> NDArray[Any]:
    """Read one number or row of numbers per person, from columns separated by commas."""
    entries = [_numbers(public, name.strip()) for name in columns.split(",")]
    return entries[0] if len(entries) == 1 else np.column_stack(entries)


def read_public_column(public: Path, name: str, *, flag: str = "--columns") -> NDArray[Any]:
    """The entries of one column, numbers or text."""
    file = ColumnFile(public, name, flag=flag)
    if file.specification is not None:
        raise ParameterError("--public", must="hold public columns, not reports", got=public.name)
    parts = [*file.batches()]
    if not parts or not sum(map(len, parts)):
        raise ParameterError(flag, must="hold at least one row", got=name)
    return np.concatenate(parts)


def _numbers(public: Path, name: str) -> NDArray[Any]:
    column = read_public_column(public, name)
    if column.dtype.kind not in "iuf":
        raise DataError(len(column), f"entries of {name} are not numbers", hint="Check --columns.")
    return column
