"""A page on loopback that shows the demo while it runs, and on which a visitor may take part."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from croupier.demo.board import Scoreboard
from croupier.demo.visit import Visit

__all__ = ["watching"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'self' 'unsafe-inline'; "
_POLICY += "connect-src 'self'; img-src data:"

_SCRIPT, _JSON = "text/javascript; charset=utf-8", "application/json"
_FILES = {
    "/": ("watch.html", "text/html; charset=utf-8"),
    "/answer.js": ("answer.js", _SCRIPT),
    "/client.js": ("client.js", _SCRIPT),
    "/parties.js": ("parties.js", _SCRIPT),
}
_LONGEST = 65_536
_NAMES = ("127.0.0.1", "localhost")
_MISDIRECTED = 421


class _AtItsOwnAddress(BaseHTTPRequestHandler):
    """A handler that answers only to its own address: another site's name may point to it too."""

    def parse_request(self) -> bool:
        """Refuse requests that were meant for another host."""
        if not super().parse_request():
            return False
        port = self.connection.getsockname()[1]
        if self.headers.get_all("Host") in [[f"{name}:{port}"] for name in _NAMES]:
            return True
        self.send_error(_MISDIRECTED)
        return False


@contextmanager
def watching(board: Scoreboard, visit: Visit, *, port: int = 0) -> Iterator[str]:
    """Serve the page as long as the block lasts; yield its address."""
    folder = files("croupier.demo")
    pages = {path: ((folder / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()}

    class Handler(_AtItsOwnAddress):
        def do_GET(self) -> None:
            if self.path in pages:
                body, kind = pages[self.path]
                self._answer(200, kind, body)
            elif self.path == "/state.json":
                self._answer(200, _JSON, json.dumps(board.document()).encode())
            elif self.path == "/visit.json":
                self._answer(200, _JSON, json.dumps(visit.document()).encode())
            else:
                self._pass_on()

        def do_POST(self) -> None:
            self._pass_on()

        def _pass_on(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            if not self.path.startswith("/v1/") or not 0 <= length <= _LONGEST:
                self.send_error(404)
                return
            body = self.rfile.read(length)
            headers = dict(self.headers.items())
            self._answer(*visit.pass_on(self.command, self.path, headers, body))

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", _POLICY)
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
