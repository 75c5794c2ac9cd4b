"""Answers ready to be sent: all of one kind have the same bytes, whoever asked."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from croupier.protocol.signed_document import Document
from croupier.protocol.superseded import SupersededPlan
from croupier.shuffler.incidents import Occurrence

__all__ = ["ACCEPTED", "BAD_BATCH", "BAD_LENGTH", "BUSY", "FAILED", "GONE", "HEALTHY"]
__all__ += ["LENGTH_REQUIRED", "MALFORMED", "NOT_FOUND", "NO_UPGRADE", "ONLY_GET", "ONLY_POST"]
__all__ += ["READY", "REPEATED", "TOO_LARGE", "TOO_MANY", "TOO_OFTEN", "UNAUTHORISED"]
__all__ += ["WRONG_KIND", "Answer", "Health", "NotReady", "Ready"]
__all__ += ["Refusal", "ToldIncident", "document", "not_ready", "superseded"]


class Refusal(Document):
    """The refusal of a request, with what to do next."""

    schema_version: Literal[1]
    error: str


class Health(Document):
    """The process is alive."""

    schema_version: Literal[1]
    healthy: Literal[True]


class Ready(Document):
    """Reports can be stored."""

    schema_version: Literal[1]
    ready: Literal[True]


class ToldIncident(Document):
    """An incident that the operator must act on, its plan, and the page that says how."""

    incident: str
    plan: str | None
    cause: str
    page: str


class NotReady(Document):
    """An operator must act, and why: all causes in one text, and one by one."""

    schema_version: Literal[1]
    ready: Literal[False]
    cause: str
    incidents: list[ToldIncident]


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


def document(
    status: int, body: bytes = b"", *, cache_control: str = "no-store", **headers: str
) -> Answer:
    """Return an answer with a JSON body, or with none.

    No proxy may keep it unless `cache_control` says so: a stored key list would hide a new round or
    a replaced key, and a stored refusal would outlive its cause.
    """
    kind = [(b"content-type", b"application/json")] if body else []
    headers["cache_control"] = cache_control
    more = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    length = (b"content-length", b"%d" % len(body))
    head = {"type": "http.response.start", "status": status, "headers": [length, *kind, *more]}
    return Answer(status, head, {"type": "http.response.body", "body": body})


def _refusal(status: int, error: str, **headers: str) -> Answer:
    """Return a refusal that says what to do next."""
    return document(status, Refusal(schema_version=1, error=error).to_bytes(), **headers)


def _last(status: int, error: str, **headers: str) -> Answer:
    """Return a refusal that closes the connection: nothing more of the request is read."""
    return _refusal(status, error, connection="close", **headers)


ACCEPTED = document(202)
MALFORMED = _last(400, "Send a request in HTTP/1.1.")
REPEATED = _last(400, "Send each header once.")
NO_UPGRADE = _last(400, "Send no Upgrade: only HTTP/1.1 is spoken here.")
BAD_LENGTH = _last(400, "Send whole envelopes: as many as the plan says, relays any number.")
BAD_BATCH = _last(400, "Name the batch: Croupier-Batch: 32 hexadecimal digits.")
UNAUTHORISED = _last(401, "Send a valid credential: Authorization: Bearer TOKEN.")
NOT_FOUND = _last(404, "Nothing is here. See /v1/openapi.json.")
ONLY_GET = _last(405, "Use GET.", allow="GET, HEAD")
ONLY_POST = _last(405, "Use POST.", allow="POST")
GONE = _last(410, "The batch is closed. If your report is not in it, give it up.")
LENGTH_REQUIRED = _last(411, "Send Content-Length, and no Transfer-Encoding.")
TOO_LARGE = _last(413, "Send fewer envelopes per request.")
WRONG_KIND = _last(415, "Send Content-Type: application/octet-stream.")
TOO_OFTEN = _last(429, "Wait, then send the same bytes again.", retry_after="60")
FAILED = _last(500, "The server failed. Send the same bytes again.", retry_after="1")
# Keeps the connection: under load, new connections would cost more than the refusal.
BUSY = _refusal(503, "Wait, then send the same bytes again.", retry_after="1")
TOO_MANY = _last(503, "Wait, then connect again.", retry_after="1")
HEALTHY = document(200, Health(schema_version=1, healthy=True).to_bytes())
READY = document(200, Ready(schema_version=1, ready=True).to_bytes())


def superseded(pointer: SupersededPlan) -> Answer:
    """Return what everybody gets who asks for a superseded plan, or sends reports for it."""
    return document(410, pointer.to_bytes(), connection="close")


@lru_cache(maxsize=64)
def not_ready(found: tuple[Occurrence, ...]) -> Answer:
    """Say what the operator must act on, in fixed sentences."""
    body = NotReady(
        schema_version=1,
        ready=False,
        cause=" ".join(dict.fromkeys(each.sentence for each in found)),
        incidents=[
            ToldIncident(
                incident=each.name,
                plan=each.plan,
                cause=each.sentence,
                page=each.incident.page,
            )
            for each in found
        ],
    )
    return document(503, body.to_bytes(), retry_after="1")
