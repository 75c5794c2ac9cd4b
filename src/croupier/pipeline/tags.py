"""Who sent a report, as far as a batch must know it: a keyed hash."""

from hashlib import blake2b

from croupier.pipeline.store import TAG_BYTES

__all__ = ["person_tags"]


def person_tags(tag_key: bytes, credential: bytes, messages: int) -> list[bytes]:
    """The tags of all that one person sends in a batch, whatever is in it.

    A second report of the person has the tags of the first and so is dropped. Tags are keyed
    BLAKE2b, a third of the time of HMAC-SHA-256: without the key, destroyed with the batch,
    they are random bytes to who sees them, and nothing links those of one person in two batches.

    Args:
        tag_key: The batch's, 32 random bytes.
        credential: Whose; all of one length.
        messages: How many a person sends.

    >>> first, again = (person_tags(bytes(32), b"a", 1) for _ in range(2))
    >>> first == again, first == person_tags(bytes(32), b"b", 1)
    (True, False)
    """
    return [
        blake2b(credential + number.to_bytes(2), digest_size=TAG_BYTES, key=tag_key).digest()
        for number in range(messages)
    ]
