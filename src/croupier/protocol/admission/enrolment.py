"""Enrolment: the messages by which a device gets its credential from the issuer."""

from typing import Annotated, Literal, Self

from pydantic import Field, ValidationError

from croupier.protocol.signed_document import Bytes32, Document

__all__ = ["MOST_PROOF", "EnrolmentAnswer", "EnrolmentRequest"]

MOST_PROOF = 4096
"""The longest proof, in characters."""


class EnrolmentRequest(Document):
    """A device that asks for its credential.

    Attributes:
        device: 32 random bytes that the device made for this issuer. It sends the same again if the
            answer was lost, and gets the same credential.
        proof: What the issuer checks: a secret, an invitation, a token of an account. Empty if
            everybody is admitted.
    """

    schema_version: Literal[1]
    device: Bytes32
    proof: Annotated[str, Field(max_length=MOST_PROOF, pattern="^[ -~]*$")]

    @classmethod
    def read(cls, data: bytes) -> Self | None:
        """Return the request in some bytes; None if they are not one."""
        try:
            return cls.model_validate_json(data)
        except ValidationError:
            return None


class EnrolmentAnswer(Document):
    """The credential of an enrolled device."""

    schema_version: Literal[1]
    credential: Annotated[str, Field(pattern="^[0-9a-f]{66}$")]
