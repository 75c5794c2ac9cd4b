"""Encapsulation: RFC 9458, with X25519, HKDF-SHA256 and AES-128-GCM.

A client seals a request to the gateway's key; the relay between them sees who asks, the gateway
what is asked. The answer is sealed under keys that only this exchange has.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.hmac import HMAC
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from croupier.errors import MissingExtraError, UntrustedError

if TYPE_CHECKING:
    from pyhpke import CipherSuite

__all__ = ["KEYS_PATH", "KEYS_TYPE", "PATH", "REQUEST_OVERHEAD", "REQUEST_TYPE"]
__all__ += ["RESPONSE_OVERHEAD", "RESPONSE_TYPE", "UNKNOWN_KEY"]
__all__ += ["GatewayKey", "KeyConfiguration", "NotForUsError", "OpenedRequest", "SealedRequest"]
__all__ += ["read_configurations", "write_configurations"]

PATH, KEYS_PATH = "/v1/ohttp", "/v1/ohttp-keys"
"""The paths of the gateway; a relay has the same."""
REQUEST_TYPE, RESPONSE_TYPE = "message/ohttp-req", "message/ohttp-res"
KEYS_TYPE = "application/ohttp-keys"
UNKNOWN_KEY = "https://iana.org/assignments/http-problem-types#ohttp-key"
"""The type of the problem that a request is sealed to a key which is not in use."""
_KEM, _KDF, _AEAD = (0x0020).to_bytes(2), (1).to_bytes(2), (1).to_bytes(2)
_SUITE = _KEM + _KDF + _AEAD
_HEAD, _ENCAPSULATED, _TAG, _NONCE = 7, 32, 16, 16
REQUEST_OVERHEAD = _HEAD + _ENCAPSULATED + _TAG
RESPONSE_OVERHEAD = _NONCE + _TAG
_ASKING, _ANSWERING = b"message/bhttp request", b"message/bhttp response"


class NotForUsError(ValueError):
    """Bytes that this key does not open. Its text says nothing about them."""

    def __init__(self) -> None:
        super().__init__("not sealed to this key")


class KeyConfiguration(NamedTuple):
    """A key that requests are sealed to.

    Attributes:
        key_id: Its number, in one byte.
        public: The X25519 key.
    """

    key_id: int
    public: bytes

    def to_bytes(self) -> bytes:
        """Write it with the one suite that is spoken here."""
        algorithms = _KDF + _AEAD
        return bytes([self.key_id]) + _KEM + self.public + len(algorithms).to_bytes(2) + algorithms

    @classmethod
    def read(cls, data: bytes) -> Self | None:
        """Read one; None if it does not offer the suite that is spoken here."""
        key_id, kem, public, rest = data[:1], data[1:3], data[3:35], data[35:]
        size, algorithms = int.from_bytes(rest[:2]), rest[2:]
        if kem != _KEM or len(rest) < 2 or size != len(algorithms) or size % 4:
            return None
        offered = {algorithms[at : at + 4] for at in range(0, size, 4)}
        return cls(key_id[0], public) if _KDF + _AEAD in offered else None

    def ask(self, request: bytes, *, ephemeral: bytes | None = None) -> "SealedRequest":
        """Seal a request.

        Args:
            request: A binary HTTP message.
            ephemeral: The private key of the exchange; given in test vectors only.

        Raises:
            UntrustedError: Everybody would know what is sealed to this key.
        """
        suite, hpke = _suite()
        head = bytes([self.key_id]) + _SUITE
        receiver = suite.kem.deserialize_public_key(self.public)
        given = {}
        if ephemeral is not None:
            private = X25519PrivateKey.from_private_bytes(ephemeral)
            given["eks"] = hpke.KEMKeyPair(
                suite.kem.deserialize_private_key(ephemeral),
                suite.kem.deserialize_public_key(private.public_key().public_bytes_raw()),
            )
        try:
            enc, context = suite.create_sender_context(receiver, info=_info(head), **given)
        except ValueError:
            raise UntrustedError("the gateway's key", "is no key that hides anything") from None
        return SealedRequest(head + enc + context.seal(request), _AnswerKeys(enc, context))


def write_configurations(configurations: Sequence[KeyConfiguration]) -> bytes:
    """Write the document that clients fetch, the key to use first (RFC 9458, section 3.2)."""
    written = [each.to_bytes() for each in configurations]
    return b"".join(len(each).to_bytes(2) + each for each in written)


def read_configurations(data: bytes) -> list[KeyConfiguration]:
    """Read the keys of a document that can be used here; none if it is no such document."""
    found: list[KeyConfiguration] = []
    at = 0
    while at < len(data):
        size = int.from_bytes(data[at : at + 2])
        entry = data[at + 2 : at + 2 + size]
        at += 2 + size
        if len(entry) < max(size, 1):
            return []
        read = KeyConfiguration.read(entry)
        if read is not None:
            found.append(read)
    return found


class _AnswerKeys(NamedTuple):
    """The keys of an answer, which both sides of an exchange derive."""

    enc: bytes
    context: Any

    def cipher(self, nonce: bytes) -> tuple[AESGCM, bytes]:
        """Derive the key and the nonce of the answer (RFC 9458, section 4.4)."""
        secret = self.context.export(_ANSWERING, _NONCE)
        extract = HMAC(self.enc + nonce, SHA256())
        extract.update(secret)
        random_key = extract.finalize()
        key = HKDFExpand(SHA256(), 16, b"key").derive(random_key)
        return AESGCM(key), HKDFExpand(SHA256(), 12, b"nonce").derive(random_key)


@dataclass(frozen=True)
class SealedRequest:
    """A sealed request, and what opens its answer.

    Attributes:
        body: The bytes for the relay.
    """

    body: bytes
    _answering: _AnswerKeys

    def opened(self, response: bytes) -> bytes | None:
        """Return the binary HTTP message in an answer; None if it is not the gateway's."""
        cipher, nonce = self._answering.cipher(response[:_NONCE])
        try:
            return cipher.decrypt(nonce, response[_NONCE:], None)
        except InvalidTag:
            return None


