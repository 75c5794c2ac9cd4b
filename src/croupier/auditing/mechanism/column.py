"""Outputs of a mechanism as columns: numbers, rows of numbers, or objects of any type."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.mechanism.spelling import spelled

__all__ = ["Column", "Fingerprints", "Shape", "as_column", "fingerprints", "joined"]

Column = NDArray[Any]
"""One output per entry: numbers, rows of numbers, or objects."""

Fingerprints = NDArray[np.uint64]
"""A word for each output, equal for equal outputs."""


def as_column(outputs: Any) -> Column:
    """Convert the outputs of a mechanism, without losing what tells them apart.

    Numbers of one type stay numbers, rows of one length become a matrix; the rest stays objects:
    a list of 1, 2.0 and None has three types, and the type may be what leaks. The number of bits
    of a number, and whether a row is a list, a tuple or an array, are not kept.

    >>> as_column([1, 2]).dtype.kind, as_column([(0, 1), (1, 1)]).shape, as_column([1, None]).dtype
    ('i', (2, 2), dtype('O'))
    """
    if isinstance(outputs, np.ndarray):
        return _array(outputs)
    entries = list(outputs)
    kinds = {type(entry) for entry in entries}
    if len(kinds) == 1:
        (kind,) = kinds
        if _family(kind):
            numbers = _numbers(entries, kinds)
            return _objects([*map(_entry, entries)]) if numbers is None else numbers
        if kind in {tuple, list, np.ndarray}:
            return _rows(entries)
    return _objects(entries)


@dataclass(frozen=True)
class Shape:
    """The common shape of outputs: whole or other numbers, and how many per row.

    Attributes:
        kind: "i" for whole numbers, "f" for others, "O" for objects of any type. Truth values are
            objects: True is not 1. "b" for rows of them.
        width: The length of a row; 0 for single entries.
    """

    kind: str
    width: int = 0

    @classmethod
    def of(cls, columns: Sequence[Column]) -> "Shape":
        """Return the shape of columns if they share one; else that of objects."""
        shapes = {cls._of_one(column) for column in columns}
        return shapes.pop() if len(shapes) == 1 else cls("O")

    @classmethod
    def _of_one(cls, column: Column) -> "Shape":
        if column.ndim == 2:
            kind = _KINDS[column.dtype.kind]
            return cls(kind, 0 if kind == "O" else column.shape[1])
        return cls("O" if column.dtype == bool else _KINDS[column.dtype.kind])

    def fits(self, entry: Any) -> bool:
        """Tell whether an entry of some column has this shape."""
        if self.kind == "O":
            return True
        if self.width:
            row = _entry(entry)
            if type(row) is not tuple or len(row) != self.width:
                return False
            return all(self._holds(part) for part in row)
        return self._holds(entry)

    def _holds(self, number: Any) -> bool:
        if _family(type(number)) != self.kind:
            return False
        return self.kind != "i" or -_WORD <= int(number) < _WORD

    def read(self, column: Column) -> tuple[NDArray[np.bool_], Column]:
        """Return which entries have this shape, and a column of those.

        Each entry is judged by itself, never by what else is in the column, since an event must be
        a set of outputs.
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
    def _dtype(self) -> type[np.generic]:
        return _DTYPES[self.kind]


def joined(columns: Iterable[Column]) -> Column:
    """Return one column of all entries, as numbers or rows if all of them are."""
    parts = list(columns)
    shape = Shape.of(parts)
    return np.concatenate([shape.read(part)[1] for part in parts])


def fingerprints(column: Column) -> Fingerprints:
    """Reduce every output to a word, independently: equal outputs have equal words.

    Different outputs have different words, except for a chance of about 2^-64 per pair of rows or
    of objects. Truth values, whole and other numbers never share a word because they are equal.

    >>> words = fingerprints(as_column([1, True, 1.0, 1]))
    >>> bool(words[0] == words[3]), len(set(words.tolist()))
    (True, 3)
    """
    if column.dtype.kind not in "biuf":
        return _object_words(column)
    if column.ndim == 2:
        return _row_words(column)
    return _number_words(column) ^ _TAGS["b" if column.dtype == bool else "n"]


_TAGS = {"b": np.uint64(0xB492B66FBE98F273), "n": np.uint64(0)}
_FLOAT_TAG = np.uint64(0x9AE16A3B2F90404F)
_SPREAD = np.uint64(0xBF58476D1CE4E5B9)
_WORD = 1 << 63
_CONVERTED = {np.ndarray, list, *np.sctypeDict.values()}
_DTYPES: dict[str, type[np.generic]] = {"b": np.bool_, "i": np.int64, "f": np.float64}
_KINDS = {"b": "b", "i": "i", "u": "i", "f": "f"} | dict.fromkeys("OSUVcmM", "O")


