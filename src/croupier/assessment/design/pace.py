"""The pace of a collection: how often people are asked, and how much of that one person answers."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from croupier.errors import ParameterError
from croupier.plan.values import read_duration, spoken

__all__ = ["PACES", "Pace"]

PACES = {
    "once": None,
    "daily": timedelta(days=1),
    "weekly": timedelta(days=7),
    "monthly": timedelta(days=30),
}
"""The paces by name; None for a single round."""

_MONTH = timedelta(days=30)


@dataclass(frozen=True, kw_only=True)
class Pace:
    """The rounds of a collection.

    Attributes:
        every: The time from one round to the next; None if there is one round only.
        window: The time within which a person's answers are counted; a month, or one round if that
            is longer, if not given.
        answers: The most answers of a person within the window; all of its rounds if not given.
    """

    every: timedelta | None
    window: timedelta | None = None
    answers: int | None = None

    @classmethod
    def named(cls, text: str, *, window: str | None = None, answers: int | None = None) -> "Pace":
        """Read the name of a pace, or a time.

        >>> Pace.named("weekly").section
        {'every': '168h', 'window': '720h', 'rounds': 5}
        """
        every = PACES[text] if text in PACES else _time("every", text)
        if every is None and (window or answers):
            given = "window" if window else "answers"
            raise ParameterError(given, must="be left out for a collection of one round")
        return cls(
            every=every,
            window=None if window is None else _time("window", window),
            answers=answers,
        )

    @property
    def section(self) -> dict[str, Any]:
        """The table [collection] of a plan; empty for one round."""
        if self.every is None:
            return {}
        window = max(_MONTH, self.every) if self.window is None else self.window
        rounds = -(-window // self.every) if self.answers is None else self.answers
        return {"every": spoken(self.every), "window": spoken(window), "rounds": rounds}


def _time(name: str, text: str) -> timedelta:
    try:
        found = read_duration(text)
    except ValueError:
        names = ", ".join(PACES) if name == "every" else "30d"
        raise ParameterError(
            name, must='be a time like "12h"', got=text, hint=f"Try {names}."
        ) from None
    if not found:
        raise ParameterError(name, must="be above 0s", got=text, hint='Try "24h".')
    return found
