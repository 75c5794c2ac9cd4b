"""The footer of a Parquet file, read without a library: its entries by their field numbers.

The metadata of a file is a struct in Thrift's compact protocol, with the fields of parquet.thrift.
A library that meets an impossible entry there may crash the process; this reader accepts any bytes
and raises an error for those that are not such a struct.
"""

from pathlib import Path
from typing import Any

__all__ = ["FooterError", "read_footer"]

_MAGIC, _TAIL = b"PAR1", 8
_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = (4, 5, 6)
_DEEPEST = 16
_LONGEST_INTEGER = 10
"""Bytes of a 64-bit number, 7 bits in each."""


class FooterError(ValueError):
    """The file has no footer, or one that cannot be read."""


def read_footer(path: Path, *, most: int) -> dict[int, Any]:
    """Read the struct FileMetaData of a file: numbers, bytes, lists and structs by field number.

    Args:
        path: The file.
        most: The largest size of a footer, in bytes.

    Raises:
        FooterError: It has none, a longer one, or one that is not such a struct.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(len(_MAGIC))
        file.seek(max(0, size - _TAIL))
        tail = file.read(_TAIL)
        length = int.from_bytes(tail[:4], "little")
        whole = head == tail[4:] == _MAGIC and len(_MAGIC) + length + _TAIL <= size
        if not whole or length > most:
            raise FooterError
        file.seek(size - _TAIL - length)
        data = file.read(length)
    reader = _Reader(data)
    found = reader.struct()
    if reader.offset != len(data):
        raise FooterError
    return found


class _Reader:
    """A reader of one value after the other; it never returns more values than there are bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._depth = 0
        self.offset = 0

    def struct(self) -> dict[int, Any]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise FooterError
        fields: dict[int, Any] = {}
        number = 0
        while (head := self._byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self._integer()
            if number in fields:
                raise FooterError
            kind = head & 0x0F
            fields[number] = kind == _TRUE if kind in {_TRUE, _FALSE} else self._value(kind)
        self._depth -= 1
        return fields

    def _value(self, kind: int) -> Any:
        if kind in _INTEGERS:
            return self._integer()
        if kind == _BINARY:
            return self._bytes(self._unsigned())
        if kind in {_LIST, _SET}:
            return self._list()
        if kind == _STRUCT:
            return self.struct()
        if kind in {_TRUE, _FALSE, _BYTE}:
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        raise FooterError  # maps do not occur in this format

    def _list(self) -> list[Any]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 0x0F else self._unsigned()
        if count > len(self._data) - self.offset:
            raise FooterError
        return [self._value(head & 0x0F) for _ in range(count)]

    def _integer(self) -> int:
        """Read a signed number: the sign is its lowest bit."""
        found = self._unsigned()
        return found >> 1 ^ -(found & 1)

    def _unsigned(self) -> int:
        found = 0
        for offset in range(_LONGEST_INTEGER):
            byte = self._byte()
            found |= (byte & 0x7F) << 7 * offset
            if not byte & 0x80:
                return found
        raise FooterError

    def _byte(self) -> int:
        return self._bytes(1)[0]

    def _bytes(self, count: int) -> bytes:
        found = self._data[self.offset : self.offset + count]
        if len(found) != count:
            raise FooterError
        self.offset += count
        return found
