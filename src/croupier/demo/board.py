"""What the demo shows: told by the parts as they go, read by the terminal and by the page."""

import threading
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Scoreboard"]


@dataclass
class Scoreboard:
    """The demo so far.

    Attributes:
        people: How many are simulated.
        minimum: How many reports the batch must have.
        guarantee: What is proved, rung by rung, in words; handed over by who proves it.
    """

    people: int
    minimum: int
    guarantee: list[dict[str, str]]
    _state: dict[str, Any] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, **news: Any) -> None:
        """Add to what is known."""
        with self._lock:
            self._state |= news

    def count(self) -> int:
        """One more report is in; how many that makes."""
        with self._lock:
            self._state["received"] = self._state.get("received", 0) + 1
            return int(self._state["received"])

    def document(self) -> dict[str, Any]:
        """All of it, for the page."""
        with self._lock:
            return {
                "people": self.people,
                "minimum": self.minimum,
                "guarantee": self.guarantee,
                "received": 0,
                **self._state,
            }
