"""Outputs of a mechanism as columns: numbers, rows of numbers, or objects of any type."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Column", "Shape", "as_column", "joined"]

Column = NDArray[Any]
"""One output an entry: numbers, rows of numbers, or objects."""


def as_column(outputs: Any) -> Column:
    """The outputs of a mechanism, without losing what tells them apart.

    Numbers of one type stay numbers, rows of one length become a matrix; the rest stays objects:
    a list of 1, 2.0 and None has three types, and the type may be what leaks.

    >>> as_column([1, 2]).dtype.kind, as_column([(0, 1), (1, 1)]).shape, as_column([1, None]).dtype
    ('i', (2, 2), dtype('O'))
    """
    if isinstance(outputs, np.ndarray):
        return _array(outputs)
    entries = list(outputs)
    kinds = {type(entry) for entry in entries}
    if len(kinds) == 1:
        (kind,) = kinds
        if issubclass(kind, (bool, int, float, np.number, np.bool_)):
            numbers = np.asarray(entries)
            if numbers.dtype.kind in "bf" or all(-_WORD <= entry < _WORD for entry in entries):
                return numbers
        if issubclass(kind, (tuple, list, np.ndarray)):
            return _rows(entries)
    return _objects(entries)


@dataclass(frozen=True)
class Shape:
    """What the outputs of one reading have in common: whole or other numbers, and how many a row.

    Attributes:
        kind: "i" for whole numbers, "f" for others, "O" for objects of any type. Truth values are
            objects: True is not 1. In a row they are whole numbers.
        width: The length of a row; 0 for single entries.
    """

    kind: str
    width: int = 0

    @classmethod
    def of(cls, columns: Sequence[Column]) -> "Shape":
        """The shape of columns if they share one; else that of objects."""
        shapes = {cls._of_one(column) for column in columns}
        return shapes.pop() if len(shapes) == 1 else cls("O")

    @classmethod
    def _of_one(cls, column: Column) -> "Shape":
        if column.ndim == 2:
            return cls(_KINDS[column.dtype.kind], column.shape[1])
        return cls("O" if column.dtype == bool else _KINDS[column.dtype.kind])

    def fits(self, entry: Any) -> bool:
        """Whether an entry of some column has this shape."""
        if self.kind == "O":
            return True
        if self.width:
            row = isinstance(entry, (tuple, list, np.ndarray)) and len(entry) == self.width
            return row and all(self._holds(part) for part in entry)
        return not isinstance(entry, (bool, np.bool_)) and self._holds(entry)

    def _holds(self, number: Any) -> bool:
        if self.kind == "f":
            return isinstance(number, (float, np.floating))
        return isinstance(number, (int, np.integer, np.bool_)) and -_WORD <= int(number) < _WORD

    def read(self, column: Column) -> tuple[NDArray[np.bool_], Column]:
        """Which entries have this shape, and a column of those.

        Each entry is judged by itself, never by what else is in the column: an event must be a
        set of outputs.
        """
        everything = np.ones(len(column), dtype=bool)
        if self.kind == "O":
            plain = column.dtype == object and not {*map(type, column)} & _CONVERTED
            entries = column if plain else _objects([_entry(entry) for entry in column])
            return everything, entries
        if column.dtype != object:
            if Shape.of([column]) != self:
                return ~everything, column[:0]
            if column.dtype != np.uint64:
                return everything, column.astype(self._dtype, copy=False)
        fitting = np.array([self.fits(entry) for entry in column], dtype=bool)
        chosen = np.array([*column[fitting]], dtype=self._dtype)
        return fitting, chosen.reshape(-1, self.width) if self.width else chosen

    @property
    def _dtype(self) -> type[np.number[Any]]:
        return np.float64 if self.kind == "f" else np.int64


def joined(columns: Iterable[Column]) -> Column:
    """One column of all entries, as numbers or rows if all of them are."""
    parts = list(columns)
    shape = Shape.of(parts)
    return np.concatenate([shape.read(part)[1] for part in parts])


_WORD = 1 << 63
_CONVERTED = {np.ndarray, list, *np.sctypeDict.values()}
_KINDS = {"b": "i", "i": "i", "u": "i", "f": "f"} | dict.fromkeys("OSUVcmM", "O")


def _array(array: Column) -> Column:
    if array.dtype.kind in "SU":
        return _objects(array.tolist())
    if array.ndim > 2:
        return array.reshape(len(array), -1)
    return array


def _rows(entries: list[Any]) -> Column:
    lengths = {len(entry) for entry in entries}
    numeric = all(
        isinstance(part, (bool, int, float, np.number, np.bool_))
        for entry in entries[:1000]
        for part in entry
    )
    if len(lengths) == 1 and lengths != {0} and numeric:
        matrix = np.asarray(entries)
        if matrix.dtype.kind in "biuf":
            return _array(matrix)
    return _objects([_entry(entry) for entry in entries])


def _entry(entry: Any) -> Any:
    """An entry that can be looked up: rows become tuples, numbers Python's own."""
    if isinstance(entry, np.ndarray):
        return tuple(entry.tolist())
    if isinstance(entry, list):
        return tuple(_entry(part) for part in entry)
    return entry.item() if isinstance(entry, np.generic) else entry


def _objects(entries: list[Any]) -> Column:
    column = np.empty(len(entries), dtype=object)
    for place, entry in enumerate(entries):
        column[place] = entry
    return column
