"""Requests through a relay (RFC 9458): the shuffler does not see who asks, the relay not what.

A conversation does not change: each of its requests to the shuffler becomes one to the relay, of
one length for the whole plan. The keys that requests are sealed to come from the relay, which keeps
one answer for everybody. The first request asks for the same keys with the shuffler's signature, so
that a relay which shows keys of its own reads nothing more than the plan's digest.
"""

import json
from typing import TypeVar, cast
from urllib.parse import urlsplit

from croupier.client.client import Client
from croupier.client.exchange import HEADERS, Get, Post, Response
from croupier.client.server import Server
from croupier.client.steps import Steps, Wait, is_busy
from croupier.errors import CroupierError, ParameterError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.oblivious.binary_http import (
    BinaryRequest,
    BinaryResponse,
    InvalidMessageError,
)
from croupier.protocol.oblivious.capsule import (
    KEYS_PATH,
    PATH,
    REQUEST_TYPE,
    UNKNOWN_KEY,
    KeyConfiguration,
    SealedRequest,
    read_configurations,
)
from croupier.protocol.oblivious.gateway_keys import GatewayKeys, ListedGateway
from croupier.protocol.oblivious.lengths import request_length
from croupier.protocol.superseded import is_pointer
from croupier.protocol.wire import envelope_length

__all__ = ["require_no_relay", "through_relay"]

_OK, _NOT_FOUND, _GONE = 200, 404, 410
_OWN_HEADERS = {name.lower() for name in HEADERS}
"""Headers of the request to the relay that the request inside does not repeat."""

T = TypeVar("T")


def through_relay(client: Client, server: Server, steps: Steps[T]) -> Steps[T]:
    """Carry out a conversation with its requests to the shuffler sealed for the server's relay.

    Without a relay the conversation stays as it is.

    Raises:
        ParameterError: The plan demands a relay, and the server has none.
        UntrustedError: The relay shows keys that the plan's shuffler did not sign.
        MissingExtraError: There is a relay, and the extra that it needs is not installed.
    """
    if server.relay is None:
        _require_relay(client.plan)
        return (yield from steps)
    relay = _Relay(client, server, server.relay)
    answer: Response | None = None
    error: CroupierError | None = None
    while True:
        try:
            step = steps.send(answer) if error is None else steps.throw(error)
        except StopIteration as end:
            return cast("T", end.value)
        answer = error = None
        try:
            if isinstance(step, Wait) or step.relay is None:
                answer = yield step
            else:
                answer = yield from relay.ask(step)
        except CroupierError as raised:  # the conversation learns of it where it asked
            error = raised.with_traceback(None)


def require_no_relay(plan: Plan, server: Server) -> None:
    """Refuse a relay where many reports are sent in one request."""
    for name, given in (("admission.relay", plan.admission.relay), ("relay", server.relay)):
        if given is not None:
            raise ParameterError(
                name,
                must="be left out to send many people's reports",
                got=given,
                hint="Use one Client per person: requests through a relay have one length.",
            )


def _require_relay(plan: Plan) -> None:
    if plan.admission.relay is not None:
        raise ParameterError(
            "relay",
            must=f"be given: reports of this plan come through the relay of {plan.admission.relay}",
            hint="Server(relay=...) takes its address.",
        )


class _UnknownKeyError(CroupierError):
    """The gateway does not have the key that a request was sealed to."""


