"""A worker's view of a plan: the batches that take reports, and what clients may fetch."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, field
from typing import NamedTuple

from croupier.errors import UntrustedError
from croupier.hosting.http.answers import BUSY, Answer, document, kept
from croupier.hosting.http.logs import log
from croupier.hosting.incidents import Occurrence
from croupier.plan.plan import Plan
from croupier.protocol.admission.token_keys import TokenKeys
from croupier.protocol.key_directory import KeyFileError
from croupier.protocol.key_list import (
    AnalyzerKey,
    KeyList,
    NotAccepted,
    Onward,
    ShufflerKey,
    is_current,
    kept_seconds,
    sent_digest,
)
from croupier.protocol.oblivious.capsule import GatewayKey
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.query import Query, Round
from croupier.protocol.receipt import Receipt, ReceiptError
from croupier.protocol.wire import envelope_length
from croupier.shuffler.database.batch import UNDECIDED, Batch, State
from croupier.shuffler.database.statements import Progress
from croupier.shuffler.database.store import Sight, Store, StoreError
from croupier.shuffler.handover import Handover
from croupier.shuffler.http.followed_list import FollowedList
from croupier.shuffler.http.outcomes import GONE
from croupier.shuffler.http.overdue import overdue
from croupier.shuffler.http.signed_gateway import SignedGateway
from croupier.shuffler.http.tokens import TokenCheck
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.openings import signed_opening
from croupier.shuffler.witness import (
    ForgedReceiptError,
    Record,
    RolledBackError,
    Witness,
    WitnessError,
    place,
)

__all__ = ["Board", "Glance", "KnownBatch", "look_at"]

_BYTES_A_ROW = 80
"""Bytes that PostgreSQL adds to an envelope, about: its tag, two headers, a pointer."""
_SLACK, _SLACK_BYTES = 2, 1 << 17
"""A table also holds rows of failed attempts, and maps of its free space. The limit keeps a disk
from filling up, and must never keep an enrolled person out."""
_NO_ROUND = (
    "no round of the plan has been opened yet: croupier release --next-round opens the first one"
)


_RECOVERED = (
    "no round has been opened since the plan was recovered: croupier release --next-round "
    "--analyzer FILE opens the next one"
)


@dataclass(frozen=True)
class KnownBatch:
    """A batch that a client may name.

    Attributes:
        batch: Its name.
        round: Its round.
        state: Its state when last seen; the store decides.
        tag_key: Makes its tags; empty if it is missing or destroyed.
        full: True if it takes no more now: its table has grown to the limit, or its tag key is
            missing.
    """

    batch: bytes
    round: int
    state: State
    tag_key: bytes
    full: bool

    @property
    def undecided(self) -> bool:
        """True if it may still be released or disposed of, as in `Batch.undecided`."""
        return self.state in UNDECIDED

    @property
    def takes_reports(self) -> bool:
        """True if a report may be offered; in a closed batch it may still be found."""
        return self.state != "shredded"


class Glance(NamedTuple):
    """One look at a plan.

    Attributes:
        seen: The witness's record, which must be read before the database.
        sight: The state of the plan in the database, from the board's `first_round` on.
    """

    seen: Record | None
    sight: Sight

    @property
    def progress(self) -> Progress:
        """The rounds and receipts from the recorded ones on."""
        first = place(self.seen)["round_number"]
        rounds = [
            (batch.round_number, batch.identity, batch.opening)
            for batch in reversed(self.sight.batches)
            if batch.round_number >= first
        ]
        return Progress(rounds, self.sight.receipts)


@dataclass
class Board:
    """One plan at one worker, renewed from the store.

    Attributes:
        plan: The plan of the collection.
        analyzer: The analyzer's signed key.
        shuffler: The shuffler's newest signed list of keys.
        keys: Intake's key directory.
        handover: The directory in which release puts the tag keys of batches.
        most_rows: The number of rows that a batch has room for at least.
        tokens: The check of tokens; None if the plan admits by credential.
        batches: The batches by the header that names them.
        key_list: The answer to requests for plan and keys, the same for everybody.
        rounds: The answers to requests for a round.
        longest: The length of the longest of these answers, in bytes.
        occurrences: What the operator must act on.
    """

    plan: Plan
    analyzer: AnalyzerKey
    shuffler: InitVar[ShufflerKeys]
    keys: IntakeKeys
    handover: Handover
    most_rows: int
    tokens: TokenCheck | None = None
    batches: Mapping[bytes, KnownBatch] = field(default_factory=dict)
    key_list: Answer = field(default_factory=lambda: document(503))
    rounds: Mapping[int, Answer] = field(default_factory=dict)
    longest: int = 0
    occurrences: tuple[Occurrence, ...] = ()

    def __post_init__(self, shuffler: ShufflerKeys) -> None:
        # A newest round whose tag key is handed over cannot come from a database that was set back.
        self._witness = Witness(self.keys, plan=self.plan.digest, begins=self.handover.has)
        self._list = FollowedList(
            self.plan, shuffler, keys=self.keys, handover=self.handover, witness=self._witness
        )
        self.analyzer.check(self.plan)
        self._analyzers = {self.analyzer.key: self.analyzer}
        self._shown: object = None
        self._over: list[Batch] = []
        self._resumed: int | None = None
        self._gateway = SignedGateway(self.plan)
        self.envelope_length = envelope_length(self.plan)
        self.messages = self.plan.protections.messages

    def follow(
        self, analyzer: AnalyzerKey, shuffler: ShufflerKeys, tokens: TokenKeys | None = None
    ) -> None:
        """Adopt the documents that the parties have signed by now.

        Rounds that are open keep the analyzer key that they were opened for. A newer list of keys
        takes effect once `renew` has found that open rounds fit it.

        Raises:
            KeyFileError: The directory lacks the newest intake keys that the list names.
            UntrustedError: Something is not signed for this plan, or the list is an older one.
        """
        analyzer.check(self.plan)
        if self.tokens is not None and tokens is not None:
            self.tokens.follow(tokens)
        self._list.offer(shuffler)
        self._analyzers[analyzer.key] = self.analyzer = analyzer

    async def renew(self, store: Store, look: Glance | None = None) -> None:
        """Read the current batches from the store.

        Nothing more is shown or taken if the database was set back, the witness is damaged, or an
        open round does not belong to this plan and this analyzer key.

        Args:
            store: The store.
            look: A look that `look_at` has just taken; if left out, one is taken.
        """
        try:
            if look is None:
                (look,) = (await _looks([(self, self.recall())], store)).values()
            await self._adopt(look, store)
        except (ReceiptError, RolledBackError, UntrustedError, WitnessError):
            self.batches, self.rounds, self.key_list = {}, {}, document(503)
            self._shown, self._over = None, []
            raise

    def recall(self) -> Record | None:
        """Return the record of the witness.

        Raises:
            WitnessError: It is damaged.
        """
        return self._witness.read()

    def first_round(self, seen: Record | None) -> int:
        """Return the first round to look at: all before it are over, and never change."""
        known = self._over[0].round_number + 1 if self._over else 0
        return min(known, place(seen)["round_number"])

    @property
    def full_batches(self) -> int:
        """Count the open batches that take no more."""
        return sum(known.full for known in self.batches.values())

    @property
    def needed_keys(self) -> tuple[str, str]:
        """The public halves of the newest keys of intake: one that signs, one that opens."""
        newest = self._list.used.shuffler.intake[-1]
        return newest.key, newest.seal

    def gateway(self, keys: Sequence[GatewayKey]) -> Answer:
        """Return the answer to requests for the gateway's keys."""
        return self._gateway.answer(self._list.used, keys)

    async def fill(self, store: Store) -> int | None:
        """Return how many tenths of the minimum the open batch has; None if none is open."""
        opened = [known.batch for known in self.batches.values() if known.state == "open"]
        minimum = self.plan.protections.minimum_batch
        return await store.decile(opened[0], minimum=minimum) if opened else None

    async def not_accepted(
        self, batch: bytes, *, authorization: bytes, body: bytes, store: Store | None
    ) -> Answer:
        """Return a signed statement that a batch holds none of `sent`, and never will.

        Only the store that was searched can tell whether it has forgotten what it knew: a store
        that was set back, or does not answer, leads to no signature. Nor does a store that was
        recovered, about a batch that it does not know or that is older: such a batch may have held
        the report before it was lost.
        """
        if store is None:
            return BUSY
        try:
            seen = await self._witnessed(store)
        except (ReceiptError, RolledBackError, UntrustedError, WitnessError, StoreError):
            return BUSY
        known = self.batches.get(batch.hex().encode())
        if seen.resumed is not None and (known is None or known.round < seen.resumed):
            return GONE
        # A client that names a batch that never existed sent it for a round that was opened.
        newest = max((each.round for each in self.batches.values()), default=0)
        used = self._list.used
        entry = used.shuffler.intake_key(newest if known is None else known.round)
        if entry.key not in used.signing:
            return BUSY
        sent, key = sent_digest(authorization, body), used.signing[entry.key]
        word = NotAccepted.make(self.plan, batch=batch, sent=sent, signing_key=key)
        return document(409, word.to_bytes(), connection="close")

    async def _adopt(self, look: Glance, store: Store) -> None:
        recent = look.sight.batches
        if self._without_keys(recent):  # or released while their states were read
            recent = await store.batches(self.plan.digest)
            record = await self._witnessed(store)
        else:
            record = await self._witnessed(store, look)
        if record.resumed != self._resumed:  # recovered: the database may lack what was read before
            recent = await store.batches(self.plan.digest)
            self.batches, self.rounds = {}, {}
            self._resumed, self._shown, self._over = record.resumed, None, []
        if record.listed is None:  # also if the witness was lost, and begun anew
            self._list.forget_record()
        oldest = recent[-1].round_number if recent else 0
        found = [*recent, *(batch for batch in self._over if batch.round_number < oldest)]
        lost = self._without_keys(recent)
        issued = None if self.tokens is None else self.tokens.keys
        shown = (found, lost, self._list.offered, self.analyzer, issued)
        changed = shown != self._shown
        if changed or not self._list.is_recorded:
            self._list.settle([b for b in found if b not in lost and is_current(b.opening)])
        sizes = look.sight.sizes
        known = {b.identity.hex().encode(): self._known(b, lost, sizes) for b in recent}
        self.batches = {**self.batches, **known}
        if changed:
            self._show(found, lost)
            self._shown = shown
            self._over = _over(found)
        full = [b for b in recent if b not in lost and known[b.identity.hex().encode()].full]
        causes = [
            *([] if found else [("no-round", _NO_ROUND)]),
            *([("no-round", _RECOVERED)] if self._waits_after_recovery(look.sight) else []),
            *(("batch-key", _keys_missing(batch)) for batch in lost),
            *(("batch-full", _is_full(batch)) for batch in full),
            *overdue(self.plan, recent, look.sight.signs),
        ]
        self.occurrences = tuple(
            Occurrence(name, cause, self.plan.digest) for name, cause in causes
        )

    @staticmethod
    def _waits_after_recovery(sight: Sight) -> bool:
        """Tell whether the plan was recovered, and no round has been opened since then."""
        settled = all(batch.state == "shredded" for batch in sight.batches)
        if not (settled and sight.batches and sight.receipts):
            return False
        return Receipt.read(sight.receipts[-1]).recovery is not None

    async def _witnessed(self, store: Store, look: Glance | None = None) -> Record:
        """Let the witness record what the database has.

        A receipt is valid by the list in use, or by the one that is followed from its round on.
        """
        for usable in (self._list.used, self._list.offered):
            try:
                recorded = None
                if look is not None:
                    recorded = self._witness.record(look.seen, look.progress, usable.signers)
                return recorded or await self._witness.follow(store, usable.signers)
            except (ForgedReceiptError, UntrustedError) as error:
                refused = error
        raise refused

    def _show(self, found: Sequence[Batch], lost: Collection[Batch]) -> None:
        """Make the answers to requests for keys and rounds."""
        opened = tuple(
            signed_opening(b, self._list.used.signers)
            for b in found
            if b.state == "open" and b not in lost
        )
        analyzer = self._analyzers.get(opened[0].analyzer) if opened else None
        listed = KeyList.of(
            self.plan,
            analyzer=analyzer or self.analyzer,
            keys=self._list.used.shuffler,
            shuffler=opened,
            onward=self._onward(found, opened),
            tokens=None if self.tokens is None else self.tokens.keys,
        )
        listed.require_one_analyzer()
        self.key_list = kept(listed.to_bytes(), seconds=kept_seconds(self.plan))
        self.rounds = {
            b.round_number: self.rounds.get(b.round_number) or _round(b, self.plan)
            for b in found
            if is_current(b.opening)
        }
        shown = (self.key_list, *self.rounds.values())
        self.longest = max(len(answer.body["body"]) for answer in shown)

    def _onward(
        self, found: Sequence[Batch], opened: Sequence[ShufflerKey]
    ) -> tuple[Onward, ...] | None:
        """Return the second shuffler's part in each open round; None if there is none."""
        if len(self.plan.shufflers) == 1:
            return None
        kept = {batch.identity.hex(): batch.onward or "" for batch in found}
        return tuple(
            Onward.verified(kept[first.batch].encode(), self.plan, first) for first in opened
        )

    def _without_keys(self, batches: Iterable[Batch]) -> list[Batch]:
        """Return the batches that still need their tag key and do not have it."""
        return [
            batch for batch in batches if batch.undecided and not self.handover.has(batch.identity)
        ]

    def _known(
        self, batch: Batch, lost: Collection[Batch], sizes: Mapping[bytes, int]
    ) -> KnownBatch:
        if batch in lost:
            return KnownBatch(batch.identity, batch.round_number, batch.state, b"", full=True)
        before = self.batches.get(batch.identity.hex().encode())
        tag_key = before.tag_key if before else b""
        if batch.state == "shredded":
            return KnownBatch(batch.identity, batch.round_number, batch.state, b"", full=False)
        if not tag_key:
            try:
                tag_key = self._list.tag_key(batch)
            except KeyFileError:
                if batch.undecided:
                    raise
                # It is being shredded: the key is destroyed, the batch takes no more.
                return KnownBatch(batch.identity, batch.round_number, "shredded", b"", full=False)
        full = batch.state == "open" and sizes.get(batch.identity, 0) >= self._most_bytes
        if full and not (before and before.full):
            log.warning(
                "batch is full, clients wait", round=batch.round_number, room=self.most_rows
            )
        return KnownBatch(batch.identity, batch.round_number, batch.state, tag_key, full)

    @property
    def _most_bytes(self) -> int:
        row = self.envelope_length + _BYTES_A_ROW
        return _SLACK * self.most_rows * row + _SLACK_BYTES


