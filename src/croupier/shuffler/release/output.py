"""The directory that a plan is released into: batches, their receipts, and the list of keys."""

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg import Connection

from croupier.errors import CroupierError, ParameterError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol import durable
from croupier.protocol.party_keys import LIST_FILE, ShufflerKeys
from croupier.protocol.receipt import Receipt, Recovery, ReleasedFile
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.witness import RolledBackError

__all__ = ["LostFileError", "Output", "name_of"]


class LostFileError(CroupierError):
    """A batch has a signed receipt, but its file is missing from its directory."""

    def __init__(self, file: ReleasedFile, directory: Path) -> None:
        self.file = file
        self.directory = directory
        super().__init__(
            f"{file.name} has a signed receipt, but is not in {directory}. Keys and envelopes are "
            f"kept. Put back the file with SHA-256 {file.sha256}, or name its directory, and run "
            "again."
        )


@dataclass(frozen=True)
class Output:
    """The place where files and receipts of one plan are published.

    Attributes:
        directory: The directory of one plan.
        plan: The plan.
        keys: The list of the shuffler's keys.
        connection: The database connection; the database must know every receipt that is there.
    """

    directory: Path
    plan: Plan
    keys: ShufflerKeys
    connection: Connection[Any]

    def last_receipt(self) -> Receipt | None:
        """Return the last receipt there, which must be in the database; None if there is none."""
        last = max(self.receipts(), key=lambda receipt: receipt.number, default=None)
        if last is not None and not states.has_receipt(self.connection, last):
            raise RolledBackError(f"receipt {last.number}", where=self.directory)
        return last

    def receipts(self) -> list[Receipt]:
        """Return all receipts there, in any order; they may not be in the database."""
        found = []
        for path in self.directory.glob("[!.]*.receipt.json"):
            receipt = Receipt.read(path.read_bytes(), which=path.name)
            if receipt.plan != self.plan.digest:
                raise self._is_of_another_plan(path)
            found.append(receipt)
        return found

    def published_list(self) -> ShufflerKeys | None:
        """Return the list of keys beside the receipts; None if there is none yet.

        Raises:
            ParameterError: The directory has a newer list than that of this job, another of the
                same version, or another plan's.
        """
        path = self.directory / LIST_FILE
        if not path.exists():
            return None
        try:
            published = ShufflerKeys.read(path.read_bytes())
            if published.plan != self.plan.digest:
                raise self._is_of_another_plan(path)
            published.check(self.plan)
            self.keys.require_not_before(published)
        except UntrustedError as error:
            raise ParameterError(
                "--shuffler",
                must=f"be the newest list of keys, not before that in {path}",
                hint=f"{error.what} {error.problem}. Nothing was sealed or signed.",
            ) from None
        return published

    def publish(self, batch: Batch, receipt: Receipt) -> None:
        """Give the signed file its name, put the receipt beside it, remove leftovers.

        The list of keys, which verifies the receipt, comes before it.
        """
        if receipt.file is not None:
            final = self.directory / receipt.file.name
            if not receipt.file.is_at(final):
                signed = [path for path in self._leftovers(batch) if receipt.file.is_at(path)]
                if not signed:
                    raise LostFileError(receipt.file, self.directory)
                durable.share(signed[0])
                signed[0].rename(final)
        self._put(receipt, name_of(batch, "receipt.json"))
        self.remove_leftovers(batch)

    def publish_recovery(self, receipt: Receipt, recovery: Recovery) -> None:
        """Publish the receipt of a recovery; remove unnamed files of the rounds that are lost."""
        self._put(receipt, f"recovered-{receipt.number}.receipt.json")
        for number in recovery.lost:
            for path in self.directory.glob(f".*-round-{number}.*"):
                path.unlink(missing_ok=True)
        durable.sync(self.directory)

    def without_receipt(self, rounds: Iterable[int]) -> list[str]:
        """Return the names of the files of some rounds that have no receipt beside them."""
        files = [path for n in rounds for path in self.directory.glob(f"[!.]*-round-{n}.parquet")]
        return sorted(f.name for f in files if not f.with_suffix(".receipt.json").exists())

    def _put(self, receipt: Receipt, name: str) -> None:
        if self.published_list() != self.keys:
            durable.publish(self.directory / LIST_FILE, self.keys.to_bytes() + b"\n")
        durable.publish(self.directory / name, receipt.text.encode() + b"\n")

    def remove_leftovers(self, batch: Batch) -> None:
        """Remove the files of a batch that have no name yet."""
        for path in self._leftovers(batch):
            path.unlink(missing_ok=True)
        durable.sync(self.directory)

    def temporary(self, batch: Batch) -> Path:
        """Return an unused file name that nobody looks for."""
        return self.directory / f".{name_of(batch, secrets.token_hex(8))}"

    def _leftovers(self, batch: Batch) -> list[Path]:
        return list(self.directory.glob(f".{name_of(batch, '*')}"))

    def _is_of_another_plan(self, path: Path) -> ParameterError:
        return ParameterError(
            "directory",
            must="hold the batches of one plan",
            got=f"{self.directory}, with {path.name} of another",
            hint="Name another directory. Nothing was sealed or signed.",
        )


def name_of(batch: Batch, suffix: str) -> str:
    """Return the name of a batch's file."""
    return f"{batch.opened:%Y-%m-%d}-round-{batch.round_number}.{suffix}"
