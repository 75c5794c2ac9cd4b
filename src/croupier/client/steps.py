"""The steps of a conversation, and patience with servers that are silent or busy."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from secrets import SystemRandom
from typing import TypeAlias, TypeVar

from croupier.client.exchange import Get, Post, Response

__all__ = ["Passing", "Steps", "Wait", "ask_patiently", "is_busy", "until_settled"]

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 300.0


@dataclass(frozen=True)
class Wait:
    """Do nothing for some seconds."""

    seconds: float


class Passing:
    """The time since a conversation began: by a clock, and no less than its waits.

    Waits alone would leave out a slow server, or a slow function that finds the value; a clock
    alone may be set back.

    Args:
        clock: A function that returns seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock, self._beginning, self._least = clock, clock(), 0.0

    def seconds(self) -> float:
        """Return the seconds that have passed."""
        return max(self._least, self._clock() - self._beginning)

    def until(self, seconds: float) -> Wait:
        """Return the wait that is left until so many seconds have passed."""
        passed = self.seconds()
        self._least = max(passed, seconds)
        return Wait(self._least - passed)


T = TypeVar("T")
Steps: TypeAlias = Generator[Get | Post | Wait, Response | None, T]
"""The steps, one by one; the answer is None if none came."""


def ask_patiently(step: Get | Post, *, seconds: float) -> Steps[Response | None]:
    """Repeat a step, byte for byte, while the server is silent or busy, and return the answer.

    Pauses double and have a random length, so that clients do not return together. Return None
    once the pauses would add up to more than `seconds`.
    """
    waited, pause = 0.0, _FIRST_PAUSE
    while True:
        answer = yield step
        if answer is not None and not is_busy(answer):
            return answer
        wait = max(_asked_pause(answer), SystemRandom().uniform(pause / 2, pause))
        waited += wait
        if waited > seconds:
            return None
        yield Wait(wait)
        pause = min(2 * pause, _LONGEST_PAUSE)


def until_settled(
    attempt: Callable[[], Steps[T]],
    is_settled: Callable[[Sequence[T]], bool],
    *,
    tries: int,
    pause: float,
) -> Steps[list[T]]:
    """Make an attempt until the results so far are settled; return all of them.

    Args:
        attempt: A function that begins an attempt.
        is_settled: A function that takes the results so far.
        tries: The largest number of attempts.
        pause: The seconds between two of them.
    """
    made: list[T] = []
    for number in range(tries):
        if number:
            yield Wait(pause)
        made.append((yield from attempt()))
        if is_settled(made):
            break
    return made


def is_busy(answer: Response) -> bool:
    """Tell whether a server asks to come back later."""
    return answer.status == 429 or answer.status >= 500


def _asked_pause(answer: Response | None) -> float:
    text = answer.retry_after if answer else None
    return float(text) if text and text.isascii() and text.isdigit() and len(text) < 10 else 0.0
