"""The routes of one worker: post reports; read plans, keys and rounds."""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from itertools import chain

from croupier.hosting.http import answers
from croupier.hosting.http.answers import Answer, document
from croupier.hosting.http.logs import log
from croupier.hosting.http.origins import Origins, readable
from croupier.hosting.http.readiness import stop_host
from croupier.hosting.http.worker import Receive, Scope, Send
from croupier.hosting.incidents import Occurrence
from croupier.protocol.oblivious.lengths import LONGEST_REQUEST
from croupier.protocol.superseded import SupersededPlan
from croupier.shuffler.http import outcomes
from croupier.shuffler.http.board import Board
from croupier.shuffler.http.gateway import KEYS_PATH, PATH, Gateway
from croupier.shuffler.http.openapi import description
from croupier.shuffler.http.reports import Reports

__all__ = ["App"]

_PLAN = re.compile(r"/v1/plans/([0-9a-f]{64})(?:/reports|(/gateway)|/rounds/(0|[1-9][0-9]{0,9}))?")
_METHODS = {PATH: b"POST", KEYS_PATH: b"GET, HEAD"}
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
        tally: The number of answers by status; of sealed ones, by the status inside.
        gateway: The gateway for requests that come through a relay.
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
        self._origins = {
            digest: Origins(board.plan.admission.origins)
            for digest, board in self._boards.items()
            if board.plan.admission.origins
        }
        self._reports = reports
        self._incidents = incidents
        self._description = document(200, description(), cache_control=_FOR_AN_HOUR)
        self._superseded = {each.digest: outcomes.superseded(each) for each in superseded}
        # Nobody knows any longer which origins such a plan listed; the pointer is public.
        self._pointers = {digest: readable(each) for digest, each in self._superseded.items()}
        self.gateway = Gateway(
            self._relayed,
            count=self._count,
            largest=self._largest,
            longest_request=LONGEST_REQUEST,  # of plans that were superseded as well
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; only its sender learns of errors in it."""
        is_sealed = scope["path"] == PATH and scope["method"] == "POST"
        answer = await _without_errors(
            self.gateway.take(scope["headers"], receive)
            if is_sealed
            else self._answer(scope, receive)
        )
        if answer is not None:
            if not is_sealed or answer is answers.FAILED:  # the gateway counts what is inside
                self._count(answer.status)
            if self._origins:
                answer = self._across(answer, scope)
            await answer.send(send)

    def _count(self, status: int) -> None:
        self.tally[status] += 1

    def _largest(self) -> int:
        """Return the length of the longest document about a plan, the gateway's keys included."""
        keys = self.gateway.keys
        signed = (len(board.gateway(keys).body["body"]) for board in self._boards.values())
        pointers = (len(each.body["body"]) for each in self._superseded.values())
        shown = (board.longest for board in self._boards.values())
        return max(chain(signed, pointers, shown), default=0)

    async def _relayed(self, scope: Scope, receive: Receive) -> Answer | None:
        """Answer a request that came through the gateway."""
        return await _without_errors(self._answer(scope, receive, is_relayed=True))

    async def _answer(
        self, scope: Scope, receive: Receive, *, is_relayed: bool = False
    ) -> Answer | None:
        board = self._hot.get(scope["path"])
        if board is None or scope["method"] != "POST":
            return self._read(scope)
        if board.plan.admission.relay is not None and not is_relayed:
            return outcomes.ONLY_BY_RELAY
        return await self._reports.take(board, scope["headers"], receive)

    def _across(self, answer: Answer, scope: Scope) -> Answer:
        """Return an answer that pages of other origins may read, if the plan lists any."""
        path = scope["path"]
        if path in {PATH, KEYS_PATH}:  # nothing there says of which plan the page is
            return readable(answer, methods=_METHODS[path])
        board = self._hot.get(path)
        if board is not None:
            origins = self._origins.get(board.plan.digest)
            return answer if origins is None else origins.named(answer, scope["headers"])
        match = _PLAN.fullmatch(path)
        return readable(answer) if match and match[1] in self._origins else answer

    def _read(self, scope: Scope) -> Answer:
        path = scope["path"]
        if scope["method"] == "OPTIONS" and self._origins:
            match = _PLAN.fullmatch(path)
            is_sealed = path in _METHODS and self.gateway.keys
            if is_sealed or (match and match[1] in self._origins):
                return answers.PREFLIGHT
        posted = path in self._hot or (path == PATH and self.gateway.keys)
        found = answers.ONLY_POST if posted else self._document(path)
        if found.status in {200, 503} and scope["method"] not in {"GET", "HEAD"}:
            return answers.ONLY_GET
        if found.unchanged is not None and _has(scope["headers"], found.tag):
            return found.unchanged
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
        if path == KEYS_PATH:
            return self.gateway.configurations
        return self._of_plan(path)

    def _of_plan(self, path: str) -> Answer:
        match = _PLAN.fullmatch(path)
        board = self._boards.get(match[1]) if match else None
        if match is None or board is None:
            pointers = self._superseded if path.endswith("/reports") else self._pointers
            return pointers.get(match[1] if match else "", answers.NOT_FOUND)
        if match[2] is not None:
            return board.gateway(self.gateway.keys)
        if match[3] is None:
            return board.key_list
        return board.rounds.get(int(match[3]), answers.NOT_FOUND)


async def _without_errors(answering: Awaitable[Answer | None]) -> Answer | None:
    try:
        return await answering
    except Exception as error:  # noqa: BLE001 - the text may quote the request
        log.error("request failed", kind=type(error).__name__)
        return answers.FAILED


def _has(headers: Iterable[tuple[bytes, bytes]], tag: bytes) -> bool:
    """Tell whether a cache says that it has the answer with this tag; it may call the tag weak."""
    named = (value.split(b",") for name, value in headers if name == b"if-none-match")
    return any(each.strip().removeprefix(b"W/") in {tag, b"*"} for each in chain(*named))
