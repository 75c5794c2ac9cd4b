"""The explorer's page, on loopback, for whoever knows its address."""

import json
import math
import secrets
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, ClassVar

from croupier.explorer.explorer import Explorer
from croupier.hosting.http.loopback import LoopbackHandler, on_loopback

__all__ = ["exploring"]

_POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_FILES = {
    "": ("page.html", "text/html; charset=utf-8"),
    "explorer.js": ("explorer.js", "text/javascript; charset=utf-8"),
    "explorer.css": ("explorer.css", "text/css; charset=utf-8"),
}
_LINES = "application/x-ndjson"
_LONGEST = 4_000_000
"""The bytes of a question: two documents of plans with many labels fit."""


class _Page(LoopbackHandler):
    """Answers about one explorer.

    Attributes:
        explorer: The explorer.
        secret: The path below which everything is.
        turn: Held by the question that is being answered.
    """

    policy = _POLICY
    timeout = 20
    explorer: ClassVar[Explorer]
    secret: ClassVar[str]
    turn: ClassVar[threading.Lock]

    def get(self) -> None:
        """Send the page, its script or its style."""
        name = self._name()
        if name in _FILES:
            file, kind = _FILES[name]
            self.answer(200, kind, (files("croupier.explorer") / "static" / file).read_bytes())
        else:
            self.send_error(404)

    def post(self) -> None:
        """Answer a question part by part, one question at a time."""
        name = self._name()
        body = None if name is None else self._question()
        if name is None or body is None:
            self.send_error(404 if name is None else 400)
            return
        with self.turn:
            if not self._gone():
                self._stream(name, body)

    def _name(self) -> str | None:
        """Return what is asked for, if the secret is right."""
        given, secret = self.path.encode(), self.secret.encode()
        if not secrets.compare_digest(given[: len(secret)], secret):
            return None
        return self.path[len(self.secret) :]

    def _question(self) -> dict[str, Any] | None:
        """Read a question in JSON; None if it is not one."""
        length = self.headers.get("Content-Length", "")
        is_json = self.headers.get("Content-Type", "").startswith("application/json")
        short = length.isascii() and length.isdecimal() and len(length) <= len(str(_LONGEST))
        if not is_json or not short or int(length) > _LONGEST:
            return None
        try:
            body = self.rfile.read(int(length))
            found = json.loads(body, parse_constant=_refuse, parse_float=_finite)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def _stream(self, verb: str, body: dict[str, Any]) -> None:
        """Send part after part, until the last or until the page is gone."""
        try:
            self.begin(200, _LINES)
            for part in self.explorer.answer(verb, body):
                if self._gone():
                    return
                if part is not None:
                    self.wfile.write(json.dumps(part, allow_nan=False).encode() + b"\n")
        except (ConnectionError, TimeoutError):
            return  # the page is gone, or does not read

    def _gone(self) -> bool:
        """Tell whether the page has closed the connection."""
        try:
            readable, _, _ = select.select([self.connection], [], [], 0)
            return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)
        except (OSError, ValueError):
            return True


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(digits)
    return value


@contextmanager
def exploring(explorer: Explorer, *, port: int = 0) -> Iterator[str]:
    """Serve the page as long as the block lasts; yield its address.

    The path is a secret: others who use this machine cannot read the plan. One question is answered
    at a time. An answer that nobody waits for ends at its next part.
    """
    secret = f"/{secrets.token_urlsafe(16)}/"
    own = {"explorer": explorer, "secret": secret, "turn": threading.Lock()}
    with on_loopback(type("_Page", (_Page,), own), port=port) as address:
        yield address.removesuffix("/") + secret
