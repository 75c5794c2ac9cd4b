"""Private keys under a passphrase: PKCS#8 with PBES2, scrypt and AES-256-CBC.

    EncryptedPrivateKeyInfo of RFC 5958, PBES2 of RFC 8018, scrypt in it as of RFC 7914, section 7

which `openssl pkcs8` reads and writes. scrypt takes 16 MiB of memory, the most that OpenSSL allows
by default; the work is raised by repeating it.

Files of one directory use one passphrase, so they may share one salt: an attacker who guesses it
opens all of them in any case, and the owner derives one key for all, once per process.
"""

import os
from base64 import b64decode, encodebytes
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from operator import ge
from typing import Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import CBC
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from cryptography.hazmat.primitives.padding import PKCS7
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
    load_pem_private_key,
)

__all__ = ["Derivation", "decrypt", "encrypt"]

WORK = (1 << 14, 8, 5)
"""N, r and p of scrypt for new files: 0.2 seconds of a core, and one of the equally strong settings
that OWASP's password storage cheat sheet lists."""

_BEGIN, _END = (b"-----%s ENCRYPTED PRIVATE KEY-----" % word for word in (b"BEGIN", b"END"))
_INTEGER, _OCTETS, _SEQUENCE = 0x02, 0x04, 0x30
_PBES2 = bytes.fromhex("06092a864886f70d01050d")
_SCRYPT = bytes.fromhex("06092b06010401da47040b")
_AES256_CBC = bytes.fromhex("060960864801650304012a")
_SALT_SIZE = _BLOCK_SIZE = 16
_KEY_SIZE = 32


@dataclass(frozen=True)
class Derivation:
    """The parameters that derive a key from a passphrase: a salt, and scrypt's N, r and p."""

    salt: bytes
    n: int
    r: int
    p: int

    @classmethod
    def new(cls) -> Self:
        """Return a fresh salt with the current work parameters."""
        return cls(os.urandom(_SALT_SIZE), *WORK)

    @classmethod
    def of(cls, pem: bytes) -> Self | None:
        """Return that of a file; None for files of another kind, such as those of version 0.1."""
        parts = _parse(pem)
        return None if parts is None else cls(*parts[0])

    @property
    def suffices(self) -> bool:
        """Tell whether it is good for a new file: salt and work at least as large as today's."""
        parts = (len(self.salt), self.n, self.r, self.p)
        return all(map(ge, parts, (_SALT_SIZE, *WORK)))

    def key(self, passphrase: bytes) -> bytes:
        """Return the 32 bytes that files are encrypted with; derived once per process."""
        return _derived(passphrase, self.salt, self.n, self.r, self.p)


def encrypt(
    key: Ed25519PrivateKey | X25519PrivateKey | RSAPrivateKey, passphrase: bytes, how: Derivation
) -> bytes:
    """Return the PEM text of a key, encrypted under a passphrase."""
    plain = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    padder, start = PKCS7(8 * _BLOCK_SIZE).padder(), os.urandom(_BLOCK_SIZE)
    cipher = Cipher(AES256(how.key(passphrase)), CBC(start)).encryptor()
    encrypted = cipher.update(padder.update(plain) + padder.finalize()) + cipher.finalize()
    numbers = b"".join(_integer(number) for number in (how.n, how.r, how.p))
    scrypt = _sequence(_SCRYPT, _sequence(_element(_OCTETS, how.salt), numbers))
    aes = _sequence(_AES256_CBC, _element(_OCTETS, start))
    algorithm = _sequence(_PBES2, _sequence(scrypt, aes))
    text = encodebytes(_sequence(algorithm, _element(_OCTETS, encrypted)))
    return b"\n".join([_BEGIN, text + _END, b""])


def decrypt(pem: bytes, passphrase: bytes) -> PrivateKeyTypes:
    """Return the key in a PEM text, whatever its kind of encryption.

    Raises:
        ValueError: The passphrase is wrong, or the text is damaged.
        TypeError: The key is not encrypted.
        UnsupportedAlgorithm: It is damaged where it names the kind of key: the kind is unknown.
        InternalError: It is damaged there, and names a kind whose keys have another length.
    """
    parts = _parse(pem)
    if parts is None:
        return load_pem_private_key(pem, passphrase)
    (salt, n, r, p), start, encrypted = parts
    key = Derivation(salt, n, r, p).key(passphrase)
    cipher, unpadder = (
        Cipher(AES256(key), CBC(start)).decryptor(),
        PKCS7(8 * _BLOCK_SIZE).unpadder(),
    )
    padded = cipher.update(encrypted) + cipher.finalize()
    return load_der_private_key(unpadder.update(padded) + unpadder.finalize(), None)


@lru_cache(maxsize=8)
def _derived(passphrase: bytes, salt: bytes, n: int, r: int, p: int) -> bytes:
    return Scrypt(salt=salt, length=_KEY_SIZE, n=n, r=r, p=p).derive(passphrase)


def _parse(pem: bytes) -> tuple[tuple[bytes, int, int, int], bytes, bytes] | None:
    """Return scrypt's salt and numbers, the AES IV and the ciphertext; None for other formats."""
    text = pem.strip()
    if not (text.startswith(_BEGIN) and text.endswith(_END)):
        return None
    try:
        (info,) = _elements(b64decode(text[len(_BEGIN) : -len(_END)]))
        algorithm, encrypted = _elements(info)
        pbes2, parameters = _elements(algorithm)
        derivation, encryption = _elements(parameters)
        scrypt, numbers = _elements(derivation)
        salt, n, r, p = _elements(numbers)
        aes, start = _elements(encryption)
    except (ValueError, IndexError):
        return None
    if [pbes2, scrypt, aes] != [oid[2:] for oid in (_PBES2, _SCRYPT, _AES256_CBC)]:
        return None
    costs = [int.from_bytes(number, signed=True) for number in (n, r, p)]
    return (salt, costs[0], costs[1], costs[2]), start, encrypted


def _elements(data: bytes) -> Iterator[bytes]:
    """Yield the contents of consecutive DER elements."""
    offset = 0
    while offset < len(data):
        size, offset = data[offset + 1], offset + 2
        if size & 0x80:
            digits = size & 0x7F
            size, offset = int.from_bytes(data[offset : offset + digits]), offset + digits
        if offset + size > len(data):
            raise ValueError("an element ends after the data")
        yield data[offset : offset + size]
        offset += size


def _element(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes([tag, size]) + content
    digits = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes([tag, 0x80 | len(digits)]) + digits + content


def _sequence(*parts: bytes) -> bytes:
    return _element(_SEQUENCE, b"".join(parts))


def _integer(number: int) -> bytes:
    return _element(_INTEGER, number.to_bytes(number.bit_length() // 8 + 1, signed=True))
