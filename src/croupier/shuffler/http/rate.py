"""Rate limits per sender: sums in memory, forgotten every minute, never written anywhere."""

import time
from collections.abc import Callable

__all__ = ["RateLimit"]

_WINDOW = 60.0


class RateLimit:
    """An upper limit per minute and sender, at one worker.

    Args:
        most: The limit.
        clock: A clock in seconds, from any origin.

    >>> limit = RateLimit(2, clock=lambda: 0.0)
    >>> [limit.allows(b"a", 1) for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, most: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._ends = clock() + _WINDOW
        self._spent: dict[bytes, int] = {}

    def allows(self, sender: bytes, amount: int) -> bool:
        """Count an amount for a sender, unless it would exceed the limit."""
        now = self._clock()
        if now >= self._ends:
            self._spent.clear()
            self._ends = now + _WINDOW
        spent = self._spent.get(sender, 0) + amount
        if spent > self._most:
            return False
        self._spent[sender] = spent
        return True
