"""The argument that names a plan, and where one is written, the same in every command."""

import os
import stat
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from croupier.documents.plots.figure import require_folder
from croupier.errors import ParameterError
from croupier.plan.file import read
from croupier.plan.plan import Plan
from croupier.plan.text import plan_text

__all__ = ["Force", "Output", "PlanFile", "PlanOption", "plan_source", "read_plan", "require_new"]
__all__ += ["require_writable", "write_plan"]

PlanFile = Annotated[
    Path,
    typer.Argument(
        help="A plan, such as plan.toml; - reads it from standard input.", metavar="PLAN"
    ),
]
PlanOption = Annotated[Path, typer.Option("--plan", help="The plan.", metavar="FILE")]
Output = Annotated[Path, typer.Option("--output", "-o", help="The file to write the plan to.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


_STANDARD_INPUT = Path("-")


def read_plan(file: Path, *, option: str = "PLAN") -> Plan:
    """Read the plan in a file that must be there, or on standard input.

    Args:
        file: The file.
        option: The option or argument that names it, as it is typed.
    """
    return Plan.from_toml(plan_source(file, option=option), file=str(file))


def plan_source(file: Path, *, option: str = "PLAN") -> str:
    """Read the text of a plan; standard input is read once and kept."""
    if file == _STANDARD_INPUT:
        return _typed_in()
    if not file.is_file():
        raise ParameterError(
            option, must="be a file", got=str(file), hint="Write one: croupier init."
        )
    return read(file.read_bytes(), file=str(file))


@cache
def _typed_in() -> str:
    return read(sys.stdin.buffer.read(), file=str(_STANDARD_INPUT))


def require_new(output: Path, *, force: bool) -> None:
    """Refuse a missing folder, and an existing file unless it may be replaced."""
    require_folder("--output", output)
    if output.exists() and not force:
        hint = "Add --force to replace it, or name another file with -o."
        raise ParameterError("--output", must="not exist yet", got=str(output), hint=hint)


def require_writable(file: Path, *, option: str, hint: str = "Make it writable.") -> None:
    """Refuse a write-protected file, even to a superuser, who could replace it."""
    target = file.resolve()
    protected = target.exists() and not target.stat().st_mode & stat.S_IWUSR
    if protected or not os.access(target.parent, os.W_OK):
        must = "be a writable file in a writable folder"
        raise ParameterError(option, must=must, got=str(file), hint=hint)


def write_plan(plan: Plan, output: Path, *, force: bool, notes: Mapping[str, str]) -> None:
    """Write a plan with a comment beside each key, `notes` among them."""
    with output.open("w" if force else "x", encoding="utf-8") as file:
        file.write(plan_text(plan, notes=notes))
