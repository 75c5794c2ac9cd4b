"""A public family of hash functions, derived from the name of a batch."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from croupier.numerics.arrays import np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["HashFamily"]

_LABEL = b"croupier hash family v1"
_MESSAGE, _FUNCTION = b"\0", b"\1"
_WORD = 8
_WORDS = 3
_HALF = 32
_LOW = (1 << _HALF) - 1


@dataclass(frozen=True)
class HashFamily:
    """Functions from messages to buckets that everybody computes from the name of a batch.

    With the seed s = SHA-256("croupier hash family v1" | name), a message m becomes the fingerprint

        x = the first 8 bytes of SHA-256(s | 0 | m),   its halves x1 and x0 of 32 bits,

    and function j has the first three words a1, a0, b of SHA-256(s | 1 | j), j in 4 bytes:

        h_j(m) = (((a1 x1 + a0 x0 + b) mod 2^64) div 2^32) g div 2^32.

    Numbers are big-endian. For words that are uniform, two fingerprints that differ share a bucket
    with a chance of 1/g up to 2^-32, independently for each function. Nobody knows the functions
    before the batch has its name; from then on, who tries 2^t messages finds one that shares about
    as many buckets with a given message as the luckiest of 2^t does.

    Attributes:
        name: The name of the batch, or nothing for reports outside of one.
        functions: The number of functions.
        buckets: The number g of buckets.

    Reference: dietzfelbinger1996, Theorem 3, for the functions of two words.

    Example:
        >>> HashFamily(b"", functions=1024, buckets=56).bucket(7, b"word")
        12
    """

    name: bytes
    functions: int
    buckets: int

    @cached_property
    def _seed(self) -> bytes:
        return hashlib.sha256(_LABEL + self.name).digest()

    def bucket(self, function: int, message: bytes) -> int:
        """Return the bucket of one message under one function, without arrays."""
        fingerprint = int.from_bytes(
            hashlib.sha256(self._seed + _MESSAGE + message).digest()[:_WORD]
        )
        digest = self._digest(function)
        first, second, constant = (
            int.from_bytes(digest[at : at + _WORD]) for at in range(0, _WORDS * _WORD, _WORD)
        )
        sum_ = first * (fingerprint >> _HALF) + second * (fingerprint & _LOW) + constant
        return ((sum_ >> _HALF & _LOW) * self.buckets) >> _HALF

    def _digest(self, function: int) -> bytes:
        return hashlib.sha256(self._seed + _FUNCTION + function.to_bytes(4)).digest()

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """The words of every function, one row each."""
        return self._words_of(range(self.functions))

    def _words_of(self, functions: Iterable[int]) -> NDArray[np.uint64]:
        digests = bytearray()
        for each in functions:
            digests += self._digest(each)[: _WORDS * _WORD]
        return np.frombuffer(digests, dtype=">u8").astype(np.uint64).reshape(-1, _WORDS)

    def fingerprints(self, messages: Iterable[bytes]) -> NDArray[np.uint64]:
        """The fingerprint of each message."""
        begun = hashlib.sha256(self._seed + _MESSAGE)
        found = bytearray()
        for message in messages:
            each = begun.copy()
            each.update(message)
            found += each.digest()[:_WORD]
        return np.frombuffer(bytes(found), dtype=">u8").astype(np.uint64)

    def buckets_of(
        self, functions: NDArray[np.int64], fingerprints: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """The bucket of each fingerprint under the function beside it (broadcast)."""
        return self._buckets(self.words[functions], fingerprints)

    def buckets_of_drawn(
        self, functions: NDArray[np.int64], fingerprints: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        """The same for a list of functions, without the words of those that were not drawn."""
        drawn, places = np.unique(functions, return_inverse=True)
        if "words" in self.__dict__ or len(drawn) == self.functions:
            return self.buckets_of(functions, fingerprints)
        return self._buckets(self._words_of(drawn.tolist())[places], fingerprints)

    def _buckets(
        self, words: NDArray[np.uint64], fingerprints: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        half = np.uint64(_HALF)
        sums = words[..., 0] * (fingerprints >> half)
        sums += words[..., 1] * (fingerprints & np.uint64(_LOW)) + words[..., 2]
        return (((sums >> half) * np.uint64(self.buckets)) >> half).astype(np.int64)
