"""Who sent a report, as far as a batch must know it: a keyed hash."""

import hmac

__all__ = ["person_tags"]


def person_tags(tag_key: bytes, credential: bytes, messages: int) -> list[bytes]:
    """The tags of all that one person sends in a batch, whatever is in it.

    A second report of the person has the tags of the first and so is dropped. Without the key,
    which is destroyed with the batch, tags are random bytes to who sees them, and nothing links
    those of one person in two batches.

    Args:
        tag_key: The batch's, 32 random bytes.
        credential: Whose; all of one length.
        messages: How many a person sends.

    >>> first, again = (person_tags(bytes(32), b"a", 1) for _ in range(2))
    >>> first == again, first == person_tags(bytes(32), b"b", 1)
    (True, False)
    """
    return [
        hmac.digest(tag_key, b"person\0" + credential + number.to_bytes(2), "sha256")
        for number in range(messages)
    ]
