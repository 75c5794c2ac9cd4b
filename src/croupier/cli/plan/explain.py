"""`croupier explain`: one page for the privacy officer."""

from io import StringIO
from pathlib import Path
from typing import Annotated

import typer

from croupier.assessment.ladder.ladder import assess
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.options.policy import (
    ApprovalFile,
    PolicyFile,
    RequireApproval,
    read_approval,
    read_policy,
)
from croupier.cli.output.policy import verdict_line
from croupier.cli.output.terminal import Json, Quiet, out, print_json, progress, say
from croupier.cli.plan.gate import checked_under
from croupier.documents.explain.page import explain, explain_in_markdown
from croupier.documents.explain.templates import templates
from croupier.documents.formats import Format, format_of
from croupier.documents.pdf import pdf_of, require_pdf
from croupier.documents.plots.figure import require_folder, require_plottable
from croupier.documents.plots.plan import STEPS

__all__ = ["HELP", "command"]

HELP = """Write one page that says what a plan reveals, to whom, and what that rests on.

The page is one file of HTML, PDF or Markdown, as the name of the output ends. The first page is a
summary to sign. HTML needs no network and no script, and prints well; Markdown has no plots.

Example: croupier explain plan.toml -o explain.html
"""


def command(
    plan: PlanFile,
    policy: PolicyFile = None,
    require_approval: RequireApproval = None,
    approval: ApprovalFile = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The .html, .pdf or .md file to write.",
            show_default="explain.html",
        ),
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="The format.", show_default="as the name of the output ends"),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write the page of a plan."""
    output = output or Path(f"explain.{form or Format.HTML}")
    form = form or format_of(output, parameter="--output")
    require_folder("--output", output)
    _require(form)
    made, limits = read_plan(plan), read_policy(policy)
    approved = read_approval(
        made, file=plan, key=require_approval, approval=approval, policy=limits
    )
    with progress("Proving", total=None, quiet=json or quiet):
        ladder = assess(made)
    found = checked_under(ladder, limits, approved)
    with progress("Drawing", total=STEPS, quiet=json or quiet) as advance:
        if form is Format.MARKDOWN:
            page = explain_in_markdown(ladder, found, approval=approved, file=plan.name)
        else:
            page = explain(ladder, found, approval=approved, file=plan.name, advance=advance)
        output.write_bytes(pdf_of(page) if form is Format.PDF else page.encode())
    if json:
        print_json(
            file=str(output),
            plan_digest=made.digest,
            limits=len(found),
            limits_met=sum(verdict.met for verdict in found),
            judgement=found.judgement,
        )
    elif not quiet:
        out.print(f"Wrote {output}.")
        say(verdict_line(found, plan, policy))
        if approved:
            say(f"Approved by {approved.by} on {approved.date}.")


def _require(form: Format) -> None:
    """Refuse early what is not installed."""
    templates()
    if form is not Format.MARKDOWN:
        require_plottable(StringIO())
    if form is Format.PDF:
        require_pdf()
