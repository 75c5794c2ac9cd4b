"""The number of bits that are set in a report of noisy bits."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from croupier.numerics.binomial import binomial_pmf
from croupier.numerics.honest_chances import HonestChances

__all__ = ["set_bits_chances", "set_bits_law"]

Real = NDArray[np.float64]

_ERROR = 1e-9
"""A relative allowance for the rounding of the probabilities, which is below 1e-10."""


def set_bits_law(bits: int, *, raised: int, own: float, other: float) -> Real:
    """P(S = s) for s = 0, …, bits, where S = Bin(raised, own) + Bin(bits - raised, other).

    >>> set_bits_law(2, raised=1, own=0.5, other=0.25).tolist()
    [0.375, 0.5, 0.125]
    """
    rest = binomial_pmf(np.arange(bits - raised + 1), bits - raised, success=other)
    law = np.zeros(bits + 1)
    chances = binomial_pmf(np.arange(raised + 1), raised, success=own)
    for ones, chance in enumerate(chances.tolist()):
        law[ones : ones + len(rest)] += chance * rest
    return law


def set_bits_chances(n: int, sizes: NDArray[np.int64], laws: Sequence[Real]) -> HonestChances:
    """Return how many reports have s bits set, and s or more, with the chances of honest ones.

    Args:
        n: The number of reports.
        sizes: The number of reports with 0, 1, … bits set.
        laws: The law of the number of set bits, for each kind of value.
    """
    bits = len(sizes) - 1
    each = np.array([np.concatenate([law, _at_least(law)]) for law in laws])
    counts = np.concatenate([sizes, _at_least(sizes)])

    def name(entry: int) -> str:
        few = entry <= bits
        size = entry if few else entry - bits
        return f"have {size:,}{'' if few else ' or more'} of {bits:,} bits set"

    return HonestChances(
        n=n,
        counts=counts,
        least=each.min(axis=0) * (1 - _ERROR),
        most=np.minimum(1.0, each.max(axis=0) * (1 + _ERROR) + np.finfo(np.float64).tiny),
        name=name,
    )


def _at_least(law: NDArray[np.generic]) -> NDArray[np.generic]:
    """The sums from 1, 2, … on."""
    return np.asarray(law[:0:-1].cumsum()[::-1])
