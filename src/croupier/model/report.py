"""The format of a report: a row of integers, each below its bound."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from croupier.errors import DataError
from croupier.numerics.arrays import np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["ReportFormat"]

_BITS_A_BYTE = 8


@dataclass(frozen=True)
class ReportFormat:
    r"""The number of integers in a report, and the bound of each.

    In arrays a report of one integer is an entry of a vector, a report of several a row of a
    matrix. In bytes the integers follow each other with as many bits as their bound needs, most
    significant first, and zeros up to the next full byte.

    Attributes:
        bounds: The exclusive bound of each integer.
        ascending: True if each integer must be above the one before.

    Example:
        >>> form = ReportFormat((10, 2))
        >>> form.to_bytes(np.array([[9, 1]]))
        [b'\x98']
        >>> form.from_bytes([b'\x98'])
        array([[9, 1]], dtype=uint8)
    """

    bounds: tuple[int, ...]
    ascending: bool = False

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The smallest unsigned type that holds every integer of a report."""
        return np.min_scalar_type(max(self.bounds) - 1)

    @cached_property
    def _widths(self) -> list[int]:
        return [max(1, (bound - 1).bit_length()) for bound in self.bounds]

    @property
    def size(self) -> int:
        """The number of bytes of every report, whatever its content."""
        return -(-sum(self._widths) // _BITS_A_BYTE)

    def empty(self, n: int) -> NDArray[Any]:
        """An uninitialised array for `n` reports."""
        shape = (n,) if len(self.bounds) == 1 else (n, len(self.bounds))
        return np.empty(shape, dtype=self.dtype)

    def malformed(self, reports: NDArray[Any]) -> int:
        """The number of entries that are not reports of this format."""
        return int(np.count_nonzero(self.refused(reports)))

    def refused(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark the entries that are not reports of this format."""
        if reports.dtype.kind not in "biu" or reports.shape[1:] != self.empty(0).shape[1:]:
            return np.ones(len(reports), dtype=np.bool_)
        fields = reports.reshape(len(reports), len(self.bounds))
        limits = np.array([bound - 1 for bound in self.bounds], dtype=np.uint64)
        wrong = ((fields < 0) | (fields > limits)).any(axis=1)
        if self.ascending:
            wrong |= (fields[:, 1:] <= fields[:, :-1]).any(axis=1)
        return np.asarray(wrong)

    def is_report(self, fields: Sequence[Any]) -> bool:
        """Tell if these are the integers of one report of this format.

        >>> ReportFormat((10, 2)).is_report((9, 1)), ReportFormat((10, 2)).is_report((9, 2))
        (True, False)
        """
        if len(fields) != len(self.bounds):
            return False
        for field, bound in zip(fields, self.bounds, strict=True):
            if not (isinstance(field, int) and 0 <= field < bound):
                return False
        return not self.ascending or all(one < two for one, two in pairwise(fields))

    def to_bytes_of_one(self, fields: Sequence[int]) -> bytes:
        r"""The bytes of one report, without arrays.

        >>> ReportFormat((10, 2)).to_bytes_of_one((9, 1))
        b'\x98'
        """
        bits = "".join(f"{f:0{width}b}" for f, width in zip(fields, self._widths, strict=True))
        return int(bits.ljust(self.size * _BITS_A_BYTE, "0"), 2).to_bytes(self.size)

    def to_bytes(self, reports: NDArray[Any]) -> list[bytes]:
        """Each report as bytes of one length."""
        packed = self.pack(reports)
        data = packed.tobytes()
        return [data[start : start + self.size] for start in range(0, len(data), self.size)]

    def from_bytes(self, entries: Sequence[Any]) -> NDArray[Any]:
        """The reports read from bytes; wrong lengths, high integers and stray bits are refused."""
        fitting = [e for e in entries if isinstance(e, bytes) and len(e) == self.size]
        if len(fitting) == len(entries):
            packed = np.frombuffer(b"".join(fitting), dtype=np.uint8).reshape(-1, self.size)
            reports, refused = self.read_rows(packed)
            wrong = int(np.count_nonzero(refused))
        else:
            wrong = len(entries) - len(fitting)
        if wrong:
            raise DataError(
                wrong,
                f"entries are not reports of {self.size} bytes",
                hint="Check the mechanism and its parameters.",
            )
        return reports

    def read_rows(self, packed: NDArray[np.uint8]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The reports read from rows of bytes, and a mask of those that are malformed."""
        reports = self.unpack(packed)
        stray = (self.pack(reports) != packed).any(axis=1)
        return reports, stray | self.refused(reports)

    def pack(self, reports: NDArray[Any]) -> NDArray[np.uint8]:
        """A matrix of bytes, one row per report."""
        fields = reports.reshape(len(reports), len(self.bounds)).astype(np.uint64)
        if set(self._widths) == {1}:
            return np.packbits(fields.astype(np.uint8), axis=1)
        bits = [
            (fields[:, [column]] >> np.arange(width, dtype=np.uint64)[::-1]).astype(np.uint8) & 1
            for column, width in enumerate(self._widths)
        ]
        return np.packbits(np.concatenate(bits, axis=1), axis=1)

    def unpack(self, packed: NDArray[np.uint8]) -> NDArray[Any]:
        """The inverse of `pack`."""
        bits = np.unpackbits(packed, axis=1, count=sum(self._widths))
        reports = self.empty(len(packed))
        if set(self._widths) == {1}:
            reports.reshape(bits.shape)[:] = bits
            return reports
        fields = reports.reshape(len(packed), len(self.bounds))
        start = 0
        for column, width in enumerate(self._widths):
            powers = np.uint64(1) << np.arange(width, dtype=np.uint64)[::-1]
            fields[:, column] = bits[:, start : start + width].astype(np.uint64) @ powers
            start += width
        return reports
