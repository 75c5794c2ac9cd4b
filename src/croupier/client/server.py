"""The addresses that a client talks to, and the few headers that are the same for everybody."""

from dataclasses import dataclass, field
from typing import NamedTuple, Self
from urllib.parse import urlsplit

from croupier.client.exchange import HEADERS, Get, Post
from croupier.errors import ParameterError
from croupier.protocol.admission.enrolment import MOST_PROOF

__all__ = ["Server", "Spent"]

_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


class Spent(NamedTuple):
    """The headers that spend a token on one request.

    Attributes:
        authorization: The token.
        proof: The proof that its owner spends it on this request, in hexadecimal.
    """

    authorization: str
    proof: str


@dataclass(frozen=True, kw_only=True)
class Server:
    """The address that reports go to, and what admits the sender there.

    Attributes:
        url: Without a path: ``https://reports.example``.
        credential: Admits the sender; never printed. None if the client enrols at `issuer`. If the
            plan admits by token, only the issuer gets to see it.
        mirrors: Other addresses that publish the key list, for comparison.
        insecure_http: True to allow a URL without TLS that is not on this machine.
        issuer: The address that gives a credential to each device, and tokens if the plan admits
            by token, without a path.
        relay: The address of the relay that all requests to the shuffler go through, without a
            path (RFC 9458); it hides the sender's address. Excludes `mirrors`, which would see it.
        proof: The invitation or secret that the issuer wants to see, printable ASCII; empty if
            enrolment is open; never printed.
    """

    url: str
    credential: str | None = field(default=None, repr=False)
    mirrors: tuple[str, ...] = ()
    insecure_http: bool = False
    issuer: str | None = None
    relay: str | None = None
    proof: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        for url in (self.url, *self.mirrors):
            self._require_address("url", url)
        if self.credential is None and self.issuer is None:
            raise ParameterError("credential", must="be given, or an issuer that enrols the device")
        if self.issuer is not None:
            self._require_address("issuer", self.issuer)
        if self.relay is not None:
            self._require_address("relay", self.relay)
            if _origin(self.relay) == _origin(self.url):
                raise ParameterError("relay", must="be another address than the shuffler's")
            if self.mirrors:
                raise ParameterError(
                    "mirrors",
                    must="be left out with a relay: they would see the address that it hides",
                    hint="croupier mirror compares what several addresses serve.",
                )
        if not _is_printable(self.credential or ""):
            raise ParameterError("credential", must="be printable ASCII")
        if not _is_printable(self.proof) or len(self.proof) > MOST_PROOF:
            must = f"be at most {MOST_PROOF:,} characters of printable ASCII"
            raise ParameterError("proof", must=must)

    def _require_address(self, name: str, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ParameterError(name, must="begin with https:// or http://", got=url)
        if "@" in parts.netloc:
            raise ParameterError(name, must="hold no name and no password before the host")
        if not (parts.scheme == "https" or parts.hostname in _LOOPBACK or self.insecure_http):
            hint = "A server without TLS must be allowed: insecure_http, or --insecure-http."
            raise ParameterError(name, must="begin with https://", got=url, hint=hint)

    @property
    def authorization(self) -> str:
        """The header that admits the sender."""
        if self.credential is None:
            hint = "Enrol first: croupier.client.enrolment.admitted."
            raise ParameterError("credential", must="be given", hint=hint)
        return f"Bearer {self.credential}"

    def admitting(self, credential: str) -> Self:
        """Return the same address with the credential that its issuer gave."""
        return type(self)(
            url=self.url,
            credential=credential,
            mirrors=self.mirrors,
            insecure_http=self.insecure_http,
            issuer=self.issuer,
            relay=self.relay,
        )

    def get(self, plan: str, path: str = "", *, mirror: str | None = None) -> Get:
        """Ask for the key list of a plan, by its digest, or for a document below it."""
        url = f"{(mirror or self.url).rstrip('/')}/v1/plans/{plan}{path}"
        return Get(url, relay=self.relay)

    def post(self, *, plan: str, batch: str, body: bytes, spent: Spent | None = None) -> Post:
        """Send envelopes, with the same few headers for everybody.

        Args:
            plan: The digest of the plan.
            batch: The batch, 32 hexadecimal digits.
            body: The envelopes.
            spent: The token that admits the sender; the credential does if left out.
        """
        headers = HEADERS | {
            "Content-Type": "application/octet-stream",
            "Croupier-Batch": batch,
            "Authorization": self.authorization if spent is None else spent.authorization,
        }
        if spent is not None:
            headers |= {"Croupier-Proof": spent.proof}
        url = f"{self.url.rstrip('/')}/v1/plans/{plan}/reports"
        return Post(url, headers, body, self.relay)

    def ask_for_token(self, *, plan: str, round_number: int, request: bytes) -> Post:
        """Ask the issuer to sign the blinded token of a round."""
        headers = HEADERS | {
            "Content-Type": "application/private-token-request",
            "Authorization": self.authorization,
        }
        issuer = (self.issuer or "").rstrip("/")
        return Post(f"{issuer}/v1/plans/{plan}/rounds/{round_number}/token", headers, request)


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return (
        parts.scheme,
        parts.hostname or "",
        parts.port or (443 if parts.scheme == "https" else 80),
    )


def _is_printable(text: str) -> bool:
    return text.isascii() and text.isprintable()
