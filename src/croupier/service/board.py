"""What a worker knows of a plan: the batches that take reports, and what clients may fetch."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from croupier.model.plan import Plan
from croupier.pipeline.key_list import (
    AnalyzerKey,
    KeyList,
    NotAccepted,
    ShufflerKey,
    sent_digest,
)
from croupier.pipeline.keys import KeyDirectory, KeyFileError
from croupier.pipeline.query import Query, Round
from croupier.pipeline.rounds import SHUFFLER
from croupier.pipeline.store import Batch, State, Store
from croupier.pipeline.wire import envelope_length
from croupier.service.answers import Answer, document

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
        tag_key: Makes its tags; empty once its secrets are destroyed.
        full: Whether it has as many rows as one may have.
    """

    batch: bytes
    state: State
    tag_key: bytes
    full: bool

    @property
    def takes_reports(self) -> bool:
        """Whether a report may be offered; in one that is closed it may be found."""
        return bool(self.tag_key)


@dataclass
class Board:
    """One plan at one worker, renewed from the store.

    Attributes:
        plan: What is collected.
        analyzer: The analyzer's signed key.
        keys: The shuffler's key directory.
        most_rows: How many rows a batch may have, about.
        batches: The batches by the header that names them.
        key_list: The answer to who asks for plan and keys, the same for everybody.
        rounds: The answers to who asks for a round.
    """

    plan: Plan
    analyzer: AnalyzerKey
    keys: KeyDirectory
    most_rows: int
    batches: Mapping[bytes, KnownBatch] = field(default_factory=dict)
    key_list: Answer = field(default_factory=lambda: document(503))
    rounds: Mapping[int, Answer] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.analyzer.check(self.plan)
        self._signing_key = self.keys.signing_key(SHUFFLER)
        self.envelope_length = envelope_length(self.plan)
        self.messages = self.plan.protections.messages

    async def renew(self, store: Store) -> None:
        """See which batches there are now."""
        found = await store.batches(bytes.fromhex(self.plan.digest))
        self.batches = {b.batch.hex().encode(): await self._known(b, store) for b in found}
        opened = tuple(
            ShufflerKey.verified(b.keys.encode(), self.plan) for b in found if b.state == "open"
        )
        listed = KeyList.of(self.plan, analyzer=self.analyzer, shuffler=opened)
        self.key_list = document(200, listed.to_bytes())
        self.rounds = {batch.round: _round(batch) for batch in found}

    def not_accepted(self, batch: bytes, *, authorization: bytes, body: bytes) -> Answer:
        """The signed word that a batch has none of what was sent, and never will."""
        sent = sent_digest(authorization, body)
        word = NotAccepted.make(self.plan, batch=batch, sent=sent, signing_key=self._signing_key)
        return document(409, word.to_bytes(), connection="close")

    async def _known(self, batch: Batch, store: Store) -> KnownBatch:
        before = self.batches.get(batch.batch.hex().encode())
        tag_key = b""
        if batch.state != "shredded":
            try:
                tag_key = before.tag_key if before else self.keys.tag_key(batch.batch)
            except KeyFileError:
                # Released since its state was read: the key is destroyed, the batch takes no more.
                return KnownBatch(batch.batch, "shredded", b"", full=False)
        row = self.envelope_length + _BYTES_A_ROW
        most = _SLACK * self.most_rows * row + _SLACK_BYTES
        full = batch.state == "open" and await store.size(batch.batch) >= most
        return KnownBatch(batch.batch, batch.state, tag_key, full)


def _round(batch: Batch) -> Answer:
    """A round's signed documents as they are; a client checks them itself."""
    shuffler = ShufflerKey.model_validate_json(batch.keys)
    query = None if batch.query is None else Query.model_validate_json(batch.query)
    return document(200, Round.of(shuffler=shuffler, query=query).to_bytes())
