"""The end of the demo: stop and remove all that it started and made, whatever signal ends it."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Self

__all__ = ["Signals", "end_with_the_holder"]

_HEARD = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Signals:
    """A context manager that notes the signals that end a process.

    Making and removing things is never left half done: a signal ends the block `interruptible`, at
    once or as soon as it is entered, and nothing outside of it.
    """

    def __init__(self) -> None:
        self._noted: int | None = None
        self._interruptible = False

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._note) for number in _HEARD}
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if kind is None and self._noted is not None:
            self._end()

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """End this block when a signal arrives."""
        self._interruptible = True
        try:
            if self._noted is not None:
                self._end()
            yield
        finally:
            self._interruptible = False

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self._noted = number
        if self._interruptible:
            self._interruptible = False
            self._end()  # the exception tells the caller about the signal

    def _end(self) -> None:
        number, self._noted = self._noted or 0, None
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        sys.exit(128 + number)


def end_with_the_holder() -> None:
    """End this process once the process at the other end of its standard input has ended."""
    threading.Thread(target=_wait_for_the_end, daemon=True).start()


def _wait_for_the_end() -> None:
    while sys.stdin.buffer.read(1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
