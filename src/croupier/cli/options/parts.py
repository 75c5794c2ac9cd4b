"""The options that divide the public file of a plan into parts, each estimated by itself."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from croupier.analyzer.displacement import Displacement
from croupier.analyzer.parts import FileParts, require_by_part, squares_of
from croupier.cli.options.groups import planned_law, read_rule
from croupier.cli.options.mechanism import count
from croupier.cli.options.public_groups import RuleOptions, read_coordinates, read_public_column
from croupier.errors import ParameterError
from croupier.model.domain import Categories
from croupier.plan.plan import Plan
from croupier.shufflers.groups import Groups
from croupier.shufflers.sensitivity import connected_components

__all__ = ["By", "Least", "PartOptions", "Side", "Value"]

By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="WHAT",
        help="Estimate parts of the public file as well: place (squares of a map), group, or the "
        "name of one of its columns.",
    ),
]
Side = Annotated[
    float | None,
    typer.Option("--cell", help="The side of a square of the map, in units of --columns."),
]
Least = Annotated[
    int | None,
    typer.Option(
        "--least",
        parser=count,
        metavar="N",
        help="Reports that a part needs; smaller ones are put together. Default: so many that an "
        "interval is at most 10 points to either side.",
    ),
]
Value = Annotated[
    str | None,
    typer.Option("--value", help="The value that is shown by part. Default: the last."),
]

_REPORTS_A_SQUARE = 250
"""The reports that a square has on average if nobody says how long its side is."""
_MOST_SQUARES = 1_000_000
_MOST_DIMENSIONS = 2


@dataclass(frozen=True, kw_only=True)
class PartOptions:
    """The options about parts: none of them without `by`.

    Attributes:
        by: What divides the public file.
        public: The file.
        rule: The rule of the plan's groups: it says how far reports are moved.
        cell: The side of a square.
        least: The number of reports that a part needs.
        value: The value that is shown.
    """

    by: str | None
    public: Path | None
    rule: RuleOptions
    cell: float | None
    least: int | None
    value: str | None

    def read(self, plan: Plan) -> FileParts | None:
        """Read the parts, and measure how far the plan's order moves reports; None if unasked.

        Raises:
            ParameterError: The plan mixes by no groups, or the file or the groups are others.
        """
        if self.by is None:
            self._require_unused()
            return None
        if plan.shuffling.groups is None:
            raise ParameterError(
                "--by",
                must="be left out: the plan mixes everybody, and no row has a place",
                hint="Only plans with [shuffling.groups] are estimated by part.",
            )
        if self.public is None:
            raise ParameterError(
                "--public",
                must="be given, with --by: it says where the places are",
                hint="Add the options with which `croupier mallows order` printed the sensitivity.",
            )
        if self.cell is not None and self.by != "place":
            raise ParameterError("--cell", must="come with --by place")
        if self.least is not None and self.least < 1:
            raise ParameterError("--least", must="be at least 1", got=self.least)
        require_by_part(plan.randomizers)
        self._require_value(plan)
        groups, coordinates = read_rule(self.rule, self.public)
        law = planned_law(plan, self.public, groups, coordinates)
        points = None
        if self.rule.columns is not None:
            points = _rows(read_coordinates(self.public, self.rule.columns))
        names, part_of = self._divided(groups, points)
        displacement = Displacement.measured(
            law.shuffler, part_of, columns=self._columns, coordinates=points
        )
        return FileParts(
            by=self.by,
            names=names,
            part_of=part_of,
            displacement=displacement,
            least=self.least,
        )

    @property
    def _columns(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in (self.rule.columns or "").split(",") if name.strip())

    def _divided(
        self, groups: Groups, points: NDArray[np.float64] | None
    ) -> tuple[Any, NDArray[np.int64]]:
        """Return the names of the parts, and the number of the part of each place."""
        if self.by == "place":
            return self._squares(points)
        if self.by == "group" and self.rule.group_column is None:
            part_of = connected_components(groups)
            first = np.unique(part_of, return_index=True)[1].tolist()
            return [f"group of place {place}" for place in first], part_of.astype(np.int64)
        column = self.rule.group_column if self.by == "group" else self.by
        entries = self._entries(column or "")
        if entries.dtype.kind == "f":
            raise ParameterError(
                "--by",
                must="be a column of names or whole numbers",
                got=column,
                hint="Coordinates are divided by --by place.",
            )
        if len(entries) != groups.n:
            must = "be a column with one row per person"
            raise ParameterError("--by", must=must, got=column)
        names, part_of = np.unique(entries.astype(str), return_inverse=True)
        return names.tolist(), part_of.astype(np.int64)

    def _entries(self, column: str) -> NDArray[Any]:
        try:
            return read_public_column(self.public or Path(), column, flag="--by")
        except ParameterError as error:
            if error.parameter != "--by":
                raise
            hint = "Or give --by place or --by group."
            raise ParameterError("--by", must=error.must, got=column, hint=hint) from None

    def _squares(self, points: NDArray[np.float64] | None) -> tuple[Any, NDArray[np.int64]]:
        if points is None or points.shape[1] > _MOST_DIMENSIONS:
            raise ParameterError(
                "--by",
                must="be group or a column, unless --columns names one or two coordinates",
                got="place",
            )
        if not np.isfinite(points).all():
            raise ParameterError("--columns", must="hold finite numbers", got=self.rule.columns)
        extent = np.ptp(points, axis=0)
        side = self.cell
        if side is None:
            # The grid with about as many squares as there are reports for.
            squares = max(1, len(points) // _REPORTS_A_SQUARE)
            side = float(extent.max()) / max(1, math.isqrt(squares) if len(extent) > 1 else squares)
        if self.cell is None and side == 0:  # everybody lives in one place
            side = 1.0
        is_side = math.isfinite(side) and side > 0
        if not is_side or math.prod((extent / side + 1).tolist()) > _MOST_SQUARES:
            must = f"be above 0 and give at most {_MOST_SQUARES:,} squares"
            raise ParameterError("--cell", must=must, got=side)
        return squares_of(points, side)

    def _require_unused(self) -> None:
        given = {
            "--public": self.public,
            "--columns": True if self.rule.given else None,
            "--cell": self.cell,
            "--least": self.least,
            "--value": self.value,
        }
        for option, entry in given.items():
            if entry is not None:
                raise ParameterError(option, must="come with --by place, --by group or --by COLUMN")

    def _require_value(self, plan: Plan) -> None:
        """Refuse a value that no question has, before the work."""
        known = [
            str(label)
            for made in plan.randomizers
            if isinstance(made.domain, Categories)
            for label in made.domain.labels
        ]
        if self.value is not None and self.value not in known:
            hint = f"Values: {', '.join(known[:20])}." if known else "No question has categories."
            raise ParameterError(
                "--value", must="be a value of a question", got=self.value, hint=hint
            )


def _rows(coordinates: NDArray[Any]) -> NDArray[np.float64]:
    return coordinates.reshape(len(coordinates), -1).astype(np.float64)
