"""`croupier recover`: continue a plan whose database was set back to an older copy."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from croupier.cli.options.engine import Scratch
from croupier.cli.options.key_directory import KeysDirectory, PassphraseFile
from croupier.cli.options.plan import PlanOption, read_plan
from croupier.cli.options.signed_keys import (
    HandoverDirectory,
    ShufflerList,
    beside,
    newest_list,
    read_shuffler,
)
from croupier.cli.output.terminal import Json, err, out, print_json
from croupier.cli.shuffler.release import Output, open_output, own_keys, prepare
from croupier.cli.shuffler.serve import Database
from croupier.errors import MissingExtraError, ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.key_directory import passphrase
from croupier.protocol.object_store import is_address
from croupier.protocol.party_keys import ShufflerKeys, hop_of
from croupier.shuffler.core_dumps import forbid_core_dumps

if TYPE_CHECKING:
    from croupier.protocol.receipt import Receipt
    from croupier.shuffler.release.recovery import Losses

__all__ = ["HELP", "command"]

HELP = """Continue a plan from a database that was restored from an older backup.

serve and release refuse such a database, because it has forgotten rounds that clients know or
receipts that are published. This command verifies the published receipts in --output and puts those
that are missing back into the database; gives up every round without a receipt, with the reports
that were acknowledged for it, and destroys its keys; and publishes a signed receipt that says so.
Afterwards croupier release --next-round --analyzer FILE opens the next round, with --to or --from
where the plan has two shufflers.

Prints what it will do and asks; --yes answers for scripts. Needs the newest witness in --keys, and
all receipts that were published in --output. Refuses if nothing was set back. A run that was
interrupted is repeated.

Example: croupier recover --plan plan.toml --keys keys/release -o released
"""

Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def command(
    plan: PlanOption,
    database: Database,
    output: Output,
    keys: KeysDirectory = Path("keys/release"),
    handover: HandoverDirectory = Path("keys/handover"),
    shuffler: ShufflerList = None,
    passphrase_file: PassphraseFile = None,
    scratch: Scratch = None,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Recover a plan."""
    forbid_core_dumps()
    made = read_plan(plan, option="--plan")
    signed = beside(plan, shuffler, "shuffler.json")
    listed = read_shuffler(signed, made)
    try:
        from croupier.shuffler.release.recovery import recover  # noqa: PLC0415 - the extra `service`
    except ModuleNotFoundError as error:
        package = str(error.name)
        raise MissingExtraError("recover", package=package, extra="service") from None
    if not yes and (json or not sys.stdin.isatty()):
        raise ParameterError(
            "--yes",
            must="be given where nobody can be asked",
            hint="Nothing was changed. Run it in a terminal without --json to see first what would "
            "be lost.",
        )
    if not (is_address(output) or Path(output).is_dir()):
        raise ParameterError("--output", must="be the place of the receipts", got=output)
    own = own_keys(keys, passphrase(passphrase_file), handover, listed)
    asyncio.run(prepare(database))
    storage = open_output(output, made, scratch or keys)

    asked = False

    def agree(losses: "Losses") -> bool:
        nonlocal asked
        asked = True
        _show(losses)
        return yes or typer.confirm("Continue?", err=True)

    with newest_list(signed):
        receipt = recover(database, agree=agree, plan=made, storage=storage, **own)
    if receipt is None:
        raise typer.Abort
    _conclude(receipt, _other_place(made, listed), again=not asked, json=json)


def _show(losses: "Losses") -> None:
    """Print the consequences on stderr, so that --json prints one document."""
    recovery = losses.recovery
    receipts = "receipt" if len(losses.restored) == 1 else "receipts"
    lines = [
        f"SET BACK  database {losses.database}",
        f"puts back {len(losses.restored):,} published {receipts}",
        f"gives up  {recovery.rounds}: lost with all reports that were acknowledged for them",
        "destroys  the keys of these rounds",
    ]
    if recovery.published is not None:
        lines.append(
            f"Receipt {losses.receipt.number - 1} was signed, but is not among the published ones: "
            "if anybody has it, stop, and put it there first"
        )
    lines += [
        f"{name} has no receipt: nobody may use it. Remove it, and copies of it"
        for name in losses.without_receipt
    ]
    lines.append("If this is not the newest database that there is, stop.")
    for line in lines:
        err.print(line, soft_wrap=True)


def _other_place(plan: Plan, listed: ShufflerKeys) -> str:
    """Return the option of release that names the place of the other shuffler, if there are two."""
    if len(plan.shufflers) == 1:
        return ""
    return " --from PLACE" if hop_of(listed, plan) else " --to PLACE"


def _conclude(receipt: "Receipt", place: str, *, again: bool, json: bool) -> None:
    if json:
        print_json(plan_digest=receipt.plan, receipt=receipt.model_dump(mode="json"))
        return
    next_round = f"croupier release --next-round --analyzer FILE{place}"
    lost = "" if receipt.recovery is None else receipt.recovery.explained
    if again:
        out.print(f"RECOVERED before, by receipt {receipt.number}: {lost}")
        out.print(f"If no round is open: {next_round}", soft_wrap=True)
        return
    out.print(f"RECOVERED  receipt {receipt.number}: {lost}")
    out.print(f"Then: {next_round}", soft_wrap=True)
