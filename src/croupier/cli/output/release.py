"""The outcomes of a release, on the terminal and as JSON."""

from typing import TYPE_CHECKING, Any

from croupier.cli.output.terminal import err, out, print_json
from croupier.hosting.incidents import see
from croupier.plan.plan import Plan
from croupier.protocol.key_list import ShufflerKey

if TYPE_CHECKING:
    from croupier.shuffler.release.release import BatchOutcome

__all__ = ["conclude", "exit_code", "print_outcome", "warn"]

HELD_UP, DISPOSED = 4, 6
_WAITS = {
    None: "not handed over by the first shuffler",
    "hand-over": "what lies at --from cannot be believed",
    "batch-key": "its key is missing or damaged",
    "passphrase": "its key does not open",
    "clock": "clocks disagree",
}
"""Why the second of two shufflers holds a batch without a time of disposal, by incident."""
_SIZES = ((10**9, "GB"), (10**6, "MB"), (10**3, "kB"), (1, "bytes"))


def exit_code(outcomes: "list[BatchOutcome]") -> int:
    """Return 6 if reports were deleted, 4 if somebody must solve a problem, otherwise 0."""
    if any(outcome.receipt and outcome.receipt.event == "disposed" for outcome in outcomes):
        return DISPOSED
    return HELD_UP if any(outcome.problem for outcome in outcomes) else 0


def warn(outcomes: "list[BatchOutcome]") -> None:
    """Print on stderr why the command does not exit with 0, for those who asked for no more."""
    for outcome in outcomes:
        which = f"round {outcome.batch.round_number}"
        if outcome.receipt and outcome.receipt.event == "disposed":
            reason = "" if outcome.reason is None else f": {outcome.reason}"
            err.print(f"DISPOSED  {which}{reason}", soft_wrap=True)
        elif outcome.problem is not None:
            err.print(f"HELD  {which}: {outcome.problem}", soft_wrap=True)


def conclude(
    plan: Plan,
    outcomes: "list[BatchOutcome]",
    opened: ShufflerKey | None,
    warnings: list[str],
    *,
    quiet: bool,
    json: bool,
) -> None:
    """Print what was not printed before about each outcome."""
    if json:
        print_json(
            plan_digest=plan.digest,
            minimum_batch=plan.protections.minimum_batch,
            batches=[_document(outcome) for outcome in outcomes],
            open_round=None if opened is None else opened.round,
            analyzer_key=None if opened is None else opened.analyzer,
            warnings=warnings,
        )
    elif not quiet:
        if not outcomes:
            out.print("No batch is open: nothing to release.")
        held = {outcome.batch.round_number for outcome in outcomes if outcome.receipt is None}
        if opened is not None and opened.round not in held:
            sealed_to = f"reports sealed to the analyzer's key {opened.analyzer[:16]}…"
            out.print(f"OPEN  round {opened.round}: {sealed_to}")
    for warning in () if json else warnings:
        err.print(f"Warning: {warning}", soft_wrap=True)


def print_outcome(outcome: "BatchOutcome", plan: Plan) -> None:
    """Print what became of a batch."""
    which = f"round {outcome.batch.round_number} of {outcome.batch.opened:%Y-%m-%d}"
    minimum = f"minimum {plan.protections.minimum_batch:,}"
    receipt = outcome.receipt
    if receipt is None:
        until = "" if outcome.until is None else f"{outcome.until:%Y-%m-%d %H:%M} UTC"
        waits = _WAITS.get(outcome.incident, "a problem keeps it")
        lasts = outcome.until == outcome.batch.opened + plan.collection.every
        if not until:
            out.print(f"HELD  {which}: {waits}; nothing released.")
        elif outcome.people is not None:
            people = f"at most {outcome.people:,} people"
            crowd = _crowd(outcome.crowd, plan)
            out.print(f"HELD  {which}: {people}, {minimum}{crowd}; nothing released.")
            few = outcome.problem is None
            reached = "the minimum is" if outcome.crowd is None else "both minimums are"
            unless = f"{reached} reached" if few else "it is released before"
            out.print(f"Deleted on {until} unless {unless}.")
        elif lasts:
            out.print(f"HELD  {which}: not over before {until}; nothing released.")
        else:
            why = "refused" if outcome.incident == "hand-over" else waits
            out.print(f"HELD  {which}: {why}; deleted on {until} unless it is set right.")
        if outcome.problem is not None:
            out.print(f"{outcome.problem} {see(outcome.incident or 'batch-key')}")
    elif receipt.file is None:
        out.print(f"DISPOSED  {which}: {receipt.counts.disposed:,} reports deleted, {minimum}")
        if outcome.reason is not None:
            out.print(outcome.reason)
    else:
        size = _readable(receipt.file.size)
        out.print(
            f"RELEASED  {receipt.counts.released:,} reports: {receipt.file.name} ({size}), "
            ".receipt.json"
        )
        out.print(f"received {receipt.counts.explained}")


def _crowd(least: int | None, plan: Plan) -> str:
    """Say how many are near the person with the fewest, where the plan has a minimum of it."""
    if least is None:
        return ""
    return f"; least crowd {least:,}, minimum {plan.protections.minimum_crowd:,}"


def _readable(size: int) -> str:
    """Write a size as people read it: 33.0 MB, 18.8 kB."""
    scale, unit = next((scale, unit) for scale, unit in _SIZES if size >= scale)
    return f"{size / scale:.3g} {unit}"


def _document(outcome: "BatchOutcome") -> dict[str, Any]:
    receipt = outcome.receipt
    return {
        "round": outcome.batch.round_number,
        "batch": outcome.batch.identity.hex(),
        "outcome": "held" if receipt is None else receipt.event,
        "people_at_most": outcome.people,
        "least_crowd": outcome.crowd,
        "until": None if outcome.until is None else outcome.until.isoformat(),
        "problem": outcome.problem,
        "incident": outcome.incident,
        "reason": outcome.reason,
        "receipt": None if receipt is None else receipt.model_dump(mode="json"),
    }
