"""`croupier receipt`: check the receipts that the shuffler signed."""

from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import typer

from croupier.analyzer.released import first_signers
from croupier.cli.analyzer.fetched import RECEIPT, fetched
from croupier.cli.group import Group
from croupier.cli.options.plan import PlanOption, read_plan
from croupier.cli.options.signed_keys import ListBeside, read_shuffler
from croupier.cli.output.terminal import Json, Quiet, out, print_json
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.party_keys import TAKEN_OVER, Signers, hop_of, signers_beside
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

With two shufflers, check the receipts of each by themselves. NAME.taken-over.json, which the second
one publishes, is a receipt of the first: its signature is checked by first-shuffler-keys.json
beside it, and its batch is not, which lies where the first one publishes. Receipts of batches that
were not taken over are missing between them.

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
        _require_one_shuffler(paths)
        taken_over = all(_is_taken_over(path) for path in paths)
        signers = signers_of(paths, made, shuffler)
        chain = read_receipts(paths, signers)
        receipts = [receipt for receipt, _ in chain]
        # A file beside a receipt that was taken over is the second shuffler's.
        present = [not taken_over and has_its_file(*link) for link in chain]
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
        _print(receipts, present, taken_over=taken_over)
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
    if shuffler is None and files and all(map(_is_taken_over, files)):
        return first_signers(plan, dict.fromkeys(file.parent for file in files))
    if shuffler is None:
        return signers_beside(plan, dict.fromkeys(file.parent for file in files), None)
    listed = read_shuffler(shuffler, plan)
    return Signers.of(plan, listed, hop_of(listed, plan))


def read_receipts(files: list[Path], signers: Signers) -> list[tuple[Receipt, Path]]:
    """Read receipts that are consecutive links of a plan's chain, with their folders.

    Between receipts that a second shuffler took over, others may be missing.
    """
    read = [(_read(file, signers), file.parent) for file in files]
    chain = sorted(read, key=lambda link: link[0].number)
    receipts = [receipt for receipt, _ in chain]
    gaps = [0]
    if all(map(_is_taken_over, files)):
        follow = enumerate(pairwise(receipts), start=1)
        gaps += [place for place, (a, b) in follow if b.number > a.number + 1]
    for start, end in pairwise([*gaps, len(receipts)]):
        require_chain(receipts[start:end], signers)
    return chain


def _is_taken_over(file: Path) -> bool:
    return file.name.endswith(f".{TAKEN_OVER}")


def _require_one_shuffler(files: list[Path]) -> None:
    """Refuse receipts of both shufflers: each has a chain of its own.

    Nothing is verified here. What the second one released names a receipt of the first.
    """
    second = set()
    for file in files:
        with suppress(ReceiptError, OSError):
            receipt = Receipt.read(file.read_bytes())
            if receipt.event == "released":
                second.add((receipt.taken_over is not None, _is_taken_over(file)))
    if len(second) > 1:
        raise ParameterError(
            "FILE",
            must="be receipts of one shuffler",
            hint="Check those that the first shuffler published, those that the second one "
            "published, and *.taken-over.json, each with a command of its own.",
        )


def _read(file: Path, signers: Signers) -> Receipt:
    """Read a receipt; errors name the file, since a number may have been edited."""
    if not file.is_file():
        hint = f"Name the receipts in it: {file}/*.receipt.json." if file.is_dir() else ""
        raise ParameterError("FILE", must="be a receipt", got=str(file), hint=hint)
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


def _print(receipts: list[Receipt], present: list[bool], *, taken_over: bool) -> None:
    first, last = receipts[0].number, receipts[-1].number
    start = "" if first == 0 or taken_over else "; earlier receipts were not given"
    numbers = f"number {first}" if first == last else f"numbers {first} to {last}"
    kind = "signed receipts of the first shuffler" if taken_over else "signed, chained receipts"
    out.print(f"VALID  {len(receipts):,} {kind}, {numbers}{start}")
    for receipt, checked in zip(receipts, present, strict=True):
        if receipt.recovery is not None:
            out.print(f"{receipt.number}  recovered: {receipt.recovery.explained}")
            continue
        what = f"round {receipt.round} {receipt.event}"
        file = "" if receipt.file is None else f", {receipt.file.name}"
        file += "" if receipt.file is None or checked else " (not here, not checked)"
        out.print(f"{receipt.number}  {what}: received {receipt.counts.explained}{file}")
