"""The file of a released batch: Parquet, one column of inner ciphertexts of one length.

For plans that mix by groups, a second column holds the place in the public file that each row was
moved to.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import MissingExtraError
from croupier.plan.plan import Plan
from croupier.protocol import durable
from croupier.protocol.hpke import SEAL_SIZE
from croupier.protocol.parquet_footer import FooterError, read_footer
from croupier.protocol.receipt import Receipt, ReceiptError

__all__ = ["COLUMN", "PLACE", "ROWS_A_GROUP", "Rows", "array_of", "require_released", "rows_in"]
__all__ += ["require_places", "write_batch", "write_pieces"]

Rows = NDArray[np.uint8]
"""Ciphertexts of one length, one per row."""

COLUMN, PLACE = "inner", "place"
ROWS_A_GROUP = 1 << 16
_LONGEST_FOOTER, _FOOTER_A_GROUP = 1 << 16, 1 << 10
"""Bytes that describe a file, plus more per row group: several times what is written."""
_MAGIC = b"PAR1"
# Field numbers and values of parquet.thrift: for a file, a column, a row group, its chunks.
_COLUMNS, _ROWS, _GROUPS = 2, 3, 4
_TYPE, _LENGTH, _REPETITION, _NAME, _CHILDREN = 1, 2, 3, 4, 5
_CHUNKS, _OFFSET, _ABOUT = 1, 2, 3
_ENCODINGS, _PATH, _CODEC, _VALUES, _UNPACKED, _PACKED, _DATA, _PAGES = 2, 3, 4, 5, 6, 7, 9, 13
_PAGE_TYPE, _PAGE_ENCODING = 1, 2
_INT64, _BYTES, _REQUIRED, _NONE, _PLAIN, _LEVELS, _DATA_PAGE = 2, 7, 0, 0, 0, 3, 0


def write_batch(rows: Rows, path: Path, *, places: NDArray[np.int64] | None = None) -> None:
    """Write the rows in order, and return once they are on disk."""
    if places is None:
        write_pieces([rows], path, length=rows.shape[1])
        return
    arrow = _arrow()
    kinds = _kinds(rows.shape[1], placed=True)
    starts = range(0, len(rows), ROWS_A_GROUP)
    groups = ((rows[start:][:ROWS_A_GROUP], places[start:][:ROWS_A_GROUP]) for start in starts)
    _write(path, kinds, ([array_of(piece), arrow.array(where)] for piece, where in groups))


def write_pieces(pieces: Iterable[Rows], path: Path, *, length: int, column: str = COLUMN) -> None:
    """Write rows that arrive in pieces, in order, and return once they are on disk.

    Args:
        pieces: Of any sizes. The file does not show where one ended: a row group is filled before
            the next begins.
        path: A file that does not exist yet.
        length: The number of bytes per row.
        column: The name of the column.
    """
    kinds = {column: _arrow().binary(length)}
    _write(path, kinds, ([array_of(group)] for group in _groups(pieces, length=length)))


def _write(path: Path, kinds: dict[str, Any], groups: Iterable[list[Any]]) -> None:
    """Write row groups and nothing else: no index, no time, no column statistics.

    Only its owner can read the file until it is shared.
    """
    schema = _schema(kinds)
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    with open(path, "xb", opener=durable.private) as file:
        with _arrow().parquet.ParquetWriter(file, schema, **options) as writer:
            for columns in groups:
                writer.write_table(_arrow().Table.from_arrays(columns, schema=schema))
        file.flush()
        os.fsync(file.fileno())


def array_of(rows: Rows, *, nulls: int = 0) -> Any:
    """Return rows as an Arrow array of fixed-size binary, followed by some nulls."""
    arrow = _arrow()
    data = arrow.py_buffer(np.ascontiguousarray(rows))
    array = arrow.FixedSizeBinaryArray.from_buffers(
        arrow.binary(rows.shape[1]), len(rows), [None, data]
    )
    return arrow.concat_arrays([array, arrow.nulls(nulls, array.type)]) if nulls else array


def rows_in(array: Any) -> Rows:
    """Return the rows of an Arrow array, binary of one length or fixed-size binary, uncopied.

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


def require_released(
    path: Path, receipt: Receipt, *, plan: Plan, hop: int | None = None, name: str | None = None
) -> None:
    """Refuse a released batch's file unless it is laid out as `write_batch` writes it.

    A shuffler can sign any bytes, such as a small file that unpacks to a hundred million rows. Only
    the footer is read here, before any row is read: since nothing is compressed and every row has
    its bytes in the file, reading takes no more memory than the file takes space.

    Args:
        path: The file that the receipt names.
        receipt: The signed statement about it.
        plan: The plan of the collection: it fixes a row's length, and whether each has a place.
        hop: The shuffler that released it, 0 is the first; the last one if left out.
        name: The name of the file in errors, if it is a copy under another one.

    Raises:
        ReceiptError: The file is something else, or its rows differ from those in the receipt.
    """
    later = len(plan.shufflers) - 1 - hop if hop is not None else 0
    length = plan.protections.report_size + SEAL_SIZE * (1 + later)
    kinds = _kinds(length, placed=plan.shuffling.groups is not None)
    problem = _problem(path, name or path.name, rows=receipt.counts.released, kinds=kinds)
    if problem is not None:
        raise ReceiptError(problem, which=f"Receipt {receipt.number}")


