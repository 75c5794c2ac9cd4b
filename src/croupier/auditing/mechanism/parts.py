"""The parts of an output: entries, members and fields of text, each asked by itself.

A nonce beside a leak makes every output unique: only the part that leaks repeats.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from croupier.auditing.mechanism.column import Column, as_column
from croupier.auditing.mechanism.feature import Feature, common_features, exact_feature

__all__ = ["every_feature"]

_MOST_PARTS = 32
_MOST_FIELDS = 16
_DEEPEST = 8
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


class _Kind(Enum):
    ENTRY = "[{}]"
    KEY = "[{!r}]"
    MEMBER = ".{}"
    FIELD = " field {}"


class _Step(NamedTuple):
    kind: _Kind
    which: Hashable


_Path = tuple[_Step, ...]


class _Missing(Enum):
    """A placeholder for a part that an output does not have."""

    MISSING = "missing"

    def __repr__(self) -> str:
        return "missing"

    __str__ = __repr__


def every_feature(pooled: Column) -> Iterator[Feature]:
    """Yield the questions that suit a column, and those that suit each part of its outputs.

    The parts are entries of rows and lists, members of dictionaries and data classes, and pieces of
    text between characters that are neither letters nor digits: the first 32 of them, the less
    deeply nested first.
    """
    yield from common_features(pooled)
    if pooled.ndim == 2:
        width = min(pooled.shape[1], _MOST_PARTS)
        paths: list[_Path] = [(_Step(_Kind.ENTRY, index),) for index in range(width)]
    elif pooled.dtype == object:
        paths = _paths(pooled)
    else:
        return
    for path in paths:
        parts = _parts(pooled, path)
        for feature in _of_parts(parts):
            yield _of_part(feature, path)


def _of_parts(parts: Column) -> Iterator[Feature]:
    """Yield each part exactly; and as a number, or by its type and length if these differ."""
    yield exact_feature("output", parts)
    if parts.dtype != object:
        yield from common_features(parts)
        return
    there = [part for part in parts if part is not _Missing.MISSING]
    present = as_column(there)
    if present.ndim == 1 and present.dtype.kind in "iuf":
        yield from common_features(present)
    else:
        yield from (each for each in common_features(parts) if len(each.labels) > 1)


def _of_part(feature: Feature, path: _Path) -> Feature:
    """Return a question about one part of an output of any type."""
    words = "".join(step.kind.value.format(step.which) for step in path)
    name = feature.name.replace("the output", "output").replace("the row", "output")
    return replace(
        feature,
        name=name.replace("output", f"output{words}"),
        shape=None,
        answers=lambda column: feature.encode(_parts(column, path)),
    )


def _parts(column: Column, path: _Path) -> Column:
    if column.ndim == 2:
        ((kind, index),) = path if len(path) == 1 else (_NOWHERE,)
        if kind is _Kind.ENTRY and isinstance(index, int) and index < column.shape[1]:
            return column[:, index]
    return as_column([_part(entry, path) for entry in column])


_NOWHERE = _Step(_Kind.MEMBER, None)


def _part(entry: Any, path: _Path) -> Any:
    for kind, which in path:
        try:
            entry = _TAKE[kind](entry, which)
        except (LookupError, AttributeError, TypeError):
            return _Missing.MISSING
    return entry.item() if isinstance(entry, np.generic) else entry


def _paths(column: Column) -> list[_Path]:
    """Return the paths to parts that more than one output has."""
    seen = Counter(path for entry in column for path in _within(entry))
    often = [path for path, times in seen.items() if times > 1]
    return sorted(often, key=lambda path: (len(path), -seen[path]))[:_MOST_PARTS]


def _within(output: Any) -> Iterator[_Path]:
    """Yield the paths to the first parts of one output, the less deeply nested first."""
    level: list[tuple[_Path, Any]] = [((), output)]
    left = _MOST_PARTS
    for _ in range(_DEEPEST):
        below = []
        for path, entry in level:
            for step, part in islice(_steps(entry), left):
                below.append(((*path, step), part))
                left -= 1
        yield from (path for path, _ in below)
        level = below


def _steps(entry: Any) -> Iterator[tuple[_Step, Any]]:
    if isinstance(entry, Mapping):
        yield from ((_Step(_Kind.KEY, key), part) for key, part in entry.items())
    elif isinstance(entry, (tuple, list)) or (isinstance(entry, np.ndarray) and entry.ndim):
        yield from ((_Step(_Kind.ENTRY, index), part) for index, part in enumerate(entry))
    elif isinstance(entry, (str, bytes)):
        found = _fields(entry)
        if len(found) > 1:
            yield from ((_Step(_Kind.FIELD, index), None) for index in range(len(found)))
    elif is_dataclass(entry) and not isinstance(entry, type):
        for member in fields(entry):
            yield _Step(_Kind.MEMBER, member.name), getattr(entry, member.name, None)


def _fields(text: str | bytes) -> list[str]:
    words = text.decode("latin-1") if isinstance(text, bytes) else text
    return _NOT_ALPHANUMERIC.split(words, _MOST_FIELDS)[:_MOST_FIELDS]


def _entry(entry: Any, index: Any) -> Any:
    if not isinstance(entry, (tuple, list, np.ndarray)):
        raise TypeError
    return entry[index]


def _key(entry: Any, key: Any) -> Any:
    if not isinstance(entry, Mapping):
        raise TypeError
    return entry[key]


def _member(entry: Any, name: Any) -> Any:
    if not is_dataclass(entry):
        raise TypeError
    return getattr(entry, name)


def _field(entry: Any, index: Any) -> Any:
    if not isinstance(entry, (str, bytes)):
        raise TypeError
    return _fields(entry)[index]


_TAKE: dict[_Kind, Callable[[Any, Any], Any]] = {
    _Kind.ENTRY: _entry,
    _Kind.KEY: _key,
    _Kind.MEMBER: _member,
    _Kind.FIELD: _field,
}
