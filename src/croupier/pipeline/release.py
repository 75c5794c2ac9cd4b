"""Releases batches: seal, open, count, mix, sign, publish, shred. Safe to kill at any moment.

What has happened stands in the database, and every step may be repeated: a job that was killed is
run again and goes on where the other stopped.

1. The batch is sealed: intake stores no more.
2. The envelopes are opened, duplicates dropped, people counted. Too few: the batch is opened again,
   or disposed of when it is too old.
3. The rows are mixed under a new seed and written under a temporary name.
4. The receipt, which holds the file's digest, and the state `released` are committed together. A
   job that dies earlier leaves a file without a name, and the next one draws another order.
5. The file gets its name, and the receipt is put beside it.
6. The table is dropped, then the keys are destroyed.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any, Literal, cast

import psycopg
from psycopg import Connection

from croupier.errors import CroupierError, ParameterError
from croupier.model.plan import Plan
from croupier.pipeline import batch_states as states
from croupier.pipeline import durable
from croupier.pipeline.batch_file import write_batch
from croupier.pipeline.batch_states import Batch
from croupier.pipeline.keys import KeyDirectory
from croupier.pipeline.mixing import Rows, mixed
from croupier.pipeline.opening import open_envelopes
from croupier.pipeline.receipt import FIRST, Counts, Receipt, ReleasedFile
from croupier.pipeline.rounds import SHUFFLER
from croupier.pipeline.store import StoreError
from croupier.pipeline.wire import Epoch

__all__ = ["LostFileError", "Outcome", "Releaser", "RolledBackError"]
__all__ += ["release"]


class LostFileError(CroupierError):
    """A batch was signed for, and its file is not where it was written."""

    def __init__(self, file: ReleasedFile, directory: Path) -> None:
        self.file = file
        self.directory = directory
        super().__init__(
            f"{file.name} was signed for, and {directory} does not hold it. Keys and envelopes are "
            f"kept. Put back the file with SHA-256 {file.sha256}, or name its directory, and run "
            "again."
        )


class RolledBackError(CroupierError):
    """The database is older than the receipts that it led to."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__(
            f"Receipt {number} is published and the database does not have it: it was set back. "
            "Nothing was signed. Read docs/operating.md, incidents."
        )


