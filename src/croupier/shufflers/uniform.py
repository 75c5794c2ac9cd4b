"""The uniform shuffler: every order is equally likely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from croupier.model.shuffler import Shuffler
from croupier.numerics.arrays import np
from croupier.numerics.keystream import Keystream, stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["UniformShuffler"]


@dataclass(frozen=True)
class UniformShuffler(Shuffler):
    """Sort the reports by independent uniform 64-bit keys, drawn again if two of them agree.

    Given that they all differ, every order of the keys is equally likely, so the order is exactly
    uniform. Two of n keys agree with probability below n^2 / 2^65.

    Example:
        >>> UniformShuffler().order(5, insecure_seed=7)
        array([1, 0, 2, 4, 3])
    """

    name = "uniform"

    def order(
        self, n: int, *, rng: Keystream | None = None, insecure_seed: int | None = None
    ) -> NDArray[np.int64]:
        """Draw one of the n! orders."""
        rng = stream(rng, insecure_seed)
        while True:
            keys = rng.words(n)
            order = np.argsort(keys)
            ranked = keys[order]
            if not (ranked[1:] == ranked[:-1]).any():
                return order
