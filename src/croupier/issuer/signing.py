"""Blind signing: the private operation of RFC 9474, section 4.3, on what the issuer cannot read.

A client chooses the number that is signed, so its choice must not show in the time that signing
takes: the number is multiplied by a random one before and after, and the powers are computed by a
function whose time does not depend on the exponent.
"""

from abc import ABC, abstractmethod
from math import gcd
from secrets import randbelow

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from croupier.errors import CroupierError, MissingExtraError
from croupier.protocol.admission.blind_rsa import BlindKey

__all__ = ["BlindSigner", "MemorySigner", "SigningFaultError"]


class SigningFaultError(CroupierError):
    """A signature came out wrong; it was not given to anybody, since it could reveal the key."""

    def __init__(self) -> None:
        super().__init__(
            "A blind signature came out wrong and was discarded. If it happens again, the memory "
            "or the security module of this host is faulty."
        )


class BlindSigner(ABC):
    """A private key that signs blinded messages.

    Attributes:
        key: Its public half.
    """

    key: BlindKey

    def sign(self, blinded: bytes) -> bytes | None:
        """Sign a blinded message; None if it is not a number below the modulus.

        Raises:
            SigningFaultError: The result is not the signature.
        """
        number, modulus = int.from_bytes(blinded), self.key.modulus
        if len(blinded) != self.key.size or not 0 < number < modulus or gcd(number, modulus) != 1:
            return None
        signed = self._power(number)
        if pow(signed, self.key.exponent, modulus) != number:
            raise SigningFaultError
        return signed.to_bytes(self.key.size)

    @abstractmethod
    def _power(self, number: int) -> int:
        """Return the number to the power of the private exponent."""


class MemorySigner(BlindSigner):
    """A private key in the memory of this process.

    Args:
        private: The key.
    """

    def __init__(self, private: RSAPrivateKey) -> None:
        try:
            import gmpy2  # noqa: PLC0415 - an extra
        except ImportError:
            raise MissingExtraError("Signing tokens", package="gmpy2", extra="issuer") from None
        numbers = private.private_numbers()
        self.key = BlindKey(numbers.public_numbers.n, numbers.public_numbers.e)
        self._p, self._q = numbers.p, numbers.q
        self._dp, self._dq, self._q_inverse = numbers.dmp1, numbers.dmq1, numbers.iqmp
        self._gmp = gmpy2

    def _power(self, number: int) -> int:
        """Compute it modulo each prime, of the number times a random one."""
        gmp, modulus = self._gmp, self.key.modulus
        # Nearly every number has an inverse; one that has none is a factor of the modulus.
        factor = 1 + randbelow(modulus - 1)
        inverse = gmp.invert(factor, modulus)
        hidden = number * gmp.powmod(factor, self.key.exponent, modulus) % modulus
        of_p = gmp.powmod_sec(hidden % self._p, self._dp, self._p)
        of_q = gmp.powmod_sec(hidden % self._q, self._dq, self._q)
        both = of_q + self._q * ((of_p - of_q) * self._q_inverse % self._p)
        return int(both * inverse % modulus)
