"""`croupier compare`: the changes from one plan to another."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.assessment.compare import Comparison, compare
from croupier.assessment.comparison_text import (
    guarantee_rows,
    key_rows,
    limit_rows,
    outcome,
    policy_notes,
)
from croupier.cli.options.plan import read_plan
from croupier.cli.output.policy import POLICY_NOT_MET, verdict_line
from croupier.cli.output.terminal import Json, out, print_json, print_table, progress, say

__all__ = ["HELP", "command"]

HELP = """Show what changes from one plan to another: keys, guarantees, limits, error.

Exits with 0 if AFTER meets its policy and gives up no limit of BEFORE. Exits with 4 if a limit was
removed or loosened, limits nothing any more, or is not met; if no limit is set; and if limits mean
less: at a larger delta, with fewer corrupt people, or because one operator runs both parties.

Example: croupier compare plan.toml other.toml
"""


def command(
    before: Annotated[Path, typer.Argument(help="The plan before.", metavar="BEFORE")],
    after: Annotated[Path, typer.Argument(help="The plan after.", metavar="AFTER")],
    json: Json = False,
) -> None:
    """Compare two plans."""
    plans = read_plan(before), read_plan(after)
    with progress("Proving", total=None, quiet=json):
        found = compare(*plans)
    if json:
        _print_document(found)
    else:
        _print(found, after)
    if not found.passed:
        raise typer.Exit(POLICY_NOT_MET)


def _print(found: Comparison, after: Path) -> None:
    first, second = found.before.digest[:8], found.after.digest[:8]
    if found.redeployed:
        out.print(f"Digest {first} -> {second}: clients need the new plan.")
    else:
        out.print(f"Digest {first}, the same: clients keep the plan they have.")
    if found.keys:
        _print_changes(found)
    else:
        out.print("No key of the plan changes.")
    _print_policy(found, after)


def _print_changes(found: Comparison) -> None:
    out.print()
    print_table(("key", "before", "", "after"), _with_arrows(key_rows(found)))
    out.print()
    rows = _with_arrows(guarantee_rows(found))
    if rows:
        print_table(("guarantee", "before", "", "after", "", "against"), rows, right=(1, 3))
    for line in outcome(found):
        out.print(line)


def _print_policy(found: Comparison, after: Path) -> None:
    if found.limits:
        out.print()
        print_table(("limit", "before", "", "after", ""), _with_arrows(limit_rows(found)))
    out.print(f"Policy: {verdict_line(found.verdicts, after)}")
    for line in policy_notes(found):
        say(line)


def _with_arrows(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [(name, before, "->", *after) for name, before, *after in rows]


def _print_document(found: Comparison) -> None:
    print_json(
        digest_before=found.before.digest,
        digest_after=found.after.digest,
        redeployed=found.redeployed,
        keys=[{"key": one.key, "before": one.before, "after": one.after} for one in found.keys],
        guarantees=[
            {
                "rung": one.rung,
                "metric": one.metric,
                "before": one.before.proved.value if one.before.proved else None,
                "after": one.after.proved.value if one.after.proved else None,
                "better": one.better,
            }
            for one in found.differences
        ],
        compared=found.cells,
        limits=[
            {
                "rung": one.limit.rung,
                "limit": one.limit.key,
                "before": one.before.limit.value if one.before else None,
                "after": one.after.limit.value if one.after else None,
                "change": one.word,
                "weaker": one.weaker,
            }
            for one in found.limits
        ],
        policy=found.judgement,
        easier=[change.key for change in found.easier],
        passed=found.passed,
        rms_error_before=found.errors[0],
        rms_error_after=found.errors[1],
    )
