"""The hot route: envelopes in, an empty answer out once they are committed."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from croupier.hosting.http import answers
from croupier.hosting.http.answers import Answer
from croupier.hosting.http.rate import RateLimit
from croupier.hosting.http.requests import LENGTH_DIGITS, read_body
from croupier.protocol.admission.credentials import Credentials
from croupier.protocol.wire import BATCH_SIZE
from croupier.shuffler.database.batch import State
from croupier.shuffler.database.store import Store, StoreError
from croupier.shuffler.http import outcomes
from croupier.shuffler.http.board import Board, KnownBatch
from croupier.shuffler.http.tokens import SpentToken
from croupier.shuffler.intake.intake import Intake, IntakeFullError
from croupier.shuffler.tags import TAG_BYTES, person_tags

__all__ = ["Reports", "RequestLimits", "SenderRates"]

Receive = Callable[[], Awaitable[Any]]

_RELAY_COLUMNS = 1 << 16
"""Relays are few: with a thousand of them, 1 in 4,000 shares both places with another."""
_BATCH = re.compile(rb"[0-9a-f]{%d}" % (2 * BATCH_SIZE))


@dataclass(frozen=True, kw_only=True)
class RequestLimits:
    """Limits of one sender at one host, over all its workers.

    Attributes:
        envelopes: Per request of a relay.
        person_requests: Per minute and person.
        relay_envelopes: Per minute and relay.
    """

    envelopes: int = 1_000
    person_requests: int = 12
    relay_envelopes: int = 6_000_000


class SenderRates(NamedTuple):
    """The sums of a minute that all workers of a host share.

    Attributes:
        persons: Requests per person.
        relays: Envelopes per relay.
    """

    persons: RateLimit
    relays: RateLimit

    @classmethod
    def of(cls, limits: RequestLimits) -> Self:
        """Return sums of nothing yet."""
        relays = RateLimit(limits.relay_envelopes, columns=_RELAY_COLUMNS)
        return cls(RateLimit(limits.person_requests), relays)


class _Sender(NamedTuple):
    """A sender: by a credential, the same in all rounds; by a token, another in each.

    Attributes:
        identity: Bytes that all its requests in a round have in common.
        relay: True if it may send many envelopes, for people it vouches for.
        token: The token, if the plan admits by token.
    """

    identity: bytes
    relay: bool = False
    token: SpentToken | None = None


class Reports:
    """The route that takes envelopes without opening any.

    Args:
        intake: The queue that commits them.
        credentials: The check of senders.
        lookups: The connection on which a sealed batch is searched, None while there is none.
        limits: Limits per sender.
        rates: The sums that are held to them, shared with the other workers of the host.
    """

    def __init__(
        self,
        *,
        intake: Intake,
        credentials: Credentials,
        lookups: Callable[[], Store | None],
        limits: RequestLimits,
        rates: SenderRates,
    ) -> None:
        self._intake = intake
        self._credentials = credentials
        self._lookups = lookups
        self._limits = limits
        self._rates = rates

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
        body = await read_body(receive)
        if body is None:
            return None
        if len(body) != int(given[b"content-length"]):
            return outcomes.BAD_LENGTH
        if credential.token is not None and not _is_spent(
            credential.token, board, known, proof=given.get(b"croupier-proof", b""), body=body
        ):
            return outcomes.NO_TOKEN
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
    ) -> "tuple[_Sender, KnownBatch | bytes] | Answer":
        """Return sender and batch, only its name if it does not exist, or a refusal."""
        credential = self._sender(board, given.get(b"authorization", b""))
        if credential is None:
            return answers.UNAUTHORISED if board.tokens is None else outcomes.NO_TOKEN
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

    def _sender(self, board: Board, authorization: bytes) -> "_Sender | None":
        """Return who sends, as far as the plan lets intake know; None if nobody who may."""
        if board.tokens is None:
            found = self._credentials.check(authorization)
            return None if found is None else _Sender(found.identity, relay=found.relay)
        spent = board.tokens.check(authorization)
        return None if spent is None else _Sender(spent.token.given.nonce, token=spent)

    def _refused(
        self, board: Board, credential: "_Sender", given: Mapping[bytes, bytes]
    ) -> Answer | None:
        """Return a refusal that the headers alone justify."""
        if given.get(b"content-type") != b"application/octet-stream":
            return outcomes.WRONG_KIND
        length = given.get(b"content-length", b"")
        if not length.isdigit():
            return answers.LENGTH_REQUIRED
        if len(length) > LENGTH_DIGITS:
            return outcomes.TOO_LARGE
        envelopes, rest = divmod(int(length), board.envelope_length)
        if envelopes > self._limits.envelopes:
            return outcomes.TOO_LARGE
        if rest or not envelopes or not (credential.relay or envelopes == board.messages):
            return outcomes.BAD_LENGTH
        return None

    def _allows(self, credential: "_Sender", envelopes: int) -> bool:
        if credential.relay:
            return self._rates.relays.allows(credential.identity, envelopes)
        return self._rates.persons.allows(credential.identity, 1)

    @staticmethod
    def _named(board: Board, name: bytes) -> KnownBatch | bytes | Answer:
        """Return the batch that a header names, or its name if it was never opened."""
        known = board.batches.get(name)
        if known is not None:
            return known if known.takes_reports else outcomes.GONE
        if not _BATCH.fullmatch(name):
            return outcomes.BAD_BATCH
        return bytes.fromhex(name.decode())

    async def _commit(
        self, board: Board, known: KnownBatch, credential: "_Sender", body: bytes
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
                return outcomes.ACCEPTED
            if not tags:
                return answers.BUSY if state == "sealed" else outcomes.GONE
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
            return outcomes.ACCEPTED
        if state == "sealed":
            return answers.BUSY
        if stored == 0:
            stored = await lookups.count_stored(batch, envelopes, column="envelope")
        return None if stored == 0 and await lookups.is_whole(batch) else outcomes.GONE


def _is_spent(
    token: SpentToken, board: Board, known: KnownBatch | bytes, *, proof: bytes, body: bytes
) -> bool:
    """Tell whether the owner of a token spends it on this batch and body."""
    batch, number = (known.batch, known.round) if isinstance(known, KnownBatch) else (known, None)
    return token.is_spent_by_owner(
        proof, plan=board.plan.digest, round_number=number, batch=batch, body=body
    )
