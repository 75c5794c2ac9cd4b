"""Recovery of a plan whose database was set back to an older copy.

The copy has forgotten rounds that were announced and receipts that were published. The plan
continues from it under a signed receipt that says so. Nothing is released a second time, and
nothing is invented:

1. Receipts that were published and are not in the database are verified and put back.
2. Every round without a receipt is given up, also one that the copy still has as open: the copy has
   some of its reports at most. Its keys are destroyed. The next round is above all of them.
3. The receipt of the recovery is the next link of the chain. If the last receipt that the witness
   knows was not published, the new one names its digest as the one before it. Its number is taken
   and its content fixed: should it have been published after all, it is the missing link, and a
   second one of its number cannot exist.

The last lost round is one above the newest that the witness of release knows. Release records a
round after it is in the database: killed in between, it may have opened one more, which intake has
shown.

Database, witness, output and keys are changed in this order. A run that was killed is repeated:
`finish_recovery`, which every release calls as well, does the rest.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import psycopg
from psycopg import Connection

from croupier.errors import CroupierError, ParameterError
from croupier.hosting.database.connection import connect
from croupier.plan.plan import Plan
from croupier.protocol.key_list import is_current
from croupier.protocol.party_keys import ShufflerKeys, Signers, hop_of
from croupier.protocol.receipt import (
    FIRST,
    NO_BATCH,
    Counts,
    Receipt,
    ReceiptError,
    Recovery,
    require_chain,
)
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.database.store import StoreError
from croupier.shuffler.handover import Handover
from croupier.shuffler.openings import signed_opening
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.release.output import Output
from croupier.shuffler.release.storage import Storage
from croupier.shuffler.witness import Record, RolledBackError, Witness, WitnessError

__all__ = ["Losses", "NotSetBackError", "Recoverer", "finish_recovery", "recover"]


class NotSetBackError(CroupierError):
    """The database has everything that was announced and published."""

    def __init__(self) -> None:
        super().__init__(
            "The database was not set back: it has the newest round and the last receipt that the "
            "witness and the output know. Nothing was changed."
        )


@dataclass(frozen=True)
class Losses:
    """The consequences of a recovery.

    Attributes:
        database: The name of the database and of its host.
        receipt: The receipt of the recovery, not signed yet.
        recovery: The entries of it that name the losses.
        restored: The published receipts that are put back.
        without_receipt: Files of lost rounds in the output: nobody may use them.
    """

    database: str
    receipt: Receipt
    recovery: Recovery
    restored: Sequence[Receipt]
    without_receipt: Sequence[str]


@dataclass(frozen=True, kw_only=True)
class Recoverer:
    """A job that lets a plan continue from an older copy of its database.

    Attributes:
        plan: The plan.
        connection: To the older copy, in autocommit mode; its schema is current.
        keys: The keys of release, with the newest witness.
        handover: The directory in which tag keys are handed to intake.
        shuffler: The root's newest list of the shuffler's keys.
        storage: The place with all receipts that were published.
    """

    plan: Plan
    connection: Connection[Any]
    keys: ReleaseKeys
    handover: Handover
    shuffler: ShufflerKeys
    storage: Storage

    def run(self, agree: Callable[[Losses], bool]) -> Receipt | None:
        """Recover the plan if somebody agrees to the losses; finish a recovery that was killed.

        Args:
            agree: A function that is shown the losses before anything is changed, and is not
                called if the recovery was signed before.

        Returns:
            The receipt of the recovery; None if nobody agreed.

        Raises:
            BusyError: A release is running, or a round is being opened.
            NotSetBackError: Nothing was set back.
            ParameterError: The output lacks receipts that were published.
            ReceiptError: A receipt is not signed, or there are two histories.
            UntrustedError: The list of keys is older than one that was followed, or a round of the
                database is not signed.
            WitnessError: The witness is damaged or gone: nobody can tell what was announced.
        """
        self.connection.execute("SET synchronous_commit = on")
        with (
            states.sole_releaser(self.connection, plan=self.plan.digest),
            states.nobody_opening(self.connection) as free,
        ):
            if not free:
                raise states.BusyError
            self._witness.require_list(self.shuffler)
            self._output.require_list()
            last = states.last_receipt(self.connection, plan=self.plan.digest)
            if not self._is_set_back():
                if last is None or last.recovery is None:
                    raise NotSetBackError
                finish_recovery(self._output, self.keys, self.handover)
                return last
            losses = self._losses()
            if not agree(losses):
                return None
            receipt = self._sign(losses)
            self._witness.follow_connection(self.connection, self._signers)
            finish_recovery(self._output, self.keys, self.handover)
            return receipt

    def _is_set_back(self) -> bool:
        """Tell whether the database lacks what the witness or the output knows."""
        if self._witness.read() is None:
            raise WitnessError(self._witness.path, "is not there")
        try:
            self._witness.follow_connection(self.connection, self._signers)
            self._output.last_receipt()
        except RolledBackError:
            return True
        return False

    def _losses(self) -> Losses:
        """Compare database, output and witness; change nothing."""
        seen = self._witness.read() or Record()
        stored = self._stored()
        chain = self._chain(stored, self._output.receipts())
        number, previous, unnamed = self._next_link(chain, seen)
        lost = self._lost(chain, seen)
        restored = [receipt for receipt in chain if receipt not in stored]
        recovery = Recovery(
            lost=lost,
            restored=len(restored),
            **({} if unnamed is None else {"published": unnamed}),
        )
        receipt = Receipt(
            event="recovered",
            plan=self.plan.digest,
            round=lost[-1],
            batch=NO_BATCH,
            number=number,
            previous=previous,
            counts=Counts(received=0),
            recovery=recovery,
        )
        info = self.connection.info
        place = f"{info.dbname} at {info.host}:{info.port}"
        return Losses(place, receipt, recovery, restored, self._output.without_receipt(lost))

    def _stored(self) -> list[Receipt]:
        found = states.progress(self.connection, self.plan.digest, round_number=0, receipt_number=0)
        return [Receipt.read(document) for document in found.receipts]

    def _chain(self, stored: Sequence[Receipt], published: Sequence[Receipt]) -> list[Receipt]:
        """Return the receipts of the database, then the published ones that it lacks.

        The published ones it has must be the same, and together they must be one chain.
        """
        known = {receipt.number: receipt for receipt in stored}
        for receipt in published:
            if known.setdefault(receipt.number, receipt) != receipt:
                problem = f"in {self.storage.where} is another one than that in the database"
                raise ReceiptError(problem, which=f"Receipt {receipt.number}")
        chain = [known[number] for number in sorted(known)]
        if chain and chain[0].number > 0 and not _follows_nothing(chain[0]):
            raise self._incomplete(f"Receipt {chain[0].number} is the first there")
        if stored and stored[-1] not in published:
            raise self._incomplete(f"The database has receipt {stored[-1].number}")
        for before, receipt in pairwise(chain):
            if receipt.number > before.number + 1 and receipt.recovery is None:
                raise self._incomplete(f"None follows receipt {before.number}")
        require_chain(chain, self._signers)
        return chain

    def _next_link(self, chain: Sequence[Receipt], seen: Record) -> tuple[int, str, str | None]:
        """Return number and predecessor of the next receipt.

        Returns:
            Its number, the digest of the one before, and if that one was not published the digest
            of the last published one.
        """
        last = chain[-1] if chain else None
        number, digest = (-1, FIRST) if last is None else (last.number, last.digest)
        recorded = seen.receipt
        if recorded is None or recorded.number <= number:
            named = {receipt.number: receipt.digest for receipt in chain}
            if recorded is not None and named.get(recorded.number) != recorded.digest:
                which = f"Receipt {recorded.number}"
                raise ReceiptError(f"is not the one that {self._witness.path} names", which=which)
            return number + 1, digest, None
        if recorded.number > number + 1:
            raise self._incomplete(f"{self._witness.path} knows receipt {recorded.number}")
        return recorded.number + 1, recorded.digest, digest

    def _lost(self, chain: Sequence[Receipt], seen: Record) -> tuple[int, ...]:
        """Return the rounds that are given up: one above the newest that is known, at the end."""
        stored = [batch.round_number for batch in self._opened()]
        settled = [receipt.round for receipt in chain]
        given_up = max((receipt.round for receipt in chain if receipt.recovery), default=-1)
        newest = max([seen.next_round - 1, given_up, *stored, *settled])
        after = range(max(stored, default=-1) + 1, newest + 2)
        candidates = {*stored, *after}.difference(settled)
        return tuple(sorted(each for each in candidates if each > given_up))

    def _opened(self) -> list[Batch]:
        """Return the batches of the database, all of them opened by the plan's shuffler."""
        found = states.batches(self.connection, plan=self.plan.digest)
        for batch in found:
            if is_current(batch.opening):
                signed_opening(batch, self._signers)
        return found

    def _sign(self, losses: Losses) -> Receipt:
        """Commit everything about the database in one transaction."""
        key = self.keys.signer(self.shuffler.release_key(losses.receipt.round))
        receipt = losses.receipt.signed(key)
        with self.connection.transaction():
            for link in (*losses.restored, receipt):
                states.append_receipt(self.connection, link)
            states.shred_all(self.connection, plan=self.plan.digest)
        return receipt

    def _incomplete(self, problem: str) -> ParameterError:
        return ParameterError(
            "--output",
            must="hold every receipt that was published",
            got=self.storage.where,
            hint=f"{problem}. Put the receipts that are missing there: whoever analyzes the "
            "batches has copies. Nothing was changed.",
        )

    @property
    def _signers(self) -> Signers:
        return Signers.of(self.plan, self.shuffler, hop_of(self.shuffler, self.plan))

    @property
    def _output(self) -> Output:
        return Output(self.storage, self.plan, self.shuffler, self.connection)

    @property
    def _witness(self) -> Witness:
        return Witness(self.keys, plan=self.plan.digest)


