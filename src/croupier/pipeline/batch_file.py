"""The file of a released batch: Parquet, one column of inner ciphertexts of one length.

Where a plan mixes by groups, a second one has the place in the public file that each was moved to.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import MissingExtraError
from croupier.pipeline import durable
from croupier.pipeline.order_key import Rows

__all__ = ["COLUMN", "PLACE", "ROWS_A_GROUP", "array_of", "rows_in", "write_batch", "write_pieces"]

COLUMN, PLACE = "inner", "place"
ROWS_A_GROUP = 1 << 16


def write_batch(rows: Rows, path: Path, *, places: NDArray[np.int64] | None = None) -> None:
    """Write the rows in their order, and return when they are on disk."""
    if places is None:
        write_pieces([rows], path, length=rows.shape[1])
        return
    arrow = _arrow()
    kinds = {COLUMN: arrow.binary(rows.shape[1]), PLACE: arrow.int64()}
    starts = range(0, len(rows), ROWS_A_GROUP)
    groups = ((rows[start:][:ROWS_A_GROUP], places[start:][:ROWS_A_GROUP]) for start in starts)
    _write(path, kinds, ([array_of(piece), arrow.array(where)] for piece, where in groups))


def write_pieces(pieces: Iterable[Rows], path: Path, *, length: int, column: str = COLUMN) -> None:
    """Write rows that come in pieces, in their order, and return when they are on disk.

    Args:
        pieces: Of any sizes. The file does not show where one ended: a group of rows is full before
            the next begins.
        path: A file that is not there yet.
        length: The bytes of a row.
        column: What the column is called.
    """
    kinds = {column: _arrow().binary(length)}
    _write(path, kinds, ([array_of(group)] for group in _groups(pieces, length=length)))


def _write(path: Path, kinds: dict[str, Any], groups: Iterable[list[Any]]) -> None:
    """Nothing else goes into the file: no index, no time, no statistics of a column.

    Only its owner can read it until somebody shares it.
    """
    arrow = _arrow()
    fields = [arrow.field(name, kind, nullable=False) for name, kind in kinds.items()]
    schema = arrow.schema(fields)
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    with open(path, "xb", opener=durable.private) as file:
        with arrow.parquet.ParquetWriter(file, schema, **options) as writer:
            for columns in groups:
                writer.write_table(arrow.Table.from_arrays(columns, schema=schema))
        file.flush()
        os.fsync(file.fileno())


def array_of(rows: Rows, *, nulls: int = 0) -> Any:
    """Rows as an Arrow array of fixed-size binary, and some nulls after them."""
    arrow = _arrow()
    data = arrow.py_buffer(np.ascontiguousarray(rows))
    array = arrow.FixedSizeBinaryArray.from_buffers(
        arrow.binary(rows.shape[1]), len(rows), [None, data]
    )
    return arrow.concat_arrays([array, arrow.nulls(nulls, array.type)]) if nulls else array


def rows_in(array: Any) -> Rows:
    """The rows of an Arrow array, binary of one length or fixed-size binary, without a copy.

    >>> import pyarrow
    >>> rows_in(pyarrow.array([b"ab", b"cd"])[1:]).tobytes()
    b'cd'
    """
    arrow = _arrow()
    if isinstance(array, arrow.ChunkedArray):
        array = array.combine_chunks()
    if not len(array):
        fixed = arrow.types.is_fixed_size_binary(array.type)
        return np.empty((0, array.type.byte_width if fixed else 0), dtype=np.uint8)
    if not arrow.types.is_fixed_size_binary(array.type):
        array = array.cast(arrow.binary(len(array[0].as_py())))
    length = array.type.byte_width
    data = np.frombuffer(array.buffers()[1], dtype=np.uint8)
    return data[array.offset * length : (array.offset + len(array)) * length].reshape(-1, length)


def _groups(pieces: Iterable[Rows], *, length: int) -> Iterable[Rows]:
    """The same rows in groups of one size; the last may be smaller."""
    rest = np.empty((0, length), dtype=np.uint8)
    for piece in pieces:
        # At most one group is copied a piece: what was left, made full.
        missing = (ROWS_A_GROUP - len(rest)) % ROWS_A_GROUP
        head, tail = np.concatenate([rest, piece[:missing]]), piece[missing:]
        if len(head) < ROWS_A_GROUP and missing:
            rest = head
            continue
        if len(head):
            yield head
        whole = len(tail) - len(tail) % ROWS_A_GROUP
        for start in range(0, whole, ROWS_A_GROUP):
            yield tail[start : start + ROWS_A_GROUP]
        rest = tail[whole:].copy()
    if len(rest):
        yield rest


def _arrow() -> Any:
    try:
        import pyarrow  # noqa: ICN001, PLC0415 - an extra, slow to import
        import pyarrow.parquet  # noqa: PLC0415 - as above
    except ImportError:
        raise MissingExtraError("Releasing", package="pyarrow", extra="service") from None
    return pyarrow
