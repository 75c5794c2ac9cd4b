"""The rungs of the trust ladder: who is looking, and what they see of a collection.

Proofs and attacks read the same table, so that an attack plays against what is proved.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from croupier.model.adversary import View

__all__ = ["COMBINED", "LUCK", "SEES", "Rung", "corrupts", "rungs_of", "watches"]


class Rung(StrEnum):
    """The adversary of a guarantee: the same names from a policy to the page.

    A plan with one shuffler has the rows `shuffler` and `collusion`. A plan with two has the rows
    `shuffler_1`, `shuffler_2`, `all_but_one` and `everybody` in their place.
    """

    ESTIMATE = "estimate"
    BATCH = "batch"
    NETWORK = "network"
    SHUFFLER = "shuffler"
    SHUFFLER_1 = "shuffler_1"
    SHUFFLER_2 = "shuffler_2"
    CLIENTS = "clients"
    COLLUSION = "collusion"
    ALL_BUT_ONE = "all_but_one"
    EVERYBODY = "everybody"

    @property
    def meaning(self) -> str:
        """A few words that say who is looking."""
        return _MEANINGS[self]

    @property
    def sees_all(self) -> bool:
        """True for all shufflers and the analyzer together, who see every report and its sender."""
        return self in (Rung.COLLUSION, Rung.EVERYBODY)

    @property
    def mixes(self) -> int | None:
        """The place of the one shuffler that the adversary runs, from 0; None for all others."""
        return _MIXES.get(self)

    def among(self, shufflers: int) -> "tuple[Rung, ...]":
        """Return the rows of a plan with so many shufflers that this name stands for.

        A limit on `shuffler` holds for each of two shufflers, and one on `collusion` for everybody
        together. In a plan with one shuffler, `all_but_one` and `everybody` are `collusion`.

        >>> Rung.SHUFFLER.among(2)
        (<Rung.SHUFFLER_1: 'shuffler_1'>, <Rung.SHUFFLER_2: 'shuffler_2'>)
        """
        if shufflers == 1:
            return (_OF_ONE.get(self, self),)
        return {
            Rung.SHUFFLER: (Rung.SHUFFLER_1, Rung.SHUFFLER_2),
            Rung.COLLUSION: (Rung.EVERYBODY,),
        }.get(self, (self,))


def rungs_of(shufflers: int) -> tuple[Rung, ...]:
    """Return the rows of the ladder of a plan with one or two shufflers, in their order.

    >>> [rung.value for rung in rungs_of(1)]
    ['estimate', 'batch', 'network', 'shuffler', 'clients', 'collusion']
    """
    left_out = _OF_ONE if shufflers == 1 else _OF_ONE.values()
    return tuple(rung for rung in Rung if rung not in left_out)


_OF_ONE = {
    Rung.SHUFFLER_1: Rung.SHUFFLER,
    Rung.SHUFFLER_2: Rung.SHUFFLER,
    Rung.ALL_BUT_ONE: Rung.COLLUSION,
    Rung.EVERYBODY: Rung.COLLUSION,
}
"""The rows of several shufflers, each with the row of one shuffler that is at least as exposed."""

_MIXES = {Rung.SHUFFLER: 0, Rung.SHUFFLER_1: 0, Rung.SHUFFLER_2: 1}

COMBINED = "network and clients"
"""The adversary who watches the network and has corrupted clients: no row of the table."""

LUCK = "by luck alone"
"""The first row of the table: somebody who sees nothing and guesses."""

_MEANINGS = {
    Rung.ESTIMATE: "reads what is published",
    Rung.BATCH: "reads the batch",
    Rung.NETWORK: "also watches the network",
    Rung.SHUFFLER: "runs the shuffler",
    Rung.SHUFFLER_1: "runs the first shuffler",
    Rung.SHUFFLER_2: "runs the second shuffler",
    Rung.CLIENTS: "also controls some of the clients",
    Rung.COLLUSION: "shuffler and analyzer together",
    Rung.ALL_BUT_ONE: "everybody but one shuffler, dropping all other reports",
    Rung.EVERYBODY: "both shufflers together, with or without the analyzer",
}
_TRAFFIC = frozenset({View.PARTICIPATION, View.LENGTHS, View.COUNTS})
_READER = frozenset({View.ESTIMATE, View.BATCH})
_MIXER = frozenset({View.ESTIMATE, View.CIPHERTEXT_LINKS}) | _TRAFFIC

SEES: Mapping[str, frozenset[View]] = MappingProxyType(
    {
        Rung.ESTIMATE: frozenset({View.ESTIMATE}),
        Rung.BATCH: _READER,
        Rung.NETWORK: _READER | _TRAFFIC,
        Rung.SHUFFLER: _MIXER,
        Rung.SHUFFLER_1: _MIXER,
        Rung.SHUFFLER_2: frozenset({View.ESTIMATE, View.HANDED_OVER}),
        Rung.CLIENTS: _READER,
        Rung.COLLUSION: frozenset(View) - {View.HANDED_OVER},
        Rung.ALL_BUT_ONE: frozenset(View) - {View.REPORTS},
        Rung.EVERYBODY: frozenset(View),
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
