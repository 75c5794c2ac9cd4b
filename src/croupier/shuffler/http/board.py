"""What a worker knows of a plan: the batches that take reports, and what clients may fetch."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from croupier.errors import UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.key_list import (
    AnalyzerKey,
    KeyList,
    NotAccepted,
    ShufflerKey,
    is_current,
    opening_of,
    sent_digest,
)
from croupier.protocol.keys import SHUFFLER, KeyDirectory, KeyFileError
from croupier.protocol.query import Query, Round
from croupier.protocol.wire import envelope_length
from croupier.shuffler.database.store import Batch, State, Store, StoreError
from croupier.shuffler.http.answers import BUSY, Answer, document
from croupier.shuffler.http.logs import log
from croupier.shuffler.witness import RolledBackError, Witness, WitnessError

__all__ = ["Board", "KnownBatch"]

_BYTES_A_ROW = 80
"""What PostgreSQL adds to an envelope, about: its tag, two headers, a pointer."""
_SLACK, _SLACK_BYTES = 2, 1 << 17
"""A table also holds rows of attempts that failed, and maps of its free space. The limit keeps a
disk from filling up, and must never keep an enrolled person out."""


@dataclass(frozen=True)
class KnownBatch:
    """A batch that a client may name.

    Attributes:
        batch: Its name.
        state: How far it was when last seen; the store decides.
        tag_key: Makes its tags; empty where its secrets are missing or destroyed.
        full: Whether it takes no more now: its table has grown to the limit, or its secrets are
            missing.
    """

    batch: bytes
    state: State
    tag_key: bytes
    full: bool

    @property
    def takes_reports(self) -> bool:
        """Whether a report may be offered; in one that is closed it may be found."""
        return self.state != "shredded"


@dataclass
class Board:
    """One plan at one worker, renewed from the store.

    Attributes:
        plan: What is collected.
        analyzer: The analyzer's signed key.
        keys: The shuffler's key directory.
        most_rows: How many rows a batch has room for at least.
        batches: The batches by the header that names them.
        key_list: The answer to who asks for plan and keys, the same for everybody.
        rounds: The answers to who asks for a round.
        problem: Why reports cannot be taken although a round is open, as a fixed sentence.
    """

    plan: Plan
    analyzer: AnalyzerKey
    keys: KeyDirectory
    most_rows: int
    batches: Mapping[bytes, KnownBatch] = field(default_factory=dict)
    key_list: Answer = field(default_factory=lambda: document(503))
    rounds: Mapping[int, Answer] = field(default_factory=dict)
    problem: str | None = None

    def __post_init__(self) -> None:
        self.analyzer.check(self.plan)
        self._signing_key = self.keys.signing_key(SHUFFLER)
        self._witness = Witness(self.keys, plan=self.plan.digest)
        self.envelope_length = envelope_length(self.plan)
        self.messages = self.plan.protections.messages

    async def renew(self, store: Store) -> None:
        """See which batches there are now.

        Nothing more is shown or taken where the database was set back, the witness is damaged, or
        an open round is not one of this plan and this key of the analyzer.
        """
        try:
            await self._look(store)
        except (RolledBackError, UntrustedError, WitnessError):
            self.batches, self.rounds, self.key_list = {}, {}, document(503)
            raise

    @property
    def full_batches(self) -> int:
        """How many open batches take no more."""
        return sum(known.full for known in self.batches.values())

    async def not_accepted(
        self, batch: bytes, *, authorization: bytes, body: bytes, store: Store | None
    ) -> Answer:
        """The signed word that a batch has none of what was sent, and never will.

        Only the store that was searched can tell whether it has forgotten what it knew: one that
        was set back, or does not answer, signs nothing.
        """
        if store is None:
            return BUSY
        try:
            await self._witness.follow(store)
        except (RolledBackError, WitnessError, StoreError):
            return BUSY
        sent = sent_digest(authorization, body)
        word = NotAccepted.make(self.plan, batch=batch, sent=sent, signing_key=self._signing_key)
        return document(409, word.to_bytes(), connection="close")

    async def _look(self, store: Store) -> None:
        found = await store.batches(bytes.fromhex(self.plan.digest))
        if self._without_keys(found):  # or released while their states were read
            found = await store.batches(bytes.fromhex(self.plan.digest))
        await self._witness.follow(store)
        lost = self._without_keys(found)
        self.batches = {b.batch.hex().encode(): await self._known(b, lost, store) for b in found}
        opened = tuple(
            opening_of(b.keys, self.plan) for b in found if b.state == "open" and b not in lost
        )
        listed = KeyList.of(self.plan, analyzer=self.analyzer, shuffler=opened)
        listed.require_one_analyzer()
        self.key_list = document(200, listed.to_bytes())
        self.rounds = {b.round: _round(b) for b in found if is_current(b.keys)}
        full = [b for b in found if b not in lost and self.batches[b.batch.hex().encode()].full]
        self.problem = "; ".join([*map(_keys_missing, lost), *map(_is_full, full)]) or None

    def _without_keys(self, batches: Iterable[Batch]) -> list[Batch]:
        """The batches that still need their secrets and do not have them."""
        return [
            batch
            for batch in batches
            if batch.state in {"open", "sealed"}
            and not self.keys.has_batch(batch.batch, tag_key=True)
        ]

    async def _known(self, batch: Batch, lost: Collection[Batch], store: Store) -> KnownBatch:
        if batch in lost:
            return KnownBatch(batch.batch, batch.state, b"", full=True)
        before = self.batches.get(batch.batch.hex().encode())
        tag_key = before.tag_key if before else b""
        if batch.state == "shredded":
            return KnownBatch(batch.batch, batch.state, b"", full=False)
        if not tag_key:
            try:
                tag_key = self.keys.tag_key(batch.batch)
            except KeyFileError:
                if batch.state in {"open", "sealed"}:
                    raise
                # Being shredded: the key is destroyed, the batch takes no more.
                return KnownBatch(batch.batch, "shredded", b"", full=False)
        full = batch.state == "open" and await self._is_full(batch, store)
        if full and not (before and before.full):
            log.warning("batch is full, clients wait", round=batch.round, room=self.most_rows)
        return KnownBatch(batch.batch, batch.state, tag_key, full)

    async def _is_full(self, batch: Batch, store: Store) -> bool:
        row = self.envelope_length + _BYTES_A_ROW
        return await store.size(batch.batch) >= _SLACK * self.most_rows * row + _SLACK_BYTES


def _keys_missing(batch: Batch) -> str:
    return (
        f"the key directory lacks keys of round {batch.round}, which is {batch.state}: put back "
        f"batches/{batch.batch.hex()}"
    )


def _is_full(batch: Batch) -> str:
    return f"the batch of round {batch.round} is full: release it, or raise --maximum-batch"


def _round(batch: Batch) -> Answer:
    """A round's signed documents as they are; a client checks them itself."""
    shuffler = ShufflerKey.model_validate_json(batch.keys)
    query = None if batch.query is None else Query.model_validate_json(batch.query)
    return document(200, Round.of(shuffler=shuffler, query=query).to_bytes())
