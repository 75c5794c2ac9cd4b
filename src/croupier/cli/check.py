"""`croupier check`: the policy gate of a plan."""

from collections.abc import Sequence
from pathlib import Path

import typer

from croupier.assessment.ladder import assess
from croupier.assessment.ladder_text import NOT_BOUNDED, limit_text, promise_text
from croupier.assessment.policy import Verdict, enough_people, verdicts
from croupier.cli.output import Json, Quiet, err, out, print_json, print_table, progress
from croupier.cli.plan_options import PlanFile, read_plan
from croupier.model.plan import Plan
from croupier.model.plan_file import line_of
from croupier.model.rung import Rung

__all__ = ["HELP", "POLICY_NOT_MET", "command"]

HELP = """Check that every limit of a plan's policy is proved to be kept: a gate for CI.

Exits with 0 if all are, 4 if one is not, 3 if the plan is invalid. Only proof counts.

Example: croupier check plan.toml
"""

POLICY_NOT_MET = 4


def command(plan: PlanFile, quiet: Quiet = False, json: Json = False) -> None:
    """Check the policy of a plan."""
    made = read_plan(plan)
    with progress("Proving", total=None, quiet=json or quiet):
        found = verdicts(assess(made))
    failed = [verdict for verdict in found if not verdict.met]
    enough = None
    if failed and not quiet:
        with progress("Looking for a minimum batch", total=None, quiet=json) as advance:
            enough = enough_people(made, failed, advance=advance)
    if json:
        _print_document(plan, found, enough)
    elif not quiet:
        _print_verdicts(plan, made, found, enough)
    elif failed:
        message = f"{plan}: {len(failed)} of {len(found)} limits are not met."
        err.print(message, soft_wrap=True)
    if failed:
        raise typer.Exit(POLICY_NOT_MET)


def _print_verdicts(file: Path, plan: Plan, found: tuple[Verdict, ...], enough: int | None) -> None:
    failed = [verdict for verdict in found if not verdict.met]
    if not found:
        out.print("MET  0 of 0 limits: the plan sets none. Add them under [policy].")
        return
    if not failed:
        out.print(f"MET  {len(found)} of {len(found)} limits")
        limited = {verdict.limit.rung for verdict in found}
        if plan.trust.operators == "same" and Rung.COLLUSION not in limited:
            out.print("One operator runs shuffler and analyzer: no limit is set for collusion,")
            out.print("which is what holds. Add [policy.collusion].")
        return
    rows = [
        [
            "NOT MET",
            f"{file}:{_line(file, verdict)}",
            verdict.limit.rung,
            verdict.limit.metric,
            f"limit {limit_text(verdict.limit.metric, verdict.limit.value)}",
            _proved(verdict),
        ]
        for verdict in failed
    ]
    print_table(None, rows)
    out.print(_summary(file, plan, found, failed))
    out.print(_advice(failed, enough))


def _line(file: Path, verdict: Verdict) -> int | None:
    key = ("policy", str(verdict.limit.rung), verdict.limit.key)
    return line_of(file.read_text(encoding="utf-8"), key)


def _proved(verdict: Verdict) -> str:
    promise = verdict.cell.promise
    if promise is None:
        return f"{NOT_BOUNDED}: {verdict.cell.reason}"
    return f"proved {promise_text(verdict.limit.metric, promise.value)}"


def _summary(file: Path, plan: Plan, found: tuple[Verdict, ...], failed: Sequence[Verdict]) -> str:
    text = f"{len(found) - len(failed)} of {len(found)} limits met."
    if plan.corrupt and any(verdict.limit.rung is Rung.CLIENTS for verdict in failed):
        source = file.read_text(encoding="utf-8")
        line = line_of(source, ("population", "corrupt_fraction"))
        batch = plan.protections.minimum_batch
        text += f" {plan.corrupt:,} of {batch:,} may be corrupt (line {line})."
    return text


def _advice(failed: Sequence[Verdict], enough: int | None) -> str:
    if enough is not None:
        return f"Try minimum_batch = {enough:_}"
    if any(verdict.cell.promise is None for verdict in failed):
        return "What is not bounded keeps no limit: drop that limit, or change the plan."
    return "No minimum batch is enough: try a lower epsilon_local, or croupier design."


def _print_document(file: Path, found: tuple[Verdict, ...], enough: int | None) -> None:
    print_json(
        passed=all(verdict.met for verdict in found),
        limits=[
            {
                "rung": verdict.limit.rung,
                "metric": verdict.limit.metric,
                "limit": verdict.limit.value,
                "value": verdict.cell.promise.value if verdict.cell.promise else None,
                "passed": verdict.met,
                "line": _line(file, verdict),
            }
            | ({"reason": verdict.cell.reason} if verdict.cell.reason else {})
            for verdict in found
        ],
        suggestion=None if enough is None else f"minimum_batch = {enough:_}",
    )
