"""One column of a CSV or Parquet file, read and written in pieces."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import DataError, MissingExtraError, ParameterError
from croupier.model import Randomizer
from croupier.randomizers import randomizer

__all__ = ["ColumnFile", "ReportWriter", "check_suffix", "parse_reports", "report_writer"]
__all__ += ["stored_randomizer"]

_ROWS_AT_ONCE = 1 << 18
_SPECIFICATION = b"croupier.randomizer"


class ColumnFile:
    """A column of a file, in batches that fit in memory.

    Attributes:
        rows: How many rows there are, where the format tells.
        specification: The randomizer's, where the file is one that `report_writer` wrote.
    """

    def __init__(self, path: Path, column: str | None, *, text: bool = False) -> None:
        self.path = path
        self.rows: int | None = None
        self.specification: dict[str, Any] | None = None
        self._text = text
        if not path.exists():
            raise ParameterError("FILE", must="exist", got=str(path))
        arrow = _arrow()
        if _is_parquet(path):
            with arrow.parquet.ParquetFile(path) as file:
                names = file.schema_arrow.names
                self.rows = file.metadata.num_rows
                metadata = file.schema_arrow.metadata or {}
            if _SPECIFICATION in metadata:
                self.specification = json.loads(metadata[_SPECIFICATION])
        else:
            with arrow.csv.open_csv(path) as reader:
                names = reader.schema.names
        self.column = self._choose(column, names)

    def _choose(self, column: str | None, names: list[str]) -> str:
        if column is None and len(names) == 1:
            return names[0]
        if column not in names:
            raise ParameterError("--column", must=f"be one of {', '.join(names)}", got=column)
        return column

    def batches(self) -> Iterator[NDArray[Any]]:
        """The entries of the column, piece by piece."""
        for batch in self._record_batches():
            entries = batch.column(self.column)
            if entries.null_count:
                raise DataError(
                    entries.null_count,
                    f"entries of {self.column} are missing",
                    hint="Drop or fill them first.",
                )
            yield entries.to_numpy(zero_copy_only=False)

    def _record_batches(self) -> Iterator[Any]:
        arrow = _arrow()
        if _is_parquet(self.path):
            with arrow.parquet.ParquetFile(self.path) as file:
                yield from file.iter_batches(_ROWS_AT_ONCE, columns=[self.column])
        else:
            types = {self.column: arrow.string()} if self._text else {}
            options = arrow.csv.ConvertOptions(include_columns=[self.column], column_types=types)
            with arrow.csv.open_csv(self.path, convert_options=options) as reader:
                yield from reader


class ReportWriter:
    """Writes reports as one column: integers, or fixed-size binary (hexadecimal in CSV)."""

    def __init__(self, path: Path, column: str, randomizer: Randomizer) -> None:
        self._arrow = arrow = _arrow()
        self._form = randomizer.report_format
        self._text = not _is_parquet(path)
        single = len(self._form.bounds) == 1
        binary = arrow.string() if self._text else arrow.binary(self._form.size)
        self._type = arrow.from_numpy_dtype(self._form.dtype) if single else binary
        specification = json.dumps(randomizer.specification, default=vars)
        schema = arrow.schema([(column, self._type)], metadata={_SPECIFICATION: specification})
        write = arrow.csv.CSVWriter if self._text else arrow.parquet.ParquetWriter
        self._schema, self._writer = schema, write(path, schema)

    def write(self, reports: NDArray[Any]) -> None:
        """Append reports."""
        entries: Any = reports
        if reports.ndim > 1:
            entries = self._form.to_bytes(reports)
            entries = [entry.hex() for entry in entries] if self._text else entries
        array = self._arrow.array(entries, type=self._type)
        self._writer.write_batch(self._arrow.record_batch([array], schema=self._schema))

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


@contextmanager
def report_writer(path: Path, column: str, randomizer: Randomizer) -> Iterator[ReportWriter]:
    """A writer whose file appears under its name only when all of it is there."""
    partial = path.with_name(f".partial-{path.name}")
    writer = ReportWriter(partial, column, randomizer)
    try:
        yield writer
        writer.close()
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def stored_randomizer(file: ColumnFile) -> Randomizer:
    """The randomizer that a file of reports says it was written with."""
    if file.specification is None:
        raise ParameterError(
            "--mechanism", must=f"be given: {file.path.name} does not say how it was randomised"
        )
    return randomizer(**file.specification)


def parse_reports(entries: NDArray[Any], randomizer: Randomizer) -> NDArray[Any]:
    """The reports of one piece; hexadecimal text becomes bytes."""
    if entries.dtype == object and len(entries) and isinstance(entries[0], str):
        try:
            entries = np.array([bytes.fromhex(entry) for entry in entries], dtype=object)
        except ValueError:
            raise DataError(
                len(entries), "entries are not hexadecimal reports", hint="Check --column."
            ) from None
    return randomizer.read_reports(entries)


def _is_parquet(path: Path) -> bool:
    return check_suffix(path) == ".parquet"


def check_suffix(path: Path) -> str:
    """The format of a file, by its name."""
    suffix = path.suffix.lower()
    if suffix not in {".parquet", ".csv"}:
        raise ParameterError("FILE", must="end in .parquet or .csv", got=path.name)
    return suffix


def _arrow() -> Any:
    """The pyarrow package, with its readers of CSV and Parquet."""
    try:
        import pyarrow.csv  # noqa: PLC0415 - an extra, slow to import
        import pyarrow.parquet  # noqa: PLC0415 - as above
    except ImportError:
        raise MissingExtraError(
            "Reading and writing files", package="pyarrow", extra="frames"
        ) from None
    return pyarrow
