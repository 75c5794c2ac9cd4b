"""`croupier explain`: one page for the privacy officer."""

from io import StringIO
from pathlib import Path
from typing import Annotated

import typer

from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import judged, verdicts
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.output.policy import counted
from croupier.cli.output.terminal import Json, Quiet, out, print_json, progress
from croupier.documents.explain.page import explain
from croupier.documents.explain.templates import templates
from croupier.documents.plots.figure import require_folder, require_plottable
from croupier.documents.plots.plan import STEPS
from croupier.errors import ParameterError
from croupier.model.judgement import Judgement

__all__ = ["HELP", "command"]

HELP = """Write one page that says what a plan reveals, to whom, and what that rests on.

The page is one HTML file: it needs no network and no script, and prints well.

Example: croupier explain plan.toml -o explain.html
"""


def command(
    plan: PlanFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="The .html file to write.")] = Path(
        "explain.html"
    ),
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write the page of a plan."""
    if output.suffix.lower() not in (".html", ".htm"):
        raise ParameterError("--output", must="end in .html", got=output.name)
    require_folder("--output", output)
    require_plottable(StringIO())
    templates()
    made = read_plan(plan)
    with progress("Proving", total=None, quiet=json or quiet):
        ladder = assess(made)
    with progress("Drawing", total=STEPS, quiet=json or quiet) as advance:
        page = explain(ladder, file=plan.name, advance=advance)
    output.write_text(page, encoding="utf-8")
    found = verdicts(ladder)
    judgement = judged(found)
    if json:
        print_json(
            file=str(output),
            plan_digest=made.digest,
            limits=len(found),
            limits_met=sum(verdict.met for verdict in found),
            judgement=judgement,
        )
    elif not quiet:
        kept, _, idle = counted(found).partition(";")
        kept = f"{kept} are met by proof{idle and ';' + idle}."
        none = "No limit is set."
        out.print(f"Wrote {output}. {none if judgement is Judgement.NO_LIMIT else kept}")