@dataclass(frozen=True)
class Outcome:
    """What came of a batch: a receipt if it was released or disposed of, else it is held.

    Attributes:
        batch: Which.
        receipt: What was signed about it; None if it is held and nothing left.
        people: Of a held batch, how many people it has at most; None before its round is over.
        until: Of a held batch, when its round is over or when it will be disposed of.
    """

    batch: Batch
    receipt: Receipt | None = None
    people: int | None = None
    until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Releaser:
    """Brings every batch of a plan as far as the plan allows.

    Attributes:
        plan: Whose batches.
        connection: To the shuffler's database, in autocommit mode.
        keys: The shuffler's.
        directory: Where files and receipts are published.
        processes: How many open envelopes.
        now: What time it is.
        advance: Is told how many more envelopes are opened.
    """

    plan: Plan
    connection: Connection[Any]
    keys: KeyDirectory
    directory: Path
    processes: int = 1
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    advance: Callable[[int], None] = field(default=lambda _: None, repr=False)

    def __post_init__(self) -> None:
        _require_uniform(self.plan)
        key = self.keys.signing_key(SHUFFLER).public_key().public_bytes_raw().hex()
        if key != self.plan.trust.shuffler_key:
            raise ParameterError(
                "trust.shuffler_key",
                must="be the public key that belongs to the shuffler's signing key",
                hint="Use the key directory that the plan was written for.",
            )

    def run(self) -> Iterator[Outcome]:
        """Settle the unfinished batches by round, and say of each what came of it.

        Raises:
            BusyError: Another job does the same.
        """
        self.connection.execute("SET synchronous_commit = on")
        with states.sole_releaser(self.connection, plan=self.plan.digest):
            for batch in states.unfinished(self.connection, plan=self.plan.digest):
                yield self._settle(batch)

    def _settle(self, batch: Batch) -> Outcome:
        if batch.state == "open":
            due = self._since_opening(batch, self.plan.protections.round_length)
            if self.now() < due:
                return Outcome(batch, until=due)
            # No more people than envelopes: with fewer, intake need not pause for a count.
            stored = states.stored(self.connection, batch)
            if stored < self.plan.protections.minimum_batch and not self._is_old(batch):
                return self._held(batch, people=stored)
            batch = states.move(self.connection, batch, "sealed")
        if batch.state == "sealed":
            decided = self._decide(batch)
            if isinstance(decided, Outcome):
                return decided
            batch = decided
        receipt = states.receipt_of(self.connection, batch)
        self._publish(batch, receipt)
        self._shred(batch)
        return Outcome(batch, receipt)

    def _decide(self, batch: Batch) -> Batch | Outcome:
        """Release a sealed batch, dispose of it, or open it again."""
        people = stored = states.stored(self.connection, batch)
        if stored >= self.plan.protections.minimum_batch:
            rows, counts = self._mixed(batch)
            people = len(rows)
            if people >= self.plan.protections.minimum_batch:
                temporary = self._temporary(batch)
                write_batch(rows, temporary)
                durable.sync(self.directory)
                file = ReleasedFile.of(temporary, name=_name(batch, "parquet"))
                return self._sign(batch, counts, file)
        if self._is_old(batch):
            return self._sign(batch, Counts(received=stored, disposed=stored), None)
        batch = states.move(self.connection, batch, "open")
        return self._held(batch, people=people)

    def _mixed(self, batch: Batch) -> tuple[Rows, Counts]:
        """Each person's row once, in a new order, and what became of all envelopes.

        One envelope a credential is stored, so that rows with distinct content are of distinct
        people, or of people whom a relay vouches for.
        """
        opened = open_envelopes(
            states.envelopes(self.connection, batch),
            key=self.keys.outer_key(batch.identity),
            epoch=Epoch.of(self.plan, round_number=batch.round_number, batch=batch.identity),
            processes=self.processes,
            advance=self.advance,
        )
        rows = mixed(opened.inner)
        counts = Counts(
            received=opened.received,
            released=len(rows),
            duplicate=len(opened.inner) - len(rows),
            wrong_length=opened.wrong_length,
            cannot_open=opened.cannot_open,
        )
        return rows, counts

    def _sign(self, batch: Batch, counts: Counts, file: ReleasedFile | None) -> Batch:
        """Commit the receipt and the state that it speaks of."""
        event: Literal["disposed", "released"] = "disposed" if file is None else "released"
        with self.connection.transaction():
            last = states.last_receipt(self.connection, plan=batch.plan)
            receipt = Receipt(
                event=event,
                plan=batch.plan,
                round=batch.round_number,
                batch=batch.identity.hex(),
                number=0 if last is None else last.number + 1,
                previous=FIRST if last is None else last.digest,
                counts=counts,
                file=file,
            )
            self._require_new(receipt)
            states.append_receipt(self.connection, receipt.signed(self.keys.signing_key(SHUFFLER)))
            return states.move(self.connection, batch, event)

    def _require_new(self, receipt: Receipt) -> None:
        """Refuse to sign what the directory shows to be signed: two chains would fork."""
        for path in self.directory.glob("*.receipt.json"):
            other = Receipt.read(path.read_bytes(), which=path.name)
            if other.plan != receipt.plan:
                raise ParameterError("directory", must="hold the batches of one plan")
            if other.number >= receipt.number:
                raise RolledBackError(other.number)

    def _publish(self, batch: Batch, receipt: Receipt) -> None:
        """Give the signed file its name, put the receipt beside it, drop what was left behind."""
        leftovers = list(self.directory.glob(f".{_name(batch, '*')}"))
        if receipt.file is not None:
            final = self.directory / receipt.file.name
            if not receipt.file.is_at(final):
                signed = [path for path in leftovers if receipt.file.is_at(path)]
                if not signed:
                    raise LostFileError(receipt.file, self.directory)
                signed[0].rename(final)
        beside = self.directory / _name(batch, "receipt.json")
        durable.replace(beside, receipt.text.encode() + b"\n")
        for path in leftovers:
            path.unlink(missing_ok=True)
        durable.sync(self.directory)

    def _shred(self, batch: Batch) -> None:
        """Delete what links envelopes to rows; the keys last, for what they open must be safe."""
        states.drop_envelopes(self.connection, batch)
        self.keys.destroy(batch.identity)
        states.move(self.connection, batch, "shredded")

    def _held(self, batch: Batch, *, people: int) -> Outcome:
        return Outcome(batch, people=people, until=self._disposal(batch))

    def _temporary(self, batch: Batch) -> Path:
        """A name that nobody looks for, another one each time."""
        return self.directory / f".{_name(batch, secrets.token_hex(8))}"

    def _since_opening(self, batch: Batch, age: timedelta) -> datetime:
        return datetime.combine(batch.opened, time(), UTC) + age

    def _disposal(self, batch: Batch) -> datetime:
        age = cast("timedelta", self.plan.protections.disposal_age)  # the plan fills it in
        return self._since_opening(batch, age)

    def _is_old(self, batch: Batch) -> bool:
        return self.now() >= self._disposal(batch)


def release(database: str, **settings: Any) -> Iterator[Outcome]:
    """What becomes of the batches of a plan, one after the other.

    Args:
        database: A libpq connection string or URL.
        settings: Of the `Releaser`, all but its connection.
    """
    try:
        with psycopg.connect(database, autocommit=True, client_encoding="utf8") as connection:
            yield from Releaser(connection=connection, **settings).run()
    except psycopg.Error as error:
        raise StoreError(error) from None


def _name(batch: Batch, suffix: str) -> str:
    return f"{batch.opened}-round-{batch.round_number}.{suffix}"


def _require_uniform(plan: Plan) -> None:
    if plan.shuffling.groups is not None:
        raise ParameterError(
            "shuffler.groups",
            must="be left out of a plan that is released: batches are mixed uniformly, as a whole",
            hint="Use the Mallows shuffler from Python (croupier mallows), or delete the table.",
        )
