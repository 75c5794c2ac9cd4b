"""The rungs of the trust ladder: who is looking, and what they get to see of a collection.

Proofs and attacks read the same table: what is attacked on a rung is what is proved there.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from croupier.model.adversary import View

__all__ = ["COMBINED", "SEES", "Rung", "corrupts", "watches"]


class Rung(StrEnum):
    """Whom a guarantee is against: the same six words from a policy to the page."""

    ESTIMATE = "estimate"
    BATCH = "batch"
    NETWORK = "network"
    SHUFFLER = "shuffler"
    CLIENTS = "clients"
    COLLUSION = "collusion"

    @property
    def adversary(self) -> str:
        """Who stands on it, in a few words."""
        return _ADVERSARIES[self]


COMBINED = "network and clients"
"""Who watches the network and has corrupted clients: no rung of its own on the screen."""

_ADVERSARIES = {
    Rung.ESTIMATE: "reads estimates",
    Rung.BATCH: "reads the batch",
    Rung.NETWORK: "+ watches network",
    Rung.SHUFFLER: "curious, no key",
    Rung.CLIENTS: "+ corrupt clients",
    Rung.COLLUSION: "shuffler + analyzer",
}
_TRAFFIC = frozenset({View.PARTICIPATION, View.LENGTHS, View.COUNTS})
_READER = frozenset({View.ESTIMATE, View.BATCH})

SEES: Mapping[str, frozenset[View]] = MappingProxyType(
    {
        Rung.ESTIMATE: frozenset({View.ESTIMATE}),
        Rung.BATCH: _READER,
        Rung.NETWORK: _READER | _TRAFFIC,
        Rung.SHUFFLER: frozenset({View.ESTIMATE, View.CIPHERTEXT_LINKS}) | _TRAFFIC,
        Rung.CLIENTS: _READER,
        Rung.COLLUSION: frozenset(View),
        COMBINED: _READER | _TRAFFIC,
    }
)
"""What is seen on each rung, and by the two that act together."""


def watches(rung: str) -> bool:
    """Tell whether somebody sees who sends in which round, and not every report with its sender."""
    return View.PARTICIPATION in SEES[rung] and View.REPORTS not in SEES[rung]


def corrupts(rung: str) -> bool:
    """Tell whether somebody has corrupted clients, who show what they sent."""
    return rung in (Rung.CLIENTS, COMBINED)
