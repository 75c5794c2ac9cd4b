"""Lengths of oblivious messages: all requests of a plan have one, and all answers of a service."""

__all__ = ["LONGEST_REQUEST", "padded_length", "request_length"]

_LEAST = 4096
LONGEST_REQUEST = 1 << 17
"""The length of requests with the longest report that a plan may have, 65,536 bytes."""
_HEAD = 2048
"""Bytes of a request beside its body: address, path, batch, credential or token, and lengths."""


def padded_length(size: int) -> int:
    """Return the least power of two, of at least 4,096, that holds so many bytes.

    >>> [padded_length(size) for size in (0, 4_096, 4_097, 30_000)]
    [4096, 4096, 8192, 32768]
    """
    return max(_LEAST, 1 << (size - 1).bit_length()) if size else _LEAST


def request_length(envelopes: int) -> int:
    """Return the length of all requests of a plan before they are sealed.

    Args:
        envelopes: The bytes of all envelopes of a person in a round.
    """
    return padded_length(_HEAD + envelopes)
