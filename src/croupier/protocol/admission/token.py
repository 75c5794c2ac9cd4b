"""Tokens: a right to send one report in one round, unlinkable to whoever received it.

A token has the shape of RFC 9578, type 2. Its nonce is the hash of a signing key that the client
makes for this token alone. The key signs the batch and the body of the request, so that whoever
sees a token on its way cannot spend it on another report.

The issuer does not see what it signs, hence not the round either. Each plan and round therefore has
an issuer's key of its own (`token_keys`), and the challenge that the token answers follows from the
plan and the round, never from what a server says.
"""

import base64
import hmac
from binascii import Error as NotBase64
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple, Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from croupier.protocol.admission.blind_rsa import Blinded, BlindKey

__all__ = ["PROOF_LENGTH", "REQUEST_LENGTH", "SIGNATURE_LENGTH", "TOKEN_LENGTH", "Spender"]
__all__ += ["Token", "TokenInput", "challenge", "is_spent_by_its_owner", "read_request"]
__all__ += ["request_of"]

_TYPE = (2).to_bytes(2)
SIGNATURE_LENGTH = 256
TOKEN_LENGTH = 2 + 3 * 32 + SIGNATURE_LENGTH
REQUEST_LENGTH = 3 + SIGNATURE_LENGTH
"""A request to the issuer: type, the last byte of the key's id, the blinded message."""
PROOF_LENGTH = 32 + 64
"""The one-time public key, and its signature of the request."""
_SCHEME = "PrivateToken token="


def challenge(plan: str, round_number: int, *, issuer: str) -> bytes:
    """Return the digest of the challenge (RFC 9577, section 2.1) that tokens of a round answer.

    Args:
        plan: The digest of the plan.
        round_number: The round.
        issuer: The issuer's root key, in hexadecimal. It stands in the place of a host name, below
            a domain that does not exist: the issuer is known by its key, wherever it runs.
    """
    name = f"{issuer[:32]}.{issuer[32:]}.issuer.invalid".encode()
    context = sha256(b"croupier token\0" + bytes.fromhex(plan) + round_number.to_bytes(4)).digest()
    parts = _TYPE, len(name).to_bytes(2), name, len(context).to_bytes(1), context, bytes(2)
    return sha256(b"".join(parts)).digest()


class TokenInput(NamedTuple):
    """The part of a token that is signed.

    Attributes:
        nonce: The hash of the one-time key.
        challenge: The digest of the challenge.
        key_id: The id of the issuer's key.
    """

    nonce: bytes
    challenge: bytes
    key_id: bytes

    def to_bytes(self) -> bytes:
        """Return the bytes that the issuer signs."""
        return _TYPE + self.nonce + self.challenge + self.key_id


@dataclass(frozen=True)
class Token:
    """A token as it is spent.

    Attributes:
        given: The part that is signed.
        signature: The issuer's signature.
    """

    given: TokenInput
    signature: bytes

    def to_bytes(self) -> bytes:
        """Return the token, always of one length."""
        return self.given.to_bytes() + self.signature

    @classmethod
    def read(cls, data: bytes) -> Self | None:
        """Return the token in some bytes; None if they are not one."""
        if len(data) != TOKEN_LENGTH or data[:2] != _TYPE:
            return None
        return cls(TokenInput(data[2:34], data[34:66], data[66:98]), data[98:])

    @property
    def authorization(self) -> str:
        """The header that spends it (RFC 9577, section 2.2)."""
        return f'{_SCHEME}"{base64.urlsafe_b64encode(self.to_bytes()).decode()}"'

    @classmethod
    def of_header(cls, authorization: bytes) -> Self | None:
        """Return the token in an Authorization header; None if it holds none."""
        scheme = f'{_SCHEME}"'.encode()
        if not authorization.startswith(scheme) or authorization[-1:] != b'"':
            return None
        text = authorization[len(scheme) : -1]
        try:
            data = base64.b64decode(text, altchars=b"-_", validate=True)
        except (NotBase64, ValueError):
            return None
        # One token has one spelling: spare bits at the end must be zero.
        if base64.urlsafe_b64encode(data) != text:
            return None
        return cls.read(data)

    def is_valid(self, key: BlindKey, *, key_id: bytes, challenge: bytes) -> bool:
        """Tell whether the issuer signed it with a key, for a challenge."""
        fits = hmac.compare_digest(self.given.key_id, key_id)
        answers = hmac.compare_digest(self.given.challenge, challenge)
        return fits and answers and key.is_signed(self.given.to_bytes(), self.signature)


@dataclass(frozen=True)
class Spender:
    """The one-time key of a token.

    Attributes:
        seed: The private key, 32 random bytes; kept until the token is spent.
    """

    seed: bytes

    @property
    def _key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.seed)

    @property
    def nonce(self) -> bytes:
        """The nonce of the token."""
        return sha256(self._key.public_key().public_bytes_raw()).digest()

    def proof(self, *, plan: str, batch: bytes, body: bytes) -> bytes:
        """Return the public key, and its signature of what the token is spent on."""
        signature = self._key.sign(_spent_on(plan, batch, body))
        return self._key.public_key().public_bytes_raw() + signature


def is_spent_by_its_owner(
    token: Token, proof: bytes, *, plan: str, batch: bytes, body: bytes
) -> bool:
    """Tell whether the one-time key of a token signed what it is spent on."""
    if len(proof) != PROOF_LENGTH or sha256(proof[:32]).digest() != token.given.nonce:
        return False
    try:
        key = Ed25519PublicKey.from_public_bytes(proof[:32])
        key.verify(proof[32:], _spent_on(plan, batch, body))
    except (InvalidSignature, ValueError):
        return False
    return True


def _spent_on(plan: str, batch: bytes, body: bytes) -> bytes:
    return b"croupier spend\0" + bytes.fromhex(plan) + batch + sha256(body).digest()


def request_of(blinded: Blinded, key_id: bytes) -> bytes:
    """Return the request for a token, which has one length and says nothing about it."""
    return _TYPE + key_id[-1:] + blinded.message


def read_request(data: bytes, key_id: bytes) -> bytes | None:
    """Return the blinded message of a request; None if it is not one for this key."""
    if len(data) != REQUEST_LENGTH or data[:3] != _TYPE + key_id[-1:]:
        return None
    return data[3:]
