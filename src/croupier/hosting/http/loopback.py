"""Pages for the person at this machine: served on loopback, to their own address only."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["LoopbackHandler", "on_loopback"]

_HOST = "127.0.0.1"
_NAMES = (_HOST, "localhost")
_MISDIRECTED = 421


class LoopbackHandler(BaseHTTPRequestHandler):
    """A handler that answers only to its own address: another site's name may point to it too."""

    disable_nagle_algorithm = True
    policy = "default-src 'none'"
    """The content security policy of its pages."""

    def parse_request(self) -> bool:
        """Refuse requests that were meant for another host."""
        if not super().parse_request():
            return False
        port = self.connection.getsockname()[1]
        if self.headers.get_all("Host") in [[f"{name}:{port}"] for name in _NAMES]:
            return True
        self.send_error(_MISDIRECTED)
        return False

    def do_GET(self) -> None:
        """Answer a GET request."""
        self.get()

    def do_POST(self) -> None:
        """Answer a POST request."""
        self.post()

    def get(self) -> None:
        """Answer a GET request; a handler says how."""
        self.send_error(404)

    def post(self) -> None:
        """Answer a POST request; a handler says how."""
        self.send_error(404)

    def answer(self, status: int, kind: str, body: bytes) -> None:
        """Send a whole answer, which no cache may keep."""
        self.begin(status, kind, length=len(body))
        self.wfile.write(body)

    def begin(self, status: int, kind: str, *, length: int | None = None) -> None:
        """Send the head of an answer; without a length, it ends with the connection."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.send_header("Content-Security-Policy", self.policy)
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()

    def log_message(self, *_arguments: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a connection that broke."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


@contextmanager
def on_loopback(handler: type[LoopbackHandler], *, port: int = 0) -> Iterator[str]:
    """Serve as long as the block lasts; yield the address, which ends with a slash."""
    with _Server((_HOST, port), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://{_HOST}:{server.server_address[1]}/"
        finally:
            server.shutdown()
