"""Releases batches: seal, open, count, mix, sign, publish, shred. Safe to kill at any moment.

What has happened stands in the database, and every step may be repeated: a job that was killed is
run again and goes on where the other stopped.

1. The batch is sealed: intake stores no more.
2. The envelopes are opened, duplicates dropped, people counted. Too few: the batch is opened again,
   or disposed of when it is too old.
3. The rows are mixed under a new seed and written under a temporary name.
4. The receipt, which holds the file's digest, and the state `released` are committed together. A
   job that dies earlier leaves a file without a name, that only its owner can read; the next one
   removes it and draws another order.
5. The file gets its name, and the receipt is put beside it.
6. The table is dropped, then the keys are destroyed.
"""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import psycopg
from psycopg import Connection

from croupier.errors import CroupierError, ParameterError
from croupier.model.plan import Plan
from croupier.pipeline import batch_states as states
from croupier.pipeline import durable
from croupier.pipeline.batch_file import write_batch
from croupier.pipeline.batch_states import Batch
from croupier.pipeline.group_law import GroupLaw
from croupier.pipeline.keys import KeyDirectory
from croupier.pipeline.query import Query
from croupier.pipeline.receipt import FIRST, Counts, Receipt, ReleasedFile
from croupier.pipeline.rounds import SHUFFLER
from croupier.pipeline.sealed_batch import OrderedBatch, SealedBatch
from croupier.pipeline.store import StoreError
from croupier.pipeline.wire import Epoch

if TYPE_CHECKING:
    from croupier.pipeline.engines.base import Engine

__all__ = ["LostFileError", "Outcome", "Releaser", "RolledBackError", "UnpreparedError"]
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


