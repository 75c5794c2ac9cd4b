"""Copies of a sealed batch's envelopes from the database into files that an engine reads."""

from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from psycopg import Connection

from croupier.errors import DataError
from croupier.protocol.batch_file import Rows, write_pieces
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.database.statements import copy_rows

__all__ = ["copy_segments"]

_ROWS_A_SEGMENT = 1 << 20
_ROWS_A_PIECE = 1 << 14
_HEADER = 19
"""Bytes before the first row: a signature, flags, and the length of an extension that is empty."""
_BEFORE_A_ROW = 6
"""Bytes before a value: the number of fields of the row, and the length of the value."""
_TRAILER = b"\xff\xff"


def copy_segments(
    connection: Connection[Any], batch: Batch, directory: Path, *, length: int
) -> tuple[list[Path], int]:
    """Copy the envelopes of one length into Parquet files, in binary from one end to the other.

    PostgreSQL sends a row as the number of its fields, the length of the value and the value. With
    one field of one length every row has the same size, so the stream is a matrix.

    Args:
        connection: To the shuffler's database.
        batch: A sealed batch: nothing is added to it.
        directory: A private directory; the caller removes it.
        length: The bytes of an envelope. Others are skipped: they cannot be opened.

    Returns:
        The files, and the number of envelopes in them.
    """
    query = copy_rows(batch.identity, length=length).encode()
    files: list[Path] = []
    copied = 0
    with connection.cursor() as cursor, cursor.copy(query) as stream:
        pieces = _rows(stream, length)
        for number in count():
            first = next(pieces, None)
            if first is None:
                return files, copied
            path = directory / f"segment-{number}.parquet"
            segment = _Segment(first, pieces)
            write_pieces(segment, path, length=length)
            files.append(path)
            copied += segment.rows
    return files, copied


class _Segment:
    """The next pieces, until there are enough for a file."""

    def __init__(self, first: Rows, others: Iterator[Rows]) -> None:
        self._first = first
        self._others = others
        self.rows = 0

    def __iter__(self) -> Iterator[Rows]:
        piece: Rows | None = self._first
        while piece is not None:
            self.rows += len(piece)
            yield piece
            piece = next(self._others, None) if self.rows < _ROWS_A_SEGMENT else None


def _rows(stream: Iterable[bytes | bytearray | memoryview], length: int) -> Iterator[Rows]:
    """Yield the values of a binary copy with one field of one length."""
    size = _BEFORE_A_ROW + length
    before = (1).to_bytes(2) + length.to_bytes(4)
    data = bytearray()
    to_skip = _HEADER
    for block in stream:
        data += block
        skipped = min(to_skip, len(data))
        del data[:skipped]
        to_skip -= skipped
        if len(data) >= _ROWS_A_PIECE * size:
            whole = len(data) // size * size
            yield _values(bytes(data[:whole]), size, before)
            del data[:whole]
    if len(data) > len(_TRAILER):
        yield _values(bytes(data[: -len(_TRAILER)]), size, before)
    if not data.endswith(_TRAILER):
        raise DataError(1, "copy from the database ends too early", hint="Run again.")


def _values(data: bytes, size: int, before: bytes) -> Rows:
    if len(data) % size:
        raise DataError(1, "copy from the database ends too early", hint="Run again.")
    rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, size)
    if (rows[:, :_BEFORE_A_ROW] != np.frombuffer(before, dtype=np.uint8)).any():
        raise DataError(1, "copy from the database has another form", hint="Run again.")
    return rows[:, _BEFORE_A_ROW:]
