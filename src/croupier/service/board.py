"""What a worker knows of a plan: the batches that take reports, and what clients may fetch."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from croupier.model.plan import Plan
from croupier.pipeline.key_list import AnalyzerKey, KeyList, NotAccepted, ShufflerKey
from croupier.pipeline.keys import KeyDirectory, KeyFileError
from croupier.pipeline.rounds import SHUFFLER
from croupier.pipeline.store import Batch, State, Store
from croupier.pipeline.wire import envelope_length
from croupier.service.answers import Answer, document

__all__ = ["Board", "KnownBatch"]

_BYTES_A_ROW = 80
"""What PostgreSQL adds to an envelope: its tag, two headers, a pointer; rounded down."""


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
        """Whether a report may be offered; in a sealed one it may be found."""
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
    _refusals: dict[bytes, Answer] = field(default_factory=dict)

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

    def not_accepted(self, batch: bytes) -> Answer:
        """The signed word that a batch takes no more, and has none of what was sent."""
        if batch not in self._refusals:
            if len(self._refusals) >= 1024:
                self._refusals.clear()
            word = NotAccepted.make(self.plan, batch=batch, signing_key=self._signing_key)
            self._refusals[batch] = document(409, word.to_bytes(), connection="close")
        return self._refusals[batch]

    async def _known(self, batch: Batch, store: Store) -> KnownBatch:
        before = self.batches.get(batch.batch.hex().encode())
        live = batch.state in ("open", "sealed")
        tag_key = b""
        if live:
            try:
                tag_key = before.tag_key if before else self.keys.tag_key(batch.batch)
            except KeyFileError:
                # Released since its state was read: the key is destroyed, the batch takes no more.
                return KnownBatch(batch.batch, "shredded", b"", full=False)
        row = self.envelope_length + _BYTES_A_ROW
        full = live and await store.size(batch.batch) >= self.most_rows * row
        return KnownBatch(batch.batch, batch.state, tag_key, full)


def _round(batch: Batch) -> Answer:
    """A round's signed documents as they are; a client checks them itself."""
    query = None if batch.query is None else json.loads(batch.query)
    content = {"schema_version": 1, "shuffler": json.loads(batch.keys), "query": query}
    return document(200, json.dumps(content, sort_keys=True, separators=(",", ":")).encode())