def require_places(path: Path, receipt: Receipt, *, people: int) -> None:
    """Refuse a released batch whose rows do not lie by rising place, one row per place.

    Args:
        path: A file that `require_released` accepted, of a plan that mixes by groups.
        receipt: The signed statement about it.
        people: The number of places in the public file.

    Raises:
        ReceiptError: A place is not in the public file, or rows share one.
    """
    places = _arrow().parquet.read_table(path, columns=[PLACE])[PLACE].to_numpy()
    inside = not len(places) or (places[0] >= 0 and places[-1] < people)
    if not (inside and (places[1:] > places[:-1]).all()):
        problem = f"is about {path.name}, which has places that release does not write"
        raise ReceiptError(problem, which=f"Receipt {receipt.number}")


def _problem(path: Path, name: str, *, rows: int, kinds: dict[str, Any]) -> str | None:
    """Say what is wrong with a file, from the outside in; None if nothing is.

    The library reads the footer last: some impossible entries would crash the process.
    """
    about = f"is about {name}, which"
    size = path.stat().st_size
    most = _LONGEST_FOOTER + _FOOTER_A_GROUP * (size // ROWS_A_GROUP)
    wanted = " and ".join(f"{name} ({kind})" for name, kind in kinds.items())
    other_columns = f"{about} has other columns than {wanted}, without nulls"
    try:
        footer = read_footer(path, most=most)
        columns = [*footer[_COLUMNS][1:]]
        if footer[_COLUMNS][0].get(_CHILDREN) != len(kinds) or not _lie_so(columns, kinds):
            return other_columns
        groups = footer[_GROUPS]
        if footer[_ROWS] != rows or sum(group[_ROWS] for group in groups) != rows:
            return f"names {rows:,} rows, but its file has {footer[_ROWS]:,}"
        if not _are_plain(groups, kinds, end=size):
            return f"{about} has rows that are packed; release writes plain ones"
    except (FooterError, AttributeError, IndexError, KeyError, TypeError, ValueError):
        return f"{about} is not a Parquet file that release writes"
    return None if _schema(kinds).equals(_schema_in(path, most=most)) else other_columns


def _schema_in(path: Path, *, most: int) -> Any:
    """Return the columns of a file as Arrow sees them; None if it cannot read them."""
    limits = {"thrift_string_size_limit": most, "thrift_container_size_limit": most}
    try:
        with _arrow().parquet.ParquetFile(path, pre_buffer=False, **limits) as file:
            return file.schema_arrow
    except (_arrow().ArrowException, OSError, ValueError):
        return _arrow().schema([])


def _lie_so(columns: list[Any], kinds: dict[str, Any]) -> bool:
    """Tell whether readers other than Arrow also find the columns where they belong."""
    return columns == [
        {_TYPE: _BYTES, _LENGTH: kind.byte_width, _REPETITION: _REQUIRED, _NAME: name.encode()}
        if name == COLUMN
        else {_TYPE: _INT64, _REPETITION: _REQUIRED, _NAME: name.encode()}
        for name, kind in kinds.items()
    ]


def _are_plain(groups: list[Any], kinds: dict[str, Any], *, end: int) -> bool:
    """Tell whether every row has its own bytes in the file, in consecutive full-size groups."""
    place = len(_MAGIC)
    for group in groups:
        if not 0 < group[_ROWS] <= ROWS_A_GROUP or len(group[_CHUNKS]) != len(kinds):
            return False
        for chunk, (name, kind) in zip(group[_CHUNKS], kinds.items(), strict=True):
            about = chunk[_ABOUT]
            start, size = about[_DATA], about[_PACKED]
            whole = {
                _TYPE: _BYTES if name == COLUMN else _INT64,
                _PATH: [name.encode()],
                _CODEC: _NONE,
                _VALUES: group[_ROWS],
                _UNPACKED: size,
                _PACKED: size,
                _DATA: start,
            }
            plain = set(about[_ENCODINGS]) <= {_PLAIN, _LEVELS} and all(
                page[_PAGE_TYPE] == _DATA_PAGE and page[_PAGE_ENCODING] == _PLAIN
                for page in about.get(_PAGES, [])
            )
            rest = {field for field in about if field not in {_ENCODINGS, _PAGES}}
            if chunk.keys() - {_OFFSET, _ABOUT} or rest != whole.keys() or not plain:
                return False
            if any(about[field] != value for field, value in whole.items()):
                return False
            if start < place or size < group[_ROWS] * kind.bit_width // 8 or start + size > end:
                return False
            place = start + size
    return True


def _kinds(length: int, *, placed: bool) -> dict[str, Any]:
    """Return the columns of a released batch and their types."""
    arrow = _arrow()
    return {COLUMN: arrow.binary(length)} | ({PLACE: arrow.int64()} if placed else {})


def _schema(kinds: dict[str, Any]) -> Any:
    arrow = _arrow()
    return arrow.schema([arrow.field(name, own, nullable=False) for name, own in kinds.items()])


def _groups(pieces: Iterable[Rows], *, length: int) -> Iterable[Rows]:
    """Yield the same rows in groups of one size; the last may be smaller."""
    rest = np.empty((0, length), dtype=np.uint8)
    for piece in pieces:
        # At most one group is copied per piece: the one that completes the remainder.
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
