"""Columns of any data-frame library in, the same library out."""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from croupier.errors import DataError

__all__ = ["column_like", "read_column"]


def read_column(values: Any) -> NDArray[Any]:
    """A numpy array of the entries of a list, array, or pandas, Polars or Arrow column."""
    series = _series(values)
    if series is None:
        return np.asarray(values)
    missing = series.null_count()
    if missing:
        raise DataError(missing, "values are missing", hint="Drop or fill them first.")
    return series.to_numpy()


def column_like(values: Any, entries: NDArray[Any] | list[bytes]) -> Any:
    """`entries` as a column of the library (and with the name) that `values` came from."""
    series = _series(values)
    if series is None:
        return entries
    return nw.new_series(series.name, entries, backend=series.implementation).to_native()


def is_column(values: Any) -> bool:
    """Whether `values` is a column of a data-frame library."""
    return _series(values) is not None


def _series(values: Any) -> nw.Series[Any] | None:
    if isinstance(values, (np.ndarray, list, tuple)):
        return None
    series: nw.Series[Any] = nw.from_native(values, series_only=True)
    return series
