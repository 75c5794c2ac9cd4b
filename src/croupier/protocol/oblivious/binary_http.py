"""Binary HTTP messages: RFC 9292. Written with known lengths, read in both forms."""

import re
from collections.abc import Iterator
from typing import NamedTuple, Self

__all__ = ["BinaryRequest", "BinaryResponse", "Fields", "InvalidMessageError"]

Fields = tuple[tuple[bytes, bytes], ...]

_KNOWN_REQUEST, _KNOWN_RESPONSE, _OPEN_REQUEST, _OPEN_RESPONSE = range(4)
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9a-z-]+")
_VALUE = re.compile(rb"(?:[^\0\r\n \t](?:[^\0\r\n]*[^\0\r\n \t])?)?")
_INTERIM, _FINAL, _LAST = 100, 200, 599


class InvalidMessageError(ValueError):
    """Bytes that are not a message. Its text says nothing about them."""

    def __init__(self) -> None:
        super().__init__("not a binary HTTP message")


class BinaryRequest(NamedTuple):
    """A request.

    Attributes:
        method: The method.
        scheme: The scheme of the target.
        authority: The host of the target.
        path: The path of the target.
        fields: The header fields, names in lower case.
        content: The body.
    """

    method: bytes
    scheme: bytes
    authority: bytes
    path: bytes
    fields: Fields = ()
    content: bytes = b""

    def to_bytes(self, *, length: int = 0) -> bytes:
        """Write the request, with zeros up to a length."""
        control = b"".join(map(_prefixed, self[:4]))
        rest = _section(self.fields) + _prefixed(self.content) + _section(())
        return (_number(_KNOWN_REQUEST) + control + rest).ljust(length, b"\0")

    @classmethod
    def read(cls, data: bytes) -> Self:
        """Read a request.

        Raises:
            InvalidMessageError: It is not one.
        """
        reader = _MessageReader(data)
        framing = reader.number()
        if framing not in {_KNOWN_REQUEST, _OPEN_REQUEST}:
            raise InvalidMessageError
        method, scheme, authority, path = (reader.prefixed() for _ in range(4))
        if not method or not scheme:
            raise InvalidMessageError
        fields, content = reader.rest(known=framing == _KNOWN_REQUEST)
        return cls(method, scheme, authority, path, fields, content)


class BinaryResponse(NamedTuple):
    """A response; interim ones before it are read and dropped.

    Attributes:
        status: The status of the final response.
        fields: The header fields, names in lower case.
        content: The body.
    """

    status: int
    fields: Fields = ()
    content: bytes = b""

    def to_bytes(self, *, length: int = 0) -> bytes:
        """Write the response, with zeros up to a length."""
        control = _number(_KNOWN_RESPONSE) + _number(self.status)
        rest = _section(self.fields) + _prefixed(self.content) + _section(())
        return (control + rest).ljust(length, b"\0")

    @classmethod
    def read(cls, data: bytes) -> Self:
        """Read a response.

        Raises:
            InvalidMessageError: It is not one.
        """
        reader = _MessageReader(data)
        framing = reader.number()
        if framing not in {_KNOWN_RESPONSE, _OPEN_RESPONSE}:
            raise InvalidMessageError
        known = framing == _KNOWN_RESPONSE
        status = reader.number()
        while _INTERIM <= status < _FINAL:
            reader.fields(known=known)
            status = reader.number()
        if not _FINAL <= status <= _LAST:
            raise InvalidMessageError
        return cls(status, *reader.rest(known=known))


class _MessageReader:
    """Bytes that are read from front to back."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def rest(self, *, known: bool) -> tuple[Fields, bytes]:
        """Read fields, content and trailers, of which empty ones may be missing, then padding."""
        fields = () if self._is_over else self.fields(known=known)
        content = b"" if self._is_over else self._content(known=known)
        if not self._is_over:
            self.fields(known=known)
        if self._data[self._at :].strip(b"\0"):
            raise InvalidMessageError
        return fields, content

    def fields(self, *, known: bool) -> Fields:
        """Read a section of fields."""
        if known:
            section = _MessageReader(self.prefixed())
            return tuple(section._lines(open_ended=False))
        return tuple(self._lines(open_ended=True))

    def _lines(self, *, open_ended: bool) -> Iterator[tuple[bytes, bytes]]:
        """Read fields up to the end, or up to a name of no length."""
        while open_ended or not self._is_over:
            name = self.prefixed()
            if open_ended and not name:
                return
            value = self.prefixed()
            if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
                raise InvalidMessageError
            yield name, value

    def _content(self, *, known: bool) -> bytes:
        if known:
            return self.prefixed()
        chunks = []
        while chunk := self.prefixed():
            chunks.append(chunk)
        return b"".join(chunks)

    @property
    def _is_over(self) -> bool:
        return self._at == len(self._data)

    def prefixed(self) -> bytes:
        """Read bytes after their number."""
        return self._take(self.number())

    def number(self) -> int:
        """Read a number of 1, 2, 4 or 8 bytes (RFC 9000, section 16)."""
        (first,) = self._take(1)
        more = self._take((1 << (first >> 6)) - 1)
        return int.from_bytes(bytes([first & 0x3F]) + more)

    def _take(self, size: int) -> bytes:
        taken = self._data[self._at : self._at + size]
        if len(taken) < size:
            raise InvalidMessageError
        self._at += size
        return taken


def _section(fields: Fields) -> bytes:
    return _prefixed(b"".join(_prefixed(name) + _prefixed(value) for name, value in fields))


def _prefixed(data: bytes) -> bytes:
    return _number(len(data)) + data


def _number(value: int) -> bytes:
    """Write a number in as few bytes as possible."""
    for power, bits in enumerate((6, 14, 30, 62)):
        if value < 1 << bits:
            size = 1 << power
            return (value | power << (8 * size - 2)).to_bytes(size)
    raise ValueError("the number is too large")
