"""Tags: keyed hashes of senders, all that a batch needs to know about them."""

from hashlib import blake2b

__all__ = ["TAG_BYTES", "person_tags"]

TAG_BYTES = 32
"""The tag before an envelope in a batch: a keyed hash of its sender."""


def person_tags(tag_key: bytes, credential: bytes, messages: int) -> list[bytes]:
    """Return the tags of all that one person sends in a batch, whatever its content.

    A second report of the person has the tags of the first and is therefore dropped. Tags are
    keyed BLAKE2b, a third of the time of HMAC-SHA-256: without the key, which is destroyed with
    the batch, they look random, and nothing links those of one person in two batches.

    Args:
        tag_key: The batch's tag key, 32 random bytes.
        credential: The identity of the sender; all have one length.
        messages: The number of messages per person.

    >>> first, again = (person_tags(bytes(32), b"a", 1) for _ in range(2))
    >>> first == again, first == person_tags(bytes(32), b"b", 1)
    (True, False)
    """
    return [
        blake2b(credential + number.to_bytes(2), digest_size=TAG_BYTES, key=tag_key).digest()
        for number in range(messages)
    ]
