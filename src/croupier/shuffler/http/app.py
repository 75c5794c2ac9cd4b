"""The routes of one worker: post reports; read plans, keys and rounds."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from croupier.protocol.superseded import SupersededPlan
from croupier.shuffler.http import answers
from croupier.shuffler.http.answers import Answer, document
from croupier.shuffler.http.board import Board
from croupier.shuffler.http.logs import log
from croupier.shuffler.http.openapi import description
from croupier.shuffler.http.readiness import stop_host
from croupier.shuffler.http.reports import Reports
from croupier.shuffler.incidents import Occurrence

__all__ = ["App"]

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

_PLAN = re.compile(r"/v1/plans/([0-9a-f]{64})(?:/reports|/rounds/(0|[1-9][0-9]{0,9}))?")
_FOR_AN_HOUR = "max-age=3600"
"""The description of the service changes with its version alone."""


class App:
    """An ASGI application. Answers depend on the path alone, and for reports on the outcome.

    Args:
        boards: The plans that are served.
        reports: The hot route.
        incidents: Returns what the operator must act on.
        superseded: The plans that are no longer served, each with the pointer to its successor.

    Attributes:
        tally: The number of answers by status.
    """

    def __init__(
        self,
        boards: Sequence[Board],
        *,
        reports: Reports,
        incidents: Callable[[], tuple[Occurrence, ...]],
        superseded: Sequence[SupersededPlan] = (),
    ) -> None:
        self.tally: Counter[int] = Counter()
        self._boards = {board.plan.digest: board for board in boards}
        self._hot = {f"/v1/plans/{digest}/reports": b for digest, b in self._boards.items()}
        self._reports = reports
        self._incidents = incidents
        self._description = document(200, description(), cache_control=_FOR_AN_HOUR)
        self._superseded = {each.digest: answers.superseded(each) for each in superseded}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; only its sender learns of errors in it."""
        try:
            answer = await self._answer(scope, receive)
        except Exception as error:  # noqa: BLE001 - the text may quote the request
            log.error("request failed", kind=type(error).__name__)
            answer = answers.FAILED
        if answer is not None:
            self.tally[answer.status] += 1
            await answer.send(send)

    async def _answer(self, scope: Scope, receive: Receive) -> Answer | None:
        board = self._hot.get(scope["path"])
        if board is not None and scope["method"] == "POST":
            return await self._reports.take(board, scope["headers"], receive)
        return self._read(scope["method"], scope["path"])

    def _read(self, method: str, path: str) -> Answer:
        found = answers.ONLY_POST if path in self._hot else self._document(path)
        if found.status in {200, 503} and method not in {"GET", "HEAD"}:
            return answers.ONLY_GET
        return found

    def _document(self, path: str) -> Answer:
        if path == "/healthz":
            return answers.HEALTHY
        if path in {"/readyz", "/readyz/host"}:
            found = self._incidents()
            if path == "/readyz/host":
                found = stop_host(found, self._boards)
            return answers.not_ready(found) if found else answers.READY
        if path == "/v1/openapi.json":
            return self._description
        match = _PLAN.fullmatch(path)
        board = self._boards.get(match[1]) if match else None
        if match is None or board is None:
            return self._superseded.get(match[1] if match else "", answers.NOT_FOUND)
        if match[2] is None:
            return board.key_list
        return board.rounds.get(int(match[2]), answers.NOT_FOUND)
