"""The state of the demo: told by the parts as they go, read by the terminal and by the page."""

import threading
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Scoreboard"]


@dataclass
class Scoreboard:
    """The demo so far.

    Attributes:
        people: The number of simulated people.
        minimum: The least number of reports of the batch.
        guarantee: The proved limits, rung by rung, in words; given by the prover.
    """

    people: int
    minimum: int
    guarantee: list[dict[str, str]]
    _state: dict[str, Any] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, **news: Any) -> None:
        """Add to the state."""
        with self._lock:
            self._state |= news

    def count(self) -> int:
        """Count one more report, and return the total."""
        with self._lock:
            self._state["received"] = self._state.get("received", 0) + 1
            return int(self._state["received"])

    def document(self) -> dict[str, Any]:
        """Return the whole state, for the page."""
        with self._lock:
            return {
                "people": self.people,
                "minimum": self.minimum,
                "guarantee": self.guarantee,
                "received": 0,
                **self._state,
            }
