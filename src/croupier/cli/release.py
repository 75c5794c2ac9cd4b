"""`croupier release`: the batches of a plan, as far as the plan allows."""

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from croupier.cli.keys.directory import KeysDirectory, PassphraseFile
from croupier.cli.output import Json, Quiet, err, out, print_json, progress
from croupier.cli.plan_options import read_plan
from croupier.cli.serve import Database
from croupier.errors import MissingExtraError
from croupier.model.plan import Plan
from croupier.pipeline.keys import KeyDirectory, passphrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from croupier.pipeline.release import Outcome

__all__ = ["HELP", "command"]

HELP = """Release the batches of a plan whose rounds are over and whose minimum is reached.

Opens the envelopes, counts people, mixes, writes a Parquet file and a signed receipt, then destroys
envelopes and keys. A batch that is too small is held, and disposed of at the plan's disposal age.
A job that was interrupted is run again; it goes on where it stopped.

Exits with 0 if nothing is held, 4 if a batch is.

Example: croupier release --plan plan.toml --keys keys -o released
"""

HELD = 4

PlanOption = Annotated[Path, typer.Option("--plan", help="The plan.", metavar="FILE")]
Output = Annotated[
    Path, typer.Option("--output", "-o", help="Where files and receipts go.", metavar="DIRECTORY")
]
Processes = Annotated[
    int | None, typer.Option(help="Processes that open envelopes; default: one a core.", min=1)
]
NextRound = Annotated[
    bool, typer.Option("--next-round", help="Open the next round when the open one is settled.")
]


def command(
    plan: PlanOption,
    database: Database,
    keys: KeysDirectory,
    output: Output,
    passphrase_file: PassphraseFile = None,
    processes: Processes = None,
    next_round: NextRound = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Release what can be released."""
    made = read_plan(plan)
    directory = KeyDirectory(keys, passphrase(passphrase_file))
    output.mkdir(parents=True, exist_ok=True)
    outcomes = []
    with progress("Opening", total=None, quiet=quiet or json) as advance:
        for outcome in _release()(
            database,
            plan=made,
            keys=directory,
            directory=output,
            processes=processes or os.cpu_count() or 1,
            advance=advance,
        ):
            outcomes.append(outcome)
            if not (json or quiet):
                _print(outcome, made)
    opened = asyncio.run(_open_next(made, database, directory)) if next_round else None
    if json:
        print_json(
            plan_digest=made.digest,
            minimum_batch=made.protections.minimum_batch,
            batches=[_document(outcome) for outcome in outcomes],
            open_round=opened,
        )
    elif not quiet:
        if not outcomes:
            out.print("No batch is open: nothing to release.")
        if opened is not None:
            out.print(f"OPEN  round {opened}")
    held = sum(outcome.receipt is None for outcome in outcomes)
    if held:
        if quiet:
            err.print(f"{held} of {len(outcomes)} batches are held.")
        raise typer.Exit(HELD)


def _release() -> "Callable[..., Iterator[Outcome]]":
    try:
        from croupier.pipeline.release import release  # noqa: PLC0415 - the extra `service`
    except ModuleNotFoundError as error:
        package = str(error.name)
        raise MissingExtraError("release", package=package, extra="service") from None
    return release


async def _open_next(plan: Plan, database: str, keys: KeyDirectory) -> int:
    from croupier.pipeline.rounds import open_round  # noqa: PLC0415 - the extra `service`
    from croupier.pipeline.store import Store  # noqa: PLC0415

    store = await Store.connect(database)
    try:
        return (await open_round(plan, store=store, keys=keys)).round
    finally:
        await store.close()


def _print(outcome: "Outcome", plan: Plan) -> None:
    which = f"round {outcome.batch.round_number} of {outcome.batch.opened}"
    minimum = f"minimum {plan.protections.minimum_batch:,}"
    receipt = outcome.receipt
    if receipt is None:
        until = f"{outcome.until:%Y-%m-%d %H:%M} UTC"
        if outcome.people is None:
            out.print(f"HELD  {which}: not over before {until}; nothing left.")
        else:
            out.print(f"HELD  {which}: at most {outcome.people:,} people, {minimum}; nothing left.")
            out.print(f"Deleted {until} unless reached")
    elif receipt.file is None:
        out.print(f"DISPOSED  {which}: {receipt.counts.disposed:,} reports deleted, {minimum}")
    else:
        size = f"{receipt.file.size / 1e6:.3g} MB"
        out.print(
            f"RELEASED  {receipt.counts.released:,} reports: {receipt.file.name} ({size}), "
            ".receipt.json"
        )
        out.print(f"received {receipt.counts.explained}")


def _document(outcome: "Outcome") -> dict[str, Any]:
    receipt = outcome.receipt
    return {
        "round": outcome.batch.round_number,
        "batch": outcome.batch.identity.hex(),
        "outcome": "held" if receipt is None else receipt.event,
        "people_at_most": outcome.people,
        "until": None if outcome.until is None else outcome.until.isoformat(),
        "receipt": None if receipt is None else receipt.model_dump(mode="json"),
    }
