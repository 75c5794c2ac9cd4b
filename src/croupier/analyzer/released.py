"""Released batches as the analyzer gets them: each file with its receipt, checked with the plan."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import require_released
from croupier.protocol.party_keys import (
    FIRST_LIST_FILE,
    TAKEN_OVER,
    ShufflerKeys,
    Signers,
    signers_beside,
)
from croupier.protocol.query import Query, require_query
from croupier.protocol.receipt import Receipt, ReceiptError, require_chain
from croupier.protocol.wire import Epoch, asks_by_query

__all__ = ["ReleasedBatch", "first_signers", "recoveries", "verified_batches"]

_RECEIPT = ".receipt.json"


@dataclass(frozen=True)
class ReleasedBatch:
    """A file that the shuffler signed for.

    Attributes:
        file: The path.
        receipt: The signed statement.
        query: The query that the analyzer signed for the round; None if the plan fixes it.
        taken_over: The first shuffler's receipt, if there are two.
    """

    file: Path
    receipt: Receipt
    query: Query | None = None
    taken_over: Receipt | None = None

    def epoch(self, plan: Plan) -> Epoch:
        """Return the epoch that its seals are bound to.

        Raises:
            ReceiptError: Version 0.1 released it: its seals are of wire version 1.
        """
        if self.receipt.analyzer is None:
            raise ReceiptError(
                "is about a batch of wire version 1, which this version does not open; analyze it "
                "with croupier 0.1",
                which=f"Receipt {self.receipt.number}",
            )
        return Epoch.of(
            plan,
            round_number=self.receipt.round,
            batch=bytes.fromhex(self.receipt.batch),
            analyzer=bytes.fromhex(self.receipt.analyzer),
            query=b"" if self.query is None else self.query.digest,
            onward=() if self.receipt.onward is None else (bytes.fromhex(self.receipt.onward),),
        )


def verified_batches(
    plan: Plan,
    files: Sequence[Path],
    *,
    shuffler: ShufflerKeys | None = None,
    queries: Sequence[Query] = (),
) -> tuple[ReleasedBatch, ...]:
    """Return the batches in files, by number, if the plan's shuffler signed every byte of them.

    The receipt of `NAME.parquet` is `NAME.receipt.json` beside it. It must be signed by the release
    key of its round and be about this plan and this very file. Of all receipts in the same
    directories, those from the first to the last given one must be consecutive links of one chain:
    two histories of a round are refused, and so is a gap. With two shufflers, the receipt of the
    second one names that of the first one, `NAME.taken-over.json`, which is checked as well.

    Args:
        plan: The plan of the collection.
        files: Released batches of the plan.
        shuffler: The list of the shuffler's keys; if left out, the one beside the receipts.
        queries: The queries of rounds, if they ask by query; more than are needed may be given.

    Raises:
        ReceiptError: One of these conditions does not hold.
        UntrustedError: A query was not signed by the plan's analyzer, or the list of keys not by
            the shuffler's root.
    """
    if not files:
        raise ParameterError("BATCH", must="be at least one released file")
    folders = list(dict.fromkeys(file.parent for file in files))
    last = len(plan.shufflers) - 1
    if last:
        _require_second(plan, files)
    signers = (
        signers_beside(plan, folders, last)
        if shuffler is None
        else Signers.of(plan, shuffler, last)
    )
    read = [_with_receipt(file, signers) for file in files]
    batches = sorted(read, key=lambda batch: batch.receipt.number)
    if len({batch.receipt.digest for batch in batches}) != len(batches):
        raise ParameterError("BATCH", must="be given once", hint="A report counts once.")
    require_chain(_links(batches, signers), signers)
    for batch in batches:
        _require_file(plan, batch)
    if last:
        first = first_signers(plan, folders)
        batches = [replace(own, taken_over=_taken_over(own, first)) for own in batches]
    asked = _by_round(plan, queries)
    if asks_by_query(plan):
        batches = [replace(own, query=_of_round(asked, own.receipt)) for own in batches]
    return tuple(batches)


def first_signers(plan: Plan, folders: Iterable[Path]) -> Signers:
    """Return the signers of the first of two shufflers, by the list that the second published.

    Raises:
        ReceiptError: There is no list.
        UntrustedError: A list is not the first shuffler's, or two of one version differ.
    """
    newest: ShufflerKeys | None = None
    for file in (folder / FIRST_LIST_FILE for folder in folders):
        if file.is_file():
            read = ShufflerKeys.verified(file.read_bytes(), plan)
            if newest is not None and read.version == newest.version:
                read.require_not_before(newest)
            if newest is None or read.version > newest.version:
                newest = read
    if newest is None:
        problem = (
            f"cannot be checked: put {FIRST_LIST_FILE}, the list of the first shuffler's keys, "
            "which the second one publishes, beside it"
        )
        raise ReceiptError(problem, which="A receipt of the first shuffler")
    return Signers.of(plan, newest)


def _require_second(plan: Plan, files: Iterable[Path]) -> None:
    """Refuse batches of the first of two shufflers, by receipts that are not verified yet."""
    for file in files:
        with suppress(ReceiptError, OSError):
            receipt = Receipt.read(file.with_name(file.stem + _RECEIPT).read_bytes())
            released = receipt.plan == plan.digest and receipt.file is not None
            if released and receipt.taken_over is None:
                raise ParameterError(
                    "BATCH",
                    must="be released by the second shuffler",
                    got=str(file),
                    hint="Its receipt names no batch that was taken over: the first shuffler "
                    "released it. Give those that the second one publishes.",
                )


def _taken_over(batch: ReleasedBatch, first: Signers) -> Receipt:
    """Return the first shuffler's receipt of a batch that the second one released.

    Raises:
        ReceiptError: It is missing, not the one that was taken over, or about something else.
    """
    receipt, beside = batch.receipt, batch.file.with_name(f"{batch.file.stem}.{TAKEN_OVER}")
    which = f"Receipt {receipt.number}"
    if receipt.taken_over is None or not beside.is_file():
        raise ReceiptError(f"needs the first shuffler's, {beside.name}, beside it", which=which)
    read = Receipt.read(beside.read_bytes(), which=beside.name, signers=first)
    read.require_of(first, which=beside.name)
    if read.digest != receipt.taken_over:
        raise ReceiptError(f"names another receipt than {beside.name}", which=which)
    same = [(each.round, each.batch, each.analyzer, each.onward) for each in (read, receipt)]
    if same[0] != same[1] or read.counts.released != receipt.counts.received:
        raise ReceiptError(f"does not fit {beside.name}", which=which)
    return read


def recoveries(
    plan: Plan, folders: Iterable[Path], *, shuffler: ShufflerKeys | None
) -> list[Receipt]:
    """Return the shuffler's statements in some folders that its database was set back, by number.

    Raises:
        ReceiptError: One of them is not signed by the plan's shuffler.
    """
    signers = Signers.of(plan, shuffler, len(plan.shufflers) - 1)
    found = {each.digest: each for each in _beside(folders, signers) if each.recovery is not None}
    for receipt in found.values():
        receipt.require_of(signers)
    return sorted(found.values(), key=lambda receipt: receipt.number)


def _by_round(plan: Plan, queries: Sequence[Query]) -> dict[int, Query]:
    for query in queries:
        require_query(query, plan)
    asked = {query.round: query for query in queries}
    if len(asked) != len(queries):
        raise ParameterError("query", must="be one per round", hint="Name the one that was served.")
    return asked


def _of_round(asked: Mapping[int, Query], receipt: Receipt) -> Query:
    query = asked.get(receipt.round)
    if query is None:
        raise ParameterError(
            "query",
            must=f"be given for round {receipt.round}: its seals are bound to it",
            hint="Add --query with the file that was signed for the round.",
        )
    if receipt.query != query.digest.hex():
        problem = "is about a round that asked something other than the given query"
        raise ReceiptError(problem, which=f"Receipt {receipt.number}")
    return query


def _with_receipt(file: Path, signers: Signers) -> ReleasedBatch:
    if not file.is_file():
        raise ParameterError("BATCH", must="be a released file", got=str(file))
    beside = file.with_name(file.stem + _RECEIPT)
    if not beside.is_file():
        raise ParameterError(
            "BATCH",
            must="lie beside its receipt",
            got=str(file),
            hint=f"Put {beside.name} into the same directory.",
        )
    receipt = Receipt.read(beside.read_bytes(), which=beside.name, signers=signers)
    return ReleasedBatch(file, receipt)


def _links(batches: Sequence[ReleasedBatch], signers: Signers) -> list[Receipt]:
    """Return the receipts of the batches, and those between them in their directories."""
    first, last = batches[0].receipt.number, batches[-1].receipt.number
    folders = {batch.file.parent for batch in batches}
    found = _beside(folders, signers)
    between = {receipt.digest: receipt for receipt in found if first <= receipt.number <= last}
    return sorted(between.values(), key=lambda receipt: receipt.number)


def _beside(folders: Iterable[Path], signers: Signers) -> list[Receipt]:
    paths = [path for folder in folders for path in folder.glob(f"[!.]*{_RECEIPT}")]
    return [Receipt.read(path.read_bytes(), which=path.name, signers=signers) for path in paths]


def _require_file(plan: Plan, batch: ReleasedBatch) -> None:
    signed, which = batch.receipt.file, f"Receipt {batch.receipt.number}"
    if signed is None:
        raise ReceiptError("is about a batch that was disposed of", which=which)
    if not signed.is_at(batch.file):
        raise ReceiptError(f"is not about the {batch.file.name} beside it", which=which)
    require_released(batch.file, batch.receipt, plan=plan)
