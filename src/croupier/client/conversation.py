"""The conversation of a client with the shuffler: fetch keys, wait, send, retry, give up.

A conversation is a generator that does no input or output itself: it yields each step and is sent
the answer. `submit` and `submit_async` carry it out, one `Exchange` after the other.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Generator, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from secrets import SystemRandom
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast
from urllib.parse import urlsplit

from croupier.client.client import Client, Submission
from croupier.client.exchange import (
    DEADLINE,
    HEADERS,
    Exchange,
    Get,
    Post,
    Response,
    event_loop_beside,
)
from croupier.errors import NotOfferedError, ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.superseded import SupersededPlan, is_pointer
from croupier.protocol.wire import asks_by_query

if TYPE_CHECKING:
    import httpx

__all__ = ["Get", "Outcome", "Post", "Response", "Server", "Steps", "Wait", "ask_patiently"]
__all__ += ["converse", "fetch", "patience", "post_patiently", "submit", "submit_async"]

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_NOT_FOUND, _GONE = 404, 410


class Outcome(StrEnum):
    """The end of a conversation."""

    ACCEPTED = "accepted"
    ABSENT = "not this person's turn"
    CLOSED = "the batch was closed"
    REFUSED = "refused"
    EXPIRED = "no answer in time"


@dataclass(frozen=True)
class Wait:
    """Do nothing for some seconds."""

    seconds: float


T = TypeVar("T")
Steps: TypeAlias = Generator[Get | Post | Wait, Response | None, T]
"""The steps, one by one; the answer is None if none came."""


@dataclass(frozen=True, kw_only=True)
class Server:
    """The address that reports go to.

    Attributes:
        url: Without a path: ``https://reports.example``.
        credential: Admits the sender; never printed.
        mirrors: Other addresses that publish the key list, for comparison.
        insecure_http: True to allow a URL without TLS that is not on this machine.
    """

    url: str
    credential: str = field(repr=False)
    mirrors: tuple[str, ...] = ()
    insecure_http: bool = False

    def __post_init__(self) -> None:
        for url in (self.url, *self.mirrors):
            parts = urlsplit(url)
            if parts.scheme not in {"http", "https"} or not parts.hostname:
                raise ParameterError("url", must="begin with https:// or http://", got=url)
            if not (parts.scheme == "https" or parts.hostname in _LOOPBACK or self.insecure_http):
                hint = "A server without TLS must be allowed: insecure_http, or --insecure-http."
                raise ParameterError("url", must="begin with https://", got=url, hint=hint)
        if not self.credential.isascii() or not self.credential.isprintable():
            raise ParameterError("credential", must="be printable ASCII")

    @property
    def authorization(self) -> str:
        """The header that admits the sender."""
        return f"Bearer {self.credential}"

    def get(self, plan: str, path: str = "", *, mirror: str | None = None) -> Get:
        """Ask for the key list of a plan, by its digest, or for a document below it."""
        return Get(f"{(mirror or self.url).rstrip('/')}/v1/plans/{plan}{path}")

    def post(self, *, plan: str, batch: str, body: bytes) -> Post:
        """Send envelopes, with the same few headers for everybody."""
        headers = HEADERS | {
            "Content-Type": "application/octet-stream",
            "Croupier-Batch": batch,
            "Authorization": self.authorization,
        }
        return Post(f"{self.url.rstrip('/')}/v1/plans/{plan}/reports", headers, body)


def converse(
    client: Client, value: Any, *, server: Server, round_number: int | None = None
) -> Steps[Outcome]:
    """Take part in the open round, from the first step to the last.

    Args:
        client: The person's client.
        value: The person's value, or a function of the question if rounds ask by query.
        server: The address that reports go to.
        round_number: The open round to answer; the latest if left out.

    Raises:
        SupersededError: Another plan took the place of this one. What was sealed and spent stays
            remembered, and nothing more is sent.
        NotOfferedError: The server or a mirror does not have the plan.
        UntrustedError: An answer is not what the plan's parties signed.
        BudgetError: The attribute's budget does not allow another report.
    """
    lists = yield from _from_everywhere(client, server)
    rounds = lists and (yield from _rounds(client, server, lists, round_number))
    if lists is None or rounds is None:
        return Outcome.EXPIRED
    submission = client.report(
        value, key_list=lists[0], mirrors=lists[1:], round_number=round_number, rounds=rounds
    )
    del value
    if submission is None:
        return Outcome.ABSENT
    outcome, answer = yield from _send(client, server, submission)
    if outcome is not Outcome.CLOSED or answer is None:
        return outcome
    lists = yield from _from_everywhere(client, server)
    if lists is None:
        return Outcome.CLOSED
    again = client.reseal(
        submission,
        refusal=answer.body,
        authorization=server.authorization,
        key_list=lists[0],
        mirrors=lists[1:],
    )
    if again is None:
        return Outcome.CLOSED
    outcome, _ = yield from _send(client, server, again)
    return outcome


def _rounds(
    client: Client, server: Server, lists: list[bytes], round_number: int | None
) -> Steps[list[bytes] | None]:
    """Fetch the round's document from everywhere, if rounds ask by query."""
    if not asks_by_query(client.plan):
        return []
    number = client.chosen_round(key_list=lists[0], mirrors=lists[1:], round_number=round_number)
    return (yield from _from_everywhere(client, server, f"/rounds/{number}"))


