"""`croupier dpia`: the draft of an impact assessment, or a record for a registry."""

import json as json_format
from datetime import date, datetime
from pathlib import Path
from typing import Annotated

import typer

from croupier.assessment.ladder.gaussian import gaussian_row
from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.assessment.policy import checked
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.options.policy import PolicyFile, read_policy
from croupier.cli.output.terminal import Json, Quiet, out, print_json, progress
from croupier.documents.dpia.draft import dpia, gaussian_rows
from croupier.documents.dpia.page import page, require_markdown
from croupier.documents.dpia.registry import SCHEMA, registry_record, unknown_fields
from croupier.documents.dpia.written import markdown_templates
from croupier.documents.formats import Format, format_of
from croupier.documents.pdf import pdf_of, require_pdf
from croupier.documents.plots.figure import require_folder
from croupier.errors import ParameterError
from croupier.model.rung import Rung

__all__ = ["HELP", "command"]

HELP = """Draft a data protection impact assessment of a plan, with the proved numbers filled in.

The draft has the parts of Article 35(7) GDPR. What the plan does not state is marked TO FILL IN.
With --registry it is a record in the schema of the registry of differential-privacy deployments.

Example: croupier dpia plan.toml -o dpia.md
"""


def command(
    plan: PlanFile,
    policy: PolicyFile = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; dpia.md if left out.")
    ] = None,
    format: Annotated[  # noqa: A002 - the name of the flag
        Format | None,
        typer.Option("--format", help="The format; by the ending of --output if left out."),
    ] = None,
    registry: Annotated[
        bool, typer.Option("--registry", help="Write a record for the registry, as JSON.")
    ] = False,
    published: Annotated[
        datetime | None,
        typer.Option(
            "--published",
            formats=["%Y-%m-%d"],
            metavar="DATE",
            help="With --registry: when figures were first published.",
        ),
    ] = None,
    region: Annotated[
        str, typer.Option("--region", help="With --registry: whose figures they are.")
    ] = "",
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write the draft or the record of a plan."""
    silent = json or quiet
    if registry:
        if format is not None:
            raise ParameterError("--format", must="be left out with --registry")
        date_given = published.date() if published else None
        _write_record(plan, output or Path("record.json"), date_given, region, silent, json)
        return
    if published or region:
        raise ParameterError("--registry", must="be given with --published or --region")
    output = output or Path(f"dpia.{format or Format.MARKDOWN}")
    chosen = format or format_of(output, parameter="--output")
    _require(output, chosen)
    made, limits = read_plan(plan), read_policy(policy)
    with progress("Proving", total=None, quiet=silent):
        ladder = assess(made)
        found = checked(ladder, limits)
        draft = dpia(ladder, found, gaussian=gaussian_rows(ladder), file=plan.name)
    _write(draft, output, chosen)
    left = draft.count("**TO FILL IN:**")
    if json:
        print_json(
            file=str(output), plan_digest=made.digest, to_fill_in=left, judgement=found.judgement
        )
    elif not quiet:
        out.print(f"Wrote {output}, a draft. {left} lines are to be filled in.")


def _require(output: Path, chosen: Format) -> None:
    """Refuse early, before minutes of proving."""
    require_folder("--output", output)
    markdown_templates()
    if chosen is not Format.MARKDOWN:
        require_markdown()
    if chosen is Format.PDF:
        require_pdf()


def _write(draft: str, output: Path, chosen: Format) -> None:
    if chosen is Format.PDF:
        output.write_bytes(pdf_of(page(draft)))
    else:
        output.write_text(draft if chosen is Format.MARKDOWN else page(draft), encoding="utf-8")


def _write_record(
    plan: Path, output: Path, published: date | None, region: str, silent: bool, json: bool
) -> None:
    if output.suffix.lower() != ".json":
        raise ParameterError("--output", must="end in .json with --registry", got=output.name)
    require_folder("--output", output)
    made = read_plan(plan)
    with progress("Proving", total=None, quiet=silent):
        ladder: Ladder = assess(made)
        gaussian = gaussian_row(made, Rung(ladder.headline.rung))
    record = registry_record(ladder, gaussian, published=published, region=region)
    text = json_format.dumps(record, indent=2, ensure_ascii=False)
    output.write_text(f"{text}\n", encoding="utf-8")
    left = unknown_fields(record)
    if json:
        print_json(file=str(output), plan_digest=made.digest, schema=SCHEMA, to_fill_in=left)
    elif not silent:
        out.print(f"Wrote {output}, a draft. To fill in: {', '.join(left)}.")
