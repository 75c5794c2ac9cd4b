"""The places that the envelopes of a sealed batch come from."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pyarrow.parquet as pq
from psycopg import Connection

from croupier.protocol.batch_file import COLUMN, rows_in
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.release.segments import copy_segments

__all__ = ["DatabaseSource", "HandedOverSource", "Source"]

_ROWS_A_PIECE = 4096


class Source(Protocol):
    """The envelopes of a batch that nothing is added to any more."""

    def count(self) -> int:
        """Count the envelopes."""

    def pieces(self) -> Iterator[list[bytes]]:
        """Yield the envelopes in pieces, in any order."""

    def files(self, directory: Path, *, length: int) -> tuple[list[Path], int]:
        """Return files for an engine, with the envelopes of one length, and their number.

        Args:
            directory: A private directory for files that are written.
            length: The bytes of an envelope.
        """


@dataclass(frozen=True)
class DatabaseSource:
    """Envelopes that intake stored.

    Attributes:
        connection: To the shuffler's database.
        batch: A sealed batch.
    """

    connection: Connection[Any]
    batch: Batch

    def count(self) -> int:
        """Count the envelopes, at most one per credential."""
        return states.stored(self.connection, self.batch)

    def pieces(self) -> Iterator[list[bytes]]:
        """Yield the envelopes in pieces, without their tags."""
        return states.envelopes(self.connection, self.batch)

    def files(self, directory: Path, *, length: int) -> tuple[list[Path], int]:
        """Copy the envelopes from the database."""
        return copy_segments(self.connection, self.batch, directory, length=length)


@dataclass(frozen=True)
class HandedOverSource:
    """The rows of the shuffler before, in the file that it signed for.

    Attributes:
        file: The file, whose digest and layout were checked.
    """

    file: Path

    def count(self) -> int:
        """Count the rows."""
        return int(pq.read_metadata(self.file).num_rows)

    def pieces(self) -> Iterator[list[bytes]]:
        """Yield the rows in pieces."""
        with pq.ParquetFile(self.file) as opened:
            for batch in opened.iter_batches(_ROWS_A_PIECE, columns=[COLUMN]):
                yield [row.tobytes() for row in rows_in(batch.column(0))]

    def files(self, directory: Path, *, length: int) -> tuple[list[Path], int]:  # noqa: ARG002
        """Return the file as it is: all its rows have one length."""
        return [self.file], self.count()
