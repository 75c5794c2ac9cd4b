"""The base of all results: a line, a card for notebooks, a dictionary and a data frame."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Literal

from croupier.errors import MissingExtraError, ParameterError
from croupier.model.html import Html, card, column, table
from croupier.numerics.arrays import is_array, is_scalar
from croupier.numerics.rounding import AtLeast, AtMost

__all__ = ["Library", "Result", "card_text", "data_frame", "plain"]

Library = Literal["pandas", "polars", "pyarrow"]

_LIBRARIES: tuple[Library, ...] = ("pandas", "polars", "pyarrow")
_SHOWN = 20
_LONGEST = 119


class Result:
    """Something that was computed, with the same ways to show it and to pass it on.

    A subclass is a frozen dataclass with ``repr=False``. It gives a `_summary` and the rows of its
    table as `_records`; fields with ``repr=False`` are not part of `to_dict`.
    """

    @property
    def _summary(self) -> str:
        """Say what was found, in a few words."""
        return str(self)

    def _records(self) -> Sequence[Mapping[str, Any]]:
        """List the rows of the data frame, all with the same keys."""
        raise NotImplementedError

    @property
    def _library(self) -> Library | None:
        """The data-frame library that the input came from, if any."""
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return the result in JSON types: tables, lists, texts, finite numbers and None."""
        return _fields(self)

    def to_frame(self, backend: Library | None = None) -> Any:
        """Return the result as a data frame.

        Args:
            backend: The library of the frame. If left out, that of the input; if there was none,
                the first that is installed.
        """
        records = self._records()
        names = records[0] if records else ()
        columns = {name: _column([record[name] for record in records]) for name in names}
        return data_frame(columns, backend or self._library)

    def __repr__(self) -> str:
        text = f"{type(self).__name__}({self._summary})"
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]}...)"

    def _repr_html_(self) -> str:
        records = list(self._records())
        more = len(records) - _SHOWN
        cut = f"; {more:,} more rows" if more > 0 else ""
        head = [name.replace("_", " ") for name in records[0]] if records else ["nothing"]
        rows = [
            (card_text(first), list(map(_cell, rest, head[1:])))
            for first, *rest in (record.values() for record in records[:_SHOWN])
        ]
        return card(table(f"{type(self).__name__}: {self._summary}{cut}", head, rows))


def data_frame(columns: Mapping[str, Any], backend: Library | None = None) -> Any:
    """Return columns as a data frame of one library, or of the first that is installed.

    >>> data_frame({"rung": ["batch"], "epsilon": [0.5]}, "pyarrow").column_names
    ['rung', 'epsilon']
    """
    if backend is not None and backend not in _LIBRARIES:
        raise ParameterError("backend", must=f"be one of {', '.join(_LIBRARIES)}", got=backend)
    import narwhals as nw  # noqa: PLC0415 - needed here only, and slow to import

    for name in (backend,) if backend else _LIBRARIES:
        try:
            return nw.from_dict(columns, backend=name).to_native()
        except ImportError:
            continue
    raise MissingExtraError("to_frame", package=backend or "pyarrow", extra="frames")


def plain(value: Any) -> Any:
    """Return a value in JSON types; numbers that are not finite become None.

    >>> import numpy as np
    >>> plain({"limit": math.inf, "shares": np.array([0.5]), "of": ("a", Fraction(1, 4))})
    {'limit': None, 'shares': [0.5], 'of': ['a', 0.25]}
    """
    if isinstance(value, Enum):
        return plain(value.value)
    if is_array(value) or is_scalar(value):
        return plain(value.tolist())
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | Fraction):
        return float(value) if math.isfinite(value) else None
    return value.to_dict() if isinstance(value, Result) else _plain_collection(value)


def _plain_collection(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return plain(value.model_dump(mode="json"))
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {str(plain(name)): plain(entry) for name, entry in value.items()}
    if isinstance(value, AbstractSet):
        return sorted(map(plain, value))
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [plain(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    return str(value)


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: plain(getattr(value, field.name)) for field in fields(value) if field.repr}


def _column(values: list[Any]) -> list[Any]:
    """One column: as text if the entries are of several kinds."""
    entries = [float(value) if isinstance(value, float) else plain(value) for value in values]
    kinds = {type(entry) for entry in entries if entry is not None}
    if kinds <= {int, float}:
        return [entry if entry is None or kinds == {int} else float(entry) for entry in entries]
    if len(kinds) > 1 or kinds & {list, dict}:
        return [entry if entry is None else str(entry) for entry in entries]
    return entries


def _cell(value: Any, label: str) -> Html:
    """A cell of a card; lines break between words only."""
    return column(
        card_text(value), label, class_="number" if isinstance(value, int | float) else ""
    )


def card_text(value: Any) -> str:
    """A value as cards show it: numbers short, bounds rounded outward.

    >>> [card_text(value) for value in (None, True, 161407, 1e4, 0.123456, AtMost(0.1231))]
    ['-', 'yes', '161,407', '10,000', '0.1235', '0.124']
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, AtLeast | AtMost):
        return value.shown
    if isinstance(value, float):
        return f"{value:,.0f}" if 1e3 <= abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
