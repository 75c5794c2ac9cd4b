"""The list of the issuer's token keys: one per round, signed by the root that the plan names.

A key per person, or one that serves two rounds, would link people to their reports or let them send
twice. Everybody therefore gets the same list, with the shuffler's key list, and intake accepts the
listed key of a round and no other. The key of a round never changes.
"""

from collections.abc import Sequence
from hashlib import sha256
from typing import Annotated, ClassVar, Literal, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field, field_validator

from croupier.errors import ParameterError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.admission.blind_rsa import BlindKey
from croupier.protocol.party_keys import VersionedList
from croupier.protocol.signed_document import (
    LAST_ROUND,
    Bytes32,
    Document,
    RoundNumber,
)

__all__ = ["MOST_KEYS", "TOKEN_BITS", "TokenKeys", "UnsignedTokenKeys", "key_id", "spki"]

TOKEN_BITS = 2048
MOST_KEYS = 64
"""The largest number of rounds in a list: 33 kB, which every client fetches."""
_MODULUS_DIGITS = TOKEN_BITS // 4
_HEAD = bytes.fromhex(
    "30820152303d06092a864886f70d01010a3030a00d300b0609608648016503040202"
    "a11a301806092a864886f70d010108300b0609608648016503040202a2030201300382010f00"
    "3082010a0282010100"
)
"""SubjectPublicKeyInfo of an RSA key of 2,048 bits for RSASSA-PSS with SHA-384 and 48 bytes of salt
(RFC 9578, section 8.2.2), up to the modulus."""
_TAIL = bytes.fromhex("0203010001")

Modulus = Annotated[str, Field(pattern=rf"^[89a-f][0-9a-f]{{{_MODULUS_DIGITS - 2}}}[13579bdf]$")]
"""Hexadecimal digits of an odd number of exactly 2,048 bits."""


def spki(key: BlindKey) -> bytes:
    """Return a public key as RFC 9578 writes it."""
    return _HEAD + key.modulus.to_bytes(TOKEN_BITS // 8) + _TAIL


def key_id(key: BlindKey) -> bytes:
    """Return the id of a key, by which tokens name it."""
    return sha256(spki(key)).digest()


class UnsignedTokenKeys(Document):
    """The public token keys of consecutive rounds, for whoever keeps the issuer's root to sign.

    Attributes:
        plan: The digest of the plan.
        first: The round of the first key.
        keys: The modulus of every round's key, in hexadecimal.
    """

    schema_version: Literal[1]
    plan: Bytes32
    first: RoundNumber
    keys: Annotated[tuple[Modulus, ...], Field(min_length=1, max_length=MOST_KEYS)]

    @property
    def blind_keys(self) -> list[BlindKey]:
        """The keys as numbers."""
        return [BlindKey(int(key, 16)) for key in self.keys]


class TokenKeys(VersionedList):
    """The issuer's token keys of consecutive rounds, signed by its root.

    Attributes:
        version: Rises with every list.
        first: The round of the first key.
        keys: The modulus of every round's key, in hexadecimal.
    """

    what: ClassVar[str] = "the list of the issuer's keys"
    signer = "issuer_key"
    purpose = "token keys"

    kind: Literal["token keys"]
    first: RoundNumber
    keys: Annotated[tuple[Modulus, ...], Field(min_length=1, max_length=MOST_KEYS)]

    @field_validator("keys")
    @classmethod
    def _differ(cls, keys: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(keys)) < len(keys):
            raise ValueError("every round has a key of its own")
        return keys

    @classmethod
    def make(
        cls,
        plan: Plan,
        *,
        first: int,
        keys: Sequence[BlindKey],
        signing_key: Ed25519PrivateKey,
        earlier: Self | None = None,
    ) -> Self:
        """Sign a list.

        Args:
            plan: A plan that admits by token.
            first: The round of the first key.
            keys: The keys of this and the following rounds.
            signing_key: The issuer's root.
            earlier: The list that it follows; a round in both must have the same key in both.

        Raises:
            ParameterError: There are no or too many keys, or a round would change its key.
        """
        if not 1 <= len(keys) <= MOST_KEYS or first + len(keys) - 1 > LAST_ROUND:
            raise ParameterError("keys", must=f"be those of 1 to {MOST_KEYS} rounds", got=len(keys))
        listed = cls.signed(
            plan,
            signing_key=signing_key,
            kind="token keys",
            version=1 if earlier is None else earlier.version + 1,
            first=first,
            keys=[f"{key.modulus:x}" for key in keys],
        )
        if earlier is not None:
            earlier.check(plan)
            listed.require_after(earlier)
        return listed

    @property
    def rounds(self) -> range:
        """The rounds that have a key."""
        return range(self.first, self.first + len(self.keys))

    def key(self, round_number: int) -> BlindKey | None:
        """Return the key of a round; None if the list has none."""
        if round_number not in self.rounds:
            return None
        return BlindKey(int(self.keys[round_number - self.first], 16))

    def require_after(self, earlier: Self) -> None:
        """Refuse a list that gives a round another key than an earlier list does.

        Neither its first nor its last round is before those of the earlier list. A round that a
        list leaves out therefore never comes back, and only the list before is compared.
        """
        self.require_not_before(earlier)
        if self.first < earlier.first:
            raise UntrustedError(self.what, f"begins with round {self.first}, which was left out")
        if self.rounds.stop < earlier.rounds.stop:
            left_out = self.rounds.stop
            raise UntrustedError(self.what, f"leaves out round {left_out}, unlike the one before")
        for number in set(self.rounds) & set(earlier.rounds):
            if self.key(number) != earlier.key(number):
                raise UntrustedError(self.what, f"has another key of round {number} than before")
        repeated = set(self.keys) & set(earlier.keys)
        if any(
            self.keys.index(each) + self.first != earlier.keys.index(each) + earlier.first
            for each in repeated
        ):
            raise UntrustedError(self.what, "uses the key of one round for another")
