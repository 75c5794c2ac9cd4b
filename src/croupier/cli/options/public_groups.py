"""Groups from a public file, described in the same way to every command."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from croupier.cli.options.mechanism import count
from croupier.cli.output.column_files import ColumnFile
from croupier.errors import DataError, ParameterError
from croupier.shufflers.earth import chord, points_on_earth
from croupier.shufflers.groups import Groups

__all__ = ["Columns", "Edges", "Geodesic", "GroupColumn", "Nearest", "Radius", "RuleOptions"]
__all__ += ["Sets", "Steps", "read_coordinates", "read_public_column"]

Columns = Annotated[
    str | None,
    typer.Option("--columns", help="Public numeric columns, separated by commas: places or times."),
]
Radius = Annotated[
    float | None,
    typer.Option("--radius", help="Group everybody within this distance; km with --geodesic."),
]
Nearest = Annotated[
    int | None,
    typer.Option("--nearest", parser=count, metavar="N", help="Group this many nearest people."),
]
Geodesic = Annotated[
    bool,
    typer.Option(
        "--geodesic", help="--columns are latitude and longitude in degrees, distances in km."
    ),
]
GroupColumn = Annotated[
    str | None,
    typer.Option(
        "--group-column", help="Group by equal entries of this column, instead of --columns."
    ),
]
Edges = Annotated[
    str | None,
    typer.Option(
        "--edges", help="Two columns of a list of contacts, with --steps: one row per pair."
    ),
]
Steps = Annotated[
    int | None,
    typer.Option(
        "--steps", parser=count, metavar="N", help="Group everybody so many contacts away."
    ),
]
Sets = Annotated[
    str | None,
    typer.Option(
        "--sets", help="Two columns, set and person: one row per member; sets may overlap."
    ),
]
_MOST_PEOPLE = 10**8
_NUMBERED = "number people from 0 on, with whole numbers below 10^8"


@dataclass(frozen=True, kw_only=True)
class RuleOptions:
    """The rule by which the rows of a public file are groups; exactly one is given."""

    columns: str | None = None
    radius: float | None = None
    nearest: int | None = None
    geodesic: bool = False
    group_column: str | None = None
    edges: str | None = None
    steps: int | None = None
    sets: str | None = None

    @property
    def given(self) -> bool:
        """Tell whether any of them is given."""
        return any(value not in (None, False) for value in vars(self).values())

    def read(self, public: Path) -> tuple[Groups, NDArray[Any] | None]:
        """Read the groups, and the coordinates of the people if they have any."""
        self._require_one()
        if self.edges is not None:
            return _within_steps(public, self.edges, self.steps), None
        if self.sets is not None:
            return _listed(public, self.sets), None
        coordinates = None if self.columns is None else read_coordinates(public, self.columns)
        if self.group_column is not None:
            return Groups.of_partition(read_public_column(public, self.group_column)), coordinates
        radius = self.radius
        if self.geodesic:
            coordinates = _on_earth(coordinates)
            radius = None if radius is None else chord(radius)
        if radius is not None:
            return Groups.by_radius(coordinates, radius), coordinates  # type: ignore[arg-type]
        return Groups.nearest(coordinates, self.nearest or 0), coordinates  # type: ignore[arg-type]

    def _require_one(self) -> None:
        near = self.radius is not None or self.nearest is not None
        rules = {
            "--columns": near or (self.columns is not None and self.group_column is None),
            "--group-column": self.group_column is not None,
            "--edges": self.edges is not None or self.steps is not None,
            "--sets": self.sets is not None,
        }
        chosen = [flag for flag, given in rules.items() if given]
        if len(chosen) != 1:
            raise ParameterError(
                chosen[1] if chosen else "--columns",
                must=f"come without {chosen[0]}" if chosen else "be given, or another rule",
                hint="Rules: --columns, --group-column, --edges, --sets. Give one.",
            )
        if chosen == ["--columns"]:
            if self.columns is None:
                raise ParameterError("--columns", must="be given, with --radius or --nearest")
            if (self.radius is None) == (self.nearest is None):
                raise ParameterError("--radius", must="be given, or --nearest, not both")
        elif self.geodesic or (self.columns is not None and self.group_column is None):
            raise ParameterError("--columns", must=f"be left out with {chosen[0]}, and --geodesic")
        if (self.edges is None) != (self.steps is None):
            raise ParameterError("--edges", must="come with --steps", hint="Try --steps 1.")


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


def _on_earth(coordinates: NDArray[Any] | None) -> NDArray[np.float64]:
    try:
        return points_on_earth([] if coordinates is None else coordinates)
    except ParameterError as error:
        raise ParameterError("--columns", must=error.must, hint="Latitude first.") from None


def _two(flag: str, names: str) -> tuple[str, str]:
    first, comma, second = (part.strip() for part in names.partition(","))
    if not comma or not first or not second or "," in second:
        raise ParameterError(flag, must="name two columns, separated by a comma", got=names)
    return first, second


def _people(public: Path, name: str, flag: str) -> NDArray[np.int64]:
    """Read numbers of people."""
    column = read_public_column(public, name, flag=flag)
    if column.dtype.kind not in "iu" or column.min() < 0 or column.max() >= _MOST_PEOPLE:
        raise ParameterError(flag, must=_NUMBERED, got=name)
    return column.astype(np.int64)


def _within_steps(public: Path, names: str, steps: int | None) -> Groups:
    """Everybody within some steps; a pair of a person and the same person adds nobody."""
    from scipy.sparse import coo_array  # noqa: PLC0415 - slow to load, and seldom needed

    first, second = (_people(public, name, "--edges") for name in _two("--edges", names))
    n = int(max(first.max(), second.max())) + 1
    graph = coo_array((np.ones(len(first), dtype=np.bool_), (first, second)), shape=(n, n))
    return Groups.by_graph_distance(graph, steps or 0)


def _listed(public: Path, names: str) -> Groups:
    """The sets, in the order of their labels; a member listed twice counts once."""
    label, person = _two("--sets", names)
    labels = read_public_column(public, label, flag="--sets")
    people = _people(public, person, "--sets")
    n = int(people.max()) + 1
    _, which = np.unique(labels, return_inverse=True)
    members = np.unique(which * n + people)
    starts = np.concatenate([[0], np.cumsum(np.bincount(members // n))])
    return Groups(n, starts, members % n)