@dataclass(frozen=True)
class OpenedRequest:
    """A request that was opened, and what seals its answer.

    Attributes:
        request: The binary HTTP message.
    """

    request: bytes
    _answering: _AnswerKeys

    def answered(self, response: bytes, *, nonce: bytes | None = None) -> bytes:
        """Seal the answer.

        Args:
            response: A binary HTTP message.
            nonce: 16 random bytes; given in test vectors only.
        """
        nonce = os.urandom(_NONCE) if nonce is None else nonce
        cipher, own = self._answering.cipher(nonce)
        return nonce + cipher.encrypt(own, response, None)


@dataclass(frozen=True, repr=False)
class GatewayKey:
    """The private key of a gateway.

    Attributes:
        number: Its number: a key that replaces another has the next one.
        private: The X25519 key.
    """

    number: int
    private: X25519PrivateKey

    @property
    def key_id(self) -> int:
        """Its number, in one byte."""
        return self.number % 256

    @property
    def configuration(self) -> KeyConfiguration:
        """Its public half, as clients fetch it."""
        return KeyConfiguration(self.key_id, self.private.public_key().public_bytes_raw())

    def open(self, body: bytes) -> OpenedRequest:
        """Open a sealed request.

        Raises:
            NotForUsError: It is not sealed to this key.
        """
        head, enc = body[:_HEAD], body[_HEAD : _HEAD + _ENCAPSULATED]
        if head != bytes([self.key_id]) + _SUITE or len(body) < REQUEST_OVERHEAD:
            raise NotForUsError
        suite, hpke = _suite()
        own = suite.kem.deserialize_private_key(self.private.private_bytes_raw())
        try:
            context = suite.create_recipient_context(enc, own, info=_info(head))
            request = context.open(body[_HEAD + _ENCAPSULATED :])
        except (hpke.PyHPKEError, ValueError):
            raise NotForUsError from None
        return OpenedRequest(request, _AnswerKeys(enc, context))


def _info(head: bytes) -> bytes:
    return _ASKING + b"\0" + head


def _suite() -> "tuple[CipherSuite, Any]":
    try:
        import pyhpke  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("Oblivious HTTP", package="pyhpke", extra="oblivious") from None
    suite = pyhpke.CipherSuite.new(
        pyhpke.KEMId.DHKEM_X25519_HKDF_SHA256, pyhpke.KDFId.HKDF_SHA256, pyhpke.AEADId.AES128_GCM
    )
    return suite, pyhpke
