"""Blind RSA signatures: RFC 9474, RSABSSA-SHA384-PSS-Deterministic.

The holder of the private key signs a message without seeing it. Blinding multiplies the encoded
message by a random number that only the client knows, so that every signed message is equally
likely to belong to every signature. Whoever signs uses `croupier.issuer.signing`; what is here runs
on the device of a person and at intake, with numbers that are theirs or public.
"""

import os
from dataclasses import dataclass
from hashlib import sha384
from math import gcd
from secrets import randbelow

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers
from cryptography.hazmat.primitives.hashes import SHA384

from croupier.errors import UntrustedError

__all__ = ["EXPONENT", "BlindKey", "Blinded", "encode_pss"]

EXPONENT = 65537
_SALT = 48
_HASH = 48
_WHAT = "the issuer's signature"


@dataclass(frozen=True)
class Blinded:
    """A blinded message, and the secret that takes the blinding off.

    Attributes:
        message: The bytes that are sent to the issuer.
        inverse: Undoes the blinding; never leaves the client.
    """

    message: bytes
    inverse: int


@dataclass(frozen=True)
class BlindKey:
    """The public half of a key that signs blindly.

    Attributes:
        modulus: The product of two primes.
        exponent: The public exponent.
    """

    modulus: int
    exponent: int = EXPONENT

    @property
    def size(self) -> int:
        """The length of a signature in bytes."""
        return (self.modulus.bit_length() + 7) // 8

    def blind(
        self, message: bytes, *, salt: bytes | None = None, factor: int | None = None
    ) -> Blinded:
        """Blind a message.

        Args:
            message: The message.
            salt: The salt of its encoding, 48 random bytes; given in test vectors only.
            factor: The random number, below the modulus; given in test vectors only.

        Raises:
            UntrustedError: The encoded message shares a factor with the modulus. By chance that
                never happens; a modulus of small primes was made on purpose.
        """
        encoded = encode_pss(message, bits=self.modulus.bit_length() - 1, salt=salt)
        number = int.from_bytes(encoded)
        if gcd(number, self.modulus) != 1:
            raise UntrustedError("the issuer's key", "has small factors")
        factor = 1 + randbelow(self.modulus - 1) if factor is None else factor
        try:
            inverse = pow(factor, -1, self.modulus)
        except ValueError:
            raise UntrustedError("the issuer's key", "has small factors") from None
        hidden = number * pow(factor, self.exponent, self.modulus) % self.modulus
        return Blinded(hidden.to_bytes(self.size), inverse)

    def finalize(self, message: bytes, blind_signature: bytes, *, inverse: int) -> bytes:
        """Take the blinding off a signature, and return it if it is one of the message.

        Raises:
            UntrustedError: It is not: another key signed, perhaps one for this person alone.
        """
        if len(blind_signature) != self.size:
            raise UntrustedError(_WHAT, "has another length than its key")
        number = int.from_bytes(blind_signature) * inverse % self.modulus
        signature = number.to_bytes(self.size)
        if not self.is_signed(message, signature):
            raise UntrustedError(_WHAT, "is not of the key that the plan's issuer published")
        return signature

    def is_signed(self, message: bytes, signature: bytes) -> bool:
        """Tell whether a signature, without blinding, is one of the message."""
        key = RSAPublicNumbers(self.exponent, self.modulus).public_key()
        try:
            key.verify(signature, message, PSS(MGF1(SHA384()), _SALT), SHA384())
        except InvalidSignature:
            return False
        return True


def encode_pss(message: bytes, *, bits: int, salt: bytes | None = None) -> bytes:
    """Return EMSA-PSS of RFC 8017, section 9.1.1, with SHA-384, its MGF1 and 48 bytes of salt.

    Args:
        message: The message.
        bits: The largest number of bits of the result, one less than those of the modulus.
        salt: The salt; from the operating system if left out.
    """
    salt = os.urandom(_SALT) if salt is None else salt
    length = (bits + 7) // 8
    digest = sha384(bytes(8) + sha384(message).digest() + salt).digest()
    block = bytes(length - len(salt) - _HASH - 2) + b"\x01" + salt
    masked = int.from_bytes(block) ^ int.from_bytes(_mask(digest, len(block)))
    masked &= (1 << (bits - 8 * (length - len(block)))) - 1
    return masked.to_bytes(len(block)) + digest + b"\xbc"


def _mask(seed: bytes, length: int) -> bytes:
    """Return MGF1 of RFC 8017, appendix B.2.1."""
    blocks = (sha384(seed + number.to_bytes(4)).digest() for number in range(-(-length // _HASH)))
    return b"".join(blocks)[:length]
