"""Cross-origin requests (CORS): web pages on the origins that a plan lists may take part.

A browser asks whether a page of another origin may send a report, and shows it the answer only if
the service names that origin. This protects no report: whoever has a credential may send with other
programs. It keeps pages that the plan does not list from doing so in somebody's browser.

Reports: the listed origin is named, never `*`. Since answers differ by origin, all say so (Vary).
Key lists and rounds: `*`, since they are public and the same for everybody, so that a cache keeps
one answer for all origins. So it is where sealed requests come in through a relay: the relay does
not pass on who asks, and a page that the plan does not list needs no browser for that.
"""

from collections.abc import Iterable, Sequence

from croupier.hosting.http.answers import PREFLIGHT, Answer

__all__ = ["Origins", "readable"]

Headers = Iterable[tuple[bytes, bytes]]

_ALLOWED = b"access-control-allow-origin"
_EXPOSED = (b"access-control-expose-headers", b"Retry-After")
_VARIES = (b"vary", b"Origin")


def _asked(methods: bytes) -> Sequence[tuple[bytes, bytes]]:
    """Return what a browser is told before it sends: methods, headers, and for how long."""
    sent = b"Authorization, Content-Type, Croupier-Batch, Croupier-Proof"
    return (
        (b"access-control-allow-methods", methods),
        (b"access-control-allow-headers", sent),
        (b"access-control-max-age", b"86400"),
    )


_TO_POST = _asked(b"POST")


class Origins:
    """The origins whose pages may send reports of a plan.

    Args:
        listed: The origins, as browsers write them.
    """

    def __init__(self, listed: Iterable[str]) -> None:
        allowed = {origin.encode(): (_ALLOWED, origin.encode()) for origin in listed}
        self._answers = {origin: (header, _EXPOSED, _VARIES) for origin, header in allowed.items()}
        self._preflights = {
            origin: (header, *_TO_POST, _VARIES) for origin, header in allowed.items()
        }

    def named(self, answer: Answer, headers: Headers) -> Answer:
        """Return the answer to a request for the route of reports, for the origin that asks."""
        origin = next((value for name, value in headers if name == b"origin"), b"")
        added = self._preflights if answer is PREFLIGHT else self._answers
        return answer.with_headers(*added.get(origin, (_VARIES,)))


def readable(answer: Answer, *, methods: bytes = b"GET, HEAD") -> Answer:
    """Return a public answer that pages of every origin may read."""
    more = _asked(methods) if answer is PREFLIGHT else (_EXPOSED,)
    return answer.with_headers((_ALLOWED, b"*"), *more)
