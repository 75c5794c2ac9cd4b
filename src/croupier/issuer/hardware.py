"""Token keys in a hardware security module, through PKCS#11: they are made there and never leave.

The module computes the bare power of a number (CKM_RSA_X_509); modules that refuse it for a key
that also pads cannot sign blindly. Objects are named after the plan and the round.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
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
        self._module, self._token, self._pin = module, token, pin
        self._session = self._opened()

    def create(self, plan: str, round_number: int) -> BlindKey:
        """Make the key of a round, unless it exists; return its public half."""
        there = self.signer(plan, round_number)
        if there is not None:
            return there.key
        label, attribute = f"{_label(plan)}{round_number}", self._pkcs11.Attribute
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

    def rounds(self, plan: str) -> list[int]:
        """Return the rounds that have a key."""
        labels = [each.label for each in self._objects("PRIVATE_KEY")]
        first = _label(plan)
        return sorted(int(each.removeprefix(first)) for each in labels if each.startswith(first))

    def _object(self, plan: str, round_number: int, kind: str) -> Any:
        label = {self._pkcs11.Attribute.LABEL: f"{_label(plan)}{round_number}"}
        return next(iter(self._objects(kind, label)), None)

    def _objects(self, kind: str, wanted: Mapping[Any, object] | None = None) -> list[Any]:
        """Return the objects of a kind, in a new session if the module has lost this one."""
        of_kind = {self._pkcs11.Attribute.CLASS: getattr(self._pkcs11.ObjectClass, kind)}
        try:
            with _told():
                return list(self._session.get_objects(of_kind | dict(wanted or {})))
        except HardwareError:
            with suppress(HardwareError), _told():
                self._session.close()
            self._session = self._opened()
        with _told():
            return list(self._session.get_objects(of_kind | dict(wanted or {})))

    def _opened(self) -> Any:
        with _told():
            found = self._pkcs11.lib(self._module).get_token(token_label=self._token)
            return found.open(rw=True, user_pin=self._pin)


def _label(plan: str) -> str:
    """Return the beginning of the labels of a plan's keys; the round follows."""
    return f"croupier {plan[:32]} "


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
