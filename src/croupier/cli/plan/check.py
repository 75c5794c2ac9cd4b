"""`croupier check`: the gate for the limits of a plan or an organisation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from croupier.assessment.advice import advice, bounding
from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.assessment.ladder.text import NOT_BOUNDED, limit_text, proved_text
from croupier.assessment.policy import Check, enough_people
from croupier.assessment.verdict import Demand, Verdict
from croupier.cli.options.plan import PlanFile, plan_source, read_plan
from croupier.cli.options.policy import (
    ApprovalFile,
    PolicyFile,
    RequireApproval,
    read_approval,
    read_policy,
)
from croupier.cli.output.policy import POLICY_NOT_MET, counted, met_line
from croupier.cli.output.terminal import (
    Json,
    Quiet,
    err,
    out,
    print_json,
    print_table,
    progress,
    say,
)
from croupier.cli.plan.gate import checked_under
from croupier.model.judgement import Judgement
from croupier.model.rung import Rung
from croupier.numerics.rounding import ceiling_digits
from croupier.plan.file import line_of
from croupier.plan.plan import Plan
from croupier.protocol.approval import Approval

__all__ = ["HELP", "command"]

HELP = """Check that every limit is proved to be kept: a gate for CI.

The limits are those of the plan, with --policy FILE also those of an organisation, and with
--require-approval those that the plan was approved under. The batch, and the most exposed adversary
whom the declared operators make possible, must be limited.

Exits with 0 if all limits are kept, 4 if one is not, if none is set where one is needed, or if a
required approval does not hold, 3 if plan or policy is invalid. Measurements do not count, nor does
a limit that limits nothing: one that hardly any plan breaks, or one of the plan's own that
epsilon_local alone keeps.

Example: croupier check plan.toml --policy policy.toml
"""

_HEAD = ("", "against", "number", "limit")
_OWN = """The plan sets its own limits. Limits that somebody else answers for: --policy
FILE, or --require-approval KEY."""


def command(
    plan: PlanFile,
    policy: PolicyFile = None,
    require_approval: RequireApproval = None,
    approval: ApprovalFile = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check the limits of a plan."""
    made, limits = read_plan(plan), read_policy(policy)
    approved = read_approval(
        made, file=plan, key=require_approval, approval=approval, policy=limits
    )
    with progress("Proving", total=None, quiet=json or quiet):
        ladder = assess(made)
        found = checked_under(ladder, limits, approved)
    enough = None
    if found.failed and not quiet:
        with progress("Looking for a minimum batch", total=None, quiet=json) as advance:
            enough = enough_people(made, found.failed, found.policy, advance=advance)
    files = _Files(plan, policy)
    if json:
        _print_document(files, found, approved, enough)
    elif quiet:
        _print_errors(plan, found)
    elif found.judgement is Judgement.NO_LIMIT:
        _print_no_limit(files, ladder, found)
    elif found.judgement is Judgement.NOT_MET:
        _print_failed(files, ladder, found, enough)
    else:
        _print_met(files, found, approved)
    if not found.met:
        raise typer.Exit(POLICY_NOT_MET)


@dataclass(frozen=True)
class _Files:
    """The files in which limits stand; `policy` is None if an approval holds them."""

    plan: Path
    policy: Path | None

    def line(self, verdict: Verdict | Demand) -> int | None:
        """Find the line of a limit; None if its text is not at hand."""
        if isinstance(verdict, Demand):
            key: tuple[str, ...] = ("assumptions", verdict.key)
        else:
            key = ("policy", str(verdict.limit.rung), verdict.limit.key)
        if not _of_organisation(verdict):
            return line_of(plan_source(self.plan), key)
        return None if self.policy is None else line_of(self.policy.read_text("utf-8-sig"), key)

    def place(self, verdict: Verdict | Demand) -> str:
        """Name the file and the line of a limit."""
        if not _of_organisation(verdict):
            return f"{self.plan.name}:{self.line(verdict)}"
        return "approved" if self.policy is None else f"{self.policy.name}:{self.line(verdict)}"


def _of_organisation(verdict: Verdict | Demand) -> bool:
    return isinstance(verdict, Demand) or verdict.organisation


def _how_to_set(ladder: Ladder, found: Check) -> str:
    """Say what to write where limits are missing; the numbers are for a person to choose."""
    alone = ladder[Rung.COLLUSION].epsilon
    limits = "{max_epsilon = ..., max_reidentification = ...}"
    where = "the plan" if found.own else "the policy"
    lines = [f"Write into {where} what is acceptable:", "[policy]"]
    lines += [f"{rung} = {limits}" for rung in found.unlimited]
    if alone is not None and found.own and not found.headline.sees_all:
        limit = ceiling_digits(alone.value)
        lines.append(f"Set max_epsilon below {limit}, which epsilon_local alone guarantees.")
    return "\n".join(lines)


