"""The options that say who is grouped with whom, where a plan mixes by groups."""

from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from croupier.cli.options.public_groups import (
    Nearest,
    Radius,
    read_coordinates,
    read_groups,
    read_public_column,
)
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import read_secret
from croupier.shuffler.release.group_law import GroupLaw
from croupier.shufflers.groups import Groups
from croupier.shufflers.ordering import best_order

__all__ = ["GroupColumn", "GroupOptions", "Nearest", "Public", "PublicColumns", "Radius", "Secret"]

Public = Annotated[
    Path | None,
    typer.Option("--public", help="The plan's public file, if the plan mixes by groups."),
]
PublicColumns = Annotated[
    str | None, typer.Option("--columns", help="Its numeric columns, separated by commas.")
]
GroupColumn = Annotated[
    str | None,
    typer.Option(
        "--group-column", help="Group by equal entries of this column, instead of --columns."
    ),
]
Secret = Annotated[
    Path | None,
    typer.Option(
        "--secret", help="The secret that credentials were issued with, for plans with groups."
    ),
]


@dataclass(frozen=True, kw_only=True)
class GroupOptions:
    """The options about groups: all of them if the plan has groups, else none."""

    public: Path | None
    columns: str | None
    radius: float | None
    nearest: int | None
    group_column: str | None
    secret: Path | None

    def law(self, plan: Plan) -> tuple[GroupLaw, bytes] | None:
        """The law of the plan's groups and the secret of credentials; None without groups."""
        if plan.shuffling.groups is None:
            if any(given is not None for given in vars(self).values()):
                raise ParameterError(
                    "--public",
                    must="be left out, with --secret: the plan mixes everybody",
                    hint="Run again without them.",
                )
            return None
        if self.public is None or self.secret is None:
            raise ParameterError(
                "--public",
                must="be given, with --secret: the plan mixes by groups",
                hint="Add --columns x,y --radius R as for `croupier mallows order`.",
            )
        if not self.public.is_file():
            raise ParameterError("--public", must="be a file", got=str(self.public))
        with self.public.open("rb") as file:
            digest = file_digest(file, "sha256").hexdigest()
        groups, coordinates = self._groups(self.public)
        reference = np.arange(groups.n)
        if plan.shuffling.order == "mallows":
            reference = best_order(groups, coordinates).order
        law = GroupLaw.of(plan, groups, file_digest=digest, reference=reference)
        return law, read_secret(self.secret)

    def _groups(self, public: Path) -> tuple[Groups, NDArray[Any] | None]:
        if self.group_column is not None:
            if self.radius is not None or self.nearest is not None:
                raise ParameterError("--group-column", must="come without --radius and --nearest")
            groups = Groups.of_partition(read_public_column(public, self.group_column))
            if self.columns is None:
                return groups, None
            return groups, read_coordinates(public, self.columns)
        if self.columns is None:
            raise ParameterError("--columns", must="be given, or --group-column")
        return read_groups(public, self.columns, radius=self.radius, nearest=self.nearest)
