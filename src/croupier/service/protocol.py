"""HTTP for strangers: a request must arrive soon and its head must be small."""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

__all__ = ["PromptProtocol"]


class PromptProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which waits for ever and for heads of any size, without its patience.

    Attributes:
        seconds: In which a request must have arrived, counted from its first byte, or from the
            connection for the first one. Whoever is slower is cut off.
        head_bytes: How long request line and headers may be.
    """

    seconds = 10.0
    head_bytes = 16 << 10

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._deadline: asyncio.TimerHandle | None = None
        self._in_head = True
        self._received = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self.seconds, transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._arrived()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a request that arrives in one piece needs no timer."""
        self._received += len(data)
        super().data_received(data)
        if self._in_head and self._received > self.head_bytes:
            self.transport.abort()
        elif self._received and self._deadline is None:
            self._deadline = self.loop.call_later(self.seconds, self.transport.abort)

    def on_headers_complete(self) -> None:
        """The head is there."""
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The request is there as a whole."""
        self._in_head = True
        self._received = 0
        self._arrived()
        super().on_message_complete()

    def _arrived(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
