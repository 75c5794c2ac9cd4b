"""The argument that names a plan, the same in every command."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.errors import ParameterError
from croupier.model.plan import Plan

__all__ = ["PlanFile", "read_plan"]

PlanFile = Annotated[Path, typer.Argument(help="A plan, such as plan.toml.", metavar="PLAN")]


def read_plan(file: Path) -> Plan:
    """The plan in a file that must be there."""
    if not file.is_file():
        raise ParameterError(
            "PLAN", must="be a file", got=str(file), hint="Write one: croupier init."
        )
    return Plan.load(file)
