"""The gateway of oblivious HTTP (RFC 9458): requests that came through a relay.

The relay sees who asks and forwards what it cannot read; the gateway reads the request and sees the
relay. Every answer has the same length, whatever was asked and whatever came of it.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from croupier.hosting.http import answers
from croupier.hosting.http.answers import Answer, document, kept, last_refusal
from croupier.hosting.http.requests import LENGTH_DIGITS, read_body
from croupier.hosting.http.worker import Receive, Scope
from croupier.protocol.oblivious.binary_http import (
    BinaryRequest,
    BinaryResponse,
    InvalidMessageError,
)
from croupier.protocol.oblivious.capsule import (
    KEYS_PATH,
    KEYS_TYPE,
    PATH,
    REQUEST_OVERHEAD,
    REQUEST_TYPE,
    RESPONSE_TYPE,
    UNKNOWN_KEY,
    GatewayKey,
    NotForUsError,
    OpenedRequest,
    write_configurations,
)
from croupier.protocol.oblivious.lengths import padded_length

__all__ = ["KEYS_PATH", "PATH", "Gateway"]

_KEPT_SECONDS = 60
_ANSWERS = ("content-type", "retry-after")
"""The headers of an answer that clients read; the others are about connections and caches."""
_ROOM = 256
"""Bytes of an answer beside its body: its status, these headers, and lengths."""
_PLANS = "/v1/plans/"

_WRONG_KIND = last_refusal(415, f"Send Content-Type: {REQUEST_TYPE}.")
_TOO_LARGE = last_refusal(413, "Send less.")
_UNKNOWN_KEY = document(
    400,
    json.dumps(
        {
            "type": UNKNOWN_KEY,
            "title": "The request is sealed to a key that is not in use. Fetch the keys again.",
        }
    ).encode(),
    content_type="application/problem+json",
)


class Gateway:
    """The routes of oblivious HTTP.

    Args:
        target: Answers a request about a plan that was opened.
        count: Counts an answer by its status: that of the sealed answer if there is one.
        largest: Returns the length of the longest document about a plan now, in bytes.
        longest_request: The longest request that is opened, in bytes.

    Attributes:
        keys: The keys that requests may be sealed to, the newest first; without one there is no
            gateway.
    """

    def __init__(
        self,
        target: Callable[[Scope, Receive], Awaitable[Answer | None]],
        *,
        count: Callable[[int], None],
        largest: Callable[[], int],
        longest_request: int,
    ) -> None:
        self._target = target
        self._count = count
        self._largest = largest
        self._longest = longest_request + REQUEST_OVERHEAD
        self.keys: Sequence[GatewayKey] = ()

    @property
    def configurations(self) -> Answer:
        """The document that clients fetch to seal requests."""
        if not self.keys:
            return answers.NOT_FOUND
        data = write_configurations([key.configuration for key in self.keys])
        return kept(data, seconds=_KEPT_SECONDS, content_type=KEYS_TYPE)

    async def take(self, headers: Iterable[tuple[bytes, bytes]], receive: Receive) -> Answer | None:
        """Open a request, let it be answered, and seal the answer; None if the sender is gone."""
        refusal = self._refused(dict(headers))
        body = None if refusal else await read_body(receive)
        opened = None if body is None else self._opened(body)
        if opened is None:
            refusal = refusal or (None if body is None else _UNKNOWN_KEY)
            if refusal is not None:
                self._count(refusal.status)
            return refusal
        response = await self._answered(opened.request)
        if response is None:
            return None
        self._count(response.status)
        length = padded_length(self._largest() + _ROOM)
        sealed = opened.answered(response.to_bytes(length=length))
        return document(200, sealed, content_type=RESPONSE_TYPE)

    def _refused(self, given: Mapping[bytes, bytes]) -> Answer | None:
        """Return a refusal that the headers alone justify."""
        if not self.keys:
            return answers.NOT_FOUND
        length = given.get(b"content-length", b"")
        if given.get(b"content-type") != REQUEST_TYPE.encode():
            return _WRONG_KIND
        if not length.isdigit():
            return answers.LENGTH_REQUIRED
        return _TOO_LARGE if len(length) > LENGTH_DIGITS or int(length) > self._longest else None

    def _opened(self, body: bytes) -> OpenedRequest | None:
        for key in self.keys:
            if body[:1] == bytes([key.key_id]):
                with suppress(NotForUsError):
                    return key.open(body)
        return None

    async def _answered(self, data: bytes) -> BinaryResponse | None:
        """Let a request be answered as if it had come by itself."""
        try:
            request = BinaryRequest.read(data)
            path = request.path.decode("ascii")
        except (InvalidMessageError, UnicodeDecodeError):
            return _response(answers.MALFORMED)
        names = [name for name, _ in request.fields]
        if len(set(names)) < len(names):
            return _response(answers.REPEATED)
        if not path.startswith(_PLANS):  # a request within a request would never end
            return _response(answers.NOT_FOUND)
        own = [(name, value) for name, value in request.fields if name != b"content-length"]
        scope = {
            "type": "http",
            "method": request.method.decode("latin-1"),
            "path": path,
            "headers": [*own, (b"content-length", b"%d" % len(request.content))],
        }

        async def receive() -> Mapping[str, object]:
            return {"type": "http.request", "body": request.content, "more_body": False}

        answer = await self._target(scope, receive)
        return None if answer is None else _response(answer)


def _response(answer: Answer) -> BinaryResponse:
    kept = tuple(
        (name, value)
        for name, value in answer.head["headers"]
        if name.decode("latin-1") in _ANSWERS
    )
    return BinaryResponse(answer.status, kept, answer.body["body"])
