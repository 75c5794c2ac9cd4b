"""The body of a request, once its head was accepted."""

from croupier.hosting.http.worker import Receive

__all__ = ["LENGTH_DIGITS", "read_body"]

LENGTH_DIGITS = 12
"""The longest accepted Content-Length; numbers with thousands of digits take time to parse."""


async def read_body(receive: Receive) -> bytes | None:
    """Return the body; None if the sender disconnects."""
    message = await receive()
    if message["type"] == "http.request" and not message.get("more_body"):
        return message["body"]  # type: ignore[no-any-return]
    parts = []
    while message["type"] == "http.request":
        parts.append(message["body"])
        if not message.get("more_body"):
            return b"".join(parts)
        message = await receive()
    return None
