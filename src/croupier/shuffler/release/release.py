"""Release of batches: seal, open, count, mix, sign, publish, shred. Safe to kill at any moment.

Progress is recorded in the database, and every step may be repeated: a job that was killed is run
again and continues where the other stopped.

1. The batch is sealed: intake stores no more.
2. The envelopes are opened, duplicates dropped, people counted. If there are too few, the batch is
  opened again, or disposed of when it is too old.
3. Dummies are added if the plan asks for them, as many of each report as a secret says that was
     made with the batch's key. The rows are mixed under a new seed and written under a temporary
     name.
4. The receipt, which holds the file's digest, and the state `released` are committed together. A
     job that dies earlier leaves an unnamed file that only its owner can read; the next one removes
     it and draws another order.
5. The witness records the receipt, the file gets its name, and the receipt is put beside it.
6. The table is dropped, then the keys are destroyed.

A second shuffler does the same with a batch of the first one: see `second_release`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import psycopg
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from psycopg import Connection

from croupier.errors import CroupierError, ParameterError
from croupier.hosting.database.connection import connect
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import write_batch
from croupier.protocol.party_keys import ShufflerKeys, Signers, hop_of
from croupier.protocol.query import Query
from croupier.protocol.receipt import FIRST, Counts, Receipt, ReleasedFile
from croupier.protocol.wire import Epoch
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.database.batch import CLOCKS_AGREE, Batch
from croupier.shuffler.database.store import StoreError
from croupier.shuffler.handover import Handover
from croupier.shuffler.openings import signed_opening
from croupier.shuffler.release.group_law import GroupLaw
from croupier.shuffler.release.key_check import KeyCheck
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.release.noise import Noise
from croupier.shuffler.release.output import Output
from croupier.shuffler.release.recovery import finish_recovery
from croupier.shuffler.release.sealed_batch import OrderedBatch, SealedBatch
from croupier.shuffler.release.sources import DatabaseSource, Source
from croupier.shuffler.release.storage import Storage
from croupier.shuffler.witness import Witness

if TYPE_CHECKING:
    from croupier.engines.base import Engine

__all__ = ["NO_KEY", "BatchOutcome", "Releaser", "UnpreparedError", "count_receipts"]

_TOO_THIN = "Somebody in it had a smaller crowd than the minimum at the plan's disposal age."
_TOO_FEW = "It had fewer people than the minimum at the plan's disposal age."
NO_KEY = "Its key was gone or did not open at the plan's disposal age."


class UnpreparedError(CroupierError):
    """The database has never had a round."""

    def __init__(self) -> None:
        super().__init__(
            "The database has no rounds yet. Open the first one with croupier release --next-round "
            "--analyzer FILE, or check --database."
        )


@dataclass(frozen=True)
class BatchOutcome:
    """The outcome of a batch: a receipt if it was released or disposed of, else it is held.

    Attributes:
        batch: The batch.
        receipt: The signed statement about it; None if it is held and nothing left.
        people: For a held batch, the most people it can have; None before its round is over.
        crowd: For a held batch that has been opened, the smallest crowd near one of its people, if
            the plan has a minimum of it.
        until: For a held batch, the end of its round or the time of its disposal; None for one that
            the first shuffler has not handed over yet, or that a second one has no key for.
        problem: For a held batch, a problem that somebody should solve; None if it only waits.
        incident: The name of the incident that the problem is.
        reason: For a batch that this run disposed of, why; None for one that an earlier run signed.
    """

    batch: Batch
    receipt: Receipt | None = None
    people: int | None = None
    crowd: int | None = None
    until: datetime | None = None
    problem: str | None = None
    incident: str | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Releaser:
    """A job that brings every batch of a plan as far as the plan allows.

    Attributes:
        plan: The plan of the batches.
        connection: To the shuffler's database, in autocommit mode.
        keys: The keys of release.
        handover: The directory in which tag keys are handed to intake, and destroyed.
        shuffler: The root's list of the shuffler's keys.
        storage: The place in which files and receipts are published.
        groups: For a plan that mixes by groups, its law and the secret of credentials.
        processes: The number of processes that open envelopes.
        engine: Opens and orders batches that do not fit in memory; None works in memory.
        scratch: The directory of envelopes on their way to the engine: on a cluster, shared by all.
        adopt: True to start a new witness from the database as it is, because the old one is lost.
        now: Returns the time; by default that of the database, whose clock opened the rounds.
        host_now: Returns the time on this host: nothing is disposed of unless both clocks agree.
        advance: A function that receives how many more envelopes are opened.
    """

    takes_over: ClassVar[bool] = False
    """True for a second shuffler, whose batches come from the first."""

    plan: Plan
    connection: Connection[Any]
    keys: ReleaseKeys
    handover: Handover
    shuffler: ShufflerKeys
    storage: Storage
    groups: tuple[GroupLaw, bytes] | None = field(default=None, repr=False)
    processes: int = 1
    engine: "Engine | None" = None
    scratch: Path | None = None
    adopt: bool = False
    now: Callable[[], datetime] | None = None
    host_now: Callable[[], datetime] = lambda: datetime.now(UTC)
    advance: Callable[[int], None] = field(default=lambda _: None, repr=False)
    _reasons: dict[bytes, str] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if (self.groups is None) != (self.plan.shuffling.groups is None):
            raise ParameterError(
                "--public",
                must="be given exactly for a plan that mixes by groups",
                hint="Give --public, its options and --secret; leave them out for other plans.",
            )
        if self.engine is not None and self.groups is not None:
            raise ParameterError(
                "--engine",
                must="be left out for a plan that mixes by groups",
                hint="Their law is drawn in one process.",
            )
        if self.engine is not None and self.plan.shufflers[self.hop].kept != 1:
            raise ParameterError(
                "--engine",
                must="be left out for a plan that keeps a share of the reports",
                hint="They are drawn in one process.",
            )
        if self.takes_over != (self.hop > 0):
            raise ParameterError(
                "--from",
                must="be given exactly for the second of two shufflers",
                hint="Name the place in which the first shuffler publishes its batches."
                if self.hop
                else "Leave it out: clients send to this shuffler.",
            )
        self.keys.signer(self.shuffler.release[-1].key)

    @cached_property
    def hop(self) -> int:
        """The shuffler that this is, by the root that signed its list of keys: 0 is the first."""
        return hop_of(self.shuffler, self.plan)

    def run(self) -> Iterator[BatchOutcome]:
        """Settle the unfinished batches by round, and yield the outcome of each.

        A recovery that was interrupted is finished, and signed batches are published first: then
        the output ends where the database does.

        Raises:
            BusyError: Another job does the same.
            RolledBackError: The database lacks a receipt or a round that was published.
            UntrustedError: The list of keys is older than one that was followed, or names another
                key for a round that is open.
            WitnessError: This cannot be checked: the witness is damaged or gone.
        """
        self.connection.execute("SET synchronous_commit = on")
        with states.sole_releaser(self.connection, plan=self.plan.digest):
            if self.adopt:
                self._output.last_receipt()
                self._witness.adopt(self.connection, self._signers)
            self._witness.follow_connection(self.connection, self._signers)
            self._output.last_receipt()
            self._output.require_list()
            unfinished = states.unfinished(self.connection, plan=self.plan.digest)
            self._witness.follow_list(
                self._signers, states.batches(self.connection, plan=self.plan.digest)
            )
            finish_recovery(self._output, self.keys, self.handover)
            self._sweep_orphans()
            for batch in sorted(unfinished, key=lambda batch: batch.undecided):
                yield self._settle(batch)
            states.record_run(self.connection, plan=self.plan.digest)

    def _sweep_orphans(self) -> None:
        """Destroy secrets that no batch names: their process died before the announcement.

        Destroy only secrets of this plan that are older than any batch which still waits for
        people, and only if the database knows some batch whose secrets are here: another database,
        named by mistake, knows none.
        """
        moment = min(self._now(), self.host_now()) - self._disposal_age
        with states.nobody_opening(self.connection) as free:
            here = self.keys.batches()
            if not (free and any(states.is_known(self.connection, batch) for batch in here)):
                return
            self.keys.sweep(moment)
            for identity in self.keys.made_before(moment, plan=self.plan.digest):
                if not states.is_known(self.connection, identity):
                    self.handover.destroy(identity)
                    self.keys.destroy(identity)

    def _settle(self, batch: Batch) -> BatchOutcome:
        if batch.undecided:
            # Check version and signing key before anything is moved.
            signed_opening(batch, self._signers)
            self._signing_key(batch)
        for state, step in (("open", self._seal), ("sealed", self._decide)):
            if batch.state == state:
                reached = step(batch)
                if isinstance(reached, BatchOutcome):
                    return reached
                batch = reached
        receipt = states.receipt_of(self.connection, batch)
        self._witness.follow_connection(self.connection, self._signers)
        if receipt.taken_over is not None and not self._output.shows_taken_over(batch, receipt):
            self._output.publish_taken_over(batch, self.keys.taken_over(batch.identity))
        self._output.publish(batch, receipt)
        self._shred(batch)
        return BatchOutcome(batch, receipt, reason=self._reasons.get(batch.identity))

    def _seal(self, batch: Batch) -> Batch | BatchOutcome:
        """Seal an open batch whose round is over and that may have enough people."""
        due = batch.opened + self.plan.collection.every
        if self._now() < due:
            incident, problem = self._key_check.incident(batch)
            return BatchOutcome(batch, until=due, problem=problem, incident=incident)
        # At most one person per envelope: if too few, intake need not pause for a count.
        stored = states.stored(self.connection, batch)
        hopeless = stored < self.plan.protections.minimum_batch or self._lacks_key(batch)
        if hopeless and not self._is_old(batch):
            return self._held(batch, people=stored)
        self._next_link()
        return states.move(self.connection, batch, "sealed")

    def _decide(self, batch: Batch) -> Batch | BatchOutcome:
        """Release a sealed batch, dispose of it, or open it again.

        A killed job may have left rows of a batch that is too small: they are removed first.
        """
        self._output.remove_leftovers(batch)
        self._next_link()
        source = self._source(batch)
        people = stored = source.count()
        crowd = None
        if stored >= self.plan.protections.minimum_batch and not self._lacks_key(batch):
            temporary = self._output.temporary(batch)
            ordered = self._ordered(batch, source, temporary)
            people, crowd = ordered.people, ordered.crowd
            if self._too_few(people) or self._too_thin(crowd):
                temporary.unlink(missing_ok=True)
            else:
                if ordered.rows is not None:
                    write_batch(ordered.rows, temporary, places=ordered.places)
                file = self._output.written(batch, temporary)
                return self._sign(batch, ordered.counts, file)
        return self._not_released(batch, stored=stored, people=people, crowd=crowd)

    def _too_few(self, people: int) -> bool:
        return people < self.plan.protections.minimum_batch

    def _too_thin(self, crowd: int | None) -> bool:
        """Tell whether somebody would be too easy to find in the order."""
        minimum = self.plan.protections.minimum_crowd
        return crowd is not None and minimum is not None and crowd < minimum

    def _not_released(
        self, batch: Batch, *, stored: int, people: int, crowd: int | None
    ) -> Batch | BatchOutcome:
        """Dispose of a sealed batch with too few people or without its key, or open it again."""
        if self._is_old(batch):
            reason = _TOO_THIN if self._too_thin(crowd) else NO_KEY
            self._reasons[batch.identity] = _TOO_FEW if self._too_few(people) else reason
            return self._sign(batch, Counts(received=stored, disposed=stored), None)
        batch = states.move(self.connection, batch, "open")
        return self._held(batch, people=people, crowd=crowd)

    def _lacks_key(self, batch: Batch) -> bool:
        """Tell whether the key of a batch is gone; until the batch is old it may be put back."""
        return self._key_check.problem(batch) is not None

    @property
    def _key_check(self) -> KeyCheck:
        return KeyCheck(self.keys, self._signers, tags=self.groups is not None, noise=self._adds)

    @property
    def _adds(self) -> bool:
        """Tell whether this shuffler adds dummies."""
        return self.plan.shufflers[self.hop].dummies is not None

    def _source(self, batch: Batch) -> Source:
        """Return the envelopes of a sealed batch."""
        return DatabaseSource(self.connection, batch)

    def _ordered(self, batch: Batch, source: Source, target: Path) -> OrderedBatch:
        """Return the batch in its released order; an engine writes it to the target at once."""
        identity = batch.identity
        sealed = SealedBatch(
            batch=batch,
            source=source,
            connection=self.connection,
            keys=self.keys,
            epoch=self._epoch(batch),
            hop=self.hop,
            noise=Noise.of(self.plan, self.hop, lambda: self.keys.noise_secret(identity)),
            processes=self.processes,
            advance=self.advance,
        )
        if self.engine is not None:
            return sealed.by_engine(self.engine, target, scratch=self.scratch)
        if self.groups is not None:
            return sealed.by_groups(*self.groups)
        return sealed.in_memory()

    def _epoch(self, batch: Batch) -> Epoch:
        """Return the epoch that the batch's envelopes are bound to, as its round was opened."""
        return signed_opening(batch, self._signers).epoch(self.plan, query=self._query(batch))

    def _query(self, batch: Batch) -> bytes:
        """Return the digest of its round's query; empty if the plan fixes the question."""
        if batch.query is None:
            return b""
        return Query.verified(batch.query.encode(), self.plan).digest

    def _sign(self, batch: Batch, counts: Counts, file: ReleasedFile | None) -> Batch:
        """Commit the receipt and the state that it certifies."""
        event: Literal["disposed", "released"] = "disposed" if file is None else "released"
        onward = self._epoch(batch).onward
        later: dict[str, Any] = {"onward": onward[0].hex()} if onward else {}
        if file is not None and (taken := self.keys.taken_over(batch.identity)) is not None:
            later["taken_over"] = taken.receipt.digest
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
                analyzer=signed_opening(batch, self._signers).analyzer,
                **later,
            )
            states.append_receipt(self.connection, receipt.signed(self._signing_key(batch)))
            return states.move(self.connection, batch, event)

    def _signing_key(self, batch: Batch) -> Ed25519PrivateKey:
        """Return the key that signs the receipt of a batch."""
        return self.keys.signer(self.shuffler.release_key(batch.round_number))

    def _next_link(self) -> tuple[int, str]:
        """Return the number of the next receipt, and the digest of the one before.

        An output that has receipts must end with the one before, so that there is one chain.
        """
        published = self._output.last_receipt()
        last = states.last_receipt(self.connection, plan=self.plan.digest)
        if published is not None and last is not None and published.number < last.number:
            raise ParameterError(
                "--output",
                must=f"hold receipt {last.number}, the last that was signed, or none",
                got=f"{self.storage.where}, which ends with {published.number}",
                hint="Name the place with the newest receipts, or an empty one.",
            )
        return (0, FIRST) if last is None else (last.number + 1, last.digest)

    def _shred(self, batch: Batch) -> None:
        """Delete what links envelopes to rows; the keys last, once their output is safe."""
        states.drop_envelopes(self.connection, batch)
        self.handover.destroy(batch.identity)
        self.keys.destroy(batch.identity)
        states.move(self.connection, batch, "shredded")

    def _held(self, batch: Batch, *, people: int, crowd: int | None = None) -> BatchOutcome:
        incident, problem = self._problem(batch)
        return BatchOutcome(
            batch,
            people=people,
            crowd=crowd,
            until=self._disposal(batch),
            problem=problem,
            incident=incident,
        )

    def _problem(self, batch: Batch) -> tuple[str | None, str | None]:
        """Return what keeps a batch from being released or disposed of, besides people and time.

        Returns:
            The name of the incident and the problem; None and None if there is none.
        """
        database, host = self._now(), self.host_now()
        if max(database, host) >= self._disposal(batch) and not self._clocks_agree():
            return "clock", (
                f"The clock of the database says {database:%Y-%m-%d %H:%M} UTC, that of this host "
                f"{host:%Y-%m-%d %H:%M}. Set them right: nothing is disposed of until they agree."
            )
        return self._key_check.incident(batch)

    def _now(self) -> datetime:
        return states.clock(self.connection) if self.now is None else self.now()

    @property
    def _disposal_age(self) -> timedelta:
        return cast("timedelta", self.plan.protections.disposal_age)  # the plan fills it in

    def _disposal(self, batch: Batch) -> datetime:
        """Return the time when a batch is too old, by the clock that saw its round open later."""
        seen = self._witness.read()
        first_seen = {} if seen is None else seen.first_seen
        opened = max(batch.opened, first_seen.get(batch.identity.hex(), batch.opened))
        return opened + self._disposal_age

    def _clocks_agree(self) -> bool:
        return abs(self._now() - self.host_now()) <= CLOCKS_AGREE

    def _is_old(self, batch: Batch) -> bool:
        """Tell whether a batch is old enough to dispose of; one clock that jumped is not enough."""
        now = min(self._now(), self.host_now())
        return self._clocks_agree() and now >= self._disposal(batch)

    @property
    def _signers(self) -> Signers:
        return Signers.of(self.plan, self.shuffler, self.hop)

    @property
    def _output(self) -> Output:
        return Output(self.storage, self.plan, self.shuffler, self.connection)

    @property
    def _witness(self) -> Witness:
        return Witness(self.keys, plan=self.plan.digest)


def count_receipts(database: str, plan: Plan) -> dict[str, int]:
    """Count the receipts of a plan by what happened."""
    try:
        with connect(database) as connection:
            return states.receipts_by_event(connection, plan=plan.digest)
    except psycopg.Error as error:
        raise StoreError(error, database=database) from None
