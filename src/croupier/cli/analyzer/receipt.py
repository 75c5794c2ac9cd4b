"""`croupier receipt`: check the receipts that the shuffler signed."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.analyzer.fetched import RECEIPT, fetched
from croupier.cli.group import Group
from croupier.cli.options.plan import PlanOption, read_plan
from croupier.cli.options.signed_keys import ListBeside, read_shuffler
from croupier.cli.output.terminal import Json, Quiet, out, print_json
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.party_keys import Signers, hop_of, signers_beside
from croupier.protocol.receipt import Receipt, ReceiptError, require_chain

__all__ = ["HELP", "app", "has_its_file", "read_receipts", "signers_of"]

HELP = "Check what the shuffler signed about its batches."

app = typer.Typer(cls=Group, no_args_is_help=True, rich_markup_mode=None)

VERIFY = """Check that receipts are consecutive links of a plan's chain and that batches match them.

The signature must be that of the release key which the list of the shuffler's keys names for the
round; the list is found beside the receipts, and must be signed by the plan's shufflers.key.
Receipts of version 0.1, which that key signed itself, need no list. Nothing is remembered here:
compare the printed version of the list with the one that the shuffler uses, since an older one
still names keys that were replaced. The file of a batch is checked if it lies beside its receipt. A
receipt proves neither that the order was drawn as the plan says nor that nobody was left out. A
receipt of a recovery says that the shuffler's database was set back to an older copy, and which
rounds are lost: by itself it is no sign of an attack.

s3://BUCKET/PREFIX names all receipts of a prefix in an object store.

Example: croupier receipt verify released/*.receipt.json --plan plan.toml
"""

Files = Annotated[
    list[str],
    typer.Argument(help="Receipts, in any order, or s3:// addresses.", metavar="FILE"),
]


@app.callback()
def _receipt() -> None:
    """Keep `verify` a command of its own."""


@app.command("verify", help=VERIFY)
def verify(
    files: Files,
    plan: PlanOption,
    shuffler: ListBeside = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Check a chain of receipts."""
    made = read_plan(plan, option="--plan")
    with fetched(files, RECEIPT) as paths:
        signers = signers_of(paths, made, shuffler)
        chain = read_receipts(paths, signers)
        receipts = [receipt for receipt, _ in chain]
        present = [has_its_file(receipt, folder) for receipt, folder in chain]
    if json:
        print_json(
            plan_digest=made.digest,
            from_the_start=receipts[0].number == 0,
            list_version=None if signers.keys is None else signers.keys.version,
            list_digest=None if signers.keys is None else signers.keys.digest,
            receipts=[
                receipt.model_dump(mode="json") | {"file_checked": checked}
                for receipt, checked in zip(receipts, present, strict=True)
            ],
        )
    elif not quiet:
        _print(receipts, present)
        if signers.keys is not None:
            listed = signers.keys
            out.print(f"By version {listed.version} of the list of keys, {listed.digest[:16]}…")


def signers_of(files: list[Path], plan: Plan, shuffler: Path | None) -> Signers:
    """The signers of receipts.

    Args:
        files: The receipts.
        plan: What they must be about.
        shuffler: The list of the shuffler's keys; if left out, that which lies beside them.
    """
    if shuffler is None:
        return signers_beside(plan, dict.fromkeys(file.parent for file in files), None)
    listed = read_shuffler(shuffler, plan)
    return Signers.of(plan, listed, hop_of(listed, plan))


def read_receipts(files: list[Path], signers: Signers) -> list[tuple[Receipt, Path]]:
    """Read receipts that are consecutive links of a plan's chain, with their folders."""
    read = [(_read(file, signers), file.parent) for file in files]
    chain = sorted(read, key=lambda link: link[0].number)
    require_chain([receipt for receipt, _ in chain], signers)
    return chain


def _read(file: Path, signers: Signers) -> Receipt:
    """Read a receipt; errors name the file, since a number may have been edited."""
    if not file.is_file():
        raise ParameterError("FILE", must="be a receipt", got=str(file))
    receipt = Receipt.read(file.read_bytes(), which=file.name, signers=signers)
    receipt.require_of(signers, which=file.name)
    return receipt


def has_its_file(receipt: Receipt, folder: Path) -> bool:
    """Tell whether the batch's file is in a folder; refuse another one under its name."""
    if receipt.file is None or not (folder / receipt.file.name).exists():
        return False
    if not receipt.file.is_at(folder / receipt.file.name):
        problem = f"is not about the {receipt.file.name} beside it"
        raise ReceiptError(problem, which=f"Receipt {receipt.number}")
    return True


def _print(receipts: list[Receipt], present: list[bool]) -> None:
    first, last = receipts[0].number, receipts[-1].number
    start = "" if first == 0 else "; earlier receipts were not given"
    numbers = f"number {first}" if first == last else f"numbers {first} to {last}"
    out.print(f"VALID  {len(receipts):,} signed, chained receipts, {numbers}{start}")
    for receipt, checked in zip(receipts, present, strict=True):
        if receipt.recovery is not None:
            out.print(f"{receipt.number}  recovered: {receipt.recovery.explained}")
            continue
        what = f"round {receipt.round} {receipt.event}"
        file = "" if receipt.file is None else f", {receipt.file.name}"
        file += "" if receipt.file is None or checked else " (not here, not checked)"
        out.print(f"{receipt.number}  {what}: received {receipt.counts.explained}{file}")