def _from_everywhere(client: Client, server: Server, path: str = "") -> Steps[list[bytes] | None]:
    """Fetch a document from the server, then its mirrors; None if one does not answer."""
    lists = []
    for mirror in (None, *server.mirrors):
        body = yield from fetch(client.plan, server, path, mirror=mirror)
        if body is None:
            return None
        lists.append(body)
    return lists


def fetch(
    plan: Plan, server: Server, path: str = "", *, mirror: str | None = None
) -> Steps[bytes | None]:
    """Return the key list of a plan, or a document below it; None if no answer comes in time.

    Raises:
        SupersededError: Another plan took the place of this one.
        NotOfferedError: The server, or the mirror, does not have the document.
        UntrustedError: It says that the plan was superseded, and the plan's shuffler does not.
    """
    step = server.get(plan.digest, path, mirror=mirror)
    answer = yield from ask_patiently(step, seconds=patience(plan))
    if answer is None:
        return None
    if answer.status == _GONE:
        raise SupersededPlan.verified(answer.body, digest=plan.digest).error
    if answer.status != 200:
        raise NotOfferedError(
            answer.status,
            who="server" if mirror is None else "mirror",
            what="the round of the plan" if path else "the plan",
        )
    return answer.body


def _send(
    client: Client, server: Server, submission: Submission
) -> Steps[tuple[Outcome, Response | None]]:
    yield Wait(submission.delay)
    step = server.post(plan=submission.plan, batch=submission.batch, body=submission.body)
    answer = yield from ask_patiently(step, seconds=patience(client.plan))
    if answer is None:
        return Outcome.EXPIRED, None
    return _outcome(answer, client.plan), answer


def _outcome(answer: Response, plan: Plan) -> Outcome:
    """Return what the answer to sent reports means.

    Raises:
        SupersededError: Another plan took the place of this one.
        NotOfferedError: The server does not have the plan.
        UntrustedError: It says that the plan was superseded, and the plan's shuffler does not.
    """
    if answer.status == _GONE and is_pointer(answer.body):
        raise SupersededPlan.verified(answer.body, digest=plan.digest).error
    if answer.status == _NOT_FOUND:
        raise NotOfferedError(answer.status)
    known = {202: Outcome.ACCEPTED, 409: Outcome.CLOSED}
    return known.get(answer.status, Outcome.REFUSED)


def ask_patiently(step: Get | Post, *, seconds: float) -> Steps[Response | None]:
    """Repeat a step, byte for byte, while the server is silent or busy, and return the answer.

    Pauses double and have a random length, so that clients do not return together. Return None
    once the pauses would add up to more than `seconds`.
    """
    waited, pause = 0.0, _FIRST_PAUSE
    while True:
        answer = yield step
        if answer is not None and answer.status != 429 and answer.status < 500:
            return answer
        wait = max(_asked_pause(answer), SystemRandom().uniform(pause / 2, pause))
        waited += wait
        if waited > seconds:
            return None
        yield Wait(wait)
        pause = min(2 * pause, _LONGEST_PAUSE)


def post_patiently(
    server: Server, envelopes: Iterable[bytes], *, plan: Plan, batch: str
) -> Steps[Outcome]:
    """Send envelopes in one request, as `ask_patiently` does, and return the outcome.

    Raises:
        SupersededError: Another plan took the place of this one.
        NotOfferedError: The server does not have the plan.
        UntrustedError: It says that the plan was superseded, and the plan's shuffler does not.
    """
    step = server.post(plan=plan.digest, batch=batch, body=b"".join(envelopes))
    answer = yield from ask_patiently(step, seconds=patience(plan))
    return Outcome.EXPIRED if answer is None else _outcome(answer, plan)


def _asked_pause(answer: Response | None) -> float:
    text = answer.retry_after if answer else None
    return float(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0.0


def patience(plan: Plan) -> float:
    """Return the seconds after which a client gives up: the length of a round."""
    return plan.collection.every.total_seconds()


def submit(
    steps: Steps[T],
    *,
    transport: "httpx.AsyncBaseTransport | None" = None,
    sleep: Callable[[float], None] = time.sleep,
    deadline: float = DEADLINE,
) -> T:
    """Carry out a conversation, in this thread.

    Args:
        steps: The conversation.
        transport: The transport of requests; the network if left out.
        sleep: A function that waits for some seconds.
        deadline: The seconds after which a request without a complete answer counts as silence.
    """
    with event_loop_beside() as wait_for:
        exchange = Exchange(transport=transport, deadline=deadline)
        answer: Response | None = None
        try:
            while True:
                try:
                    step = steps.send(answer)
                except StopIteration as end:
                    return cast("T", end.value)
                answer = None
                if isinstance(step, Wait):
                    sleep(step.seconds)
                else:
                    answer = wait_for(exchange.ask(step))
        finally:
            wait_for(exchange.close())


async def submit_async(
    steps: Steps[T],
    *,
    transport: "httpx.AsyncBaseTransport | None" = None,
    sleep: Callable[[float], Awaitable[None]] | None = None,
    deadline: float = DEADLINE,
) -> T:
    """Carry out a conversation concurrently; `sleep` is that of asyncio if left out."""
    pause = asyncio.sleep if sleep is None else sleep
    exchange = Exchange(transport=transport, deadline=deadline)
    answer: Response | None = None
    try:
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                return cast("T", end.value)
            answer = None
            if isinstance(step, Wait):
                await pause(step.seconds)
            else:
                answer = await exchange.ask(step)
    finally:
        await exchange.close()
