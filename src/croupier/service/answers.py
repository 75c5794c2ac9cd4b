"""Answers ready to be sent: every one of a kind has the same bytes, whoever asked."""

import json
from dataclasses import dataclass
from typing import Any

__all__ = ["ACCEPTED", "BAD_BATCH", "BAD_LENGTH", "BUSY", "GONE", "HEALTHY"]
__all__ += ["LENGTH_REQUIRED", "NOT_FOUND", "ONLY_GET", "ONLY_POST", "TOO_LARGE"]
__all__ += ["TOO_OFTEN", "UNAUTHORISED", "UNHEALTHY", "WRONG_KIND", "Answer", "document"]


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
ONLY_GET = _refusal(405, "Use GET.", allow="GET, HEAD")
ONLY_POST = _refusal(405, "Use POST.", allow="POST")
HEALTHY = document(200, b'{"schema_version": 1, "healthy": true}')
UNHEALTHY = document(503, b'{"schema_version": 1, "healthy": false}', retry_after="1")
GONE = _refusal(410, "The batch is closed. If your report is not in it, give it up.")
LENGTH_REQUIRED = _refusal(411, "Send Content-Length.")
TOO_LARGE = _refusal(413, "Send fewer envelopes a request.")
WRONG_KIND = _refusal(415, "Send Content-Type: application/octet-stream.")
TOO_OFTEN = _refusal(429, "Wait, then send the same bytes again.", retry_after="60")
BUSY = _refusal(503, "Wait, then send the same bytes again.", retry_after="1")