class _Relay:
    """The exchanges of one conversation.

    Args:
        client: The person's client.
        server: The address of the shuffler.
        address: The relay's.
    """

    def __init__(self, client: Client, server: Server, address: str) -> None:
        self._client = client
        self._plan = client.plan
        self._signed_keys = server.get(self._plan.digest, "/gateway")
        self._address = address.rstrip("/")
        self._length = request_length(self._plan.protections.messages * envelope_length(self._plan))
        self._key: KeyConfiguration | None = None

    def ask(self, step: Get | Post) -> Steps[Response | None]:
        """Return the shuffler's answer to a step; None if none came, or none that opens.

        If the gateway has replaced its keys, fetch them anew and ask once more.
        """
        try:
            return (yield from self._ask(step))
        except _UnknownKeyError:
            self._key = None
        try:
            return (yield from self._ask(step))
        except _UnknownKeyError:
            return None

    def _ask(self, step: Get | Post) -> Steps[Response | None]:
        if self._key is None:
            found = yield from self._believed_key()
            if not isinstance(found, KeyConfiguration):
                return found
            self._key = found
        return (yield from self._exchange(self._key, step))

    def _believed_key(self) -> Steps[KeyConfiguration | Response | None]:
        """Fetch the gateway's keys and return the newest, if the shuffler has signed it.

        Return an answer instead that nobody need believe: that the service is busy, does not have
        the plan, or has a pointer to its successor, which is signed by the root.
        """
        shown = yield Get(f"{self._address}{KEYS_PATH}")
        if shown is None or shown.status != _OK:
            return shown if shown is not None and is_busy(shown) else None
        found = read_configurations(shown.body)
        if not found:
            return None
        signed = yield from self._exchange(found[0], self._signed_keys)
        if signed is None or signed.status == _NOT_FOUND or is_busy(signed):
            return signed
        if signed.status == _GONE and is_pointer(signed.body):
            return signed
        return self._believed(signed.body, found[0]) if signed.status == _OK else None

    def _believed(self, signed: bytes, key: KeyConfiguration) -> KeyConfiguration | None:
        """Return the key; None if the document is older than one that was seen.

        Raises:
            UntrustedError: The plan's shuffler did not sign the document, or it lacks the key.
        """
        read = ListedGateway.verified(signed, self._plan)
        with self._client.memory.update() as state:
            listed = state.listed.get(self._plan.digest)
            if listed is not None:
                read.keys.require_not_before(listed)
            newest = state.gateways.get(self._plan.digest, 0)
            # Another host of the shuffler may be behind for a moment; a thief of a destroyed key
            # is for ever.
            if read.gateway.version < newest:
                return None
            state.gateways[self._plan.digest] = read.gateway.version
        if not read.gateway.has(key):
            raise UntrustedError(GatewayKeys.what, "does not have the key that the relay shows")
        return key

    def _exchange(self, key: KeyConfiguration, step: Get | Post) -> Steps[Response | None]:
        sealed = key.ask(_written(step, self._length))
        headers = HEADERS | {"Content-Type": REQUEST_TYPE}
        answer = yield Post(f"{self._address}{PATH}", headers, sealed.body)
        return None if answer is None else _opened(sealed, answer)


def _written(step: Get | Post, length: int) -> bytes:
    """Return a request as a binary HTTP message of the one length."""
    parts = urlsplit(step.url)
    given = {name.lower(): value for name, value in step.headers.items()}
    request = BinaryRequest(
        b"GET" if isinstance(step, Get) else b"POST",
        parts.scheme.encode(),
        parts.netloc.encode(),
        parts.path.encode(),
        tuple((n.encode(), v.encode()) for n, v in given.items() if n not in _OWN_HEADERS),
        step.body,
    )
    written = request.to_bytes(length=length)
    if len(written) > length:
        raise ParameterError("credential", must="be shorter, to fit into a request for the relay")
    return written


def _opened(sealed: SealedRequest, answer: Response) -> Response | None:
    """Return the answer of the gateway, or that of a relay which is busy."""
    if is_busy(answer):
        return Response(answer.status, b"", answer.retry_after)
    if answer.status != _OK:
        if _is_about_the_key(answer.body):
            raise _UnknownKeyError
        return None
    data = sealed.opened(answer.body)
    if data is None:
        return None
    try:
        read = BinaryResponse.read(data)
    except InvalidMessageError:
        return None
    pause = dict(read.fields).get(b"retry-after")
    return Response(read.status, read.content, None if pause is None else pause.decode("latin-1"))


def _is_about_the_key(body: bytes) -> bool:
    """Tell whether an answer is the problem that RFC 9458, section 5.3, defines."""
    try:
        return bool(json.loads(body)["type"] == UNKNOWN_KEY)
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
