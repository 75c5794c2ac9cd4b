"""`croupier plan upgrade`: rewrite a plan of schema 1 in schema 2."""

from codecs import BOM_UTF8
from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.options.plan import Force, PlanFile, plan_source, require_new, require_writable
from croupier.cli.output.terminal import Json, out, print_json
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.plan.upgrade import upgraded_text
from croupier.protocol import durable

__all__ = ["HELP", "command"]

HELP = """Rewrite a plan of schema 1 in schema 2.

The collection and every number proved about it stay the same. The digest changes: clients,
keys and batches belong to a digest, so release what the old plan collected with the version that
collected it, then sign and serve the new file.

Example: croupier plan upgrade plan.toml
"""


def command(
    plan: PlanFile,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file to write. Default: the same file."),
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Rewrite a plan."""
    if str(output or plan) == "-":
        raise ParameterError("--output", must="be given as a file for a plan from standard input")
    if output is not None:
        require_new(output, force=force)
    target = output or plan
    require_writable(target, option="PLAN" if output is None else "--output")
    text = upgraded_text(plan_source(plan), file=str(plan), may_drop_comments=output is not None)
    marked = str(plan) != "-" and plan.read_bytes().startswith(BOM_UTF8)
    durable.update(target.resolve(), BOM_UTF8 * marked + text.encode())
    made = Plan.load(target)
    if json:
        print_json(output=str(target), plan_digest=made.digest)
    else:
        out.print(f"Wrote {target}: schema 2, plan {made.digest[:8]}.")
