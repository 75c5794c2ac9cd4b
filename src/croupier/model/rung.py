"""The rungs of the trust ladder: how much of a collection an adversary gets to see."""

from enum import StrEnum

__all__ = ["Rung"]


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


_ADVERSARIES = {
    Rung.ESTIMATE: "reads estimates",
    Rung.BATCH: "reads the batch",
    Rung.NETWORK: "+ watches network",
    Rung.SHUFFLER: "curious, no key",
    Rung.CLIENTS: "+ corrupt clients",
    Rung.COLLUSION: "shuffler + analyzer",
}