def _array(array: Column) -> Column:
    if not _family(array.dtype.type):
        return _objects([_entry(entry) for entry in array])
    if array.dtype == np.uint64 and (array >= np.uint64(_WORD)).any():
        return _objects([_entry(entry) for entry in array.reshape(len(array), -1)])
    return array.reshape(len(array), -1) if array.ndim > 2 else array


def _family(kind: type) -> str:
    """Name truth values, whole numbers or doubles; empty for anything else."""
    if kind is bool or kind is np.bool_:
        return "b"
    if kind is int or (issubclass(kind, np.integer) and np.dtype(kind).kind in "iu"):
        return "i"
    return "f" if kind in {float, np.float64, np.float32, np.float16} else ""


def _numbers(entries: Sequence[Any], kinds: set[type]) -> Column | None:
    """Return numbers, or rows of them, if all are of one family and none is changed by that."""
    families = {_family(kind) for kind in kinds}
    if len(families) != 1 or families == {""}:
        return None
    (family,) = families
    if np.uint64 in kinds:
        entries = [_entry(entry) for entry in entries]
    try:
        return np.array(entries, dtype=_DTYPES[family])
    except OverflowError:
        return None


def _rows(entries: list[Any]) -> Column:
    rows = [_entry(entry) for entry in entries]
    if {*map(type, rows)} != {tuple}:
        numbers = _numbers(rows, {*map(type, rows)})
        return _objects(rows) if numbers is None else numbers
    lengths = {*map(len, rows)}
    kinds = {*map(type, chain.from_iterable(rows))}
    matrix = _numbers(rows, kinds) if len(lengths) == 1 and lengths != {0} else None
    return _objects(rows) if matrix is None else matrix


def _entry(entry: Any) -> Any:
    """Return an entry in its lookup form: rows become tuples, numbers Python's own."""
    kind = type(entry)
    if kind is np.ndarray and (entry.ndim == 0 or (entry.ndim == 1 and _family(entry.dtype.type))):
        values = entry.tolist()
        return tuple(values) if entry.ndim else values
    if kind is tuple or kind is list:
        return tuple([_entry(part) if isinstance(part, np.generic) else part for part in entry])
    return entry.item() if isinstance(entry, np.generic) and _family(kind) else entry


def _objects(entries: list[Any]) -> Column:
    column = np.empty(len(entries), dtype=object)
    for index, entry in enumerate(entries):
        column[index] = entry
    return column


def _number_words(numbers: Column) -> Fingerprints:
    if numbers.dtype.kind == "f":
        return numbers.astype(np.float64).view(np.uint64) ^ _FLOAT_TAG
    return numbers if numbers.dtype == np.uint64 else numbers.astype(np.int64).view(np.uint64)


def _row_words(rows: Column) -> Fingerprints:
    """Return sums over places of mixed entries times random odd numbers, modulo 2^64."""
    words = _number_words(rows) ^ _TAGS["b" if rows.dtype == bool else "n"]
    mixed = (words ^ (words >> np.uint64(32))) * _SPREAD
    mixed = (mixed ^ (mixed >> np.uint64(29))) * _SPREAD
    return np.asarray((mixed * _factors(rows.shape[1])).sum(axis=1, dtype=np.uint64))


@lru_cache
def _factors(width: int) -> Fingerprints:
    odd = np.random.default_rng(width).integers(1 << 63, size=width) * 2 + 1
    return odd.view(np.uint64)


def _object_words(column: Column) -> Fingerprints:
    """Return the words of objects, each kind of text or bytes computed once."""
    known: dict[Any, int] = {}
    words = []
    for entry in column.tolist():
        kind = type(entry)
        if kind is int and -_WORD <= entry < _WORD:
            words.append(entry % (2 * _WORD))
        elif kind is str or kind is bytes:
            word = known.get(entry)
            if word is None:
                word = known[entry] = _word(entry)
            words.append(word)
        else:
            words.append(_word(_entry(entry)))
    return np.array(words, dtype=np.uint64)


def _word(entry: Any) -> int:
    """Return the word of one object, the same as in a column of numbers or rows."""
    kind = type(entry)
    if kind is bool or kind is float or (kind is int and -_WORD <= entry < _WORD):
        return int(fingerprints(np.array([entry]))[0])
    if kind is tuple and entry:
        row = _numbers([entry], {*map(type, entry)})
        if row is not None:
            return int(_row_words(row)[0])
    return int.from_bytes(blake2b(spelled(entry), digest_size=8).digest(), "little")
