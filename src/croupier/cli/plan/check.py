"""`croupier check`: the policy gate of a plan."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.assessment.ladder.text import NOT_BOUNDED, limit_text, proved_text
from croupier.assessment.policy import Verdict, enough_people, judged, verdicts
from croupier.cli.options.plan import PlanFile, plan_source, read_plan
from croupier.cli.output.policy import POLICY_NOT_MET, counted
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
from croupier.model.judgement import Judgement
from croupier.model.metric import Metric
from croupier.model.rung import Rung
from croupier.numerics.rounding import ceiling_digits
from croupier.plan.file import line_of
from croupier.plan.plan import Plan

__all__ = ["HELP", "command"]

HELP = """Check that every limit of a plan's policy is proved to be kept: a gate for CI.

Exits with 0 if limits are set and all are kept, 4 if one is not or none is set, 3 if the plan is
invalid. Measurements do not count, nor does a limit that epsilon_local alone keeps, such as any
limit on collusion that is met: it limits nothing.

Example: croupier check plan.toml
"""

_HEAD = ("", "against", "number", "limit")


def command(plan: PlanFile, quiet: Quiet = False, json: Json = False) -> None:
    """Check the policy of a plan."""
    made = read_plan(plan)
    with progress("Proving", total=None, quiet=json or quiet):
        ladder = assess(made)
        found = verdicts(ladder)
    failed = [verdict for verdict in found if not verdict.met]
    enough = None
    if failed and not quiet:
        with progress("Looking for a minimum batch", total=None, quiet=json) as advance:
            enough = enough_people(made, failed, advance=advance)
    outcome = judged(found)
    if json:
        _print_document(plan, found, enough)
    elif quiet:
        _print_errors(plan, found)
    elif outcome is Judgement.NO_LIMIT:
        _print_no_limit(plan, ladder, found)
    elif failed:
        _print_failed(plan, ladder, found, enough)
    else:
        _print_met(plan, ladder, found)
    if outcome is not Judgement.MET:
        raise typer.Exit(POLICY_NOT_MET)


def _how_to_set(ladder: Ladder) -> str:
    """Say what to write into a plan without limits; the numbers are for a person to choose."""
    alone = ladder[Rung.COLLUSION].epsilon
    limits = "{max_epsilon = ..., max_reidentification = ...}"
    lines = [
        "Write into the plan what is acceptable:",
        "[policy]",
        f"batch = {limits}",
        f"clients = {limits}",
    ]
    if alone is not None:
        limit = ceiling_digits(alone.value)
        lines.append(f"Set max_epsilon below {limit}, which epsilon_local alone guarantees.")
    return "\n".join(lines)


def _print_errors(file: Path, found: tuple[Verdict, ...]) -> None:
    failed = sum(not verdict.met for verdict in found)
    if failed:
        counts = sum(not verdict.met or verdict.limits_something for verdict in found)
        err.print(f"{file}: {failed} of {counts} limits are not met.", soft_wrap=True)
    elif judged(found) is Judgement.NO_LIMIT:
        err.print(f"{file}: no limit set.", soft_wrap=True)


def _print_no_limit(file: Path, ladder: Ladder, found: tuple[Verdict, ...]) -> None:
    listed = ":" if found else ", and nothing was checked."
    out.print(f"NO LIMIT SET  {file} limits nothing{listed}", soft_wrap=True)
    _print_idle(file, found)
    out.print(_how_to_set(ladder), soft_wrap=True)


def _print_met(file: Path, ladder: Ladder, found: tuple[Verdict, ...]) -> None:
    idle = any(verdict.idle for verdict in found)
    out.print(f"MET  {counted(found)}{':' if idle else ''}")
    _print_idle(file, found)
    limited = {verdict.limit.rung for verdict in found}
    alone = ladder[Rung.COLLUSION].epsilon
    if ladder.plan.operators == "same" and Rung.COLLUSION not in limited:
        epsilon = ceiling_digits(alone.value) if alone else NOT_BOUNDED
        say(
            "One operator runs shuffler and analyzer: the row `collusion` applies, epsilon "
            f"{epsilon}. No limit is set on it."
        )


def _print_idle(file: Path, found: tuple[Verdict, ...]) -> None:
    rows = [[*_row(file, verdict), verdict.idle] for verdict in found if verdict.idle]
    if rows:
        print_table([*_HEAD, "limits nothing"], rows)


def _print_failed(
    file: Path, ladder: Ladder, found: tuple[Verdict, ...], enough: int | None
) -> None:
    failed = [verdict for verdict in found if not verdict.met]
    rows = [["NOT MET", *_row(file, verdict), _proved(verdict)] for verdict in failed]
    print_table(["", *_HEAD, "proved"], rows)
    say(_summary(file, ladder.plan, found, failed))
    say(_advice(ladder, failed, enough))


def _row(file: Path, verdict: Verdict) -> list[str]:
    metric, value = verdict.limit.metric, verdict.limit.value
    place = f"{file.name}:{_line(file, verdict)}"
    return [place, verdict.limit.rung, metric.heading, limit_text(metric, value)]


def _line(file: Path, verdict: Verdict) -> int | None:
    key = ("policy", str(verdict.limit.rung), verdict.limit.key)
    return line_of(plan_source(file), key)


def _proved(verdict: Verdict) -> str:
    proved = verdict.cell.proved
    if proved is None:
        return f"{NOT_BOUNDED}: {verdict.cell.reason}"
    metric = verdict.limit.metric
    return proved_text(metric, proved.value)


def _summary(file: Path, plan: Plan, found: tuple[Verdict, ...], failed: Sequence[Verdict]) -> str:
    met, _, idle = counted(found).partition(";")
    text = f"{met} met{idle and ';' + idle}."
    if plan.corrupt and any(verdict.limit.rung is Rung.CLIENTS for verdict in failed):
        source = plan_source(file)
        line = line_of(source, ("population", "corrupt_fraction"))
        batch = plan.protections.minimum_batch
        text += f" {plan.corrupt:,} of {batch:,} may be corrupt (line {line})."
    return text


def _advice(ladder: Ladder, failed: Sequence[Verdict], enough: int | None) -> str:
    if enough is not None:
        return f"Try minimum_batch = {enough:_}"
    beyond = dict.fromkeys(v.limit.metric.heading for v in failed if _is_beyond_luck(ladder, v))
    if beyond:
        return f"No plan beats luck alone: change the limit of {' and '.join(beyond)}."
    if any(verdict.cell.proved is None for verdict in failed):
        return "No limit can be met where nothing is bounded: drop it, or change the plan."
    return "No minimum batch is enough: lower max_epsilon_local, or run croupier design."


def _is_beyond_luck(ladder: Ladder, verdict: Verdict) -> bool:
    """Tell whether a limit asks for more than what holds if the adversary sees nothing."""
    metric, limit = verdict.limit.metric, verdict.limit.value
    if metric is Metric.REIDENTIFICATION:
        return limit * ladder.plan.population.enrolled < 1
    luck = ladder.blind[metric].proved
    if luck is None:
        return False
    return limit >= luck.value if metric.protects else limit <= luck.value


def _print_document(file: Path, found: tuple[Verdict, ...], enough: int | None) -> None:
    outcome = judged(found)
    print_json(
        passed=outcome is Judgement.MET,
        reason=None if outcome is Judgement.MET else outcome,
        limits=[_entry(file, verdict) for verdict in found],
        suggestion=None if enough is None else f"minimum_batch = {enough:_}",
    )


def _entry(file: Path, verdict: Verdict) -> dict[str, Any]:
    reason = verdict.cell.reason or verdict.idle
    entry = {
        "rung": verdict.limit.rung,
        "metric": verdict.limit.metric,
        "limit": verdict.limit.value,
        "value": verdict.cell.proved.value if verdict.cell.proved else None,
        "passed": verdict.met,
        "limits_something": verdict.limits_something,
        "line": _line(file, verdict),
    }
    return entry | ({"reason": reason} if reason else {})
