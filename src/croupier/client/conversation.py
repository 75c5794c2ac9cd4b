"""The conversation of a client with the shuffler: fetch keys, wait, send, retry, give up.

A conversation is a generator that does no input or output itself: it yields each step and is sent
the answer. `submit` and `submit_async` carry it out, one `Exchange` after the other.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from croupier.client.client import Client, Submission
from croupier.client.enrolment import admitted
from croupier.client.exchange import DEADLINE, Exchange, Get, Post, Response, event_loop_beside
from croupier.client.fetch_token import TokenOutcome, fetch_token, require_issuer
from croupier.client.fetching import fetch, from_everywhere, patience
from croupier.client.memory import BudgetError
from croupier.client.oblivious import require_no_relay, through_relay
from croupier.client.server import Server
from croupier.client.steps import Passing, Steps, Wait, ask_patiently, until_settled
from croupier.client.tokens import NoTokenError, admits_by_token
from croupier.errors import (
    CertificateError,
    CroupierError,
    DataError,
    NotOfferedError,
    ParameterError,
)
from croupier.plan.plan import Plan
from croupier.protocol.superseded import SupersededPlan, is_pointer
from croupier.protocol.wire import asks_by_query

if TYPE_CHECKING:
    import httpx

__all__ = ["Get", "Outcome", "Post", "Response", "Server", "Steps", "Wait", "ask_patiently"]
__all__ += ["converse", "fetch", "from_everywhere", "outcome_of", "patience", "post_patiently"]
__all__ += [
    "posted",
    "require_credential",
    "sent_as",
    "served",
    "submit",
    "submit_async",
    "until_settled",
]

_NOT_FOUND, _GONE = 404, 410


class Outcome(StrEnum):
    """The end of a conversation."""

    ACCEPTED = "accepted"
    ABSENT = "not this person's turn"
    CLOSED = "the batch was closed"
    REFUSED = "refused"
    EXPIRED = "no answer in time"
    WAITING = "waiting for its time"
    NOTHING = "nothing to send"
    NO_TOKEN = "no token for this round"  # noqa: S105 - a sentence


T = TypeVar("T")


def converse(
    client: Client, value: Any, *, server: Server, round_number: int | None = None
) -> Steps[Outcome]:
    """Take part in the open round, from the first step to the last.

    If the plan admits by token, also fetch the token of the next round, before or after: both
    times are drawn at the beginning, and neither depends on the other or on the outcome. Asking the
    issuer must not show who answers, nor when.

    Args:
        client: The person's client.
        value: The person's value, or a function of the question if rounds ask by query.
        server: The address that reports go to.
        round_number: The open round to answer; the latest if left out.

    Returns:
        The outcome of the report; NO_TOKEN if the memory holds no token for the round, and then
        nothing was randomised.

    Raises:
        SupersededError: Another plan took the place of this one. What was sealed and spent stays
            remembered, and nothing more is sent.
        NotOfferedError: The server or a mirror does not have the plan.
        UntrustedError: An answer is not what the plan's parties signed.
        CertificateError: The certificate of the server or a mirror cannot be trusted.
        NotAdmittedError: The issuer does not admit the device.
        BudgetError: The attribute's budget does not allow another report.
    """
    return through_relay(client, server, _converse(client, value, server, round_number))


def _converse(
    client: Client, value: Any, server: Server, round_number: int | None
) -> Steps[Outcome]:
    require_issuer(client.plan, server)
    taking_part = _take_part(client, value, server, round_number)
    # A value must not stay in this frame while it waits.
    del value
    if not admits_by_token(client.plan):
        return (yield from taking_part)
    fetching = fetch_token(client, server=server)
    return (yield from _beside(taking_part, fetching, client.passing(), at=client.token_delay()))


def _beside(
    taking_part: Steps[Outcome], fetching: Steps[TokenOutcome], passing: Passing, *, at: float
) -> Steps[Outcome]:
    """Take part, and fetch a token at a time that does not depend on how long anything else takes.

    An error that may depend on the value is raised once the token is fetched as well, and an error
    of the issuer once the report is sent.
    """
    told: list[CroupierError] = []
    fetched, ended = False, Outcome.REFUSED
    answer: Response | None = None
    while True:
        try:
            step = taking_part.send(answer)
        except StopIteration as end:
            ended = cast("Outcome", end.value)
            break
        except (BudgetError, DataError, ParameterError) as error:
            # Without its frames: the value is in one of them.
            told.append(error.with_traceback(None))
            break
        answer = None
        if not isinstance(step, Wait):
            answer = yield step
            continue
        until = passing.seconds() + step.seconds
        if not fetched and until >= at:
            yield passing.until(at)
            yield from _quietly(fetching, told)
            fetched = True
        yield passing.until(until)
    if not fetched:
        yield passing.until(at)
        yield from _quietly(fetching, told)
    if told:
        raise told[0]
    return ended


def _quietly(fetching: Steps[TokenOutcome], told: list[CroupierError]) -> Steps[None]:
    """Fetch a token; keep an error for later."""
    try:
        yield from fetching
    except CroupierError as error:
        told.append(error.with_traceback(None))


def _take_part(  # noqa: PLR0911 - one frame: a value must not stay in another while this one waits
    client: Client, value: Any, server: Server, round_number: int | None
) -> Steps[Outcome]:
    """Send this round's report, and once more if its batch was closed."""
    seconds = patience(client.plan)
    enrolled = yield from admitted(client, server, seconds=seconds)
    if enrolled is None:
        return Outcome.EXPIRED
    server = enrolled
    found = yield from served(client, server, round_number, seconds=seconds)
    if found is None:
        return Outcome.EXPIRED
    lists, rounds = found
    try:
        submission = client.report(
            value, key_list=lists[0], mirrors=lists[1:], round_number=round_number, rounds=rounds
        )
    except NoTokenError:
        return Outcome.NO_TOKEN
    del value
    if submission is None:
        return Outcome.ABSENT
    outcome, answer = yield from _send(client, server, submission)
    if outcome is not Outcome.CLOSED or answer is None:
        return outcome
    newer = yield from from_everywhere(client, server, seconds=seconds)
    if newer is None:
        return Outcome.CLOSED
    again = client.reseal(
        submission,
        refusal=answer.body,
        authorization=sent_as(server, submission),
        key_list=newer[0],
        mirrors=newer[1:],
    )
    if again is None:
        return Outcome.CLOSED
    outcome, _ = yield from _send(client, server, again)
    return outcome


