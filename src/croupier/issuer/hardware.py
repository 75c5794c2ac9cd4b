"""Token keys in a hardware security module, through PKCS#11: they are made there and never leave.

The module computes the bare power of a number (CKM_RSA_X_509); modules that refuse it for a key
that also pads cannot sign blindly. Objects are named after the plan and the round.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from croupier.errors import CroupierError, MissingExtraError
from croupier.issuer.signing import BlindSigner
from croupier.protocol.admission.blind_rsa import BlindKey
from croupier.protocol.admission.token_keys import TOKEN_BITS

__all__ = ["HardwareError", "HardwareKeys", "HardwareSigner"]


class HardwareError(CroupierError):
    """The security module does not do what is needed."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"The security module {problem}. Check --pkcs11-module, --pkcs11-token and its PIN."
        )


class HardwareSigner(BlindSigner):
    """A private key inside the module.

    Args:
        private: The module's private key.
        key: Its public half.
        module: The library that speaks to the module.
    """

    def __init__(self, private: Any, key: BlindKey, module: Any) -> None:
        self.key = key
        self._private = private
        self._module = module

    def _power(self, number: int) -> int:
        mechanism = self._module.Mechanism.RSA_X_509
        with _told():
            done = self._private.sign(number.to_bytes(self.key.size), mechanism=mechanism)
        return int.from_bytes(done)


class HardwareKeys:
    """The token keys in one token of a module.

    A process that forks or spawns opens its own: a session belongs to one process.

    Args:
        module: The path of the module's library.
        token: The label of the token.
        pin: The PIN of its user.
    """

    def __init__(self, module: str, *, token: str, pin: str) -> None:
        self._pkcs11 = _library()
        with _told():
            found = self._pkcs11.lib(module).get_token(token_label=token)
            self._session = found.open(rw=True, user_pin=pin)

    def create(self, plan: str, round_number: int) -> BlindKey:
        """Make the key of a round, unless it exists; return its public half."""
        there = self.signer(plan, round_number)
        if there is not None:
            return there.key
        label, attribute = _label(plan, round_number), self._pkcs11.Attribute
        with _told():
            self._session.generate_keypair(
                self._pkcs11.KeyType.RSA,
                TOKEN_BITS,
                label=label,
                store=True,
                private_template={attribute.SENSITIVE: True, attribute.EXTRACTABLE: False},
            )
        made = self.signer(plan, round_number)
        if made is None:
            raise HardwareError("did not keep the key that it made")
        return made.key

    def signer(self, plan: str, round_number: int) -> HardwareSigner | None:
        """Return the key of a round; None if there is none."""
        private = self._object(plan, round_number, "PRIVATE_KEY")
        if private is None:
            return None
        attribute = self._pkcs11.Attribute
        with _told():
            modulus = int.from_bytes(private[attribute.MODULUS])
        return HardwareSigner(private, BlindKey(modulus), self._pkcs11)

    def destroy(self, plan: str, round_number: int) -> None:
        """Destroy the key of a round, if there is one."""
        for kind in ("PRIVATE_KEY", "PUBLIC_KEY"):
            found = self._object(plan, round_number, kind)
            if found is not None:
                with _told():
                    found.destroy()

    def _object(self, plan: str, round_number: int, kind: str) -> Any:
        wanted = {
            self._pkcs11.Attribute.CLASS: getattr(self._pkcs11.ObjectClass, kind),
            self._pkcs11.Attribute.LABEL: _label(plan, round_number),
        }
        with _told():
            return next(iter(list(self._session.get_objects(wanted))), None)


def _label(plan: str, round_number: int) -> str:
    return f"croupier {plan[:32]} {round_number}"


@contextmanager
def _told() -> Iterator[None]:
    """Name the kind of an error of the module, without what it was asked for."""
    pkcs11 = _library()
    try:
        yield
    except (pkcs11.PKCS11Error, RuntimeError) as error:
        raise HardwareError(f"failed ({type(error).__name__})") from None


def _library() -> Any:
    try:
        import pkcs11  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError(
            "Keys in a security module", package="python-pkcs11", extra="hsm"
        ) from None
    return pkcs11
