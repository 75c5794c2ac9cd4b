"""Who sent what, as far as a batch must know it: one keyed hash a row."""

from collections.abc import Sequence
from hashlib import blake2b

from croupier.pipeline.store import TAG_BYTES

__all__ = ["person_tags", "relay_tags"]


def person_tags(tag_key: bytes, credential: bytes, messages: int) -> list[bytes]:
    """The tags of all that one person sends in a batch, whatever is in it.

    A second report of the person has the tags of the first and so is dropped. Tags are keyed
    BLAKE2b: without the key, which is destroyed with the batch, they cannot be told from random
    bytes and nothing links the tags of one person in two batches.

    >>> first, again = (person_tags(bytes(32), b"a", 1) for _ in range(2))
    >>> first == again, first == person_tags(bytes(32), b"b", 1)
    (True, False)
    """
    return [
        _keyed(tag_key, b"person", len(credential).to_bytes(2) + credential + number.to_bytes(2))
        for number in range(messages)
    ]


def relay_tags(tag_key: bytes, credential: bytes, envelopes: Sequence[bytes]) -> list[bytes]:
    """The tags of what a relay sends for people it vouches for: one an envelope.

    Only an envelope sent again has the tag of the first.
    """
    prefix = len(credential).to_bytes(2) + credential
    return [_keyed(tag_key, b"relay", prefix + envelope) for envelope in envelopes]


def _keyed(tag_key: bytes, purpose: bytes, data: bytes) -> bytes:
    return blake2b(data, digest_size=TAG_BYTES, key=tag_key, person=purpose).digest()
