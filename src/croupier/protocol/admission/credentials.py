"""Bearer credentials of senders, checked without a list of people."""

import hmac
import os
import secrets
from binascii import Error as NotHexadecimal
from binascii import unhexlify
from collections.abc import Container
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, Protocol

from croupier.errors import ParameterError
from croupier.protocol.private_file import is_open_to_others

__all__ = ["ID_BYTES", "TOKEN_LENGTH", "BearerCredentials", "Credential", "Credentials"]
__all__ += ["NoCredentials"]
__all__ += ["owner_identity", "read_secret", "write_secret"]

ID_BYTES = 16
"""The identity of a credential: random bytes, or `owner_identity` for a place of a public file."""
_PROOF_BYTES, _LEAST_SECRET_BYTES = 16, 32
_PERSON, _RELAY = b"p", b"r"
TOKEN_LENGTH = 2 * (1 + ID_BYTES + _PROOF_BYTES)
_SCHEME = b"Bearer "
_MAKE = "Make one: croupier credentials issue FILE --new."


class Credential(NamedTuple):
    """A sender, as far as the shuffler knows.

    Attributes:
        identity: Random bytes, the same whenever this credential is used.
        relay: True if it may send many envelopes, for people it vouches for.
    """

    identity: bytes
    relay: bool


class Credentials(Protocol):
    """A check of who may send."""

    def check(self, authorization: bytes) -> Credential | None:
        """Return the credential in an Authorization header, None if it is not valid."""


class NoCredentials:
    """The check of a service that admits nobody by credential."""

    def check(self, authorization: bytes) -> Credential | None:
        """Refuse everybody."""
        del authorization
        return None


class BearerCredentials:
    """Credentials that carry their own proof under a secret of the shuffler.

    A token is a kind, 16 random bytes and their keyed BLAKE2b, 66 hexadecimal digits for persons
    and relays alike. Nothing is stored per person; anybody with the secret can issue. Single ones
    are revoked by their random bytes, all of them by another secret.

    Args:
        secret: The secret that tokens are made and checked with.
        revoked: The random bytes of credentials that are no longer valid.

    >>> credentials = BearerCredentials(bytes(32))
    >>> token = credentials.issue()
    >>> credentials.check(b"Bearer " + token.encode()).relay
    False
    >>> credentials.check(b"Bearer " + token[::-1].encode()) is None
    True
    """

    def __init__(self, secret: bytes, *, revoked: Container[bytes] = ()) -> None:
        if len(secret) < _LEAST_SECRET_BYTES:
            raise ParameterError(
                "secret",
                must=f"have at least {_LEAST_SECRET_BYTES} bytes",
                hint=_MAKE,
            )
        self._secret = secret
        self._revoked = revoked
        self._key = blake2b(secret, person=b"credentials").digest()

    def issue(self, *, relay: bool = False) -> str:
        """Issue a new token."""
        return self._token(_RELAY if relay else _PERSON, secrets.token_bytes(ID_BYTES))

    def issue_for(self, owner: int) -> str:
        """Return the token of a place in a public file, always the same one."""
        return self._token(_PERSON, owner_identity(self._secret, owner))

    def identity(self, device: bytes) -> bytes:
        """Return the identity of the credential of a device that enrols itself.

        Args:
            device: Random bytes that only the device and the issuer know.
        """
        key = blake2b(self._secret, person=b"devices").digest()
        return blake2b(device, digest_size=ID_BYTES, key=key).digest()

    def issue_to(self, device: bytes) -> str:
        """Return the token of a device that enrols itself, always the same one."""
        return self._token(_PERSON, self.identity(device))

    def _token(self, kind: bytes, identity: bytes) -> str:
        claim = kind + identity
        return (claim + self._proof(claim)).hex()

    def check(self, authorization: bytes) -> Credential | None:
        """Return the credential in an Authorization header, None if it is not valid."""
        scheme, token = authorization[: len(_SCHEME)], authorization[len(_SCHEME) :]
        if scheme != _SCHEME or len(token) != TOKEN_LENGTH:
            return None
        try:
            raw = unhexlify(token)
        except NotHexadecimal:
            return None
        claim, proof = raw[: 1 + ID_BYTES], raw[1 + ID_BYTES :]
        # Both are always checked, so that either refusal takes the same time.
        proved = hmac.compare_digest(proof, self._proof(claim))
        revoked = claim[1:] in self._revoked
        if revoked or not proved:
            return None
        return Credential(identity=claim[1:], relay=claim[:1] == _RELAY)

    def _proof(self, claim: bytes) -> bytes:
        return blake2b(claim, digest_size=_PROOF_BYTES, key=self._key).digest()


def owner_identity(secret: bytes, owner: int) -> bytes:
    """Return the identity of the credential of a place in the public file.

    If a plan mixes by groups, everybody reports from a place, and only with the credential that
    was issued for it. With the secret, the credential of every place can be computed; without it,
    it looks random.

    Args:
        secret: The shuffler's secret, under which credentials are issued.
        owner: The place, counted from 0.
    """
    key = blake2b(secret, person=b"owners").digest()
    return blake2b(owner.to_bytes(8), digest_size=ID_BYTES, key=key).digest()


def write_secret(file: Path) -> None:
    """Write a new secret in hexadecimal to a file that only its owner may read."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise ParameterError(
            "FILE", must="not be there yet", got=str(file), hint="Leave out --new to use it."
        ) from None
    with os.fdopen(descriptor, "w") as opened:
        opened.write(secrets.token_hex(_LEAST_SECRET_BYTES) + "\n")


def read_secret(file: Path, *, option: str = "--secret") -> bytes:
    """Read the secret in a file.

    Args:
        file: The file.
        option: The option or argument that names it, as it is typed.
    """
    if not file.is_file():
        raise ParameterError(option, must="be a file", got=str(file), hint=_MAKE)
    if is_open_to_others(file):
        raise ParameterError(
            option,
            must="be readable by its owner only",
            got=str(file),
            hint=f"Run: chmod 600 {file}",
        )
    try:
        secret = bytes.fromhex(file.read_text(encoding="ascii").strip())
    except ValueError:
        raise ParameterError(
            option, must="be hexadecimal digits", got=str(file), hint=_MAKE
        ) from None
    if len(secret) < _LEAST_SECRET_BYTES:
        must = f"hold at least {2 * _LEAST_SECRET_BYTES} hexadecimal digits"
        raise ParameterError(option, must=must, got=str(file), hint=_MAKE)
    return secret
