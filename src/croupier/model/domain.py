"""The answers that people may give, and the index of each."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any

from croupier.errors import DataError, ParameterError
from croupier.numerics.arrays import is_array, np
from croupier.numerics.validate import unwrapped, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Categories", "Domain", "Grid", "Product", "SignVectors"]


_MOST_STEPS = 1_000_000


class Domain(ABC):
    """A set of possible values, each known to a mechanism by its index."""

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of values."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one person's value: () for a single entry, (d,) for a row of d."""
        return ()

    @property
    def coded_shape(self) -> tuple[int, ...]:
        """The shape of what `encode` turns one person's value into."""
        return self.shape

    @abstractmethod
    def encode(self, values: NDArray[Any]) -> NDArray[Any]:
        """Turn values into the indices that `Randomizer.respond` takes.

        Raises:
            DataError: Some values are missing or outside the domain. The message counts them and
                shows none.
        """

    @abstractmethod
    def encode_one(self, value: Any) -> int | tuple[int, ...]:
        """Turn one person's value into what `encode` turns it into, without arrays."""


@dataclass(frozen=True)
class Categories(Domain):
    """One of finitely many answers: 0, 1, …, k - 1, or one of the labels.

    >>> Categories(("no", "yes")).encode(np.array(["yes", "no"]))
    array([1, 0])
    """

    labels: Sequence[str | int]

    @classmethod
    def of(cls, *, k: int | None, labels: Sequence[str | int] | None) -> Categories:
        """Make a domain from the number of categories or from their labels, not both."""
        if (k is None) == (labels is None):
            raise ParameterError("k", must="be given, or `labels`, not both", hint="Try k=10.")
        if labels is not None:
            if len(set(labels)) != len(labels) or len(labels) < 2:
                raise ParameterError("labels", must="be at least two, all different")
            return cls(tuple(labels))
        return cls(range(whole_number("k", 0 if k is None else k, least=2, most=2**40)))

    @property
    def size(self) -> int:
        """The number of categories."""
        return len(self.labels)

    def encode(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """The index of each value."""
        if values.ndim != 1:
            raise ParameterError("values", must="be one column", got=values.shape)
        if isinstance(self.labels, range):
            indices = _integers(values)
        else:
            found = (self._positions.get(value, -1) for value in values.tolist())
            indices = np.fromiter(found, dtype=np.int64, count=len(values))
        outside = int(np.count_nonzero((indices < 0) | (indices >= self.size)))
        if outside:
            raise self._outside(outside)
        return indices

    def encode_one(self, value: Any) -> int:
        """The index of the value.

        >>> Categories(("no", "yes")).encode_one("yes")
        1
        """
        entry = _entry(value)
        if isinstance(self.labels, range):
            index = _integer(entry)
        else:
            index = self._positions.get(entry, -1)
        if not 0 <= index < self.size:
            raise self._outside(1)
        return index

    @cached_property
    def _positions(self) -> dict[str | int, int]:
        return {label: position for position, label in enumerate(self.labels)}

    def _outside(self, count: int) -> DataError:
        return DataError(
            count,
            f"values are not among the {self.size} categories",
            hint="Map them to a category, or declare `labels`.",
        )


@dataclass(frozen=True)
class Grid(Domain):
    """A number on the fixed-point grid low, low + step, …, high.

    Values are rounded to the nearest point and clamped to the ends. This is part of the mechanism,
    which thus has finitely many inputs and no floating-point noise.

    >>> Grid(low=0, high=1, step=0.25).encode(np.array([0.3, 7.0]))
    array([1, 4])
    """

    low: float
    high: float
    step: float

    def __post_init__(self) -> None:
        if not all(math.isfinite(end) for end in (self.high - self.low, self.step)):
            raise ParameterError("grid", must="have finite low, high and step")
        if not self.low < self.high:
            raise ParameterError("grid", must="have low below high", got=(self.low, self.high))
        steps = (self.high - self.low) / self.step if self.step > 0 else 0.0
        if not (round(steps) >= 1 and math.isclose(steps, round(steps), rel_tol=1e-9)):
            raise ParameterError("grid", must="be divided evenly by a positive step", got=self.step)
        if steps > _MOST_STEPS:
            raise ParameterError("grid", must=f"have at most {_MOST_STEPS:,} steps")

    @property
    def size(self) -> int:
        """The number of grid points."""
        return round((self.high - self.low) / self.step) + 1

    @property
    def points(self) -> NDArray[np.float64]:
        """The grid points, from low to high."""
        return np.linspace(self.low, self.high, self.size)

    def encode(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """The index of the nearest grid point."""
        numbers = _numbers(values)
        with np.errstate(over="ignore"):
            position = np.rint((numbers - self.low) / self.step)
        return np.clip(position, 0, self.size - 1).astype(np.int64)

    def encode_one(self, value: Any) -> int:
        """The index of the nearest grid point; half-way, the even one.

        >>> Grid(low=0, high=1, step=0.25).encode_one(0.3)
        1
        """
        position = (_number(_entry(value)) - self.low) / self.step
        return round(min(max(position, 0.0), self.size - 1.0))


@dataclass(frozen=True)
class SignVectors(Domain):
    """A vector of `dimension` signs, each -1 or +1."""

    dimension: int

    def __post_init__(self) -> None:
        whole_number("dimension", self.dimension, least=1, most=2**40)

    @property
    def size(self) -> int:
        """The number of vectors."""
        return 1 << self.dimension

    @property
    def shape(self) -> tuple[int, ...]:
        """A row of signs."""
        return (self.dimension,)

    def encode(self, values: NDArray[Any]) -> NDArray[np.int8]:
        """A matrix of 0 for -1 and 1 for +1, one row per person."""
        if values.ndim != 2 or values.shape[1] != self.dimension:
            raise ParameterError(
                "values", must=f"be a matrix with {self.dimension} columns", got=values.shape
            )
        positive = values == 1
        wrong = int(np.count_nonzero(~positive & (values != -1)))
        if wrong:
            raise _no_signs(wrong)
        return np.asarray(positive, dtype=np.int8)

    def encode_one(self, value: Any) -> tuple[int, ...]:
        """The signs as 0 and 1.

        >>> SignVectors(2).encode_one([-1, 1])
        (0, 1)
        """
        row = _row(value, self.shape)
        wrong = sum(entry not in {-1, 1} for entry in row)
        if wrong:
            raise _no_signs(wrong)
        return tuple(int(entry == 1) for entry in row)


@dataclass(frozen=True)
class Product(Domain):
    """A row of answers to several questions, each from its own domain.

    Answers of different kinds need an array of objects: ``np.array(rows, dtype=object)``.

    >>> both = Product((Categories(("no", "yes")), Grid(low=0, high=1, step=0.25)))
    >>> both.encode(np.array([["yes", 0.3], ["no", 7.0]], dtype=object))
    array([[1, 1],
           [0, 4]])
    """

    parts: tuple[Domain, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts:
            raise ParameterError("parts", must="be at least one domain")

    @property
    def size(self) -> int:
        """The number of rows of answers."""
        return math.prod(part.size for part in self.parts)

    @property
    def shape(self) -> tuple[int, ...]:
        """The columns of all parts, one after the other."""
        return _joined(part.shape for part in self.parts)

    @property
    def coded_shape(self) -> tuple[int, ...]:
        """The encoded columns of all parts, one after the other."""
        return _joined(part.coded_shape for part in self.parts)

    def encode(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """A matrix of the encoded columns of all parts, one row per person."""
        if values.ndim != 2 or values.shape[1:] != self.shape:
            raise ParameterError(
                "values", must=f"be a matrix with {self.shape[0]} columns", got=values.shape
            )
        indices = np.empty((len(values), *self.coded_shape), dtype=np.int64)
        columns = _columns(part.shape for part in self.parts)
        for part, own, coded in zip(self.parts, columns, self.split(indices), strict=True):
            coded[...] = part.encode(values[:, own])
        return indices

    def encode_one(self, value: Any) -> tuple[int, ...]:
        """The encoded columns of all parts.

        >>> Product((Categories(("no", "yes")), SignVectors(2))).encode_one(["yes", -1, 1])
        (1, 0, 1)
        """
        row = _row(value, self.shape)
        columns = _columns(part.shape for part in self.parts)
        coded = [part.encode_one(row[own]) for part, own in zip(self.parts, columns, strict=True)]
        return tuple(chain.from_iterable(i if isinstance(i, tuple) else (i,) for i in coded))

    def split(self, indices: NDArray[Any]) -> list[NDArray[Any]]:
        """The encoded columns of each part: views of shape (people, *part.coded_shape)."""
        return [indices[:, own] for own in _columns(part.coded_shape for part in self.parts)]

    def split_one(self, index: Sequence[Any]) -> list[Any]:
        """The encoded columns of each part in one row: an entry, or a row of its own."""
        return [index[own] for own in _columns(part.coded_shape for part in self.parts)]


def _joined(shapes: Iterable[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape of entries and rows, one after the other."""
    return (sum(map(math.prod, shapes)),)


def _columns(shapes: Iterable[tuple[int, ...]]) -> Iterator[slice | int]:
    """Yield where each of them is: the place of an entry, the places of a row."""
    start = 0
    for shape in shapes:
        stop = start + math.prod(shape)
        yield slice(start, stop) if shape else start
        start = stop


def _no_signs(count: int) -> DataError:
    return DataError(count, "entries are neither -1 nor +1", hint="Take the sign first.")


def _plain(value: Any) -> Any:
    """A value of an array or of a column in Python's types."""
    return value.tolist() if is_array(value) else unwrapped(value)


def _entry(value: Any) -> Any:
    """A single entry, not a row."""
    entry = _plain(value)
    if isinstance(entry, (list, tuple)):
        raise ParameterError("values", must="be one column", got=(1, len(entry)))
    return entry


def _row(value: Any, shape: tuple[int, ...]) -> list[Any]:
    """A row of entries."""
    row = _plain(value)
    if not isinstance(row, (list, tuple)) or (len(row),) != shape:
        got = (1, len(row)) if isinstance(row, (list, tuple)) else (1,)
        raise ParameterError("values", must=f"be a matrix with {shape[0]} columns", got=got)
    return [_plain(entry) for entry in row]


def _number(entry: Any) -> float:
    if entry is None:
        raise DataError(1, "values are missing", hint="Drop or fill them first.")
    if not isinstance(entry, Real):
        raise DataError(1, "values are not numbers", hint="Convert or drop them first.")
    try:
        number = float(entry)
    except OverflowError:
        raise DataError(1, "values or more are too large", hint="Check them.") from None
    if math.isnan(number):
        raise DataError(1, "values are missing", hint="Drop or fill them first.")
    return number


def _integer(entry: Any) -> int:
    if isinstance(entry, int):
        return entry
    number = _number(entry)
    if not number.is_integer():
        raise DataError(1, "values are not whole numbers", hint="Use a grid mechanism.")
    return int(number)


def _numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.ndim != 1:
        raise ParameterError("values", must="be one column", got=values.shape)
    if values.dtype.kind not in "biufO":
        raise DataError(len(values), "values are not numbers", hint="Convert them first.")
    if values.dtype == object:
        missing = sum(value is None for value in values)
        if missing:
            raise DataError(missing, "values are missing", hint="Drop or fill them first.")
        wrong = sum(not isinstance(value, Real) for value in values)
        if wrong:
            raise DataError(wrong, "values are not numbers", hint="Convert or drop them first.")
    try:
        numbers = values.astype(np.float64)
    except OverflowError:
        raise DataError(1, "values or more are too large", hint="Check them.") from None
    missing = int(np.count_nonzero(np.isnan(numbers)))
    if missing:
        raise DataError(missing, "values are missing", hint="Drop or fill them first.")
    return numbers


def _integers(values: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers; those beyond 64 bits become -1, which no domain contains."""
    if values.dtype.kind in "biu":
        return values.astype(np.int64, copy=False)
    numbers = _numbers(values)
    fractional = int(np.count_nonzero(~np.isfinite(numbers) | (numbers != np.rint(numbers))))
    if fractional:
        raise DataError(fractional, "values are not whole numbers", hint="Use a grid mechanism.")
    return np.where(np.abs(numbers) < 2.0**62, numbers, -1).astype(np.int64)
