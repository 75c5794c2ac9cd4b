"""HTTP for untrusted clients: limits on size, time and number of requests and unread answers."""

import asyncio
import resource
from typing import Any, NoReturn

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from croupier.hosting.http import answers
from croupier.hosting.http.answers import Answer

__all__ = ["PromptProtocol"]

_ONCE = frozenset(
    (b"authorization", b"content-length", b"content-type", b"croupier-batch", b"expect", b"origin")
)
"""Headers that affect the answer. Two servers could read a repeated one differently."""
_OTHER_FILES = 64
"""Files that a worker has open beside its connections."""


def _most_connections() -> int:
    """Return at most 4,096, and fewer if the process may not open as many files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 4_096 if files == resource.RLIM_INFINITY else max(1, min(4_096, files - _OTHER_FILES))


class _Refused(Exception):  # noqa: N818 - stops the parser and is never shown
    """The rest of the received data is not parsed."""


class PromptProtocol(HttpToolsProtocol):
    """Uvicorn's protocol with limits: by itself it waits for ever and buffers whatever arrives.

    Attributes:
        seconds: The time in which a request must have arrived, counted from its first byte, or from
            the connection for the first one; and in which answers must be read. Slower clients are
            cut off.
        head_bytes: The longest request line and headers. Clients that send more are cut off.
        pipelined: The number of requests that may wait for the answers to earlier ones of their
            connection. Clients that send more are cut off.
        most_connections: The number of connections per worker. Further ones are told to come back.
    """

    seconds = 10.0
    head_bytes = 16 << 10
    pipelined = 8
    most_connections = _most_connections()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._arriving = False
        self._in_head = True
        self._received = 0
        self._refusal = answers.MALFORMED

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start waiting for a request."""
        super().connection_made(transport)
        # Writing is paused as soon as the system takes no more, so that `_unread` runs while any
        # answer waits to be read.
        transport.set_write_buffer_limits(high=0)
        if len(self.connections) > self.most_connections:
            self._close_with(answers.TOO_MANY)
        else:
            self._deadline = self.loop.call_later(self.seconds, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._arrived()
        self._was_read()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Continue reading; a request that arrives in one piece needs no timer."""
        for start in range(0, len(data), self.head_bytes):
            piece = data[start : start + self.head_bytes]
            self._received += len(piece)
            super().data_received(piece)
            if self._in_head and self._received > self.head_bytes:
                self.transport.abort()
            if self.transport.is_closing():
                return
        if self._arriving and self._deadline is None:
            self._deadline = self.loop.call_later(self.seconds, self.transport.abort)

    def pause_writing(self) -> None:
        """Stop answering a client that does not read, and limit the wait."""
        super().pause_writing()
        self._unread = self.loop.call_later(self.seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on once everything was read."""
        self._was_read()
        super().resume_writing()

    def on_message_begin(self) -> None:
        """Start the timer with the first byte of a request."""
        self._arriving = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """Refuse a request head, or start to answer it."""
        self._check_head()
        super().on_headers_complete()  # fails at an impossible URL, which is still in the head
        self._in_head = False
        if self.expect_100_continue:
            # If refused at once, such a client may leave out the body, and its next request would
            # be taken for the body.
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        """Stop the timer: the request is complete."""
        self._arriving = False
        self._in_head = True
        self._received = 0
        self._arrived()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's text is not sent
        """Refuse what could not be parsed, unless it would be taken for another answer."""
        if self.transport.is_closing():
            return
        owed = bool(self.cycle) and not self.cycle.response_complete
        if not owed or (not self._in_head and not self.pipeline):
            self._close_with(self._refusal)
        else:
            self.transport.abort()

    def _check_head(self) -> None:
        """Stop at a head that is too long, or that another server could read differently."""
        seen = set()
        size = len(self.url)
        for name, value in self.headers:
            size += len(name) + len(value)
            if name in _ONCE:
                if name in seen:
                    self._stop(answers.REPEATED)
                seen.add(name)
            elif name == b"transfer-encoding":
                self._stop(answers.LENGTH_REQUIRED)
            elif name == b"upgrade" or (name == b"connection" and b"upgrade" in value.lower()):
                self._stop(answers.NO_UPGRADE)
        if self.parser.should_upgrade():
            self._stop(answers.NO_UPGRADE)
        if size > self.head_bytes or len(self.pipeline) >= self.pipelined:
            self.transport.abort()
            raise _Refused

    def _stop(self, refusal: Answer) -> NoReturn:
        self._refusal = refusal
        raise _Refused

    def _close_with(self, answer: Answer) -> None:
        lines = [name + b": " + value + b"\r\n" for name, value in answer.head["headers"]]
        self.transport.write(
            b"".join([STATUS_LINE[answer.status], *lines, b"\r\n", answer.body["body"]])
        )
        self.transport.close()

    def _arrived(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _was_read(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
