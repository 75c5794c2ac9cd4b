"""The adversary's prior: exactly, as fractions, and rounded to doubles."""

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError

__all__ = [
    "Prior",
    "as_law",
    "checked_prior",
    "common_denominator",
    "exact_doubles",
    "exact_numbers",
    "prior_in_doubles",
]

Prior = Sequence[float | Fraction]

_SUM_TOLERANCE = 1e-9

_EXACT_INTEGERS = 2**53
"""Below this size, every integer is a double."""


def checked_prior(prior: Prior | None, size: int) -> list[Fraction]:
    """A law on `size` secrets, exactly as given and scaled to sum to one; uniform if None.

    >>> checked_prior([0.5, 0.25, 0.25], 3)
    [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    """
    if prior is None:
        return [Fraction(1, size)] * size
    law = as_law(prior)
    if len(law) != size:
        raise ParameterError("prior", must=f"have {size} entries", got=f"{len(law)} entries")
    return law


def as_law(prior: Prior) -> list[Fraction]:
    """A law on as many secrets as it has entries.

    >>> as_law([1, 0])
    [Fraction(1, 1), Fraction(0, 1)]
    """
    chances = exact_numbers("prior", prior, dimensions=1)
    if any(chance < 0 for chance in chances):
        raise ParameterError("prior", must="not be negative")
    total = sum(chances, start=Fraction(0))
    if abs(total - 1) > _SUM_TOLERANCE:
        shown = f"{float(total):.12g}" if total < 10**6 else "far more"
        raise ParameterError("prior", must="sum to 1 within 1e-9", got=shown)
    return [chance / total for chance in chances]


def prior_in_doubles(prior: Prior | None, size: int) -> NDArray[np.float64]:
    """`checked_prior` in doubles, each at most a relative 2^-52 off; refuses the same priors.

    >>> prior_in_doubles([0.5, 0.25, 0.25], 3).tolist()
    [0.5, 0.25, 0.25]
    """
    if prior is None:
        return np.full(size, 1 / size)
    chances = exact_doubles(prior, dimensions=1)
    if chances is not None and len(chances) == size and chances.min() >= 0 and chances.max() <= 1:
        total = math.fsum(chances.tolist())
        if abs(total - 1) < _SUM_TOLERANCE / 2:
            return chances / total
    return np.array([float(chance) for chance in checked_prior(prior, size)])


def exact_doubles(values: Any, *, dimensions: int) -> NDArray[np.float64] | None:
    """The entries of a list or a table if doubles hold them exactly; None if they might not.

    Ask `exact_numbers` about all others: these may be fractions, or an error. The doubles may be
    infinite, or not numbers.

    >>> exact_doubles([1, 0.5], dimensions=1).tolist()
    [1.0, 0.5]
    >>> exact_doubles([Fraction(1, 3)], dimensions=1) is None
    True
    """
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        return None
    kind, size = array.dtype.kind, array.dtype.itemsize
    if array.ndim != dimensions or kind not in "biuf" or size > np.dtype(np.float64).itemsize:
        return None
    doubles = array.astype(np.float64)
    return doubles if kind == "f" or (np.abs(doubles) < _EXACT_INTEGERS).all() else None


def exact_numbers(parameter: str, values: Any, *, dimensions: int) -> list[Fraction]:
    """Return the entries of a list, or of the rows of a table, as fractions; refuse text.

    >>> exact_numbers("gain", [[1, 0.5]], dimensions=2)
    [Fraction(1, 1), Fraction(1, 2)]
    """
    try:
        array = np.asarray(values)
    except ValueError:  # rows of different lengths
        array = np.array(None)
    if array.ndim != dimensions:
        shape = "a list of numbers" if dimensions == 1 else "rows of numbers, all of one length"
        raise ParameterError(parameter, must=f"be {shape}")
    try:
        return [_fraction(entry) for entry in array.ravel().tolist()]
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(parameter, must="consist of finite numbers") from None


def common_denominator(fractions: Sequence[Fraction]) -> tuple[list[int], int]:
    """Numerators over the least common denominator.

    >>> common_denominator([Fraction(1, 2), Fraction(1, 3)])
    ([3, 2], 6)
    """
    denominator = math.lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * denominator) for fraction in fractions], denominator


def _fraction(entry: Any) -> Fraction:
    if isinstance(entry, str):
        raise TypeError
    if isinstance(entry, Rational):  # its parts may be integers of numpy, which overflow
        return Fraction(int(entry.numerator), int(entry.denominator))
    return Fraction(entry)
