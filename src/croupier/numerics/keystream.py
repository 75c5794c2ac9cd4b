"""Uniform integers from a cryptographic keystream."""

from __future__ import annotations

import hashlib
import os
import struct
from itertools import groupby
from operator import index
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes

from croupier.errors import ParameterError
from croupier.numerics.arrays import np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["WORD", "Keystream", "generator", "stream"]

WORD = 1 << 64
"""One draw of the keystream is a uniform integer below 2**64."""

_ZEROS = bytes(1 << 20)
_BYTES_A_WORD = 8
_KEY_SIZE = 32


class Keystream:
    """Uniform integers below any bound up to 2**64, exactly, without modulo bias.

    The words are the output of AES-256 in counter mode under a key from the operating system. A
    word is accepted if it lies below the largest multiple of the bound and drawn again otherwise,
    so that every integer below the bound is equally likely.

    Holds when AES-256 cannot be told from a random permutation. A process that forks gets a new
    key in the child, so that two processes never share noise. Do not share a keystream between
    threads; it is cheap, so make one per thread.

    Args:
        insecure_seed: Makes the stream repeatable, and predictable to anyone who knows the seed.
            For simulations and tests only.
        secret: 32 bytes from the operating system, kept by the caller: the same integers can be
            drawn again by whoever has them, and by nobody else. One secret for one purpose.

    Example:
        >>> Keystream(insecure_seed=7).integers(6, 5)
        array([0, 5, 3, 2, 5], dtype=uint64)
    """

    def __init__(self, *, insecure_seed: int | None = None, secret: bytes | None = None) -> None:
        self._key = None if insecure_seed is None else _seed_key(_seed(insecure_seed))
        if secret is not None:
            if self._key is not None or len(secret) != _KEY_SIZE:
                raise ParameterError("secret", must="be 32 bytes, without a seed")
            self._key = secret
        self._rekey()

    def _rekey(self) -> None:
        self._pid = os.getpid()
        key = os.urandom(_KEY_SIZE) if self._key is None else self._key
        self._cipher: CipherContext = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    def _rekey_after_fork(self) -> None:
        if self._key is None and self._pid != os.getpid():
            self._rekey()

    def words(self, size: int) -> NDArray[np.uint64]:
        """Draw `size` uniform 64-bit words."""
        self._rekey_after_fork()
        stream = np.empty(size * _BYTES_A_WORD, dtype=np.uint8)
        for start in range(0, len(stream), len(_ZEROS)):
            block = stream[start : start + len(_ZEROS)]
            self._cipher.update_into(_ZEROS[: len(block)], block.data)
        return stream.view("<u8").astype(np.uint64, copy=False)

    def integers(self, below: int, size: int) -> NDArray[np.uint64]:
        """Draw `size` integers, uniform on 0, 1, …, `below` - 1."""
        below, accepted = _accepted(below)
        draws = self.words(size)
        if below == WORD:
            return draws
        if accepted < WORD:
            rejected = np.flatnonzero(draws >= np.uint64(accepted))
            while len(rejected):
                draws[rejected] = self.words(len(rejected))
                rejected = rejected[draws[rejected] >= np.uint64(accepted)]
        return np.remainder(draws, np.uint64(below), out=draws)

    def table(self, bounds: Sequence[int], size: int) -> NDArray[np.uint64]:
        """Draw `size` rows of integers; column j is uniform below `bounds[j]`."""
        runs = [(bound, len(list(run))) for bound, run in groupby(bounds)]
        blocks = [self.integers(bound, size * width).reshape(size, width) for bound, width in runs]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)

    def row(self, bounds: Sequence[int]) -> list[int]:
        """Draw one row of integers without arrays: the one that `table` would draw.

        >>> Keystream(insecure_seed=7).row([6] * 5)
        [0, 5, 3, 2, 5]
        """
        drawn: list[int] = []
        for bound, run in groupby(bounds):
            drawn += self._below(bound, len(list(run)))
        return drawn

    def integer(self, below: int) -> int:
        """Draw one integer, uniform on 0, 1, …, `below` - 1."""
        return self._below(below, 1)[0]

    def _below(self, below: int, size: int) -> list[int]:
        below, accepted = _accepted(below)
        draws = [*self._words(size)]
        rejected = [place for place, draw in enumerate(draws) if draw >= accepted]
        while rejected:
            for place, draw in zip(rejected, self._words(len(rejected)), strict=True):
                draws[place] = draw
            rejected = [place for place in rejected if draws[place] >= accepted]
        return [draw % below for draw in draws]

    def _words(self, size: int) -> tuple[int, ...]:
        self._rekey_after_fork()
        return struct.unpack(f"<{size}Q", self._cipher.update(bytes(size * _BYTES_A_WORD)))

    def __reduce__(self) -> str | tuple[object, ...]:
        msg = "a keystream holds a secret and cannot be pickled; make a new one where it is needed"
        raise TypeError(msg)


def stream(rng: Keystream | None = None, insecure_seed: int | None = None) -> Keystream:
    """Return the keystream to draw from: `rng`, a seeded one, or a fresh one.

    >>> stream(insecure_seed=7).integers(6, 5)
    array([0, 5, 3, 2, 5], dtype=uint64)
    >>> stream(7)
    Traceback (most recent call last):
    croupier.errors.ParameterError: `rng` must be a croupier Keystream; got 'int'. Pass
    insecure_seed=7 for a repeatable run.
    """
    if rng is None:
        return Keystream(insecure_seed=insecure_seed)
    given: object = rng
    if not isinstance(given, Keystream):
        seed = given if isinstance(given, int) else 7
        raise ParameterError(
            "rng",
            must="be a croupier Keystream",
            got=type(given).__name__,
            hint=f"Pass insecure_seed={seed} for a repeatable run.",
        )
    if insecure_seed is not None:
        raise ParameterError("insecure_seed", must="be left out where `rng` is given")
    return rng


def generator(
    rng: Keystream | None = None, insecure_seed: int | None = None
) -> np.random.Generator:
    """Return a numpy generator seeded by `stream`, for draws that need not be secret.

    >>> int(generator(insecure_seed=7).integers(10_000))
    711
    """
    return np.random.default_rng(stream(rng, insecure_seed).words(4))


def _accepted(below: int) -> tuple[int, int]:
    """The bound, and its largest multiple that words reach: words from there on are refused."""
    below = index(below)
    if not 1 <= below <= WORD:
        raise ParameterError("below", must="be in [1, 2**64]", got=below)
    return below, WORD - WORD % below


def _seed(given: int) -> int:
    try:
        return index(given)
    except TypeError:
        got = type(given).__name__
        raise ParameterError("insecure_seed", must="be a whole number", got=got) from None


def _seed_key(seed: int) -> bytes:
    return hashlib.sha256(b"croupier insecure seed " + str(seed).encode()).digest()
