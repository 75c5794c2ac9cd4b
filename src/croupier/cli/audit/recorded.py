"""Recorded calls of a mechanism, read so that different outputs stay different."""

from collections.abc import Hashable, Mapping
from pathlib import Path

import numpy as np

from croupier.auditing.mechanism.column import Column, joined
from croupier.cli.output.column_files import ColumnFile, check_suffix
from croupier.errors import DataError

__all__ = ["as_categories", "recorded_column"]

_WORD = 1 << 63


def recorded_column(file: Path, column: str, *, missing: bool = False) -> Column:
    """Read one column of a file, as numbers only where that loses nothing.

    A CSV file is read as text. Text is taken for a number if it is how that number is written
    ("1", not "01" or " 1"), and if all of the column is and no two entries become one.

    Args:
        file: CSV or Parquet.
        column: Its name.
        missing: Whether an entry may be missing; that is an output like any other.
    """
    text = check_suffix(file) == ".csv"
    pieces = [*ColumnFile(file, column, text=text, flag=None).batches(missing=missing)]
    if not text:
        return joined(pieces) if pieces else np.array([])
    entries = np.concatenate([np.array([], dtype=object), *pieces])
    empty = int((entries == "").sum())
    if empty and not missing:
        raise DataError(empty, f"entries of {column} are missing", hint="Drop or fill them first.")
    return _numbers(entries)


def as_categories(outputs: Mapping[Hashable, Column]) -> dict[Hashable, Column]:
    """Return the same outputs, as text if some are numbers that are not finite."""
    columns = outputs.values()
    if all(column.dtype.kind != "f" or np.isfinite(column).all() for column in columns):
        return dict(outputs)
    return {value: _text(column) for value, column in outputs.items()}


def _numbers(entries: Column) -> Column:
    """Return texts as whole or other numbers, or unchanged."""
    numbers = {entry: _number(entry) for entry in set(entries)}
    values = [*numbers.values()]
    if None in values:
        return entries
    whole = all(isinstance(value, int) and -_WORD <= value < _WORD for value in values)
    kind = np.int64 if whole else np.float64
    try:
        different = len(np.unique(np.array(values, dtype=kind)))
    except OverflowError:
        return entries
    if different < len(values):
        return entries
    return np.array([numbers[entry] for entry in entries], dtype=kind)


def _number(text: str) -> int | float | None:
    """The number that is written like this; no number for a missing entry."""
    if not text:
        return float("nan")
    for kind in (int, float):
        try:
            number: int | float = kind(text)
        except ValueError:
            continue
        if str(number) == text:
            return number
    return None


def _text(column: Column) -> Column:
    texts = np.empty(len(column), dtype=object)
    texts[:] = [str(entry) for entry in column.tolist()]
    return texts
