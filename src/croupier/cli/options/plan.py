"""The argument that names a plan, and where one is written, the same in every command."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from croupier.documents.plots.figure import require_folder
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.plan.text import plan_text

__all__ = ["Force", "Output", "PlanFile", "PlanOption", "read_plan", "require_new", "write_plan"]

PlanFile = Annotated[Path, typer.Argument(help="A plan, such as plan.toml.", metavar="PLAN")]
PlanOption = Annotated[Path, typer.Option("--plan", help="The plan.", metavar="FILE")]
Output = Annotated[Path, typer.Option("--output", "-o", help="Where the plan goes.")]
Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]


def read_plan(file: Path) -> Plan:
    """The plan in a file that must be there."""
    if not file.is_file():
        raise ParameterError(
            "PLAN", must="be a file", got=str(file), hint="Write one: croupier init."
        )
    return Plan.load(file)


def require_new(output: Path, *, force: bool) -> None:
    """Refuse a folder that is not there, and to replace a file unless told to."""
    require_folder("--output", output)
    if output.exists() and not force:
        hint = "Add --force to replace it, or -o for another."
        raise ParameterError("--output", must="not be there yet", got=str(output), hint=hint)


def write_plan(plan: Plan, output: Path, *, force: bool, notes: Mapping[str, str]) -> None:
    """Write a plan with a comment beside each key, `notes` among them."""
    with output.open("w" if force else "x", encoding="utf-8") as file:
        file.write(plan_text(plan, notes=notes))
