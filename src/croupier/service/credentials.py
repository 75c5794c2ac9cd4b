"""Who may send: bearer credentials, checked without a list of people."""

import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as NotBase64
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from croupier.errors import ParameterError

__all__ = ["BearerCredentials", "Credential", "Credentials"]

_ID_BYTES, _PROOF_BYTES, _LEAST_SECRET_BYTES = 16, 16, 32
_PERSON, _RELAY = b"p", b"r"
_TOKEN_LENGTH = 44
_SCHEME = b"Bearer "


@dataclass(frozen=True, slots=True)
class Credential:
    """Who sends, as far as the shuffler knows.

    Attributes:
        identity: Random bytes, the same whenever this credential is used.
        relay: Whether it may send many envelopes, for people it vouches for.
    """

    identity: bytes
    relay: bool


class Credentials(Protocol):
    """How a service tells who may send; unlinkable tokens fit behind the same method."""

    def check(self, authorization: bytes) -> Credential | None:
        """The credential in an Authorization header, None if it is not valid."""


class BearerCredentials:
    """Credentials that carry their own proof under a secret of the shuffler.

    A token is a kind, 16 random bytes and their keyed BLAKE2b, 44 characters for persons and relays
    alike. Nothing is stored a person; whoever has the secret can issue. To revoke, issue anew under
    another secret.

    >>> credentials = BearerCredentials(bytes(32))
    >>> token = credentials.issue()
    >>> credentials.check(b"Bearer " + token.encode()).relay
    False
    >>> credentials.check(b"Bearer " + token[::-1].encode()) is None
    True
    """

    def __init__(self, secret: bytes) -> None:
        if len(secret) < _LEAST_SECRET_BYTES:
            raise ParameterError(
                "secret",
                must=f"have at least {_LEAST_SECRET_BYTES} bytes",
                hint="Make one: croupier credentials new-secret.",
            )
        self._key = blake2b(secret, person=b"credentials").digest()

    def issue(self, *, relay: bool = False) -> str:
        """A new token."""
        kind = _RELAY if relay else _PERSON
        claim = kind + secrets.token_bytes(_ID_BYTES)
        return urlsafe_b64encode(claim + self._proof(claim)).decode()

    def check(self, authorization: bytes) -> Credential | None:
        """The credential in an Authorization header, None if it is not valid."""
        token = authorization.removeprefix(_SCHEME)
        if len(token) != _TOKEN_LENGTH or len(authorization) != _TOKEN_LENGTH + len(_SCHEME):
            return None
        try:
            raw = urlsafe_b64decode(token)
        except NotBase64:
            return None
        claim, proof = raw[: 1 + _ID_BYTES], raw[1 + _ID_BYTES :]
        if not hmac.compare_digest(proof, self._proof(claim)):
            return None
        return Credential(identity=claim[1:], relay=claim[:1] == _RELAY)

    def _proof(self, claim: bytes) -> bytes:
        return blake2b(claim, digest_size=_PROOF_BYTES, key=self._key).digest()
