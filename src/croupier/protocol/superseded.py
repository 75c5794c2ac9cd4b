"""Pointers from a plan that is no longer served to the plan that took its place.

The root that the *old* plan names for its first shuffler signs the pointer, so that nobody else can
send its clients away. A pointer is published with the text of the old plan. The digest of the text
shows that it is that plan, and the text names the root. Whoever knows only the digest can therefore
check the pointer: a server that no longer has the plan's file, and a page that has yet to load it.
"""

import json
from hashlib import sha256
from typing import Any, Literal, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import ValidationError, model_validator

from croupier.errors import ParameterError, SupersededError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.key_list import WireVersion, require_version
from croupier.protocol.signed_document import (
    NAMED,
    SHAPE,
    Absent,
    Bytes32,
    Day,
    Document,
    RootDocument,
)

__all__ = ["Pointer", "SupersededPlan", "is_pointer"]

_WHAT = "the pointer to the plan's successor"


class Pointer(RootDocument):
    """The signed statement that another plan took the place of this one.

    Attributes:
        successor: The digest of the other plan.
        date: The day on which it took its place, for people; nothing is decided by it.
    """

    what = _WHAT
    signer = "shuffler_key"
    purpose = "superseded"

    kind: Literal["superseded"]
    successor: Bytes32
    date: Absent[Day] = None

    @model_validator(mode="after")
    def _leads_elsewhere(self) -> Self:
        if self.successor == self.plan:
            raise ValueError("a plan cannot succeed itself")
        return self


class SupersededPlan(Document):
    """The text of a plan, and the pointer to its successor; every instance is verified."""

    schema_version: WireVersion
    plan: str
    superseded: Pointer

    @model_validator(mode="after")
    def _is_signed(self) -> Self:
        """Check that the root that the text names has signed the pointer.

        Raises:
            UntrustedError: It has not, or the pointer is of another plan than the text.
        """
        text = self.plan.encode(errors="replace")
        self.superseded.require_signed(
            plan=sha256(text).hexdigest(),
            by=[_root(text)],
            called=f"{NAMED[Pointer.signer]} of the plan",
        )
        return self

    @classmethod
    def make(
        cls,
        plan: Plan,
        successor: Plan,
        *,
        signing_key: Ed25519PrivateKey,
        date: str | None = None,
    ) -> Self:
        """Sign that a plan was superseded by another one.

        Raises:
            ParameterError: Both are the same plan to clients, or the old plan does not name the
                key.
        """
        if plan.digest == successor.digest:
            raise ParameterError(
                "NEW",
                must="be another plan than OLD to clients",
                got=f"digest {plan.digest[:8]} twice",
                hint="Clients need nothing: only name, population, policy or record differ.",
            )
        entries = {} if date is None else {"date": date}
        pointer = Pointer.signed(
            plan,
            signing_key=signing_key,
            kind="superseded",
            successor=successor.digest,
            **entries,
        )
        return cls(schema_version=2, plan=plan.canonical.decode(), superseded=pointer)

    @classmethod
    def verified(cls, data: bytes, *, digest: str | None = None) -> Self:
        """Return the pointer in some bytes, if the root of its plan signed it.

        Args:
            data: The document.
            digest: The plan that it must be of; any if left out.

        Raises:
            UntrustedError: It is not signed, or of another plan.
        """
        require_version(_WHAT, data)
        try:
            read = cls.model_validate_json(data)
        except ValidationError:
            raise UntrustedError(_WHAT, SHAPE) from None
        if digest not in {None, read.digest}:
            raise UntrustedError(_WHAT, "is of another plan")
        return read

    @property
    def digest(self) -> str:
        """The digest of the plan that was superseded."""
        return self.superseded.plan

    @property
    def successor(self) -> str:
        """The digest of the plan that took its place."""
        return self.superseded.successor

    @property
    def error(self) -> SupersededError:
        """The error that tells a client of this plan what happened."""
        return SupersededError(self.successor, date=self.superseded.date)


def is_pointer(data: bytes) -> bool:
    """Tell whether an answer claims to be a pointer, true or not."""
    try:
        read: Any = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(read, dict) and "superseded" in read


def _root(text: bytes) -> str:
    """Return the first shuffler's key in the canonical text of a plan; "" if there is none."""
    try:
        return str(json.loads(text)["shufflers"][0]["key"])
    except (ValueError, TypeError, LookupError, RecursionError):
        return ""