def sent_as(server: Server, submission: Submission) -> str:
    """Return the Authorization header that a report is sent with."""
    return server.authorization if submission.spent is None else submission.spent.authorization


def posted(client: Client, server: Server, submission: Submission) -> Post | None:
    """Return the request that sends a report.

    Return None if its token is missing: the credential is never sent in its place.
    """
    if admits_by_token(client.plan) and submission.spent is None:
        return None
    return server.post(
        plan=submission.plan,
        batch=submission.batch,
        body=submission.body,
        spent=submission.spent,
    )


def served(
    client: Client, server: Server, round_number: int | None, *, seconds: float
) -> Steps[tuple[list[bytes], list[bytes]] | None]:
    """Fetch the key lists and, if rounds ask by query, the documents of the round.

    Return None if an address is silent or busy for so many seconds.
    """
    lists = yield from from_everywhere(client, server, seconds=seconds)
    if lists is None:
        return None
    if not asks_by_query(client.plan):
        return lists, []
    number = client.chosen_round(key_list=lists[0], mirrors=lists[1:], round_number=round_number)
    rounds = yield from from_everywhere(client, server, f"/rounds/{number}", seconds=seconds)
    return None if rounds is None else (lists, rounds)


def _send(
    client: Client, server: Server, submission: Submission
) -> Steps[tuple[Outcome, Response | None]]:
    yield Wait(submission.delay)
    step = posted(client, server, submission)
    if step is None:
        return Outcome.NO_TOKEN, None
    answer = yield from ask_patiently(step, seconds=patience(client.plan))
    if answer is None:
        return Outcome.EXPIRED, None
    outcome = outcome_of(answer, client.plan)
    if outcome is Outcome.ACCEPTED and submission.due is not None:
        client.settle(submission, is_delivered=True)
    return outcome, answer


def outcome_of(answer: Response, plan: Plan) -> Outcome:
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


def require_credential(plan: Plan) -> None:
    """Refuse a plan that admits by token where only a credential is at hand."""
    if admits_by_token(plan):
        raise ParameterError(
            "admission.by",
            must='be "credential": a relay has no tokens',
            got="token",
            hint="Use one Client per person: it fetches a token per round.",
        )


def post_patiently(
    server: Server, envelopes: Iterable[bytes], *, plan: Plan, batch: str
) -> Steps[Outcome]:
    """Send envelopes in one request, as `ask_patiently` does, and return the outcome.

    Raises:
        SupersededError: Another plan took the place of this one.
        NotOfferedError: The server does not have the plan.
        UntrustedError: It says that the plan was superseded, and the plan's shuffler does not.
    """
    require_credential(plan)
    require_no_relay(plan, server)
    step = server.post(plan=plan.digest, batch=batch, body=b"".join(envelopes))
    answer = yield from ask_patiently(step, seconds=patience(plan))
    return Outcome.EXPIRED if answer is None else outcome_of(answer, plan)


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
        answer: _Answer = None
        try:
            while True:
                try:
                    step = _next(steps, answer)
                except StopIteration as end:
                    return cast("T", end.value)
                answer = None
                if isinstance(step, Wait):
                    sleep(step.seconds)
                else:
                    answer = wait_for(_asked(exchange, step))
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
    answer: _Answer = None
    try:
        while True:
            try:
                step = _next(steps, answer)
            except StopIteration as end:
                return cast("T", end.value)
            answer = None
            if isinstance(step, Wait):
                await pause(step.seconds)
            else:
                answer = await _asked(exchange, step)
    finally:
        await exchange.close()


_Answer: TypeAlias = Response | CertificateError | None


async def _asked(exchange: Exchange, step: Get | Post) -> _Answer:
    try:
        return await exchange.ask(step)
    except CertificateError as error:
        return error


def _next(steps: Steps[T], answer: _Answer) -> Get | Post | Wait:
    """Go on with a conversation; it learns of an error where it asked, as of an answer."""
    return steps.throw(answer) if isinstance(answer, CertificateError) else steps.send(answer)
