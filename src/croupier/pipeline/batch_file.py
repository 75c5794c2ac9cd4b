"""The file of a released batch: Parquet, one column of inner ciphertexts of one length."""

import os
from pathlib import Path
from typing import Any

from croupier.errors import MissingExtraError
from croupier.pipeline.mixing import Rows

__all__ = ["COLUMN", "write_batch"]

COLUMN = "inner"
_ROWS_A_GROUP = 1 << 16


def write_batch(rows: Rows, path: Path) -> None:
    """Write the rows in their order, and return when they are on disk.

    Nothing else goes into the file: no index, no time, no statistics of the column.
    """
    arrow = _arrow()
    kind = arrow.binary(rows.shape[1])
    schema = arrow.schema([arrow.field(COLUMN, kind, nullable=False)])
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    with path.open("xb") as file:
        with arrow.parquet.ParquetWriter(file, schema, **options) as writer:
            for start in range(0, len(rows), _ROWS_A_GROUP):
                piece = rows[start : start + _ROWS_A_GROUP]
                buffers = [None, arrow.py_buffer(piece.tobytes())]
                array = arrow.FixedSizeBinaryArray.from_buffers(kind, len(piece), buffers)
                writer.write_table(arrow.Table.from_arrays([array], schema=schema))
        file.flush()
        os.fsync(file.fileno())


def _arrow() -> Any:
    try:
        import pyarrow  # noqa: ICN001, PLC0415 - an extra, slow to import
        import pyarrow.parquet  # noqa: PLC0415 - as above
    except ImportError:
        raise MissingExtraError("Releasing", package="pyarrow", extra="service") from None
    return pyarrow
