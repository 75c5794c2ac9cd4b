"""`croupier compare`: the changes from one plan to another."""

from pathlib import Path
from typing import Annotated, Any

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
from croupier.cli.options.policy import PolicyFile, approval_beside, read_policy
from croupier.cli.output.policy import POLICY_NOT_MET, verdict_line
from croupier.cli.output.terminal import Json, out, print_json, print_table, progress, say
from croupier.documents.explain.comparison.page import comparison_page
from croupier.documents.explain.templates import templates
from croupier.documents.plots.figure import require_folder
from croupier.protocol.approval import Approval, listed

__all__ = ["HELP", "command"]

HELP = """Show what changes from one plan to another: keys, guarantees, limits, error.

Exits with 0 if AFTER meets its policy and gives up no limit of BEFORE. Exits with 4 if a limit was
removed or loosened, limits nothing any more, or is not met; if no limit is set; and if limits mean
less: at a larger delta, with fewer corrupt people, or because one operator runs both parties. With
--policy FILE both plans are also judged by the limits of an organisation. If there is an approval
beside a plan, says whether it is of AFTER.

Example: croupier compare plan.toml other.toml
"""


def command(
    before: Annotated[Path, typer.Argument(help="The plan before.", metavar="BEFORE")],
    after: Annotated[Path, typer.Argument(help="The plan after.", metavar="AFTER")],
    policy: PolicyFile = None,
    approval: Annotated[
        Path | None,
        typer.Option(
            help="The approval to hold against AFTER. Default: the one beside AFTER or BEFORE.",
            metavar="FILE",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", help="Also write a page for reviewers to this file.", metavar="FILE"
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Compare two plans."""
    if html:
        require_folder("--html", html)
        templates()
    plans, limits = (read_plan(before), read_plan(after)), read_policy(policy)
    approved = _approval(before, after, approval)
    with progress("Proving", total=None, quiet=json):
        found = compare(*plans, limits)
    line = None if approved is None else _approval_line(approved, found)
    if html:
        html.write_text(comparison_page(found, approval=line), encoding="utf-8")
    if json:
        _print_document(found, approved)
    else:
        _print(found, after, policy)
        if line:
            say(line)
    if not found.passed:
        raise typer.Exit(POLICY_NOT_MET)


def _approval(before: Path, after: Path, given: Path | None) -> Approval | None:
    """Read the approval that is named, or else the one beside a plan."""
    if given is not None:
        return Approval.load(given)
    beside = (approval_beside(plan) for plan in (after, before))
    file = next((file for file in beside if file.is_file()), None)
    return None if file is None else Approval.load(file)


def _approval_line(approval: Approval, found: Comparison) -> str:
    changed = approval.changed(found.after, found.check.policy)
    text = f"Approval by {approval.by}, {approval.date}: "
    if changed:
        return f"{text}does not hold for AFTER, since {listed(changed)} changed."
    return f"{text}is of AFTER. Its signature was not checked: croupier check --require-approval."


def _approval_entry(approval: Approval | None, found: Comparison) -> dict[str, Any] | None:
    if approval is None:
        return None
    changed = approval.changed(found.after, found.check.policy)
    return {
        "by": approval.by,
        "date": approval.date,
        "of_after": not changed,
        "changed": changed,
        "signature_checked": False,
    }


def _print(found: Comparison, after: Path, policy: Path | None) -> None:
    first, second = found.before.digest[:8], found.after.digest[:8]
    if found.redeployed:
        out.print(f"Digest {first} -> {second}: clients need the new plan.")
    else:
        out.print(f"Digest {first}, the same: clients need nothing.")
    if found.rejudged:
        out.print("Policy or population changes: the analyzer must sign again, croupier keys sign.")
    if found.keys:
        _print_changes(found)
    else:
        out.print("No key of the plan changes.")
    _print_policy(found, after, policy)


def _print_changes(found: Comparison) -> None:
    out.print()
    print_table(("key", "before", "", "after"), _with_arrows(key_rows(found)))
    out.print()
    rows = _with_arrows(guarantee_rows(found))
    if rows:
        print_table(("guarantee", "before", "", "after", "", "against"), rows, right=(1, 3))
    for line in outcome(found):
        say(line)


def _print_policy(found: Comparison, after: Path, policy: Path | None) -> None:
    if found.limits:
        out.print()
        print_table(("limit", "before", "", "after", ""), _with_arrows(limit_rows(found)))
    out.print(f"Policy: {verdict_line(found.check, after, policy)}")
    for line in policy_notes(found):
        say(line)


def _with_arrows(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    return [(name, before, "->", *after) for name, before, *after in rows]


def _print_document(found: Comparison, approval: Approval | None) -> None:
    print_json(
        approval=_approval_entry(approval, found),
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
