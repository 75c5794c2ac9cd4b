"""Signed documents: small JSON objects that carry an Ed25519 signature of their meaning."""

import json
from collections.abc import Mapping
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

__all__ = ["canonical", "is_signed", "sign"]


def canonical(document: Mapping[str, Any]) -> bytes:
    """The one text of a document: keys in order, no spaces, ASCII.

    >>> canonical({"b": [1], "a": "x"})
    b'{"a":"x","b":[1]}'
    """
    return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def sign(document: Mapping[str, Any], *, key: Ed25519PrivateKey, purpose: str) -> dict[str, Any]:
    """The document with its `signature`.

    Args:
        document: Texts, whole numbers, lists and tables.
        key: Whose signature.
        purpose: What kind of document it is, so that none is taken for one of another kind.
    """
    return dict(document) | {"signature": key.sign(_signed(document, purpose)).hex()}


def is_signed(document: Mapping[str, Any], *, public: str, purpose: str) -> bool:
    """Whether the `signature` of a document is that of a public key, in hexadecimal."""
    unsigned = {name: value for name, value in document.items() if name != "signature"}
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(str(document.get("signature"))), _signed(unsigned, purpose))
    except (InvalidSignature, ValueError):
        return False
    return True


def _signed(document: Mapping[str, Any], purpose: str) -> bytes:
    return b"croupier " + purpose.encode() + b"\0" + canonical(document)
