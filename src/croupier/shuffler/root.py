"""The root of the shuffler: one key that the plan names, and that no server needs."""

from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.protocol.key_directory import KeyDirectory
from croupier.protocol.public_keys import PublicKeys

__all__ = ["ROOT", "RootKeys"]

ROOT = "shuffler"


@dataclass(frozen=True, repr=False)
class RootKeys(KeyDirectory):
    """The key directory of the shuffler's root: shuffler.pem and its public half."""

    def create(self) -> PublicKeys:
        """Make the root; its public half is written beside it."""
        self.create_signing_key(ROOT)
        return self.publish()

    def publish(self) -> PublicKeys:
        """Write down the public half."""
        public = PublicKeys(role=ROOT, key=self.signer().public_key().public_bytes_raw().hex())
        public.save(self.path)
        return public

    def signer(self) -> Ed25519PrivateKey:
        """What signs the list of the shuffler's keys."""
        return self.signing_key(ROOT)
