"""What an adversary believes beforehand, as exact fractions."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from croupier.errors import ParameterError

__all__ = ["Prior", "checked_prior", "common_denominator"]

Prior = Sequence[float | Fraction]

_SUM_TOLERANCE = 1e-9


def checked_prior(prior: Prior | None, size: int) -> list[Fraction]:
    """A law on `size` secrets, exactly as given and scaled to sum to one; uniform if None.

    >>> checked_prior([0.5, 0.25, 0.25], 3)
    [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    """
    if prior is None:
        return [Fraction(1, size)] * size
    try:
        chances = [Fraction(chance) for chance in np.asarray(prior).tolist()]
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("prior", must="consist of finite numbers") from None
    if len(chances) != size:
        raise ParameterError("prior", must=f"have {size} entries", got=f"{len(chances)} entries")
    if any(chance < 0 for chance in chances):
        raise ParameterError("prior", must="not be negative")
    total = sum(chances, start=Fraction(0))
    if abs(total - 1) > _SUM_TOLERANCE:
        raise ParameterError("prior", must="sum to 1 within 1e-9", got=f"{float(total):.12g}")
    return [chance / total for chance in chances]


def common_denominator(fractions: Sequence[Fraction]) -> tuple[list[int], int]:
    """Numerators over the least common denominator.

    >>> common_denominator([Fraction(1, 2), Fraction(1, 3)])
    ([3, 2], 6)
    """
    denominator = math.lcm(*(fraction.denominator for fraction in fractions))
    return [int(fraction * denominator) for fraction in fractions], denominator
