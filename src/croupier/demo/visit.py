"""The visitor of the page: a real person, whose answer the demo never learns."""

import threading
from collections.abc import Mapping
from typing import Any

import httpx

from croupier.demo.board import Scoreboard
from croupier.plan.plan import Plan

__all__ = ["Answer", "Visit"]

_PASSED_ON = ("Authorization", "Content-Type", "Croupier-Batch")
"""The headers that the service needs; others that a browser sends stop here."""

_ACCEPTED, _AWAY = 202, 503
_SECONDS = 30

Answer = tuple[int, str, bytes]
"""A status, the content type, and the body."""


class Visit:
    """The visitor's access: a credential, and a way to the service while it listens.

    A page may only connect to its own origin, and the service knows nothing of pages. So its
    requests are passed on, as the proxy in front of a real service would.
    """

    def __init__(self, plan: Plan, board: Scoreboard, *, credential: str) -> None:
        self._plan, self._board, self._credential = plan, board, credential
        self._service: str | None = None
        self._passing = threading.Lock()
        self._answered = threading.Event()

    @property
    def answered(self) -> bool:
        """True if the visitor's report was acknowledged."""
        return self._answered.is_set()

    def document(self) -> dict[str, Any]:
        """Return the facts for the page: its credential, and the chance that an answer is kept."""
        kept, changed, *_ = self._plan.randomizer.channel().probabilities[0].tolist()
        law = {"kept": kept, "changed": changed}
        return {"plan": self._plan.digest, "credential": self._credential, **law}

    def begin(self, service: str) -> None:
        """Pass requests on to a service from now on."""
        with self._passing:
            self._service = service
        self._board.tell(visit="open")

    def wait(self, seconds: int) -> None:
        """Give the visitor so many seconds to answer, which the page counts down."""
        for left in range(seconds, 0, -1):
            if self.answered:
                return
            self._board.tell(seconds_left=left)
            self._answered.wait(1)

    def end(self) -> None:
        """Stop passing requests on; those under way are completed first."""
        with self._passing:
            self._service = None
        self._board.tell(visit="answered" if self.answered else "missed", seconds_left=0)

    def pass_on(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Return the service's answer to a request of the page."""
        with self._passing:
            if self._service is None:
                return _AWAY, "text/plain", b""
            own = {name: headers[name] for name in _PASSED_ON if name in headers}
            try:
                answer = httpx.request(
                    method,
                    self._service + path,
                    headers=own,
                    content=body,
                    timeout=_SECONDS,
                    trust_env=False,
                )
            except httpx.HTTPError:
                return _AWAY, "text/plain", b""
            if method == "POST" and answer.status_code == _ACCEPTED and not self.answered:
                self._answered.set()
                self._board.count()
                self._board.tell(visit="answered")
            kind = answer.headers.get("Content-Type", "application/octet-stream")
            return answer.status_code, kind, answer.content