class UnpreparedError(CroupierError):
    """The database has never been served from."""

    def __init__(self) -> None:
        super().__init__(
            "The database has no rounds yet: croupier serve makes its tables and opens the first. "
            "Run it once, or check --database."
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
        groups: For a plan that mixes by groups, its law and the secret of credentials.
        processes: How many open envelopes.
        engine: What opens and orders batches that do not fit in memory; None does it in memory.
        scratch: Where envelopes are on their way to the engine: on a cluster, shared by all.
        now: What time it is; by default what the database says, whose clock opened the rounds.
        advance: Is told how many more envelopes are opened.
    """

    plan: Plan
    connection: Connection[Any]
    keys: KeyDirectory
    directory: Path
    groups: tuple[GroupLaw, bytes] | None = field(default=None, repr=False)
    processes: int = 1
    engine: "Engine | None" = None
    scratch: Path | None = None
    now: Callable[[], datetime] | None = None
    advance: Callable[[int], None] = field(default=lambda _: None, repr=False)

    def __post_init__(self) -> None:
        if (self.groups is None) != (self.plan.shuffling.groups is None):
            raise ParameterError(
                "groups",
                must="be given exactly for a plan that mixes by groups",
                hint="Give --public, its options and --secret; leave them out for other plans.",
            )
        if self.engine is not None and self.groups is not None:
            raise ParameterError(
                "engine",
                must="be left out for a plan that mixes by groups",
                hint="Their law is drawn in one process.",
            )
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
            self._sweep_orphans()
            for batch in states.unfinished(self.connection, plan=self.plan.digest):
                yield self._settle(batch)

    def _sweep_orphans(self) -> None:
        """Destroy secrets that no batch names: whoever made them died before the announcement.

        Only secrets of this plan that are older than any batch which still waits for people, and
        only if the database knows some batch whose secrets are here: another database, named by
        mistake, knows none.
        """
        moment = self._now() - self._disposal_age
        with states.nobody_opening(self.connection) as free:
            here = self.keys.batches()
            if not (free and any(states.is_known(self.connection, batch) for batch in here)):
                return
            self.keys.sweep(moment)
            for identity in self.keys.made_before(moment, plan=self.plan.digest):
                if not states.is_known(self.connection, identity):
                    self.keys.destroy(identity)

    def _settle(self, batch: Batch) -> Outcome:
        if batch.state == "open":
            due = batch.opened + self.plan.protections.round_length
            if self._now() < due:
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
        """Release a sealed batch, dispose of it, or open it again.

        A job that was killed may have left rows of a batch that turns out too small: they go first.
        """
        self._remove_leftovers(batch)
        self._next_link()
        people = stored = states.stored(self.connection, batch)
        if stored >= self.plan.protections.minimum_batch and not self._is_lost(batch):
            temporary = self._temporary(batch)
            ordered = self._ordered(batch, temporary)
            people = ordered.people
            if people < self.plan.protections.minimum_batch:
                temporary.unlink(missing_ok=True)
            else:
                if ordered.rows is not None:
                    write_batch(ordered.rows, temporary, places=ordered.places)
                durable.sync(self.directory)
                file = ReleasedFile.of(temporary, name=_name(batch, "parquet"))
                return self._sign(batch, ordered.counts, file)
        if self._is_old(batch):
            return self._sign(batch, Counts(received=stored, disposed=stored), None)
        batch = states.move(self.connection, batch, "open")
        return self._held(batch, people=people)

    def _is_lost(self, batch: Batch) -> bool:
        """Whether nobody can open a batch any more, and it is so old that nobody waits for it.

        A younger one may get its key back, so that reading the key fails and stops the release.
        """
        grouped = self.groups is not None
        return self._is_old(batch) and not self.keys.has_batch(batch.identity, tag_key=grouped)

    def _ordered(self, batch: Batch, target: Path) -> OrderedBatch:
        """The batch in the order in which it leaves; an engine writes it to the target at once."""
        sealed = SealedBatch(
            batch=batch,
            connection=self.connection,
            keys=self.keys,
            epoch=self._epoch(batch),
            advance=self.advance,
        )
        if self.engine is not None:
            return sealed.by_engine(self.engine, target, scratch=self.scratch)
        if self.groups is not None:
            return sealed.by_groups(*self.groups)
        return sealed.in_memory(processes=self.processes)

    def _epoch(self, batch: Batch) -> Epoch:
        """What the batch's envelopes are bound to."""
        return Epoch.of(
            self.plan,
            round_number=batch.round_number,
            batch=batch.identity,
            query=self._query(batch),
        )

    def _query(self, batch: Batch) -> bytes:
        """The digest of what its round asks; empty where the plan says it."""
        if batch.query is None:
            return b""
        return Query.verified(batch.query.encode(), self.plan).digest

    def _sign(self, batch: Batch, counts: Counts, file: ReleasedFile | None) -> Batch:
        """Commit the receipt and the state that it speaks of."""
        event: Literal["disposed", "released"] = "disposed" if file is None else "released"
        with self.connection.transaction():
            number, previous = self._next_link()
            receipt = Receipt(
                event=event,
                plan=batch.plan,
                round=batch.round_number,
                batch=batch.identity.hex(),
                number=number,
                previous=previous,
                counts=counts,
                file=file,
                query=self._query(batch).hex(),
            )
            states.append_receipt(self.connection, receipt.signed(self.keys.signing_key(SHUFFLER)))
            return states.move(self.connection, batch, event)

    def _next_link(self) -> tuple[int, str]:
        """The number of the next receipt, and the digest of the one before.

        Refuses to go on where the directory shows that number to be signed: two chains would fork.
        """
        last = states.last_receipt(self.connection, plan=self.plan.digest)
        number, previous = (0, FIRST) if last is None else (last.number + 1, last.digest)
        for path in self.directory.glob("*.receipt.json"):
            other = Receipt.read(path.read_bytes(), which=path.name)
            if other.plan != self.plan.digest:
                raise ParameterError("directory", must="hold the batches of one plan")
            if other.number >= number:
                raise RolledBackError(other.number)
        return number, previous

    def _publish(self, batch: Batch, receipt: Receipt) -> None:
        """Give the signed file its name, put the receipt beside it, drop what was left behind."""
        if receipt.file is not None:
            final = self.directory / receipt.file.name
            if not receipt.file.is_at(final):
                signed = [path for path in self._leftovers(batch) if receipt.file.is_at(path)]
                if not signed:
                    raise LostFileError(receipt.file, self.directory)
                durable.share(signed[0])
                signed[0].rename(final)
        beside = self.directory / _name(batch, "receipt.json")
        durable.replace(beside, receipt.text.encode() + b"\n")
        self._remove_leftovers(batch)

    def _leftovers(self, batch: Batch) -> list[Path]:
        """The files of a batch that have no name yet."""
        return list(self.directory.glob(f".{_name(batch, '*')}"))

    def _remove_leftovers(self, batch: Batch) -> None:
        for path in self._leftovers(batch):
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

    def _now(self) -> datetime:
        return states.clock(self.connection) if self.now is None else self.now()

    @property
    def _disposal_age(self) -> timedelta:
        return cast("timedelta", self.plan.protections.disposal_age)  # the plan fills it in

    def _disposal(self, batch: Batch) -> datetime:
        return batch.opened + self._disposal_age

    def _is_old(self, batch: Batch) -> bool:
        return self._now() >= self._disposal(batch)


def release(database: str, **settings: Any) -> Iterator[Outcome]:
    """What becomes of the batches of a plan, one after the other.

    Args:
        database: A libpq connection string or URL.
        settings: Of the `Releaser`, all but its connection.
    """
    try:
        with psycopg.connect(database, autocommit=True, client_encoding="utf8") as connection:
            if not states.prepared(connection):
                raise UnpreparedError
            yield from Releaser(connection=connection, **settings).run()
    except psycopg.Error as error:
        raise StoreError(error) from None


def _name(batch: Batch, suffix: str) -> str:
    return f"{batch.opened:%Y-%m-%d}-round-{batch.round_number}.{suffix}"
