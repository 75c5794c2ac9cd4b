"""Who sent a report, as far as a batch must know it: a keyed hash."""

from hashlib import blake2b

__all__ = ["ID_BYTES", "TAG_BYTES", "owner_identity", "person_tags"]

ID_BYTES = 16
"""What a credential is known by: random bytes, or for a place of a public file `owner_identity`."""
TAG_BYTES = 32
"""What stands before an envelope in a batch: a keyed hash of whose it is."""


def owner_identity(secret: bytes, owner: int) -> bytes:
    """What the credential of a place in the public file is known by.

    Where a plan mixes by groups, everybody reports from a place, and only with the credential that
    was issued for it. Whoever has the secret can tell the credential of every place; to others it
    is as random as any.

    Args:
        secret: The shuffler's, under which credentials are issued.
        owner: The place, counted from 0.
    """
    key = blake2b(secret, person=b"owners").digest()
    return blake2b(owner.to_bytes(8), digest_size=ID_BYTES, key=key).digest()


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
