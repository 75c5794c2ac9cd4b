"""The root of the shuffler: one key that the plan names and no server needs."""

from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.protocol.key_directory import RoleKeys

__all__ = ["ROOT", "RootKeys"]

ROOT = "shuffler"


@dataclass(frozen=True, repr=False)
class RootKeys(RoleKeys):
    """The key directory of the shuffler's root: shuffler.pem and its public half."""

    role = ROOT

    def signer(self) -> Ed25519PrivateKey:
        """Return the key that signs the list of the shuffler's keys."""
        return self.signing_key(ROOT)
