"""One column of a CSV or Parquet file, read and written in pieces."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import (
    CroupierError,
    DataError,
    MissingExtraError,
    ParameterError,
    UnreadableFileError,
)
from croupier.model import Categories, Domain, Randomizer
from croupier.plan.upgrade import current_mechanism
from croupier.randomizers import randomizer

__all__ = ["ColumnFile", "ReportWriter", "check_suffix", "parse_reports", "report_writer"]
__all__ += ["stored_randomizer"]

_ROWS_AT_ONCE = 1 << 18
_SPECIFICATION = b"croupier.randomizer"
_REPORT = "report"


class ColumnFile:
    """A column of a file, in batches that fit in memory.

    Attributes:
        rows: How many rows there are, where the format tells.
        specification: The randomizer's, where the file is one that `report_writer` wrote.
    """

    def __init__(
        self,
        path: Path,
        column: str | None,
        *,
        text: bool = False,
        values: Domain | None = None,
        flag: str | None = "--column",
    ) -> None:
        self.path = path
        self._flag = flag
        self.rows: int | None = None
        self.specification: dict[str, Any] | None = None
        self._text = text
        if not path.exists():
            raise ParameterError("FILE", must="exist", got=str(path))
        if path.is_file() and not path.stat().st_size:
            raise ParameterError("FILE", must="not be empty", got=str(path))
        with _no_values_in_errors(path):
            names = self._open_parquet() if _is_parquet(path) else self._open_csv()
        if not _is_parquet(path) and any(_is_value(name, values) for name in names):
            raise ParameterError("FILE", must="begin with a line of column names")
        self.column = self._choose(column, names)

    def _open_parquet(self) -> list[str]:
        with _arrow().parquet.ParquetFile(self.path) as file:
            self.rows = file.metadata.num_rows
            metadata = file.schema_arrow.metadata or {}
            names: list[str] = file.schema_arrow.names
        if _SPECIFICATION in metadata:
            self.specification = json.loads(metadata[_SPECIFICATION])
        return names

    def _open_csv(self) -> list[str]:
        with _arrow().csv.open_csv(self.path) as reader:
            return list(reader.schema.names)

    def _choose(self, column: str | None, names: list[str]) -> str:
        if column is None and len(names) == 1:
            return names[0]
        if column is not None and column in names:
            return column
        if self._flag is None:
            must = f"have a column called {column}"
            raise ParameterError("FILE", must=must, got=", ".join(names))
        raise ParameterError(self._flag, must=f"be one of {', '.join(names)}", got=column)

    def batches(self, *, missing: bool = False) -> Iterator[NDArray[Any]]:
        """Yield the entries of the column, piece by piece; None for a missing one, if allowed."""
        for batch in self._record_batches():
            entries = self._entries(batch.column(self.column))
            if entries.null_count and missing:
                yield np.array([*entries.to_pylist(), None], dtype=object)[:-1]
                continue
            if entries.null_count:
                raise DataError(
                    entries.null_count,
                    f"entries of {self.column} are missing",
                    hint="Drop or fill them first.",
                )
            yield entries.to_numpy(zero_copy_only=False)

    def _entries(self, entries: Any) -> Any:
        """Return single entries, as text if asked for; then NaN is missing, and not a word."""
        arrow = _arrow()
        kind = entries.type
        if arrow.types.is_nested(kind):
            raise self._of_type(entries, "Write one entry per row.")
        if not self._text:
            return entries
        if arrow.types.is_dictionary(kind):
            entries = entries.dictionary_decode()
        if arrow.types.is_floating(entries.type):
            nothing = arrow.scalar(None, entries.type)
            entries = arrow.compute.if_else(entries.is_null(nan_is_null=True), nothing, entries)
        try:
            return entries.cast(arrow.string())
        except arrow.ArrowException:
            hint = "Write the column as text in UTF-8."
            raise self._of_type(entries, hint) from None

    def _of_type(self, entries: Any, hint: str) -> DataError:
        problem = f"entries of {self.column} are of type {entries.type} and cannot be read"
        return DataError(len(entries), problem, hint=hint)

    def _record_batches(self) -> Iterator[Any]:
        arrow = _arrow()
        with _no_values_in_errors(self.path):
            if _is_parquet(self.path):
                with arrow.parquet.ParquetFile(self.path) as file:
                    yield from file.iter_batches(_ROWS_AT_ONCE, columns=[self.column])
                return
            types = {self.column: arrow.string()} if self._text else {}
            convert = arrow.csv.ConvertOptions(include_columns=[self.column], column_types=types)
            parse = arrow.csv.ParseOptions(ignore_empty_lines=False)
            with arrow.csv.open_csv(
                self.path, convert_options=convert, parse_options=parse
            ) as reader:
                yield from reader


@contextmanager
def _no_values_in_errors(path: Path) -> Iterator[None]:
    """Hide the line that Arrow quotes when it cannot read it."""
    try:
        yield
    except (_arrow().ArrowException, json.JSONDecodeError):
        raise UnreadableFileError(path.name) from None


def _is_value(name: str, domain: Domain | None) -> bool:
    """Tell whether a column name is probably the first person's value."""
    if isinstance(domain, Categories) and name in domain.labels:
        return True
    try:
        float(name)
    except ValueError:
        return False
    return True


class ReportWriter:
    """A writer of reports as one column: integers, or fixed-size binary (hexadecimal in CSV)."""

    def __init__(self, path: Path, randomizer: Randomizer) -> None:
        self._arrow = arrow = _arrow()
        self._form = randomizer.report_format
        self._text = not _is_parquet(path)
        single = len(self._form.bounds) == 1
        binary = arrow.string() if self._text else arrow.binary(self._form.size)
        self._type = arrow.from_numpy_dtype(self._form.dtype) if single else binary
        specification = json.dumps(randomizer.specification, default=vars)
        schema = arrow.schema([(_REPORT, self._type)], metadata={_SPECIFICATION: specification})
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
def report_writer(path: Path, randomizer: Randomizer) -> Iterator[ReportWriter]:
    """Yield a writer whose file gets its name only when it is complete."""
    partial = path.with_name(f".partial-{path.name}")
    writer = ReportWriter(partial, randomizer)
    try:
        yield writer
        writer.close()
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def stored_randomizer(file: ColumnFile) -> Randomizer:
    """The randomizer that a file of reports says it was written with."""
    if file.specification is None:
        must = f"be given: {file.path.name} does not say how it was randomised"
        hint = "Repeat the flags of croupier randomize, or let it write .parquet."
        raise ParameterError("--mechanism", must=must, hint=hint)
    try:
        return randomizer(**current_mechanism(file.specification))
    except (CroupierError, TypeError):
        raise UnreadableFileError(file.path.name) from None


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
        raise ParameterError("FILE", must="end in .parquet or .csv", got=str(path))
    return suffix


def _arrow() -> Any:
    """The pyarrow package, with its readers of CSV and Parquet."""
    try:
        import pyarrow.compute  # noqa: PLC0415 - an extra, slow to import
        import pyarrow.csv  # noqa: PLC0415 - as above
        import pyarrow.parquet  # noqa: PLC0415 - as above
    except ImportError:
        raise MissingExtraError(
            "Reading and writing files", package="pyarrow", extra="frames"
        ) from None
    return pyarrow