async def look_at(boards: Iterable[Board], store: Store) -> dict[str, Glance]:
    """Look at several plans at once; one whose witness cannot be read is left out."""
    read = []
    for board in boards:
        with suppress(OSError, WitnessError):  # told when the board looks alone
            read.append((board, board.recall()))
    return await _looks(read, store)


async def _looks(read: Sequence[tuple[Board, Record | None]], store: Store) -> dict[str, Glance]:
    seen = {board.plan.digest: record for board, record in read}
    since = {
        board.plan.digest: (board.first_round(record), place(record)["receipt_number"])
        for board, record in read
    }
    sights = await store.look(since)
    return {plan: Glance(record, sights[plan]) for plan, record in seen.items()}


def _over(batches: Sequence[Batch]) -> list[Batch]:
    """Return the batches before the first that is not shredded, and not the newest.

    Args:
        batches: All of a plan, the newest round first.
    """
    changing = [index for index, batch in enumerate(batches) if batch.state != "shredded"]
    return [*batches[max(changing, default=0) + 1 :]]


def _keys_missing(batch: Batch) -> str:
    return (
        f"the hand-over directory lacks the tag key of round {batch.round_number}, which is "
        f"{batch.state}: put back {batch.identity.hex()}.tag"
    )


def _is_full(batch: Batch) -> str:
    return f"the batch of round {batch.round_number} is full: release it, or raise --maximum-batch"


def _round(batch: Batch, plan: Plan) -> Answer:
    """Return a round's signed documents as they are; a client checks them itself."""
    shuffler = ShufflerKey.model_validate_json(batch.opening)
    query = None if batch.query is None else Query.model_validate_json(batch.query)
    onward = None if batch.onward is None else Onward.model_validate_json(batch.onward)
    served = Round.of(shuffler=shuffler, query=query, onward=onward)
    return kept(served.to_bytes(), seconds=kept_seconds(plan))
