"""The crowd that a Mallows order puts around each person: all others, weighed by nearness."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.numerics.validate import array_given, whole_number
from croupier.shufflers.theta import checked_theta

__all__ = ["order_crowds"]

_ROUNDING = 1e-8
"""A generous bound of the relative error of a sum of up to 10^7 positive terms."""


def order_crowds(places: ArrayLike, *, theta: float, people: int) -> NDArray[np.float64]:
    """Compute the crowd of each person present: themselves, and the others by nearness.

        1 + sum over the others of e^(-theta (2 d - 1))

    where d is the distance between the two `places` in the reference order. The weight of another
    is the least factor by which an order becomes less likely when the two exchange reports.

    Direction: lower, rounded down.

    Args:
        places: The place in the reference order of each person who is present; no two the same.
        theta: Closeness to the reference: 0 is uniform, infinity changes nothing.
        people: The number of places.

    Example:
        >>> order_crowds([0, 1, 9], theta=0.5, people=10).round(3).tolist()
        [1.607, 1.607, 1.001]
    """
    checked_theta(theta)
    number = whole_number("people", people, least=1)
    must = "be different places of the reference order, from 0 on"
    where = array_given("places", places, must=must)
    whole = where.ndim == 1 and (where.dtype.kind in "iu" or not where.size)
    if not whole or (where.size and not 0 <= where.min() <= where.max() < number):
        raise ParameterError("places", must=must)
    where = where.astype(np.int64)
    present = np.zeros(number, dtype=np.float64)
    present[where] = 1
    if present.sum() < len(where):
        raise ParameterError("places", must=must)
    if theta == 0 or math.isinf(theta):  # everybody counts in full, or nobody
        return np.full(len(where), 1.0 if theta else len(where), dtype=np.float64)
    from scipy.signal import lfilter  # noqa: PLC0415 - slow to load, and seldom needed

    factor = math.exp(-2 * theta)

    def before(row: NDArray[np.float64]) -> NDArray[np.float64]:
        # Entry i is the sum of row[i - d] e^(-2 theta (d - 1)) over d >= 1.
        return np.asarray(lfilter([0.0, 1.0], [1.0, -factor], row))

    near = before(present) + before(present[::-1])[::-1]
    # One person by oneself is exactly a crowd of one; there is nothing to round.
    return np.asarray(1 + math.exp(-theta) * near[where] * (1 - _ROUNDING), dtype=np.float64)