def _print_errors(file: Path, found: Check) -> None:
    if found.judgement is Judgement.NOT_MET:
        failed = len(found.failed) + len(found.unmet)
        counts = sum(not verdict.met or verdict.limits_something for verdict in found)
        every = counts + len(found.demands)
        err.print(f"{file}: {failed} of {every} limits are not met.", soft_wrap=True)
    elif found.judgement is Judgement.NO_LIMIT:
        rows = " and ".join(found.unlimited)
        err.print(f"{file}: no limit set on {rows}.", soft_wrap=True)


def _print_no_limit(files: _Files, ladder: Ladder, found: Check) -> None:
    rows = " and ".join(found.unlimited)
    whose = files.plan if found.own else files.policy or "The approved policy"
    listed = ":" if any(verdict.idle for verdict in found) else "."
    say(f"NO LIMIT SET  {whose} does not limit what {rows} learn about an answer{listed}")
    _print_idle(files, found)
    out.print(_how_to_set(ladder, found), soft_wrap=True)
    for rung in found.unlimited:
        if unbounded := bounding(ladder, rung):
            say(unbounded)


def _print_met(files: _Files, found: Check, approved: Approval | None) -> None:
    idle = any(verdict.idle for verdict in found)
    say(f"{met_line(found)}{':' if idle else ''}")
    _print_idle(files, found)
    if approved:
        say(f"Approved by {approved.by} on {approved.date}.")
    elif found.own:
        out.print(_OWN)


def _print_idle(files: _Files, found: Check) -> None:
    rows = [[*_row(files, verdict), verdict.idle] for verdict in found if verdict.idle]
    if rows:
        print_table([*_HEAD, "limits nothing"], rows)


def _print_failed(files: _Files, ladder: Ladder, found: Check, enough: int | None) -> None:
    rows = [["NOT MET", *_row(files, verdict), _proved(verdict)] for verdict in found.failed]
    rows += [["NOT MET", *_demand(files, demand)] for demand in found.unmet]
    print_table(["", *_HEAD, "proved"], rows)
    say(_summary(files.plan, ladder.plan, found))
    if found.failed:
        say(advice(ladder, found.failed, enough))
    if found.unmet:
        say("The policy demands assumptions that the plan does not make: change the plan.")


def _row(files: _Files, verdict: Verdict) -> list[str]:
    metric, value = verdict.limit.metric, verdict.limit.value
    return [files.place(verdict), verdict.against, metric.heading, limit_text(metric, value)]


def _demand(files: _Files, demand: Demand) -> list[str]:
    return [files.place(demand), "", demand.key, f"{demand.limit:g}", f"plan: {demand.value:g}"]


def _proved(verdict: Verdict) -> str:
    proved = verdict.cell.proved
    if proved is None:
        return f"{NOT_BOUNDED}: {verdict.cell.reason}"
    metric = verdict.limit.metric
    return proved_text(metric, proved.value)


def _summary(file: Path, plan: Plan, found: Check) -> str:
    met, _, idle = counted(found).partition(";")
    text = f"{met} limits met{idle and ';' + idle}."
    if plan.corrupt and any(Rung.CLIENTS in verdict.rows for verdict in found.failed):
        source = plan_source(file)
        line = line_of(source, ("population", "corrupt_fraction"))
        batch = plan.protections.minimum_batch
        text += f" {plan.corrupt:,} of {batch:,} may be corrupt (line {line})."
    return text


def _print_document(
    files: _Files, found: Check, approved: Approval | None, enough: int | None
) -> None:
    origin = "approval" if approved else "plan" if found.own else "policy"
    print_json(
        passed=found.met,
        reason=None if found.met else found.judgement,
        limits_from=origin,
        unlimited=list(found.unlimited),
        limits=[_entry(files, verdict) for verdict in found],
        demands=[
            {"key": one.key, "limit": one.limit, "value": one.value, "passed": one.met}
            for one in found.demands
        ],
        approved=None if approved is None else {"by": approved.by, "date": approved.date},
        suggestion=None if enough is None else f"minimum_batch = {enough:_}",
    )


def _entry(files: _Files, verdict: Verdict) -> dict[str, Any]:
    reason = verdict.cell.reason or verdict.idle
    entry = {
        "rung": verdict.limit.rung,
        "metric": verdict.limit.metric,
        "limit": verdict.limit.value,
        "value": verdict.cell.proved.value if verdict.cell.proved else None,
        "passed": verdict.met,
        "limits_something": verdict.limits_something,
        "from": "policy" if verdict.organisation else "plan",
        "line": files.line(verdict),
    }
    if verdict.rows != (verdict.limit.rung,):
        entry["rows"] = list(verdict.rows)  # of this plan, which the limit's name stands for
    return entry | ({"reason": reason} if reason else {})
