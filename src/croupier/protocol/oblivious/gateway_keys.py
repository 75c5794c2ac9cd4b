"""The keys of a gateway as clients believe them: signed by intake, whose key the root has listed.

The keys that a client seals its first request to come from `/v1/ohttp-keys`, which the relay keeps
for everybody, so that the shuffler cannot show somebody a key of their own. This document, which
the client fetches with that request, shows that they are the shuffler's and not the relay's.
"""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field, ValidationError

from croupier.errors import UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.oblivious.capsule import (
    GatewayKey,
    KeyConfiguration,
    read_configurations,
    write_configurations,
)
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.signed_document import SHAPE, Document, SignedDocument

__all__ = ["GatewayKeys", "ListedGateway"]

_MOST_DIGITS = 4096


class GatewayKeys(SignedDocument):
    """The keys that requests may be sealed to.

    Attributes:
        version: The number of the newest key.
        configurations: The document of RFC 9458, section 3.2, in hexadecimal.
    """

    what = "the list of the gateway's keys"
    purpose = "gateway"

    kind: Literal["gateway"]
    version: Annotated[int, Field(ge=1, lt=2**32)]
    configurations: Annotated[str, Field(pattern="^(?:[0-9a-f]{2})+$", max_length=_MOST_DIGITS)]

    @classmethod
    def make(
        cls, plan: Plan, *, keys: Sequence[GatewayKey], signing_key: Ed25519PrivateKey
    ) -> Self:
        """Sign the keys of a gateway, the newest first."""
        written = write_configurations([key.configuration for key in keys])
        return cls.written(
            plan,
            signing_key=signing_key,
            kind="gateway",
            version=keys[0].number,
            configurations=written.hex(),
        )

    def has(self, configuration: KeyConfiguration) -> bool:
        """Tell whether requests may be sealed to a key."""
        return configuration in read_configurations(bytes.fromhex(self.configurations))


class ListedGateway(Document):
    """The signed keys of a gateway, with the list that names their signer: the plan suffices.

    Attributes:
        keys: The shuffler's signed list of keys.
        gateway: The gateway's keys, signed by the newest key of intake in the list.
    """

    keys: ShufflerKeys
    gateway: GatewayKeys

    @classmethod
    def verified(cls, data: bytes, plan: Plan) -> Self:
        """Return what is in some bytes, if the plan's shuffler signed it.

        Raises:
            UntrustedError: It did not, or it is of another plan.
        """
        try:
            read = cls.model_validate_json(data)
        except ValidationError:
            raise UntrustedError(GatewayKeys.what, SHAPE) from None
        read.keys.check(plan)
        newest, called = read.keys.intake[-1].key, "the newest intake key of the shuffler"
        read.gateway.require_signed(plan=plan.digest, by=[newest], called=called)
        return read
