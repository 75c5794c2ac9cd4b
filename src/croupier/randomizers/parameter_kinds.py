"""What a mechanism's parameters look like where people write them."""

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from operator import index
from typing import Any, NamedTuple

import numpy as np

from croupier.errors import ParameterError
from croupier.model.domain import Grid
from croupier.numerics.keystream import WORD

__all__ = ["advice", "read_parameter"]


class _Kind(NamedTuple):
    read: Callable[[Any], Any]
    must: str
    hint: str = ""


def read_parameter(name: str, value: Any) -> Any:
    """A parameter from texts, numbers, lists and tables, as its mechanism takes it.

    >>> read_parameter("epsilon_local", 4), read_parameter("labels", ["no", "yes"])
    (4.0, ('no', 'yes'))
    """
    kind = _KINDS.get(name, _WHOLE)
    try:
        return None if value is None else kind.read(value)
    except ParameterError:
        raise
    except (TypeError, ValueError, OverflowError):
        got = value if isinstance(value, str | bool | float) else None
        raise ParameterError(name, must=kind.must, got=got, hint=kind.hint) from None


def advice(name: str) -> str:
    """What to try for a parameter."""
    return _KINDS.get(name, _WHOLE).hint


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError
    return float(value) + 0.0  # no negative zero: one number, one spelling


def _whole(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    number = index(value)
    if abs(number) > WORD:
        raise ValueError
    return number


def _list(value: Any) -> list[Any]:
    if isinstance(value, str | Mapping):
        raise TypeError
    return list(value)


def _labels(value: Any) -> tuple[str | int, ...]:
    return tuple(label if isinstance(label, str) else _whole(label) for label in _list(value))


def _grid(value: Any) -> Grid:
    if isinstance(value, Grid):
        return value
    if set(value) != {"low", "high", "step"}:
        raise ValueError
    return Grid(**{name: _number(end) for name, end in value.items()})


def _matrix(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value
    entries = (Integral, float)
    rows = tuple(tuple(_list(row)) for row in _list(value))
    if not all(isinstance(e, entries) and not isinstance(e, bool) for row in rows for e in row):
        raise TypeError
    return rows


def _whole_numbers(value: Any) -> tuple[int, ...]:
    return tuple(_whole(entry) for entry in _list(value))


_WHOLE = _Kind(_whole, "be a whole number up to 2^64", "Try 16.")
_KINDS = {
    "epsilon_local": _Kind(_number, "be a number in (0, 20]", "Try 4."),
    "tail": _Kind(_number, "be a number in [2, 5]", "Try 3."),
    "labels": _Kind(_labels, "be a list of texts or whole numbers", 'Try ["no", "yes"].'),
    "grid": _Kind(
        _grid, "have the numbers low, high and step", "Try {low = 0, high = 1, step = 0.1}."
    ),
    "matrix": _Kind(_matrix, "be a list of rows of numbers", "Try [[3, 1], [1, 3]]."),
    "weights": _Kind(_whole_numbers, "be a list of whole numbers up to 2^64", "Try [1, 1]."),
    "queries": _Kind(lambda value: tuple(_list(value)), "be a list of tables with a mechanism"),
}
