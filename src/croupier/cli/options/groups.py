"""The options that say who is grouped with whom, where a plan mixes by groups."""

from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from croupier.cli.options.public_groups import RuleOptions
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import read_secret
from croupier.shuffler.release.group_law import GroupLaw
from croupier.shufflers.groups import Groups
from croupier.shufflers.ordering import best_order

__all__ = ["GroupOptions", "Public", "Secret", "digest_of", "planned_law", "read_rule"]

Public = Annotated[
    Path | None,
    typer.Option("--public", help="The plan's public file, if the plan mixes by groups."),
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
    rule: RuleOptions
    secret: Path | None

    def law(self, plan: Plan) -> tuple[GroupLaw, bytes] | None:
        """The law of the plan's groups and the secret of credentials; None without groups."""
        if plan.shuffling.groups is None:
            if self.rule.given or self.public is not None or self.secret is not None:
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
                hint="Add the options with which `croupier mallows order` was run.",
            )
        groups, coordinates = read_rule(self.rule, self.public)
        law = planned_law(plan, self.public, groups, coordinates)
        return law, read_secret(self.secret)


def read_rule(rule: RuleOptions, public: Path) -> tuple[Groups, NDArray[Any] | None]:
    """Read everybody's group, and the coordinates that order them, if any."""
    if not public.is_file():
        raise ParameterError("--public", must="be a file", got=str(public))
    return rule.read(public)


def planned_law(
    plan: Plan, public: Path, groups: Groups, coordinates: NDArray[Any] | None
) -> GroupLaw:
    """Return the law that moves the reports of a plan, if file and groups are the plan's."""
    reference = np.arange(groups.n)
    if plan.shuffling.order == "mallows":
        reference = best_order(groups, coordinates).order
    return GroupLaw.of(plan, groups, file_digest=digest_of(public), reference=reference)


def digest_of(public: Path) -> str:
    """Return the digest by which a plan names its public file."""
    with public.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
