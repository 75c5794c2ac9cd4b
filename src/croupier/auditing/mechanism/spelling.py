"""Canonical bytes of outputs of any type: the same for equal outputs, distinct for others."""

import struct
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from croupier.errors import ParameterError

__all__ = ["spelled"]


def spelled(entry: Any) -> bytes:
    """Spell the type and the value of an object, down to the last bit of every part.

    Members of dictionaries and sets have no order. A list is spelled as a tuple is.

    >>> spelled({1: "a", 2: "b"}) == spelled({2: "b", 1: "a"})
    True
    >>> spelled([1, True]) == spelled([1, 1])
    False
    """
    kind = type(entry)
    if kind is float:
        return _tagged("float", [struct.pack("<d", entry)])
    if kind is str:
        return _tagged("str", [entry.encode(errors="surrogatepass")])
    if kind is bytes:
        return _tagged("bytes", [entry])
    if kind is bool or kind is int or entry is None:
        return _tagged(kind.__name__, [repr(entry).encode()])
    return _tagged(_name(entry), _parts(entry))


def _parts(entry: Any) -> Iterable[bytes]:
    if isinstance(entry, np.ndarray):
        yield from _of_array(entry)
    elif isinstance(entry, Enum):
        yield entry.name.encode(errors="surrogatepass")
    elif is_dataclass(entry) and not isinstance(entry, type):
        yield from (spelled(getattr(entry, member.name, None)) for member in fields(entry))
    elif isinstance(entry, Mapping):
        yield from sorted(_tagged("", [spelled(key), spelled(entry[key])]) for key in entry)
    elif isinstance(entry, AbstractSet):
        yield from sorted(map(spelled, entry))
    elif isinstance(entry, (tuple, list)):
        yield from map(spelled, entry)
    elif isinstance(entry, (bytearray, memoryview)):
        yield bytes(entry)
    elif "__repr__" in {name for base in type(entry).__mro__[:-1] for name in vars(base)}:
        yield repr(entry).encode(errors="surrogatepass")
    else:
        raise ParameterError(
            "outputs",
            must="show what they hold",
            got=type(entry).__name__,
            hint="Return the bytes that are sent, or text, numbers, or rows of these.",
        )


def _of_array(array: np.ndarray[Any, Any]) -> Iterable[bytes]:
    yield repr((array.dtype.descr, array.shape)).encode()
    if isinstance(array, np.ma.MaskedArray):
        yield spelled(np.ma.getmaskarray(array))
        array = np.ma.getdata(array)
    if array.dtype.hasobject:
        yield from map(spelled, array.ravel().tolist())
    else:
        yield array.tobytes()


def _name(entry: Any) -> str:
    kind = tuple if type(entry) is list else type(entry)
    return f"{kind.__module__}.{kind.__qualname__}"


def _tagged(tag: str, parts: Iterable[bytes]) -> bytes:
    """Join a tag and parts, each after its length, so that no two lists of parts look alike."""
    said = [tag.encode(errors="surrogatepass"), *parts]
    return b"".join(b"%d:%b" % (len(part), part) for part in said) + b"."
