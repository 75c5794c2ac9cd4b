"""One request and its whole answer, from a server that may be malicious.

A server can send without end, slowly, or a small text that unpacks to a large one. Hence an answer
is read up to a size and until a deadline, and never decompressed; one that breaks a rule counts as
no answer. A certificate that cannot be trusted is an error instead: silence may pass, it does not.
"""

import asyncio
import ssl
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from croupier.client.tls import certificate_error
from croupier.errors import ParameterError

if TYPE_CHECKING:
    import httpx

__all__ = ["DEADLINE", "HEADERS", "LARGEST_ANSWER", "Exchange", "Get", "Post", "Response"]
__all__ += ["event_loop_beside"]

HEADERS = {"User-Agent": "croupier", "Accept-Encoding": "identity"}
"""The headers of every request, the same for everybody."""

LARGEST_ANSWER = (1 << 20) + 32
"""Bytes, with room for a gateway's seal.

A key list is its plan and a few hundred bytes per open round; a refusal is smaller.
"""

DEADLINE = 30.0
"""Seconds from the first attempt to connect until the last byte of an answer."""

_SILENCE = 10.0
"""Seconds without a single byte."""

_ELSEWHERE = range(300, 400)
"""Redirects. They are not followed, and count as silence: somebody on the way may send them."""

_NO_COOKIES = DefaultCookiePolicy(allowed_domains=[])
"""A policy that stores no cookies: they would mark a client, and grow with every answer."""

T = TypeVar("T")


class Response(NamedTuple):
    """The answer of a server."""

    status: int
    body: bytes
    retry_after: str | None = None


@dataclass(frozen=True)
class Get:
    """Fetch a document.

    Attributes:
        relay: The address of the relay that it must go through, sealed; None if it goes directly.
    """

    url: str
    headers: dict[str, str] = field(default_factory=lambda: dict(HEADERS))
    body: bytes = b""
    relay: str | None = None


@dataclass(frozen=True)
class Post:
    """Send sealed bytes.

    Attributes:
        relay: As of `Get`.
    """

    url: str
    headers: dict[str, str]
    body: bytes
    relay: str | None = None


class Exchange:
    """An executor of requests over httpx, one after the other.

    Args:
        transport: The transport of requests; the network if None.
        deadline: The seconds after which a request without a complete answer is given up.
    """

    def __init__(
        self, *, transport: "httpx.AsyncBaseTransport | None" = None, deadline: float = DEADLINE
    ) -> None:
        self._httpx = _httpx()
        self._http = self._httpx.AsyncClient(
            transport=transport, timeout=_SILENCE, cookies=CookieJar(_NO_COOKIES)
        )
        self._deadline = deadline

    async def ask(self, step: Get | Post) -> Response | None:
        """Return the answer to a request; None if there is no complete one that keeps the rules.

        Raises:
            CertificateError: The server's certificate cannot be trusted.
        """
        try:
            async with asyncio.timeout(self._deadline):
                response = await self._http.send(self._request(step), stream=True)
                try:
                    return await _read(response)
                finally:
                    await response.aclose()
        except (self._httpx.TransportError, ssl.SSLError, TimeoutError) as error:
            lasting = certificate_error(error, url=step.url)
            if lasting is None:
                return None
        raise lasting

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def _request(self, step: Get | Post) -> Any:
        """Build a request apart from the client, which would add headers and cookies of its own."""
        if step.relay is not None:
            hint = "Only conversations with one Client go through a relay."
            raise ParameterError("relay", must="be left out here", hint=hint)
        method = "GET" if isinstance(step, Get) else "POST"
        return self._httpx.Request(method, step.url, headers=step.headers, content=step.body)


async def _read(response: Any) -> Response | None:
    """Read at most `LARGEST_ANSWER` bytes, of an answer that httpx would not decompress."""
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        return None
    if response.status_code in _ELSEWHERE:
        return None
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > LARGEST_ANSWER:
            return None
    return Response(response.status_code, bytes(body), response.headers.get("Retry-After"))


@contextmanager
def event_loop_beside() -> Iterator[Callable[[Coroutine[Any, Any, T]], T]]:
    """Yield a function that waits for coroutines, whether or not the caller runs a loop.

    Only an event loop can end a request at a deadline whatever it is waiting for. This one runs in
    a thread of its own, since a notebook already runs one.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def wait_for(work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, loop)
        try:
            return future.result()
        finally:
            future.cancel()

    try:
        yield wait_for
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _httpx() -> Any:
    import httpx  # noqa: PLC0415 - slow to import

    return httpx
