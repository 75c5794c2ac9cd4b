"""The rungs of the trust ladder: who is looking, and what they see of a collection.

Proofs and attacks read the same table, so that an attack plays against what is proved.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from croupier.model.adversary import View

__all__ = ["COMBINED", "LUCK", "SEES", "Rung", "corrupts", "watches"]


class Rung(StrEnum):
    """The adversary of a guarantee: the same six names from a policy to the page."""

    ESTIMATE = "estimate"
    BATCH = "batch"
    NETWORK = "network"
    SHUFFLER = "shuffler"
    CLIENTS = "clients"
    COLLUSION = "collusion"

    @property
    def meaning(self) -> str:
        """A few words that say who is looking."""
        return _MEANINGS[self]


COMBINED = "network and clients"
"""The adversary who watches the network and has corrupted clients: no row of the table."""

LUCK = "by luck alone"
"""The first row of the table: somebody who sees nothing and guesses."""

_MEANINGS = {
    Rung.ESTIMATE: "reads what is published",
    Rung.BATCH: "reads the batch",
    Rung.NETWORK: "also watches the network",
    Rung.SHUFFLER: "runs the shuffler",
    Rung.CLIENTS: "also controls some of the clients",
    Rung.COLLUSION: "shuffler and analyzer together",
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
"""The views of each adversary, and of the two that act together."""


def watches(rung: str) -> bool:
    """Tell whether somebody sees who sends in which round, and not every report with its sender."""
    return View.PARTICIPATION in SEES[rung] and View.REPORTS not in SEES[rung]


def corrupts(rung: str) -> bool:
    """Tell whether somebody has corrupted clients, who show what they sent."""
    return rung in (Rung.CLIENTS, COMBINED)
