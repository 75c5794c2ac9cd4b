"""`croupier audit shuffler`: released batches held to what test clients sent."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.audit.sent import Sent, read_rows
from croupier.audit.shuffler_claim import ShufflerAudit, audit_shuffler
from croupier.cli.audit.mechanism import REFUTED
from croupier.cli.output import Json, Quiet, err, out, print_json, progress
from croupier.cli.plan_options import PlanOption, read_plan
from croupier.cli.receipt import has_its_file, read_receipts
from croupier.errors import ParameterError
from croupier.pipeline.batch_file import COLUMN

__all__ = ["HELP", "command"]

HELP = """Look for what a shuffler did wrong, in batches that test clients sent reports into.

Finds each lost or doubled report, batches below the plan's minimum, bytes by which a released row
can be linked to an envelope, and traces of the order or the times of sending. The file of what was
sent has the columns envelope, inner, time and batch; the batches lie beside their receipts.

Exits with 5 on a violation. That none was found proves nothing: see power.

Example: croupier audit shuffler released/*.receipt.json --plan plan.toml --sent sent.parquet
"""

Receipts = Annotated[list[Path], typer.Argument(help="Receipts, in any order.", metavar="FILE...")]
SentFile = Annotated[Path, typer.Option("--sent", help="What test clients sent.", metavar="FILE")]


def command(
    files: Receipts,
    plan: PlanOption,
    sent: SentFile,
    false_alarm: Annotated[
        float, typer.Option(help="Chance to call an honest shuffler otherwise.")
    ] = 1e-6,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Hold released batches to what was sent."""
    made = read_plan(plan)
    chain = read_receipts(files, made)
    batches = {}
    for receipt, folder in chain:
        if receipt.file is None:
            continue
        if not has_its_file(receipt, folder):
            raise ParameterError("FILE", must=f"lie beside its batch, {receipt.file.name}")
        batches[receipt.batch] = read_rows(folder / receipt.file.name, COLUMN)
    with progress("Looking", total=None, quiet=quiet or json):
        found = audit_shuffler(
            Sent.load(sent),
            batches,
            [receipt for receipt, _ in chain],
            plan=made,
            false_alarm=false_alarm,
        )
    if json:
        _print_document(found, len(batches))
    elif not quiet:
        _print(found, len(batches))
    elif found.refuted:
        err.print("The shuffler did not keep its promise.")
    if found.refuted:
        raise typer.Exit(REFUTED)


def _print(found: ShufflerAudit, batches: int) -> None:
    violated = [check for check in found.checks if check.violated]
    for check in violated:
        chance = f" (chance {check.p_value:.1g})" if check.p_value else ""
        out.print(f"VIOLATION  {check.promise}: {check.observed:,} {check.words}{chance}")
    if not violated:
        out.print(f"NO VIOLATION FOUND  in {len(found.checks):,} checks")
    out.print(f"samples    {found.sent:,} sent, {found.released:,} released in {batches:,} batches")
    for note in found.notes:
        out.print(f"note       {note}.", soft_wrap=True)
    if violated:
        return
    single = [check.promise for check in found.checks if check.p_value == 0]
    out.print(f"power      one of these is found: {', '.join(dict.fromkeys(single))}")
    for check in found.checks:
        if check.p_value:
            out.print(f"           {check.promise}: {check.found_from:,} or more {check.words}")
    out.print(f"           False alarm {found.false_alarm:g}. Evidence, not proof.")


def _print_document(found: ShufflerAudit, batches: int) -> None:
    print_json(
        refuted=found.refuted,
        false_alarm=found.false_alarm,
        sent=found.sent,
        released=found.released,
        batches=batches,
        notes=list(found.notes),
        checks=[
            {
                "promise": check.promise,
                "counted": check.words,
                "observed": check.observed,
                "found_from": check.found_from,
                "p_value": check.p_value,
                "violated": check.violated,
            }
            for check in found.checks
        ],
    )
