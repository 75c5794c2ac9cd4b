"""Answers ready to be sent: every one of a kind has the same bytes, whoever asked."""

import json
from dataclasses import dataclass
from typing import Any

__all__ = ["ACCEPTED", "BAD_BATCH", "BAD_LENGTH", "BUSY", "GONE", "LENGTH_REQUIRED", "NOT_FOUND"]
__all__ += ["HEALTHY", "UNHEALTHY"]
__all__ += [
    "TOO_LARGE",
    "TOO_OFTEN",
    "UNAUTHORISED",
    "WRONG_KIND",
    "WRONG_METHOD",
    "Answer",
    "document",
]


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and body as the two messages of ASGI."""

    status: int
    head: Any
    body: Any

    async def send(self, send: Any) -> None:
        """Send it."""
        await send(self.head)
        await send(self.body)


def document(status: int, body: bytes = b"", **headers: str) -> Answer:
    """An answer with a JSON body, or with none."""
    kind = [(b"content-type", b"application/json")] if body else []
    more = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    length = (b"content-length", b"%d" % len(body))
    head = {"type": "http.response.start", "status": status, "headers": [length, *kind, *more]}
    return Answer(status, head, {"type": "http.response.body", "body": body})


def _refusal(status: int, error: str, **headers: str) -> Answer:
    """A refusal that says what to do next, and closes: what else was sent is not read."""
    body = json.dumps({"schema_version": 1, "error": error}).encode()
    return document(status, body, connection="close", **headers)


ACCEPTED = document(202)
BAD_LENGTH = _refusal(400, "Send whole envelopes: as many as the plan says, relays any number.")
BAD_BATCH = _refusal(400, "Name the batch: Croupier-Batch: 32 hexadecimal digits.")
UNAUTHORISED = _refusal(401, "Send a valid credential: Authorization: Bearer TOKEN.")
NOT_FOUND = _refusal(404, "Nothing is here. See /v1/openapi.json.")
WRONG_METHOD = _refusal(405, "Use the method that /v1/openapi.json names.", allow="GET, POST")
HEALTHY = document(200, b'{"schema_version": 1, "healthy": true}')
UNHEALTHY = document(503, b'{"schema_version": 1, "healthy": false}', retry_after="1")
GONE = _refusal(410, "The batch is closed. If your report is not in it, give it up.")
LENGTH_REQUIRED = _refusal(411, "Send Content-Length.")
TOO_LARGE = _refusal(413, "Send fewer envelopes a request.")
WRONG_KIND = _refusal(415, "Send Content-Type: application/octet-stream.")
TOO_OFTEN = _refusal(429, "Wait, then send the same bytes again.", retry_after="60")
BUSY = _refusal(503, "Wait, then send the same bytes again.", retry_after="1")
