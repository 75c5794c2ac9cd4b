"""The keys of intake: for refusals, for the tag keys that release hands over, for its gateway.

Nothing in this directory opens an envelope.
"""

from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.protocol.key_directory import AbsentKeyError, RoleKeys
from croupier.protocol.oblivious.capsule import GatewayKey
from croupier.protocol.public_keys import PublicKeys

__all__ = ["INTAKE", "IntakeKeys"]

INTAKE = "intake"
_GATEWAY = "gateway"
_ACCEPTED = 2
"""Keys of the gateway that requests may be sealed to: the newest, and the one before it."""


@dataclass(frozen=True, repr=False)
class IntakeKeys(RoleKeys):
    """The key directory of intake.

    intake.pem, intake-2.pem, …             keys that sign refusals
    intake.hpke.pem, intake-2.hpke.pem, …   keys that open the tag keys of batches
    gateway.hpke.pem, gateway-2.hpke.pem, … keys that open requests which came through a relay
    witness/PLAN.json                       the progress of a plan when it was last shown
    """

    role = INTAKE
    is_sealed_to = True

    def rotate(self) -> PublicKeys:
        """Make keys that replace the newest, which stay on disk."""
        self.add_signing_key(INTAKE)
        self.add_sealing_key(INTAKE)
        return self.publish()

    def has(self, key: str, seal: str) -> bool:
        """Tell whether both keys with these public halves, in hexadecimal, are here."""
        try:
            self.signer(key)
            self.opener(seal)
        except AbsentKeyError:
            return False
        return True

    def signer(self, public: str) -> Ed25519PrivateKey:
        """Return the key with a public half, in hexadecimal, that signs refusals."""
        return self.signing_key(INTAKE, public)

    def opener(self, public: str) -> X25519PrivateKey:
        """Return the key with a public half, in hexadecimal, that opens tag keys."""
        return self.sealing_key(INTAKE, public)

    def rotate_gateway(self) -> GatewayKey:
        """Make the key of the gateway, or one that replaces it.

        The one before stays, for clients that have its configuration; earlier ones are destroyed.
        """
        self.gateway_keys()  # those that stay must open under the same passphrase
        self.add_sealing_key(_GATEWAY)
        self.destroy_sealing_keys(_GATEWAY, keep=_ACCEPTED)
        return self.gateway_keys()[0]

    def gateway_keys(self) -> tuple[GatewayKey, ...]:
        """Return the keys that requests may be sealed to, the newest first; none if there is none.

        Raises:
            KeyFileError: One of them does not open.
        """
        found = self.sealing_keys(_GATEWAY, most=_ACCEPTED)
        return tuple(GatewayKey(number, key) for number, key in found.items())
