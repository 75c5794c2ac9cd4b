"""Signed documents: small JSON objects that carry an Ed25519 signature of their meaning."""

import json
from collections.abc import Collection, Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, ValidationError
from pydantic_core.core_schema import CoreSchema

from croupier.errors import ParameterError, UntrustedError
from croupier.plan.plan import Plan

__all__ = ["LAST_ROUND", "SHAPE", "Absent", "Bytes16", "Bytes32", "Bytes64", "Day", "Document"]
__all__ += ["RootDocument", "RoundNumber", "SignedDocument", "canonical", "is_signed"]
__all__ += ["named_root", "public_half", "sign"]

SHAPE = "has missing, unknown or impossible entries"

Bytes16 = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
Bytes32 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Bytes64 = Annotated[str, Field(pattern="^[0-9a-f]{128}$")]
Day = Annotated[str, Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
LAST_ROUND = 2**31 - 1
"""The largest round: the shuffler's database keeps rounds in signed four-byte integers."""
RoundNumber = Annotated[int, Field(ge=0, le=LAST_ROUND)]


class _NeverNull:
    """A marker that refuses null where the type allows None, which stands for an absent entry."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        given: CoreSchema = handler(source)["schema"]
        return given


T = TypeVar("T")
Absent = Annotated[T | None, _NeverNull(), Field(exclude_if=lambda entry: entry is None)]
"""An entry that may be absent: then it is left out and null is refused, for one spelling."""


def canonical(document: Mapping[str, Any]) -> bytes:
    """Return the one spelling of a document: keys in order, no spaces, ASCII.

    >>> canonical({"b": [1], "a": "x"})
    b'{"a":"x","b":[1]}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def sign(document: Mapping[str, Any], *, key: Ed25519PrivateKey, purpose: str) -> dict[str, Any]:
    """Return the document with its `signature`.

    Args:
        document: Texts, whole numbers, lists and tables.
        key: The key that signs.
        purpose: The kind of document, so that none can pass for one of another kind.
    """
    return dict(document) | {"signature": key.sign(_signed(document, purpose)).hex()}


def is_signed(document: Mapping[str, Any], *, public: str, purpose: str) -> bool:
    """Tell whether the `signature` of a document is that of a public key, in hexadecimal."""
    unsigned = {name: value for name, value in document.items() if name != "signature"}
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(str(document.get("signature"))), _signed(unsigned, purpose))
    except (InvalidSignature, ValueError):
        return False
    return True


def public_half(key: Ed25519PrivateKey) -> str:
    """Return the public half of a signing key, in hexadecimal."""
    return key.public_key().public_bytes_raw().hex()


class Document(BaseModel):
    """Entries of fixed names and types, and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    def to_bytes(self) -> bytes:
        """Return the document as it is stored and served: the same bytes for everybody."""
        return canonical(self.model_dump(mode="json"))


class SignedDocument(Document):
    """A document about a plan, with a signature."""

    what: ClassVar[str]
    purpose: ClassVar[str]

    plan: Bytes32
    signature: Bytes64

    @classmethod
    def written(cls, plan: Plan, *, signing_key: Ed25519PrivateKey, **entries: Any) -> Self:
        """Sign entries about a plan, whoever the signer is."""
        signed = sign({"plan": plan.digest} | entries, key=signing_key, purpose=cls.purpose)
        return cls.model_validate_json(canonical(signed))

    @classmethod
    def read(cls, data: bytes) -> Self:
        """Read a document from bytes, of any signer.

        Raises:
            UntrustedError: The bytes do not have this shape.
        """
        try:
            return cls.model_validate_json(data)
        except ValidationError:
            raise UntrustedError(cls.what, SHAPE) from None

    def require_signed(self, *, plan: str, by: Collection[str], called: str) -> None:
        """Refuse a document of another plan, or one not signed by any of some public keys.

        Args:
            plan: The digest of the plan.
            by: The keys, in hexadecimal.
            called: The name of the keys in errors.
        """
        if self.plan != plan:
            raise UntrustedError(self.what, "is of another plan")
        document = self.model_dump(mode="json")
        if not any(is_signed(document, public=key, purpose=self.purpose) for key in by):
            raise UntrustedError(self.what, f"is not signed by {called}")


NAMED = {
    "shuffler_key": "shufflers.key",
    "analyzer_key": "analyzer.key",
    "issuer_key": "admission.key",
}
"""The places where a plan names the keys."""


class RootDocument(SignedDocument):
    """A document that is signed by a key named in the plan: the root of a party."""

    signer: ClassVar[Literal["shuffler_key", "analyzer_key", "issuer_key"]]

    @classmethod
    def signed(cls, plan: Plan, *, signing_key: Ed25519PrivateKey, **entries: Any) -> Self:
        """Return the document, signed so that the plan's clients will believe it."""
        cls.require_signer(plan, signing_key)
        return cls.written(plan, signing_key=signing_key, **entries)

    @classmethod
    def require_signer(cls, plan: Plan, signing_key: Ed25519PrivateKey) -> None:
        """Refuse a key that the plan does not name: nobody would believe its signature."""
        if public_half(signing_key) != cls.root(plan):
            raise ParameterError(NAMED[cls.signer], must="be the public half of the given key")

    @classmethod
    def verified(cls, data: bytes, plan: Plan) -> Self:
        """Return the document in some bytes if `check` accepts it."""
        read = cls.read(data)
        read.check(plan)
        return read

    def check(self, plan: Plan) -> None:
        """Check that it belongs to this plan and is signed by the key that the plan names.

        Raises:
            UntrustedError: It is not; a client that believed it might seal to a stranger.
        """
        self.require_signed(
            plan=plan.digest, by=[self.root(plan)], called=f"{NAMED[self.signer]} of the plan"
        )

    @classmethod
    def root(cls, plan: Plan) -> str:
        """Return the public key that the plan names, in hexadecimal."""
        return named_root(getattr(plan, cls.signer), NAMED[cls.signer])


def named_root(public: str | None, name: str) -> str:
    """Return a public key that a plan names, and refuse to go on where it names none."""
    if public is None:
        raise ParameterError(
            name,
            must="be given to deploy a plan",
            hint="Run: croupier keys create PARTY --into FILE.",
        )
    return public


def _signed(document: Mapping[str, Any], purpose: str) -> bytes:
    return b"croupier " + purpose.encode() + b"\0" + canonical(document)
