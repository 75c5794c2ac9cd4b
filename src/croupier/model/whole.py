"""Whole numbers as parameters."""

from operator import index
from typing import SupportsIndex

from croupier.errors import ParameterError

__all__ = ["whole_number"]


def whole_number(
    parameter: str, value: SupportsIndex, *, least: int, most: int | None = None
) -> int:
    """`value` as an int between the limits.

    >>> whole_number("k", 1, least=2)
    Traceback (most recent call last):
    croupier.errors.ParameterError: `k` must be a whole number of at least 2; got 1.
    """
    try:
        number = index(value)
    except TypeError:
        number = least - 1
    if number < least or (most is not None and number > most):
        limits = f"of at least {least}" if most is None else f"in [{least}, {most}]"
        raise ParameterError(parameter, must=f"be a whole number {limits}", got=value)
    return number
