"""The adversary's prior, as exact fractions."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from croupier.errors import ParameterError

__all__ = ["Prior", "as_law", "checked_prior", "common_denominator", "exact_numbers"]

Prior = Sequence[float | Fraction]

_SUM_TOLERANCE = 1e-9


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
    return Fraction(entry)