def finish_recovery(output: Output, keys: ReleaseKeys, handover: Handover) -> None:
    """Publish the receipt of a recovery if it is the last one, and destroy keys of lost rounds.

    The witness must have recorded it. Every batch that is not shredded was opened afterwards.
    """
    plan, connection = output.plan.digest, output.connection
    last = states.last_receipt(connection, plan=plan)
    if last is None or last.recovery is None:
        return
    if output.last_receipt() != last:
        output.publish_recovery(last, last.recovery)
    with states.nobody_opening(connection) as free:
        if not free:
            return
        used = {batch.identity for batch in states.unfinished(connection, plan=plan)}
        own = [
            batch
            for batch in keys.batches()
            if keys.plan_of(batch) == plan or keys.is_half_destroyed(batch)
        ]
        for batch in {*own, *handover.signed_for(plan)} - used:
            handover.destroy(batch)
            keys.destroy(batch)


def recover(database: str, *, agree: Callable[[Losses], bool], **settings: Any) -> Receipt | None:
    """Recover a plan from an older copy of its database.

    Args:
        database: A libpq connection string or URL.
        agree: As `Recoverer.run` takes it.
        settings: The arguments of `Recoverer`, all but its connection.
    """
    try:
        with connect(database) as connection:
            return Recoverer(connection=connection, **settings).run(agree)
    except psycopg.Error as error:
        raise StoreError(error, database=database) from None


def _follows_nothing(receipt: Receipt) -> bool:
    """Tell whether a receipt is that of a recovery after a first one that was not published."""
    published = None if receipt.recovery is None else receipt.recovery.published
    return (receipt.number, published) == (1, FIRST)
