"""A page on loopback that shows the demo while it runs, and on which a visitor may take part."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files

from croupier.demo.board import Scoreboard
from croupier.demo.visit import Visit
from croupier.hosting.http.loopback import LoopbackHandler, on_loopback

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


@contextmanager
def watching(board: Scoreboard, visit: Visit, *, port: int = 0) -> Iterator[str]:
    """Serve the page as long as the block lasts; yield its address."""
    folder = files("croupier.demo")
    pages = {path: ((folder / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()}

    class Handler(LoopbackHandler):
        policy = _POLICY

        def get(self) -> None:
            if self.path in pages:
                body, kind = pages[self.path]
                self.answer(200, kind, body)
            elif self.path == "/state.json":
                self.answer(200, _JSON, json.dumps(board.document()).encode())
            elif self.path == "/visit.json":
                self.answer(200, _JSON, json.dumps(visit.document()).encode())
            else:
                self._pass_on()

        def post(self) -> None:
            self._pass_on()

        def _pass_on(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            if not self.path.startswith("/v1/") or not 0 <= length <= _LONGEST:
                self.send_error(404)
                return
            body = self.rfile.read(length)
            headers = dict(self.headers.items())
            self.answer(*visit.pass_on(self.command, self.path, headers, body))

    with on_loopback(Handler, port=port) as address:
        yield address
