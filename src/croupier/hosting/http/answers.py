"""Answers ready to be sent: all of one kind have the same bytes, whoever asked."""

from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any, Literal

from croupier.hosting.incidents import Occurrence
from croupier.protocol.signed_document import Document

__all__ = ["BUSY", "FAILED", "HEALTHY", "LENGTH_REQUIRED", "MALFORMED", "NOT_FOUND", "NO_UPGRADE"]
__all__ += ["ONLY_GET", "ONLY_POST", "PREFLIGHT", "READY", "REPEATED", "TOO_MANY", "TOO_OFTEN"]
__all__ += ["UNAUTHORISED", "Answer", "Health", "NotReady", "Ready", "Refusal", "ToldIncident"]
__all__ += ["document", "kept", "last_refusal", "not_ready", "refusal"]


class Refusal(Document):
    """The refusal of a request, with what to do next."""

    schema_version: Literal[1]
    error: str


class Health(Document):
    """The process is alive."""

    schema_version: Literal[1]
    healthy: Literal[True]


class Ready(Document):
    """Nothing keeps the service from its work."""

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


_WITHOUT_BODY = frozenset((204, 304))
"""Answers that have no body, and no length either."""
_TAG_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and body as the two messages of ASGI.

    Attributes:
        status: The status.
        head: The message with the headers.
        body: The message with the body.
        tag: The entity tag; empty if no cache may keep the answer.
        unchanged: The answer to a cache that has this one; None if none may keep it.
    """

    status: int
    head: Any
    body: Any
    tag: bytes = b""
    unchanged: "Answer | None" = None

    async def send(self, send: Any) -> None:
        """Send it."""
        await send(self.head)
        await send(self.body)

    def with_headers(self, *more: tuple[bytes, bytes]) -> "Answer":
        """Return the same answer with more headers."""
        head = self.head | {"headers": [*self.head["headers"], *more]}
        return replace(self, head=head)


def document(
    status: int, body: bytes = b"", *, cache_control: str = "no-store", **headers: str
) -> Answer:
    """Return an answer with a body, in JSON unless its content type is given, or with none.

    No cache may keep it unless `cache_control` says so: a stored refusal would outlive its cause.
    """
    headers["cache_control"] = cache_control
    own = []
    if status not in _WITHOUT_BODY:
        own.append((b"content-length", b"%d" % len(body)))
    if body:
        headers.setdefault("content_type", "application/json")
    more = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    head = {"type": "http.response.start", "status": status, "headers": [*own, *more]}
    return Answer(status, head, {"type": "http.response.body", "body": body})


def kept(body: bytes, *, seconds: int, content_type: str = "application/json") -> Answer:
    """Return a document that every cache may keep for some seconds, and then ask about.

    The entity tag is a hash of the body alone: it is the same from every worker, for everybody.
    """
    tag = f'"{sha256(body).hexdigest()[:_TAG_DIGITS]}"'
    cache_control = f"public, max-age={seconds}"
    unchanged = document(304, cache_control=cache_control, etag=tag)
    answer = document(200, body, cache_control=cache_control, etag=tag, content_type=content_type)
    return replace(answer, tag=tag.encode(), unchanged=unchanged)


def refusal(status: int, error: str, **headers: str) -> Answer:
    """Return a refusal that says what to do next."""
    return document(status, Refusal(schema_version=1, error=error).to_bytes(), **headers)


def last_refusal(status: int, error: str, **headers: str) -> Answer:
    """Return a refusal that closes the connection: nothing more of the request is read."""
    return refusal(status, error, connection="close", **headers)


PREFLIGHT = document(204)
MALFORMED = last_refusal(400, "Send a request in HTTP/1.1.")
REPEATED = last_refusal(400, "Send each header once.")
NO_UPGRADE = last_refusal(400, "Send no Upgrade: only HTTP/1.1 is spoken here.")
UNAUTHORISED = last_refusal(401, "Send a valid credential: Authorization: Bearer TOKEN.")
NOT_FOUND = last_refusal(404, "Nothing is here. See /v1/openapi.json.")
ONLY_GET = last_refusal(405, "Use GET.", allow="GET, HEAD")
ONLY_POST = last_refusal(405, "Use POST.", allow="POST")
LENGTH_REQUIRED = last_refusal(411, "Send Content-Length, and no Transfer-Encoding.")
TOO_OFTEN = last_refusal(429, "Wait, then send the same bytes again.", retry_after="60")
FAILED = last_refusal(500, "The server failed. Send the same bytes again.", retry_after="1")
# Keeps the connection: under load, new connections would cost more than the refusal.
BUSY = refusal(503, "Wait, then send the same bytes again.", retry_after="1")
TOO_MANY = last_refusal(503, "Wait, then connect again.", retry_after="1")
HEALTHY = document(200, Health(schema_version=1, healthy=True).to_bytes())
READY = document(200, Ready(schema_version=1, ready=True).to_bytes())


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
