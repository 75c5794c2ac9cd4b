"""The witness: the progress of a plan, kept beside the keys and not in the database.

A database that is set back to an old copy has forgotten rounds that clients know and receipts that
are published. Used to serve or release, it would tell clients that their batch never existed, and
sign a second receipt of one number. The witness remembers the newest round and the last receipt.

One rule holds, whichever process works on a plan and wherever it is killed:

    committed to the database  ->  recorded by the witness  ->  shown to anybody

A key list shows a round and a directory shows a receipt only after `follow` has recorded them, and
`follow` refuses a database that lacks what is recorded. Therefore

- a process that dies before recording leaves a witness that is behind. Nobody has seen what the
  witness lacks: if the database still has it, the next process records it and continues; if the
  database was set back just then, another may take its place, and no two versions are published.
- a process that dies after recording leaves a witness that agrees with the database.
- a witness that is ahead of the database therefore means one thing only: the database was set back,
  or is another one. Two copies of a database that are used at once also end here: one of them
  records its batch or receipt first, and the other is refused before it shows its own.

One thing lets a database that was set back go on: a receipt of its recovery, signed by the release
key and a link of the chain after the recorded receipt. `croupier recover` makes it. It names the
rounds that are lost, so whoever has no release key cannot turn a set-back database into a recovered
one, and an old recovery cannot be used again.

A missing witness proves nothing, so a plan with rounds does not continue without it: it is
restored, or an operator who is sure of the database says so. Release and intake have one each:
release commits and records rounds and receipts, intake records what it shows.

The witness also keeps the host's time at which a round was first seen, so that the age of a batch
does not depend on the database's clock alone; and the newest list of the shuffler's keys that was
followed, so that nobody goes back to one that names a replaced key.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from psycopg import Connection
from pydantic import Field, ValidationError

from croupier.errors import CroupierError, ParameterError, UntrustedError
from croupier.hosting.incidents import see
from croupier.plan.plan import Plan
from croupier.protocol import durable
from croupier.protocol.key_directory import KeyDirectory
from croupier.protocol.key_list import is_current, opening_of
from croupier.protocol.party_keys import SeenList, ShufflerKeys, Signers
from croupier.protocol.receipt import Receipt, ReceiptError, require_chain
from croupier.protocol.signed_document import Absent, Bytes16, Bytes32, Document, RoundNumber
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.database.statements import Progress
from croupier.shuffler.database.store import Store
from croupier.shuffler.openings import signed_opening

__all__ = ["ForgedReceiptError", "NoTagKeyError", "Record", "RolledBackError", "Witness"]
__all__ += ["WitnessError", "place"]


_ADOPT = "run croupier release with --adopt-database once"


class RolledBackError(CroupierError):
    """The database lacks what was announced or published from it, or has another in its place.

    Attributes:
        what: The round or the receipt.
        where: The file, directory or prefix that has it.
    """

    incident = "database-set-back"

    def __init__(self, what: str, *, where: Path | str) -> None:
        self.what = what
        self.where = where
        super().__init__(
            f"The database does not have {what}, which {where} names: it was set back to an older "
            "copy, or is another one. Nothing was opened or signed. Check --database; if a backup "
            "was restored, run croupier recover, see docs/incidents/database-set-back.md."
        )


class ForgedReceiptError(RolledBackError):
    """The database has a receipt that is not the next link of the plan's chain.

    Whoever can write to the database, and has no key, must not be able to move a witness.
    """

    def __init__(self, problem: str, *, where: Path) -> None:
        self.what = "a receipt"
        self.where = where
        CroupierError.__init__(
            self,
            f"In the database, {problem}: somebody changed its receipts, or it is another one. "
            "Nothing was opened or signed. Check --database; else restore the newest copy, see "
            "docs/incidents/database-set-back.md.",
        )


class WitnessError(CroupierError):
    """The witness is damaged, or is gone although it was written before any round was opened."""

    incident = "witness"

    def __init__(self, path: Path, problem: str, *, hint: str = "") -> None:
        self.path = path
        super().__init__(
            f"{path} {problem}: it names the last round and receipt of a plan. Restore it from "
            f"the newest copy of the key directory. {hint}Nothing was opened or signed. "
            f"{see('witness')}"
        )


class NoTagKeyError(WitnessError):
    """An intake without a witness lacks the tag key of the newest round, and begins none.

    Attributes:
        round: The round.
    """

    def __init__(self, path: Path, *, round_number: int, batch: bytes) -> None:
        self.path = path
        self.round = round_number
        CroupierError.__init__(
            self,
            f"The hand-over directory lacks the tag key of round {round_number}, the newest one: "
            "most likely --handover is not the directory that release writes. Name that one, or "
            f"put {batch.hex()}.tag into yours. If the round is settled, open the next one: "
            "croupier release --next-round. If a backup of the database was restored, which is "
            f"less likely, run croupier recover. Nothing was opened or signed. {see('batch-key')}",
        )


class _Round(Document):
    number: RoundNumber
    batch: Bytes16

    def __str__(self) -> str:
        return f"round {self.number} with batch {self.batch[:8]}…"


class _Signed(Document):
    number: Annotated[int, Field(ge=0)]
    digest: Bytes32

    def __str__(self) -> str:
        return f"receipt {self.number} with digest {self.digest[:8]}…"


class Record(Document):
    """The record of a witness about a plan.

    Attributes:
        round: The newest round that may have been announced, and its batch.
        receipt: The last receipt that may have been published, and its digest.
        first_seen: By batch, the host's time at which its round was new; only for batches without
            a receipt that are not older than the witness.
        listed: The newest list of the shuffler's keys; older files have none.
        resumed: If the plan was recovered, the first round that may be opened since then.
        unpublished: At intake, the digest of a receipt in whose place release signed another.
    """

    schema_version: Literal[1] = 1
    round: _Round | None = None
    receipt: _Signed | None = None
    first_seen: dict[str, datetime] = Field(default_factory=dict)
    listed: SeenList | None = None
    resumed: Absent[RoundNumber] = None
    unpublished: Absent[Bytes32] = None

    @property
    def next_round(self) -> int:
        """The first round that nobody can have been shown, as far as this witness knows."""
        return self.resumed or 0 if self.round is None else self.round.number + 1


class Witness:
    """The witness of one plan, a file in the key directory of release, and in that of intake.

    Args:
        keys: The directory; the file in it is made when there is something to record.
        plan: The digest of the plan.
        begins: For intake, whether a witness may start beside a newest round that is this batch.
    """

    def __init__(
        self, keys: KeyDirectory, *, plan: str, begins: Callable[[bytes], bool] | None = None
    ) -> None:
        self.path = keys.path / "witness" / f"{plan}.json"
        self._plan = plan
        self._lock = self.path.with_suffix(".lock")
        self._list = self.path.with_suffix(".list")
        self._begins = begins

    def read(self) -> Record | None:
        """Return the record; None if nothing was ever recorded."""
        try:
            text = self.path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            return Record.model_validate_json(text)
        except ValidationError:
            raise WitnessError(self.path, "is damaged") from None

    async def follow(self, store: Store, signers: Signers) -> Record:
        """Record what the database has; only afterwards may it be shown.

        Args:
            store: The database.
            signers: The keys that sign for the plan's shuffler, and so for a recovery.

        Raises:
            RolledBackError: The database lacks what is recorded.
            WitnessError: The record is damaged or gone.
        """
        while True:
            seen = self.read()
            found = await store.progress(self._plan, **place(seen))
            record = self.record(seen, found, signers)
            if record is not None:
                return record

    def follow_connection(self, connection: Connection[Any], signers: Signers) -> Record:
        """Do the same as `follow` with a plain connection in autocommit mode."""
        while True:
            seen = self.read()
            found = states.progress(connection, self._plan, **place(seen))
            record = self.record(seen, found, signers)
            if record is not None:
                return record

    def record(self, seen: Record | None, found: Progress, signers: Signers) -> Record | None:
        """Record what the database had, asked after the witness was read.

        Args:
            seen: The record that was read.
            found: Rounds and receipts, starting at the `place` of that record.
            signers: The keys that sign for the plan's shuffler, and so for a recovery.

        Returns:
            None if another process recorded something in between: use `follow`.

        Raises:
            RolledBackError: The database lacks what is recorded.
            WitnessError: The record is damaged or gone.
        """
        if seen is None:
            self._require_none_was(found)
        return self._advance(seen, found, signers)

    def require_list(self, keys: ShufflerKeys) -> None:
        """Refuse a list of keys that is older than the recorded one, or another of its version.

        Raises:
            UntrustedError: The list is refused.
            WitnessError: The record is damaged.
        """
        seen = self.read()
        if seen is not None and seen.listed is not None:
            keys.require_not_before(seen.listed)

    def follow_list(self, signers: Signers, batches: Iterable[Batch]) -> bool:
        """Record a list of keys, after `follow`, if all rounds fit it and its newest keys count.

        A record cannot be taken back. A list that a round does not fit is therefore never recorded,
        or nobody could continue with the one before it; nor is any before a round was opened for
        which its newest keys are valid: otherwise opening it by the earlier list is impossible.

        Args:
            signers: The keys whose signatures are valid by the list.
            batches: The batches of the plan's rounds.

        Returns:
            True if it is recorded.

        Raises:
            UntrustedError: See `require_list`; or an opening is not signed by the list's keys.
            WitnessError: The record is damaged or gone.
        """
        keys = signers.keys
        if keys is None:
            return False
        self.require_list(keys)
        for batch in batches:
            if is_current(batch.opening):
                signed_opening(batch, signers)
        while True:
            seen = self.read()
            if seen is None:
                raise WitnessError(self.path, "is not there")
            if seen.round is None or seen.round.number < keys.counts_from:
                return False
            if seen.listed is not None:
                keys.require_not_before(seen.listed)
            recorded = seen.model_copy(update={"listed": keys.seen})
            if seen == recorded or self._replace(seen, recorded):
                self._keep(keys)
                return True

    def followed_list(self, plan: Plan) -> ShufflerKeys | None:
        """Return the recorded list of keys; None if it was not kept."""
        try:
            seen = self.read()
            kept = ShufflerKeys.verified(self._list.read_bytes(), plan)
        except (OSError, UntrustedError, WitnessError):
            return None
        return kept if seen is not None and kept.seen == seen.listed else None

    def _keep(self, keys: ShufflerKeys) -> None:
        """Keep a recorded list, so that a worker that starts shows the same as those that run."""
        text = keys.to_bytes()
        if self._begins is not None and not (
            self._list.exists() and self._list.read_bytes() == text
        ):
            durable.replace(self._list, text)

    def adopt(self, connection: Connection[Any], signers: Signers) -> None:
        """Start from the database as it is, whatever a lost witness had recorded.

        Raises:
            ParameterError: There is a witness.
        """
        found = states.progress(connection, self._plan, **place(None))
        if self.path.exists() or self._advance(None, found, signers) is None:
            raise ParameterError(
                "--adopt-database",
                must="be given only where the witness is lost",
                hint=f"Leave it out: {self.path} is there.",
            )

    def _require_none_was(self, found: Progress) -> None:
        """Refuse a database whose rounds were opened beside a witness, if there is none now.

        A round of this version is opened after the witness of release was first written. Version
        0.1 kept none: a plan whose rounds are all older gets one. Intake, if it never had one, gets
        one when it first sees a newest round whose tag key is handed over: in a database that was
        set back, the newest round is an older one, whose tag key is destroyed.
        """
        never_had = not self._lock.exists()
        if self._begins and never_had and found.rounds and self._begins(found.rounds[-1][1]):
            return
        # Written since it was read: another process started the plan meanwhile.
        if any(is_current(opening) for *_, opening in found.rounds) and not self.path.exists():
            if self._begins and never_had:
                number, batch, _ = found.rounds[-1]
                raise NoTagKeyError(self.path, round_number=number, batch=batch)
            begin = (
                f"move {self._lock} away, and no file of another plan, while a round is open: "
                "croupier serve begins another"
            )
            raise WitnessError(
                self.path,
                "is not there",
                hint="If there is no copy, and you are sure that the database was not set back, "
                f"{begin if self._begins else _ADOPT}. ",
            )

    def _advance(self, seen: Record | None, found: Progress, signers: Signers) -> Record | None:
        """Bring the witness from what was read to what the database had afterwards.

        Returns:
            None if another process recorded something in between: ask the database again.
        """
        receipts = [Receipt.read(document) for document in found.receipts]
        known = Record() if seen is None else seen
        signed_anew = self._begins is not None and _has_another(receipts, known)
        if signed_anew and known.receipt is not None:
            known = known.model_copy(update={"receipt": None, "unpublished": known.receipt.digest})
        known = _recovered(known, receipts, signers)
        first = known.resumed or 0
        rounds = [
            _Round(number=number, batch=batch.hex())
            for number, batch, _ in found.rounds
            if number >= first
        ]
        signed = [_Signed(number=each.number, digest=each.digest) for each in receipts]
        self._require(known.round, rounds)
        self._require(known.receipt, signed)
        _require_openings(known, found, signers)
        if signed != [known.receipt]:
            begins = known.receipt is None and not signed_anew
            self._require_links(receipts, signers, begins=begins)
        fresh = [] if seen is None else [each for each in rounds if each != known.round]
        now = datetime.now(UTC).replace(microsecond=0)
        settled = {receipt.batch for receipt in receipts}
        first_seen = known.first_seen | {each.batch: now for each in fresh}
        changes = {
            "round": rounds[-1] if rounds else None,
            "receipt": signed[-1] if signed else None,
            "first_seen": {batch: at for batch, at in first_seen.items() if batch not in settled},
        }
        record = known.model_copy(update=changes)
        if record == seen:
            return record
        return record if self._replace(seen, record) else None

    def _require(
        self, recorded: _Round | _Signed | None, found: Sequence[_Round | _Signed]
    ) -> None:
        """Refuse a database whose rows from the recorded one on do not begin with it."""
        if recorded is not None and (not found or found[0] != recorded):
            raise RolledBackError(str(recorded), where=self.path)

    def _require_links(
        self, receipts: Sequence[Receipt], signers: Signers, *, begins: bool
    ) -> None:
        """Refuse receipts that are not signed links of one chain, before one is recorded."""
        first = receipts[0].number if receipts else 0
        recovered = bool(receipts) and receipts[0].recovery is not None
        if begins and first and not recovered:
            raise ForgedReceiptError(f"receipt {first} is the first", where=self.path)
        try:
            require_chain(receipts, signers)
        except ReceiptError as error:
            problem = f"{error.which[0].lower()}{error.which[1:]} {error.problem}"
            raise ForgedReceiptError(problem, where=self.path) from None

    def _replace(self, seen: Record | None, record: Record) -> bool:
        durable.private_folder(self.path.parent)
        with durable.locked(self._lock, os.O_RDWR | os.O_CREAT):
            if self.read() != seen:
                return False
            durable.replace(self.path, record.model_dump_json().encode() + b"\n")
        return True


def _require_openings(known: Record, found: Progress, signers: Signers) -> None:
    """Refuse rounds that the plan's shuffler did not open, before one is recorded.

    Whoever can write to the database, and has no key, must not be able to move a witness. Rounds of
    version 0.1 are signed otherwise: they come before a list of keys is followed, and never later.

    Raises:
        OldRoundError: Version 0.1 opened a round since a list of keys was followed.
        UntrustedError: A round is not signed for its number and its batch.
    """
    recorded = known.round.number if known.round else (known.resumed or 0) - 1
    for number, batch, opening in found.rounds:
        if number > recorded and (known.listed is not None or is_current(opening)):
            opening_of(opening, signers, round_number=number, batch=batch)


def _recovered(known: Record, receipts: Sequence[Receipt], signers: Signers) -> Record:
    """Return what a record requires of a database after the recoveries that it did not know.

    Rounds up to the last lost one are not required any more. Neither is the recorded receipt, if
    it was signed but not published, and the recovery names it as the one before.

    Raises:
        UntrustedError: A recovery is not signed by the plan's shuffler.
    """
    last = known.receipt
    for receipt in receipts:
        if receipt.recovery is None or (last is not None and receipt.number <= last.number):
            continue
        try:
            receipt.require_of(signers)
        except ReceiptError as error:
            raise UntrustedError("the receipt of a recovery", error.problem) from None
        if last is not None and receipt is receipts[0] and _follows(receipt, last):
            last = _Signed(number=receipt.number, digest=receipt.digest)
        required = known.round if known.round and known.round.number > receipt.round else None
        changes = {"round": required, "receipt": last, "resumed": receipt.round + 1}
        known = known.model_copy(update=changes | {"first_seen": {}})
    return known


def _has_another(receipts: Sequence[Receipt], known: Record) -> bool:
    """Tell whether there is another receipt of the recorded number, signed later.

    Intake may record a receipt of a release that is killed before its own witness does. If the
    database is set back just then, release signs another of that number, and only this one is
    published. Intake publishes none, and follows; the first one does not come back.
    """
    recorded = known.receipt
    if recorded is None or not receipts or receipts[0].number != recorded.number:
        return False
    return receipts[0].digest not in {recorded.digest, known.unpublished}


def _follows(receipt: Receipt, recorded: _Signed) -> bool:
    """Tell whether a recovery comes right after a recorded receipt that was not published."""
    unpublished = receipt.recovery is not None and receipt.recovery.published is not None
    named = (receipt.number, receipt.previous) == (recorded.number + 1, recorded.digest)
    return unpublished and named


def place(seen: Record | None) -> dict[str, int]:
    """Return where to start reading the database: a recorded row must be the first of its kind."""
    known = Record() if seen is None else seen
    return {
        "round_number": known.round.number if known.round else known.resumed or 0,
        "receipt_number": known.receipt.number if known.receipt else 0,
    }
