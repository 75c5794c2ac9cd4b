"""The published files of a plan: batches, their receipts, and the list of keys."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg import Connection

from croupier.errors import CroupierError, ParameterError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol import durable
from croupier.protocol.key_list import Onward, ShufflerKey
from croupier.protocol.party_keys import (
    FIRST_LIST_FILE,
    LIST_FILE,
    TAKEN_OVER,
    ShufflerKeys,
    hop_of,
)
from croupier.protocol.receipt import Receipt, Recovery, ReleasedFile
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.release.keys import TakenOver
from croupier.shuffler.release.storage import OPENING, RECEIPT, ROWS, Storage, TakenError
from croupier.shuffler.witness import RolledBackError

__all__ = ["LostFileError", "Output", "name_of"]


class LostFileError(CroupierError):
    """A batch has a signed receipt, but its file is neither published nor waiting for that."""

    def __init__(self, file: ReleasedFile, storage: Storage) -> None:
        self.file = file
        self.where = storage.where
        super().__init__(
            f"{file.name} has a signed receipt, but is not in {storage.where}, and no file in "
            f"{storage.unpublished} is it. Keys and envelopes are kept. Put back the file with "
            f"SHA-256 {file.sha256} at one of the two, or name the place that has it, and run "
            "again."
        )


@dataclass(frozen=True)
class Output:
    """The place where files and receipts of one plan are published.

    Attributes:
        storage: The place.
        plan: The plan.
        keys: The list of the shuffler's keys.
        connection: The database connection; the database must know every receipt that is there.
    """

    storage: Storage
    plan: Plan
    keys: ShufflerKeys
    connection: Connection[Any]

    def last_receipt(self) -> Receipt | None:
        """Return the last receipt there, which must be in the database; None if there is none."""
        last = max(self.receipts(), key=lambda receipt: receipt.number, default=None)
        if last is not None and not states.has_receipt(self.connection, last):
            raise RolledBackError(f"receipt {last.number}", where=self.storage.where)
        return last

    def receipts(self) -> list[Receipt]:
        """Return all receipts there, in any order; they may not be in the database."""
        found = []
        for name, text in self.storage.receipts().items():
            receipt = Receipt.read(text, which=name)
            if receipt.plan != self.plan.digest:
                raise self._is_of_another_plan(name)
            found.append(receipt)
        return found

    def require_list(self) -> None:
        """Refuse to continue with an older list of keys than the one beside the receipts.

        Raises:
            ParameterError: The published list is newer than that of this job, another of the same
                version, or another plan's.
        """
        self._checked(self.storage.read(LIST_FILE))

    def written(self, batch: Batch, temporary: Path) -> ReleasedFile:
        """Describe a batch's file that is ready to be signed, and make it survive a crash."""
        durable.sync(self.storage.unpublished)
        file = ReleasedFile.of(temporary, name=name_of(batch, "parquet"))
        self.storage.require_fits(file)
        return file

    def publish(self, batch: Batch, receipt: Receipt) -> None:
        """Give the signed file its name, put the receipt beside it, remove leftovers.

        The list of keys, which verifies the receipt, comes before it.
        """
        if receipt.file is not None and not self.storage.holds(receipt.file):
            self.storage.publish(self._signed(batch, receipt.file), receipt.file)
        self._publish_list()
        self._publish_receipt(name_of(batch, "receipt.json"), receipt)
        self.remove_leftovers(batch)

    def publish_taken_over(self, batch: Batch, taken: TakenOver | None) -> None:
        """Put the first shuffler's receipt of a batch, and the list that verifies it, here too.

        The analyzer then has both receipts in one place. The list comes first.
        """
        if taken is None:  # published before, and shredded since
            return
        before = self.storage.read(FIRST_LIST_FILE)
        known = None if before is None else ShufflerKeys.read(before)
        data = taken.keys.to_bytes() + b"\n"
        is_newer = known is None or known.version < taken.keys.version
        if is_newer and not self.storage.put(FIRST_LIST_FILE, data, over=before):
            raise TakenError(FIRST_LIST_FILE, self.storage.where)
        _put_once(self.storage, name_of(batch, TAKEN_OVER), taken.receipt.text.encode() + b"\n")

    def shows_taken_over(self, batch: Batch, receipt: Receipt) -> bool:
        """Tell whether the first shuffler's receipt that a receipt names is here, with its list."""
        text = self.storage.read(name_of(batch, TAKEN_OVER))
        return text is not None and Receipt.read(text).digest == receipt.taken_over

    def publish_recovery(self, receipt: Receipt, recovery: Recovery) -> None:
        """Remove unnamed files of the rounds that are lost; publish the receipt of the recovery."""
        lost = {f"-round-{number}." for number in recovery.lost}
        for path in self.storage.unpublished.glob(".*-round-*.*"):
            if any(end in path.name for end in lost):
                path.unlink(missing_ok=True)
        durable.sync(self.storage.unpublished)
        self._publish_list()
        self._publish_receipt(f"recovered-{receipt.number}.receipt.json", receipt)

    def without_receipt(self, rounds: Iterable[int]) -> list[str]:
        """Return the names of the files of some rounds that have no receipt beside them."""
        receipts, ends = self.storage.receipts(), tuple(f"-round-{n}.parquet" for n in rounds)
        files = [name for name in self.storage.batches() if name.endswith(ends)]
        return sorted(f for f in files if f.removesuffix(ROWS) + RECEIPT not in receipts)

    def remove_leftovers(self, batch: Batch) -> None:
        """Remove the files of a batch that have no public name."""
        for path in self._leftovers(batch):
            path.unlink(missing_ok=True)
        durable.sync(self.storage.unpublished)

    def temporary(self, batch: Batch) -> Path:
        """Return an unused file name that nobody looks for."""
        return self.storage.unpublished / f".{name_of(batch, secrets.token_hex(8))}"

    def _signed(self, batch: Batch, file: ReleasedFile) -> Path:
        """Return the file that a receipt was signed for, among those without a public name."""
        signed = [path for path in self._leftovers(batch) if file.is_at(path)]
        if not signed:
            raise LostFileError(file, self.storage)
        return signed[0]

    def _publish_list(self) -> None:
        """Put the list of keys there; if somebody else does meanwhile, look at theirs once more."""
        for _ in range(2):
            before = self.storage.read(LIST_FILE)
            if self._checked(before) == self.keys:
                return
            if self.storage.put(LIST_FILE, self.keys.to_bytes() + b"\n", over=before):
                return
        raise TakenError(LIST_FILE, self.storage.where)

    def _publish_receipt(self, name: str, receipt: Receipt) -> None:
        if self.storage.put(name, receipt.text.encode() + b"\n", over=None):
            return
        if Receipt.read(self.storage.read(name) or b"", which=name) != receipt:
            raise TakenError(name, self.storage.where)

    def _checked(self, text: bytes | None) -> ShufflerKeys | None:
        """Read the published list of keys, which that of this job must not precede."""
        if text is None:
            return None
        try:
            published = ShufflerKeys.read(text)
            if published.plan != self.plan.digest:
                raise self._is_of_another_plan(LIST_FILE)
            published.check(self.plan, hop_of(self.keys, self.plan))
            self.keys.require_not_before(published)
        except UntrustedError as error:
            raise ParameterError(
                "--shuffler",
                must=f"be the newest list of keys, not before {LIST_FILE} in {self.storage.where}",
                hint=f"{error.what} {error.problem}. Nothing was sealed or signed.",
            ) from None
        return published

    def _leftovers(self, batch: Batch) -> list[Path]:
        return list(self.storage.unpublished.glob(f".{name_of(batch, '*')}"))

    def _is_of_another_plan(self, name: str) -> ParameterError:
        return ParameterError(
            "--output",
            must="hold the batches of one plan",
            got=f"{self.storage.where}, with {name} of another",
            hint="Name another directory or prefix. Nothing was sealed or signed.",
        )


def name_of(batch: Batch, suffix: str) -> str:
    """Return the name of a batch's file."""
    return f"{batch.opened:%Y-%m-%d}-round-{batch.round_number}.{suffix}"


def publish_openings(storage: Storage, keys: ShufflerKeys, batches: Iterable[Batch]) -> None:
    """Show the first shuffler which rounds the second one has opened, and with which keys."""
    for batch in batches:
        if batch.state == "open":
            opening = ShufflerKey.model_validate_json(batch.opening)
            name = f"round-{batch.round_number}{OPENING}"
            if storage.read(name) is None:
                data = Onward(keys=keys, opening=opening).to_bytes() + b"\n"
                _put_once(storage, name, data)


def _put_once(storage: Storage, name: str, data: bytes) -> None:
    if not storage.put(name, data, over=None) and storage.read(name) != data:
        raise TakenError(name, storage.where)
