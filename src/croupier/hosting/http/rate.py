"""Rate limits per sender: sums in memory that all processes of a host share, and no sender in it.

The memory has no name and no file: it ends with the last process that has it.
"""

import fcntl
import hashlib
import mmap
import os
import struct
import tempfile
import time
import weakref
from collections.abc import Callable, Mapping
from multiprocessing.reduction import DupFd
from typing import Any, Literal

__all__ = ["RateLimit", "early_refusal"]

_WINDOW = 60.0
_KEY, _HEAD = 16, 32
"""Bytes of a key; and of the factors and the end of its minute before the sums of a part."""
_COLUMNS, _PARTS = 1 << 22, 64
_Kind = Literal["B", "H", "I", "Q"]
_KINDS: tuple[tuple[int, _Kind], ...] = ((0xFF, "B"), (0xFFFF, "H"), (0xFFFF_FFFF, "I"))
"""The largest sum in one, two and four bytes. Smaller sums leave room for more columns."""
_HASHED = struct.Struct("=QQB")
_BITS, _WORD = 64, (1 << 64) - 1


class RateLimit:
    """An upper limit per minute and sender, over all processes that share it.

    A process shares it with those that it starts through `multiprocessing`, as an argument. They
    take turns by locks of the system, which a process that is killed releases. One thread of each
    process may use it.

    Two rows hold sums of amounts. A sender has a place in each row, by a keyed hash times a number
    that is drawn anew for every minute, and others may have the same place. The smaller of the sums
    counts: it is never below what the sender has spent, so that **nobody exceeds the limit**.
    Whoever shares both places with others may be refused early. `early_refusal` says how often: at
    100,000 senders per minute and 4,194,304 columns, with a chance of at most 1 in 1,800, even if
    all others have spent their whole limit. If all others send one request of 12 that are allowed,
    both places must be shared with a dozen: less than 1 in 10^50.

    The rows are cut into parts, each with a lock and minutes of its own, so that processes seldom
    wait for each other. A sender stays in one part.

    Who reads the memory of a host within the minute can test whether a known sender has sent, and
    can list nobody.

    Args:
        most: The limit.
        columns: The number of sums per row, a power of two.
        clock: A clock in seconds, the same for all processes of the host.

    Attributes:
        memory: The descriptor of the memory.

    >>> limit = RateLimit(2, clock=lambda: 0.0)
    >>> [limit.allows(b"a", 1) for _ in range(3)]
    [True, True, False]
    """

    def __init__(
        self, most: int, *, columns: int = _COLUMNS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._columns = columns
        self._clock = clock
        self._map(_unnamed(_size(most, columns)), os.urandom(_KEY))

    def __getstate__(self) -> Mapping[str, Any]:
        return {
            "most": self._most,
            "columns": self._columns,
            "clock": self._clock,
            "memory": DupFd(self.memory),
            "key": self._key,
        }

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self._most = state["most"]
        self._columns = state["columns"]
        self._clock = state["clock"]
        self._map(state["memory"].detach(), state["key"])

    def allows(self, sender: bytes, amount: int) -> bool:
        """Count an amount for a sender, unless it would exceed the limit."""
        hashed = hashlib.blake2b(sender, key=self._key, digest_size=_HASHED.size).digest()
        first, second, number = _HASHED.unpack(hashed)
        number %= len(self._parts)
        part: _Part = self._parts[number]
        fcntl.lockf(self.memory, fcntl.LOCK_EX, 1, number)
        try:
            return part.spend(first, second, amount, self._most, self._clock())
        finally:
            fcntl.lockf(self.memory, fcntl.LOCK_UN, 1, number)

    def _map(self, memory: int, key: bytes) -> None:
        self.memory = memory
        self._key = key
        weakref.finalize(self, os.close, memory)
        mapped = memoryview(mmap.mmap(memory, _size(self._most, self._columns)))
        kind, parts = _kind(self._most), _parts(self._columns)
        size = len(mapped) // parts
        self._parts: list[_Part] = [
            _Part(mapped[start : start + size], kind) for start in range(0, len(mapped), size)
        ]


class _Part:
    """A part of both rows.

    Args:
        memory: Its memory.
        kind: The kind of its sums.
    """

    def __init__(self, memory: memoryview, kind: _Kind) -> None:
        self._drawn = memory[:_KEY]
        self._factors = self._drawn.cast("Q")
        self._ends = memory[_KEY : _KEY + 8].cast("d")
        self._bytes = memory[_HEAD:]
        self._sums = self._bytes.cast(kind)
        self._columns = len(self._sums) // 2
        self._shift = _BITS + 1 - self._columns.bit_length()

    def spend(self, first: int, second: int, amount: int, most: int, now: float) -> bool:
        """Add an amount for the sender of two hashes, unless the sum would exceed the most."""
        if now >= self._ends[0]:
            self._begin(now)
        sums, factors = self._sums, self._factors
        # The upper bits of a product with an odd number: a permutation, then its column.
        here = ((factors[0] | 1) * first & _WORD) >> self._shift
        there = self._columns + (((factors[1] | 1) * second & _WORD) >> self._shift)
        one, other = sums[here], sums[there]
        spent = min(one, other) + amount
        if spent > most:
            return False
        # Not added: a place that others have filled further need not grow for this sender.
        if one < spent:
            sums[here] = spent
        if other < spent:
            sums[there] = spent
        return True

    def _begin(self, now: float) -> None:
        """Begin a minute; its end is written last, so that one who is killed here is succeeded."""
        self._bytes[:] = bytes(len(self._bytes))
        self._drawn[:] = os.urandom(_KEY)
        self._ends[0] = now + _WINDOW


def _kind(most: int) -> _Kind:
    return next((kind for largest, kind in _KINDS if most <= largest), "Q")


def _parts(columns: int) -> int:
    """Return the number of parts; small rows have fewer, of 8 columns so that all fit together."""
    return min(_PARTS, max(1, columns // 8))


def _size(most: int, columns: int) -> int:
    return _parts(columns) * _HEAD + 2 * columns * struct.calcsize(f"={_kind(most)}")


def early_refusal(*, senders: int, columns: int = _COLUMNS) -> float:
    """Bound the chance that a sender is refused before its limit, for what others have spent.

    1 - 2 (1 - 1/c)^(n - 1) + (1 - 2/c + s/c^2)^(n - 1)

    where c is `columns`, n is `senders`, in one minute, and s the number of parts: each of the two
    places is shared with at least one other. *Direction*: upper; attained if all others have spent
    their limit.

    >>> f"1 in {1 / early_refusal(senders=100_000):,.0f}"
    '1 in 1,801'
    """
    others = senders - 1
    one = (1 - 1 / columns) ** others
    both = (1 - 2 / columns + _parts(columns) / columns**2) ** others
    return float(1 - 2 * one + both)


def _unnamed(size: int) -> int:
    """Return memory as a file without a name, where the system has it; else an unlinked file."""
    if hasattr(os, "memfd_create"):
        memory = os.memfd_create("rate")
    else:
        with tempfile.TemporaryFile() as file:
            memory = os.dup(file.fileno())
    os.ftruncate(memory, size)
    return memory
