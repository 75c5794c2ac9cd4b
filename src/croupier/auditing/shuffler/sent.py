"""Records of a test client: envelopes and their content, in the order and at the times of sending.

Such a file links its reports to their senders. It is for test reports only.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey
from numpy.typing import NDArray

from croupier.engines.mixing import rows_of
from croupier.errors import DataError, MissingExtraError, ParameterError, UnreadableFileError
from croupier.protocol.batch_file import Rows
from croupier.protocol.wire import Epoch, seal_inner, seal_outer, seal_second

__all__ = ["Sent", "read_rows", "seal_test_reports"]

_COLUMNS = ("envelope", "inner", "time", "batch")


@dataclass(frozen=True, eq=False)
class Sent:
    """Test reports that a shuffler acknowledged.

    Attributes:
        envelopes: The bytes sent over the network, one per row, in the order of sending.
        inner: The inner ciphertext that the last shuffler finds in each, and publishes.
        time: The time of sending of each, in seconds.
        batch: The batch of each, 32 hexadecimal digits.
    """

    envelopes: Rows
    inner: Rows
    time: NDArray[np.float64]
    batch: tuple[str, ...]

    def __post_init__(self) -> None:
        lengths = {len(part) for part in (self.envelopes, self.inner, self.time, self.batch)}
        if len(lengths) != 1:
            raise ParameterError("sent", must="have one envelope, inner, time and batch per report")

    def __len__(self) -> int:
        return len(self.inner)

    def save(self, path: Path) -> None:
        """Write a Parquet file of the columns envelope, inner, time and batch."""
        arrow = _arrow()
        parts = [
            arrow.array([row.tobytes() for row in self.envelopes], type=arrow.binary()),
            arrow.array([row.tobytes() for row in self.inner], type=arrow.binary()),
            arrow.array(self.time),
            arrow.array(list(self.batch), type=arrow.string()),
        ]
        arrow.parquet.write_table(arrow.table(parts, names=list(_COLUMNS)), path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read such a file."""
        table = _table(path, _COLUMNS)
        envelopes, inner = (_matrix(table[name].to_pylist()) for name in _COLUMNS[:2])
        time = np.asarray(table["time"].to_numpy(), dtype=np.float64)
        return cls(envelopes, inner, time, tuple(table["batch"].to_pylist()))


def seal_test_reports(
    reports: Iterable[bytes],
    *,
    epoch: Epoch,
    shuffler: X25519PublicKey,
    times: Iterable[float],
) -> Sent:
    """Seal encoded reports as a client does, and keep what is needed to recognise them.

    Args:
        reports: The output of `encode_report`.
        epoch: Plan, round, batch and the analyzer's public key.
        shuffler: The batch's public key.
        times: The time of sending of each, in seconds.
    """
    inner = [seal_inner(report, epoch=epoch) for report in reports]
    onward = [seal_second(entry, epoch=epoch) for entry in inner] if epoch.onward else inner
    envelopes = [seal_outer(entry, key=shuffler, epoch=epoch) for entry in onward]
    return Sent(
        rows_of(envelopes, length=epoch.envelope_length),
        rows_of(inner, length=epoch.inner_length),
        np.fromiter(times, dtype=np.float64),
        (epoch.batch.hex(),) * len(inner),
    )


def read_rows(path: Path, column: str) -> Rows:
    """Read one column of ciphertexts of one length from a Parquet file."""
    return _matrix(_table(path, (column,))[column].to_pylist())


def _matrix(entries: list[Any]) -> Rows:
    lengths = {len(entry) for entry in entries}
    if len(lengths) > 1:
        raise DataError(len(entries), "ciphertexts differ in length", hint="Check the file.")
    return rows_of(entries, length=max(lengths, default=1))


def _table(path: Path, columns: tuple[str, ...]) -> Any:
    arrow = _arrow()
    if not path.is_file():
        raise ParameterError("FILE", must="exist", got=str(path))
    try:
        found = arrow.parquet.read_table(path)
    except (arrow.ArrowException, OSError):
        raise UnreadableFileError(path.name) from None
    missing = [name for name in columns if name not in found.column_names]
    if missing:
        raise ParameterError("FILE", must=f"have the columns {', '.join(columns)}", got=path.name)
    return found


def _arrow() -> Any:
    try:
        import pyarrow  # noqa: ICN001, PLC0415 - an extra, slow to import
        import pyarrow.parquet  # noqa: PLC0415 - as above
    except ImportError:
        raise MissingExtraError("Reading batches", package="pyarrow", extra="frames") from None
    return pyarrow
