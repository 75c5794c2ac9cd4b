"""Admission: who may enrol, by a check that the operator chooses.

A check sees the proof that a device sends, and answers whose it is. Several devices with one
subject are one person: the first of them is enrolled.
"""

import asyncio
import hmac
import inspect
import secrets
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from croupier.errors import ParameterError
from croupier.protocol.key_directory import RoleKeys

__all__ = ["AdmissionCheck", "Admitted", "CallbackCheck", "InvitationCheck", "InviterKeys"]
__all__ += ["OpenCheck", "SharedSecretCheck", "invitation"]

_ID_BYTES, _SIGNATURE_BYTES = 16, 64
_CALLBACK_SECONDS = 10


class Admitted(NamedTuple):
    """A device that may enrol.

    Attributes:
        subject: Bytes that are the same for every device of the same person; None if the check
            cannot tell people apart.
    """

    subject: bytes | None


class AdmissionCheck(ABC):
    """A check of the proof that a device sends."""

    @abstractmethod
    async def admit(self, proof: str) -> Admitted | None:
        """Return whose device it is; None if it is not admitted."""


class OpenCheck(AdmissionCheck):
    """Admit everybody. One person can then be many: only the limit per minute slows that down."""

    async def admit(self, proof: str) -> Admitted | None:
        """Admit a device that sends no proof."""
        return None if proof else Admitted(None)


@dataclass(frozen=True, repr=False)
class SharedSecretCheck(AdmissionCheck):
    """Admit whoever knows a secret, such as everybody in an organisation.

    Attributes:
        secret: The secret, in printable ASCII.
    """

    secret: bytes

    async def admit(self, proof: str) -> Admitted | None:
        """Compare the proof with the secret; the time does not depend on where they differ."""
        same = hmac.compare_digest(proof.encode("ascii", "replace"), self.secret)
        return Admitted(None) if same else None


@dataclass(frozen=True)
class InvitationCheck(AdmissionCheck):
    """Admit whoever has a signed invitation; each admits one device.

    Attributes:
        public: The public key of whoever invites, in hexadecimal.
    """

    public: str

    def __post_init__(self) -> None:
        try:
            _ = self._key
        except ValueError:
            raise ParameterError(
                "--inviter",
                must="be a public key, 64 hexadecimal digits",
                hint="croupier keys create inviter prints it.",
            ) from None

    @property
    def _key(self) -> Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.public))

    async def admit(self, proof: str) -> Admitted | None:
        """Verify the signature of an invitation."""
        try:
            data = bytes.fromhex(proof)
        except ValueError:
            return None
        name, signature = data[:_ID_BYTES], data[_ID_BYTES:]
        # One invitation has one spelling, or it could be used once in each.
        if len(signature) != _SIGNATURE_BYTES or data.hex() != proof:
            return None
        try:
            self._key.verify(signature, _invited(name))
        except InvalidSignature:
            return None
        return Admitted(name)


@dataclass(frozen=True)
class CallbackCheck(AdmissionCheck):
    """Ask a function of the operator: the attestation of a platform, an account, a till receipt.

    Attributes:
        function: Takes the proof and returns a text that is the same for every device of the same
            person, or None to refuse. It may be a coroutine function; it must not keep the proof.
    """

    function: Callable[[str], str | Awaitable[str | None] | None]

    @classmethod
    def of(cls, name: str) -> "CallbackCheck":
        """Import a function by its name, `package.module:function`."""
        module, _, function = name.partition(":")
        try:
            found = getattr(import_module(module), function)
        except (ImportError, AttributeError, ValueError):
            found = None
        if not callable(found):
            raise ParameterError(
                "--admit",
                must="name a function that can be imported, as package.module:function",
                got=name,
                hint="Set PYTHONPATH to the folder of the package.",
            )
        return cls(found)

    async def admit(self, proof: str) -> Admitted | None:
        """Call the function, beside other requests and not for ever."""
        async with asyncio.timeout(_CALLBACK_SECONDS):
            found: object = await asyncio.to_thread(self.function, proof)
            if inspect.isawaitable(found):
                found = await found
        if found is None:
            return None
        if not isinstance(found, str) or not found:
            raise TypeError("an admission check must return a text or None")
        return Admitted(found.encode())


@dataclass(frozen=True, repr=False)
class InviterKeys(RoleKeys):
    """The key directory of whoever invites people: inviter.pem and its public half."""

    role = "inviter"

    def invite(self) -> str:
        """Make an invitation: random digits and a signature, for one device."""
        return invitation(self.signing_key(self.role))


def invitation(key: Ed25519PrivateKey) -> str:
    """Sign a new invitation."""
    name = secrets.token_bytes(_ID_BYTES)
    return (name + key.sign(_invited(name))).hex()


def _invited(name: bytes) -> bytes:
    return b"croupier invitation\0" + name
