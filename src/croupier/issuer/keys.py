"""The issuer's keys: a root that the plan names, and one token key per plan and round."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.issuer.signing import BlindSigner, MemorySigner
from croupier.protocol.admission.blind_rsa import EXPONENT, BlindKey
from croupier.protocol.admission.token_keys import TOKEN_BITS
from croupier.protocol.key_directory import KeyDirectory, KeyFileError, RoleKeys, destroy_file

__all__ = ["IssuerRootKeys", "TokenKeyFiles", "TokenKeyPlace", "TokenKeyStore"]

_SUFFIX = ".rsa.pem"


@dataclass(frozen=True, repr=False)
class IssuerRootKeys(RoleKeys):
    """The key directory of the issuer's root: issuer.pem and its public half."""

    role = "issuer"

    def signer(self) -> Ed25519PrivateKey:
        """Return the key that signs the list of token keys."""
        return self.signing_key(self.role)


class TokenKeyStore(Protocol):
    """A place that keeps the token keys: a directory, or a security module."""

    def create(self, plan: str, round_number: int) -> BlindKey:
        """Make the key of a round, unless it exists; return its public half."""

    def signer(self, plan: str, round_number: int) -> BlindSigner | None:
        """Return the key of a round; None if there is none."""

    def rounds(self, plan: str) -> list[int]:
        """Return the rounds that have a key."""

    def destroy(self, plan: str, round_number: int) -> None:
        """Destroy the key of a round, if there is one."""


@dataclass(frozen=True, repr=False)
class TokenKeyFiles(KeyDirectory):
    """Token keys in files, encrypted under a passphrase.

    PLAN/ROUND.rsa.pem   the key that signs the tokens of a round
    """

    def create(self, plan: str, round_number: int) -> BlindKey:
        """Make the key of a round, unless it exists; return its public half."""
        there = self.signer(plan, round_number)
        if there is not None:
            return there.key
        private = rsa.generate_private_key(public_exponent=EXPONENT, key_size=TOKEN_BITS)
        self.write(self._file(plan, round_number), private)
        return BlindKey(private.private_numbers().public_numbers.n)

    def signer(self, plan: str, round_number: int) -> MemorySigner | None:
        """Return the key of a round; None if there is none."""
        path = self._file(plan, round_number)
        if not path.is_file():
            return None
        key = self._read(path)
        if not isinstance(key, rsa.RSAPrivateKey) or key.key_size != TOKEN_BITS:
            raise KeyFileError(path.name, "is no token key", hint="Check which file it is.")
        return MemorySigner(key)

    def rounds(self, plan: str) -> list[int]:
        """Return the rounds that have a key."""
        files = (self.path / plan).glob(f"*{_SUFFIX}")
        names = [file.name.removesuffix(_SUFFIX) for file in files]
        return sorted(int(name) for name in names if name.isdecimal())

    def destroy(self, plan: str, round_number: int) -> None:
        """Destroy the key of a round, if there is one."""
        path = self._file(plan, round_number)
        if path.is_file():
            destroy_file(path)

    def _file(self, plan: str, round_number: int) -> Path:
        return self.path / plan / f"{round_number}{_SUFFIX}"


@dataclass(frozen=True, kw_only=True, repr=False)
class TokenKeyPlace:
    """The place of the private token keys; each process opens it for itself.

    Attributes:
        directory: The directory of their files.
        passphrase: Opens the files, or is the PIN of the module.
        module: The library of a security module, if they are there.
        token: The label of its token.
    """

    directory: Path
    passphrase: bytes
    module: Path | None = None
    token: str = ""

    def open(self) -> TokenKeyStore:
        """Open it in this process."""
        if self.module is None:
            return TokenKeyFiles(self.directory, self.passphrase)
        from croupier.issuer.hardware import HardwareKeys  # noqa: PLC0415 - the extra `hsm`

        return HardwareKeys(str(self.module), token=self.token, pin=self.passphrase.decode())
