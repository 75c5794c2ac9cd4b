"""Store and forward: a report is prepared at one time and delivered at another.

`converse` waits for the drawn time inside the call. A device that is not kept awake for that long
prepares a report, which stores it with its time, and calls `deliver` now and then. Between any two
steps the process may end: memory then holds either nothing or the sealed bytes with their time, and
a retry sends the same bytes.
"""

from dataclasses import dataclass
from typing import Any

from croupier.client.client import Client, Submission
from croupier.client.conversation import (
    Outcome,
    from_everywhere,
    outcome_of,
    posted,
    sent_as,
    served,
)
from croupier.client.enrolment import admitted
from croupier.client.exchange import Response
from croupier.client.fetch_token import require_issuer
from croupier.client.oblivious import through_relay
from croupier.client.server import Server
from croupier.client.steps import Steps, ask_patiently
from croupier.client.tokens import NoTokenError, admits_by_token

__all__ = ["Prepared", "deliver", "prepare"]

_PATIENCE = 30.0
"""Seconds for which a silent or busy server is asked again; then the next call does."""
_GONE = 410


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A report that waits for its time in the client's memory.

    Attributes:
        round_number: The round that it answers.
        due: The time at which `deliver` sends it, in seconds since 1970.
        is_replacing: True if an earlier report was never delivered, its batch is closed by now, and
            this one took its place.
    """

    round_number: int
    due: float
    is_replacing: bool


def prepare(
    client: Client, value: Any, *, server: Server, round_number: int | None = None
) -> Steps[Prepared | Outcome]:
    """Randomise, seal and store a report with the time at which it is due, and send nothing.

    A report that waits already, for a batch that is still open, stays as it is, whatever the value
    is by then. If the plan admits by token, call `fetch_token` as well, at a time of its own.

    Args:
        client: The person's client.
        value: The person's value, or a function of the question if rounds ask by query.
        server: The address that reports go to.
        round_number: The open round to answer; the latest if left out.

    Returns:
        The report that waits; ABSENT if it is not this person's turn; NOTHING if the round's
        report was delivered before; EXPIRED if the server does not answer; NO_TOKEN if the memory
        holds no token for the round, and then nothing was randomised.

    Raises:
        SupersededError: Another plan took the place of this one.
        NotOfferedError: The server or a mirror does not have the plan.
        UntrustedError: An answer is not what the plan's parties signed.
        CertificateError: The certificate of the server or a mirror cannot be trusted.
        NotAdmittedError: The issuer does not admit the device.
        BudgetError: The attribute's budget does not allow another report.
    """
    return through_relay(client, server, _prepare(client, value, server, round_number))


def _prepare(
    client: Client, value: Any, server: Server, round_number: int | None
) -> Steps[Prepared | Outcome]:
    require_issuer(client.plan, server)
    if (yield from admitted(client, server, seconds=_PATIENCE)) is None:
        return Outcome.EXPIRED
    found = yield from served(client, server, round_number, seconds=_PATIENCE)
    if found is None:
        return Outcome.EXPIRED
    lists, rounds = found
    try:
        submission = client.report(
            value,
            key_list=lists[0],
            mirrors=lists[1:],
            round_number=round_number,
            rounds=rounds,
            is_prepared=True,
        )
    except NoTokenError:
        return Outcome.NO_TOKEN
    if submission is None:
        return Outcome.ABSENT
    if submission.due is None:
        return Outcome.NOTHING
    return Prepared(
        round_number=submission.round_number,
        due=submission.due,
        is_replacing=submission.is_replacing,
    )


def deliver(client: Client, *, server: Server) -> Steps[Outcome]:
    """Send the prepared report if its time has come, and remember what became of it.

    Returns:
        WAITING before its time (`client.due()` are the seconds left), also if the batch was closed
        and the report is sealed for the next one; NOTHING if nothing is prepared; EXPIRED and
        REFUSED leave the report to be sent by the next call; ACCEPTED and CLOSED do not. A device
        whose credential is refused (401) is not enrolled again. NO_TOKEN if the memory lost the
        token of a prepared report, which then cannot be sent.

    Raises:
        SupersededError: Another plan took the place of this one. The report stays stored.
        NotOfferedError: The server does not have the plan. The report stays stored.
        UntrustedError: An answer is not what the plan's parties signed.
        CertificateError: The certificate of the server cannot be trusted.
        NotAdmittedError: The issuer does not admit the device.
    """
    return through_relay(client, server, _deliver(client, server))


def _deliver(  # noqa: PLR0911 - one per outcome
    client: Client, server: Server
) -> Steps[Outcome]:
    submission = client.waiting()
    if submission is None:
        return Outcome.NOTHING
    if submission.delay > 0:
        return Outcome.WAITING
    if not admits_by_token(client.plan):
        enrolled = yield from admitted(client, server, seconds=_PATIENCE)
        if enrolled is None:
            return Outcome.EXPIRED
        server = enrolled
    step = posted(client, server, submission)
    if step is None:
        client.settle(submission, is_delivered=False)
        return Outcome.NO_TOKEN
    answer = yield from ask_patiently(step, seconds=_PATIENCE)
    if answer is None:
        return Outcome.EXPIRED
    outcome = outcome_of(answer, client.plan)
    if outcome is Outcome.CLOSED:
        return (yield from _closed(client, server, submission, answer))
    if answer.status == _GONE:
        outcome = Outcome.CLOSED
    if outcome in {Outcome.ACCEPTED, Outcome.CLOSED}:
        client.settle(submission, is_delivered=outcome is Outcome.ACCEPTED)
    return outcome


def _closed(
    client: Client, server: Server, submission: Submission, answer: Response
) -> Steps[Outcome]:
    """Seal the report for the next batch, once, if the refusal is signed."""
    lists = yield from from_everywhere(client, server, seconds=_PATIENCE)
    if lists is None:
        return Outcome.EXPIRED
    again = client.reseal(
        submission,
        refusal=answer.body,
        authorization=sent_as(server, submission),
        key_list=lists[0],
        mirrors=lists[1:],
    )
    if again is None:
        client.settle(submission, is_delivered=False)
        return Outcome.CLOSED
    return Outcome.WAITING
