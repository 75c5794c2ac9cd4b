"""The hot route: envelopes in, an empty answer out once they are committed."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from croupier.pipeline.intake import Intake
from croupier.pipeline.store import TAG_BYTES, Store, StoreError
from croupier.pipeline.tags import person_tags
from croupier.pipeline.wire import BATCH_SIZE
from croupier.service import answers
from croupier.service.answers import Answer
from croupier.service.board import Board, KnownBatch
from croupier.service.credentials import Credential, Credentials
from croupier.service.rate import RateLimit

__all__ = ["Reports", "RequestLimits"]

Receive = Callable[[], Awaitable[Any]]

_BATCH = re.compile(rb"[0-9a-f]{%d}" % (2 * BATCH_SIZE))


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """What one sender may do at one worker.

    Attributes:
        envelopes: Of one request of a relay.
        person_requests: A minute and person.
        relay_envelopes: A minute and relay.
    """

    envelopes: int = 1_000
    person_requests: int = 12
    relay_envelopes: int = 6_000_000


class Reports:
    """Takes envelopes without opening any.

    Args:
        intake: Where they are committed.
        credentials: Who may send.
        lookups: The connection on which a sealed batch is searched, None while there is none.
        limits: How much one sender may do.
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

        Nothing of the body is read before the headers are in order, the credential first.
        """
        admitted = self._admit(board, dict(headers))
        if isinstance(admitted, Answer):
            return admitted
        credential, known = admitted
        body = await _read(receive)
        if body is None:
            return None
        size = board.envelope_length
        rows = [body[start : start + size] for start in range(0, len(body), size)]
        if credential.relay:
            return await self._commit(board, known, rows, tags=())
        tags = person_tags(known.tag_key, credential.identity, len(rows))
        rows = [tag + envelope for tag, envelope in zip(tags, rows, strict=True)]
        return await self._commit(board, known, rows, tags=tags)

    def _admit(
        self, board: Board, given: Mapping[bytes, bytes]
    ) -> tuple[Credential, KnownBatch] | Answer:
        """Who sends into which batch, or why not."""
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
        room = length + length // board.envelope_length * TAG_BYTES
        if known.full or not self._intake.has_room(room):
            return answers.BUSY
        return credential, known

    def _refused(
        self, board: Board, credential: Credential, given: Mapping[bytes, bytes]
    ) -> Answer | None:
        """What the headers alone are refused for."""
        if given.get(b"content-type") != b"application/octet-stream":
            return answers.WRONG_KIND
        length = given.get(b"content-length", b"")
        if not length.isdigit():
            return answers.LENGTH_REQUIRED
        envelopes, rest = divmod(int(length), board.envelope_length)
        if envelopes > self._limits.envelopes:
            return answers.TOO_LARGE
        if rest or not envelopes or not (credential.relay or envelopes == board.messages):
            return answers.BAD_LENGTH
        if credential.relay:
            allowed = self._relays.allows(credential.identity, envelopes)
        else:
            allowed = self._persons.allows(credential.identity, 1)
        return None if allowed else answers.TOO_OFTEN

    @staticmethod
    def _named(board: Board, name: bytes) -> KnownBatch | Answer:
        """The batch that a header names, if it may have what is sent."""
        known = board.batches.get(name)
        if known is not None:
            return known if known.takes_reports else answers.GONE
        if not _BATCH.fullmatch(name):
            return answers.BAD_BATCH
        return board.not_accepted(bytes.fromhex(name.decode()))

    async def _commit(
        self, board: Board, known: KnownBatch, rows: Sequence[bytes], *, tags: Sequence[bytes]
    ) -> Answer:
        """Acknowledge after the commit; where the batch has closed, say only what is certain.

        A sender whose first answer was lost must not be told that its report was not accepted:
        it might send it into a second batch. What relays sent cannot be found by a tag.
        """
        try:
            state = await self._intake.offer(known.batch, rows, tagged=bool(tags))
            if state == "open":
                return answers.ACCEPTED
            if state != "sealed" or not tags:
                return answers.GONE
            lookups = self._lookups()
            if lookups is None:
                return answers.BUSY
            stored = await lookups.count_stored(known.batch, tags)
        except StoreError:
            return answers.BUSY
        return answers.ACCEPTED if stored else board.not_accepted(known.batch)


async def _read(receive: Receive) -> bytes | None:
    """The body, whose length the server holds to its header; None if the sender goes away."""
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
