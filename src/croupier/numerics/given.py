"""Arrays and numbers as people give them."""

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError

__all__ = ["array_given", "number_given"]


def array_given(parameter: str, entries: ArrayLike, *, must: str) -> NDArray[Any]:
    """`entries` as an array, unless its rows differ in length.

    >>> array_given("places", [[1], [2, 3]], must="be one row a person")
    Traceback (most recent call last):
    croupier.errors.ParameterError: `places` must be one row a person.
    """
    try:
        return np.asarray(entries)
    except (TypeError, ValueError):
        raise ParameterError(parameter, must=must) from None


def number_given(parameter: str, value: Any) -> float:
    """`value` as a number of at least 0; infinity is one.

    >>> number_given("alpha", "4")
    Traceback (most recent call last):
    croupier.errors.ParameterError: `alpha` must be at least 0; got '4'.
    """
    number = math.nan if isinstance(value, str) else value
    try:
        number = float(number)
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) or number < 0:
        raise ParameterError(parameter, must="be at least 0", got=value)
    return number
