"""Columns of any data-frame library, read and returned in the same library."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from croupier.errors import DataError, ParameterError
from croupier.numerics.arrays import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["column_like", "is_column", "library_of", "read_column"]

_LIBRARIES: Final = ("pandas", "polars", "pyarrow")


def read_column(values: Any) -> NDArray[Any]:
    """A numpy array of the entries of a list, array, or pandas, Polars or Arrow column."""
    series = _series(values)
    if series is None:
        masked = int(np.count_nonzero(np.ma.getmaskarray(values))) if np.ma.isMA(values) else 0
        if masked:
            raise DataError(masked, "values are missing", hint="Drop or fill them first.")
        array = np.asarray(values)
        # Arrays of text lose information that a list keeps: final zero bytes, the type of numbers.
        texts = array.dtype.kind in "SU" and not isinstance(values, np.ndarray)
        return np.array(values, dtype=object) if texts else array
    missing = series.null_count()
    if missing:
        raise DataError(missing, "values are missing", hint="Drop or fill them first.")
    return np.asarray(series.to_numpy())


def column_like(values: Any, entries: NDArray[Any] | list[bytes], *, same_rows: bool = True) -> Any:
    """`entries` as a column of the library (and with the name) that `values` came from.

    A pandas index is kept if the entries belong to the `same_rows`.
    """
    series = _series(values)
    if series is None:
        return entries
    import narwhals as nw  # noqa: PLC0415 - as in _series

    column = nw.new_series(series.name, entries, backend=series.implementation)
    index = nw.maybe_get_index(series) if same_rows else None
    return nw.to_native(column if index is None else nw.maybe_set_index(column, index=index))


def library_of(values: Any) -> Literal["pandas", "polars", "pyarrow"] | None:
    """Name the data-frame library that a column came from; None for anything else.

    >>> library_of([1, 2])
    """
    try:
        series = _series(values)
    except ParameterError:
        return None
    name = None if series is None else str(series.implementation)
    return next((known for known in _LIBRARIES if known == name), None)


def is_column(values: Any) -> bool:
    """Tell whether `values` is a column of a data-frame library."""
    return _series(values) is not None


def _series(values: Any) -> Any:
    """A narwhals series of a column; None for lists and arrays."""
    if isinstance(values, (np.ndarray, list, tuple, range)):
        return None
    import narwhals as nw  # noqa: PLC0415 - a tenth of a second that arrays need not pay

    if type(values).__module__.startswith("pyarrow") and not hasattr(values, "chunks"):
        import pyarrow as pa  # noqa: PLC0415 - it is there, since `values` came from it

        values = pa.chunked_array([values])
    try:
        return nw.from_native(values, series_only=True)
    except TypeError:
        raise ParameterError(
            "values", must="be a list, an array or a column", got=type(values).__name__
        ) from None
