"""Fetching a token: the next round's, before it opens, from an issuer that does not see it.

Everybody asks once per round, whether they will answer or not, so that asking says nothing about
taking part. The issuer learns that a person asked for a round. It cannot recognise the token when
it is spent.
"""

from enum import StrEnum

from croupier.client.client import Client
from croupier.client.enrolment import admitted
from croupier.client.fetching import from_everywhere
from croupier.client.oblivious import through_relay
from croupier.client.server import Server
from croupier.client.steps import Steps, ask_patiently
from croupier.client.tokens import admits_by_token, begin, finish, next_round
from croupier.errors import ParameterError
from croupier.plan.plan import Plan

__all__ = ["TokenOutcome", "fetch_token", "require_issuer"]

_PATIENCE = 30.0
"""Seconds for which a silent or busy server is asked again; then the next call does."""
_OK, _GONE = 200, 410


class TokenOutcome(StrEnum):
    """The end of fetching a token."""

    HELD = "the token of the next round is held"
    UNLISTED = "the issuer has no key for the next round yet"
    CLOSED = "the issuer gives no tokens for the round now"
    REFUSED = "refused"
    EXPIRED = "no answer in time"


def fetch_token(client: Client, *, server: Server) -> Steps[TokenOutcome]:
    """Fetch the token of the next round, at once, unless the memory holds it.

    `converse` does so by itself. An app that prepares reports calls this once per round, for
    everybody, at a random time (`client.token_delay()`) that depends neither on the value nor on
    whether the person answers.

    Args:
        client: The person's client.
        server: The address of the shuffler, and the issuer's.

    Returns:
        HELD, also if it was held before. After EXPIRED and CLOSED a later call sends the same
        bytes. REFUSED if the issuer does not know the credential (401) or the plan (404), or has
        signed another token of the round for this person (409).

    Raises:
        SupersededError: Another plan took the place of this one.
        NotOfferedError: The server or a mirror does not have the plan.
        UntrustedError: An answer is not what the plan's parties signed; the issuer's signature
            included. Nothing is held then.
        CertificateError: A certificate cannot be trusted.
        NotAdmittedError: The issuer does not admit the device.
    """
    return through_relay(client, server, _fetch_token(client, server))


def _fetch_token(  # noqa: PLR0911 - one per outcome
    client: Client, server: Server
) -> Steps[TokenOutcome]:
    if not admits_by_token(client.plan):
        raise ParameterError("admission.by", must='be "token" to fetch tokens', got="credential")
    require_issuer(client.plan, server)
    enrolled = yield from admitted(client, server, seconds=_PATIENCE)
    if enrolled is None:
        return TokenOutcome.EXPIRED
    lists = yield from from_everywhere(client, enrolled, seconds=_PATIENCE)
    if lists is None:
        return TokenOutcome.EXPIRED
    read, newest = client.followed(lists[0], lists[1:])
    keys, plan = read.tokens, client.plan
    number = None if keys is None else next_round(keys, newest)
    if keys is None or number is None:
        return TokenOutcome.UNLISTED
    # Remembered before anybody sees it, so that a restart sends the same bytes.
    with client.memory.update() as state:
        held = begin(state, plan, keys, number)
    if held.request is None:
        return TokenOutcome.HELD
    request = bytes.fromhex(held.request)
    step = enrolled.ask_for_token(plan=plan.digest, round_number=number, request=request)
    answer = yield from ask_patiently(step, seconds=_PATIENCE)
    if answer is None:
        return TokenOutcome.EXPIRED
    if answer.status != _OK:
        return TokenOutcome.CLOSED if answer.status == _GONE else TokenOutcome.REFUSED
    with client.memory.update() as state:
        finish(state, plan, keys, number, blind_signature=answer.body)
    return TokenOutcome.HELD


def require_issuer(plan: Plan, server: Server) -> None:
    """Refuse an address without an issuer if the plan admits by token."""
    if admits_by_token(plan) and server.issuer is None:
        raise ParameterError("issuer", must="be given: the plan admits by token")
