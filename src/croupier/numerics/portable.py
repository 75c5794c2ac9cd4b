"""Arithmetic of doubles that gives the same bits on every machine and in every language.

It uses additions, multiplications and divisions alone, which IEEE 754 rounds correctly, in an order
that is fixed. A library's exponential, and its sums and products of matrices, differ in the last
bits from one processor to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from croupier.numerics.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ordered_sum", "portable_exp"]

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 0.6931471803691238
"""The first 33 bits of ln 2: products with whole numbers below 2**20 are exact."""
_LN2_LOW = 1.9082149292705877e-10
_TERMS = 14
_LEAST = -690.0


def ordered_sum(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add the entries of each row from left to right.

    >>> ordered_sum(np.array([[1e16, 1.0, -1e16], [1e16, -1e16, 1.0]]))
    array([0., 1.])
    """
    return np.asarray(np.add.accumulate(rows, axis=-1)[..., -1])


def portable_exp(exponents: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e**x for every x <= 0, to two units in the last place; 0 below -690.

    With k the whole number nearest to x/ln 2 and r = x - k ln 2,

        e**x = 2**k (1 + r (1 + r/2 (1 + r/3 (... (1 + r/14))))).

    >>> portable_exp(np.array([0.0, -1.0, -700.0]))
    array([1.        , 0.36787944, 0.        ])
    """
    inside = np.maximum(exponents, _LEAST)
    doublings = np.rint(inside * _LOG2_E)
    rest = (inside - doublings * _LN2_HIGH) - doublings * _LN2_LOW
    series = np.ones_like(rest)
    for term in range(_TERMS, 0, -1):
        series = 1.0 + rest * series / term
    powers = np.ldexp(series, doublings.astype(np.int64))
    return np.where(exponents < _LEAST, 0.0, powers)
