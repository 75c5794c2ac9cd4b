"""The hot route: envelopes in, an empty answer out once they are committed."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from croupier.protocol.wire import BATCH_SIZE
from croupier.shuffler.database.batch import State
from croupier.shuffler.database.store import Store, StoreError
from croupier.shuffler.http import answers
from croupier.shuffler.http.answers import Answer
from croupier.shuffler.http.board import Board, KnownBatch
from croupier.shuffler.http.rate import RateLimit
from croupier.shuffler.intake.credentials import Credential, Credentials
from croupier.shuffler.intake.intake import Intake, IntakeFullError
from croupier.shuffler.tags import TAG_BYTES, person_tags

__all__ = ["Reports", "RequestLimits"]

Receive = Callable[[], Awaitable[Any]]

_LENGTH_DIGITS = 12
"""The longest accepted Content-Length; numbers with thousands of digits take time to parse."""
_BATCH = re.compile(rb"[0-9a-f]{%d}" % (2 * BATCH_SIZE))


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """Limits of one sender at one worker.

    Attributes:
        envelopes: Per request of a relay.
        person_requests: Per minute and person.
        relay_envelopes: Per minute and relay.
    """

    envelopes: int = 1_000
    person_requests: int = 12
    relay_envelopes: int = 6_000_000


class Reports:
    """The route that takes envelopes without opening any.

    Args:
        intake: The queue that commits them.
        credentials: The check of senders.
        lookups: The connection on which a sealed batch is searched, None while there is none.
        limits: Limits per sender.
    """

    def __init__(
        self,
        *,
        intake: Intake,
        credentials: Credentials,
        lookups: Callable[[], Store | None],
        limits: RequestLimits,
    ) -> None:
        self._intake = intake
        self._credentials = credentials
        self._lookups = lookups
        self._limits = limits
        self._persons = RateLimit(limits.person_requests)
        self._relays = RateLimit(limits.relay_envelopes)

    async def take(
        self, board: Board, headers: Iterable[tuple[bytes, bytes]], receive: Receive
    ) -> Answer | None:
        """Commit the envelopes of a request; None if its sender is gone.

        Nothing of the body is read before the headers are checked, the credential first.
        """
        given = dict(headers)
        admitted = self._admit(board, given)
        if isinstance(admitted, Answer):
            return admitted
        credential, known = admitted
        body = await _read(receive)
        if body is None:
            return None
        if len(body) != int(given[b"content-length"]):
            return answers.BAD_LENGTH
        if isinstance(known, KnownBatch):
            answer, batch = await self._commit(board, known, credential, body), known.batch
        else:
            answer, batch = await self._unknown(board, known), known
        if answer is not None:
            return answer
        return await board.not_accepted(
            batch, authorization=given[b"authorization"], body=body, store=self._lookups()
        )

    async def _unknown(self, board: Board, batch: bytes) -> Answer | None:
        """Return None if the plan never had such a batch; this worker may not have seen it yet."""
        lookups = self._lookups()
        try:
            known = lookups is None or await lookups.has_batch(batch, plan=board.plan.digest)
        except StoreError:
            known = True
        return answers.BUSY if known else None

    def _admit(
        self, board: Board, given: Mapping[bytes, bytes]
    ) -> tuple[Credential, KnownBatch | bytes] | Answer:
        """Return sender and batch, only its name if it does not exist, or a refusal."""
        credential = self._credentials.check(given.get(b"authorization", b""))
        if credential is None:
            return answers.UNAUTHORISED
        refusal = self._refused(board, credential, given)
        if refusal is not None:
            return refusal
        known = self._named(board, given.get(b"croupier-batch", b""))
        if isinstance(known, Answer):
            return known
        length = int(given[b"content-length"])
        envelopes = length // board.envelope_length
        full = isinstance(known, KnownBatch) and known.full
        if full or not self._intake.has_room(length + envelopes * TAG_BYTES):
            return answers.BUSY
        # Counted last: a sender who is told to wait has not used up a request.
        return (credential, known) if self._allows(credential, envelopes) else answers.TOO_OFTEN

    def _refused(
        self, board: Board, credential: Credential, given: Mapping[bytes, bytes]
    ) -> Answer | None:
        """Return a refusal that the headers alone justify."""
        if given.get(b"content-type") != b"application/octet-stream":
            return answers.WRONG_KIND
        length = given.get(b"content-length", b"")
        if not length.isdigit():
            return answers.LENGTH_REQUIRED
        if len(length) > _LENGTH_DIGITS:
            return answers.TOO_LARGE
        envelopes, rest = divmod(int(length), board.envelope_length)
        if envelopes > self._limits.envelopes:
            return answers.TOO_LARGE
        if rest or not envelopes or not (credential.relay or envelopes == board.messages):
            return answers.BAD_LENGTH
        return None

    def _allows(self, credential: Credential, envelopes: int) -> bool:
        if credential.relay:
            return self._relays.allows(credential.identity, envelopes)
        return self._persons.allows(credential.identity, 1)

    @staticmethod
    def _named(board: Board, name: bytes) -> KnownBatch | bytes | Answer:
        """Return the batch that a header names, or its name if it was never opened."""
        known = board.batches.get(name)
        if known is not None:
            return known if known.takes_reports else answers.GONE
        if not _BATCH.fullmatch(name):
            return answers.BAD_BATCH
        return bytes.fromhex(name.decode())

    async def _commit(
        self, board: Board, known: KnownBatch, credential: Credential, body: bytes
    ) -> Answer | None:
        """Acknowledge after the commit; None if it is certain that there was and will be none."""
        size = board.envelope_length
        envelopes = [body[start : start + size] for start in range(0, len(body), size)]
        rows, tags = envelopes, list[bytes]()
        if not credential.relay:
            tags = list(person_tags(known.tag_key, credential.identity, len(rows)))
            rows = [tag + envelope for tag, envelope in zip(tags, envelopes, strict=True)]
        try:
            state = await self._intake.offer(known.batch, rows, tagged=bool(tags))
            if state == "open":
                return answers.ACCEPTED
            if not tags:
                return answers.BUSY if state == "sealed" else answers.GONE
            return await self._find(known.batch, state, tags=tags, envelopes=envelopes)
        except (IntakeFullError, StoreError):
            return answers.BUSY

    async def _find(
        self,
        batch: bytes,
        state: State | None,
        *,
        tags: Sequence[bytes],
        envelopes: Sequence[bytes],
    ) -> Answer | None:
        """Say what is certain about a person's report once the batch has closed.

        None if the batch has nothing of this sender, and never will: it cannot open again, and
        still has all the rows in which a report is found. A sealed batch may open again, and then
        store a copy of the request that is still on its way. Reports of relays cannot be found by
        a tag.
        An envelope may be there under another sender's tag: somebody who held the request back can
        have sent its body as their own. That is neither accepted nor refused.
        """
        lookups = self._lookups()
        if lookups is None:
            return answers.BUSY
        stored = await lookups.count_stored(batch, tags, column="tag")
        if stored and state != "disposed":
            return answers.ACCEPTED
        if state == "sealed":
            return answers.BUSY
        if stored == 0:
            stored = await lookups.count_stored(batch, envelopes, column="envelope")
        return None if stored == 0 and await lookups.is_whole(batch) else answers.GONE


async def _read(receive: Receive) -> bytes | None:
    """Return the body; None if the sender disconnects."""
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        return message["body"]  # type: ignore[no-any-return]
    parts = []
    while message["type"] == "http.request":
        parts.append(message["body"])
        if not message.get("more_body"):
            return b"".join(parts)
        message = await receive()
    return None
