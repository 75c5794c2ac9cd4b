"""Displacement: how far a plan's order carries reports from where they were sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from croupier.model.shuffler import Shuffler
from croupier.numerics.keystream import Keystream

__all__ = ["Displacement"]

_MOVED = 400_000
"""About as many reports are moved to measure displacement: more change no printed digit."""
_LEAST_DRAWS, _MOST_DRAWS = 4, 500


@dataclass(frozen=True, eq=False)
class Displacement:
    """The distance between where a report is sent and where it is released, under a plan's order.

    Measured by drawing the order anew, with every place of the public file taken. The order that
    moved the released reports is not known to anybody.

    Attributes:
        draws: The number of orders that were drawn.
        columns: The names of the coordinates; empty if there are none.
        median: The distance that half of all reports move at most; None without coordinates.
        farthest_tenth: The distance that one report in ten exceeds; None without coordinates.
        along: The median distance along each coordinate.
        extent: The difference of the largest and the least entry of each coordinate.
        inside: The number of moves from a place of a part to a place of the same part, in all draws
            together, for every part.
        places: The number of places of every part.
    """

    draws: int
    columns: tuple[str, ...]
    median: float | None
    farthest_tenth: float | None
    along: tuple[float, ...]
    extent: tuple[float, ...]
    inside: NDArray[np.int64]
    places: NDArray[np.int64]

    @classmethod
    def measured(
        cls,
        shuffler: Shuffler,
        part_of: NDArray[np.int64],
        *,
        columns: tuple[str, ...] = (),
        coordinates: NDArray[np.float64] | None = None,
        rng: Keystream | None = None,
    ) -> Self:
        """Draw orders, and measure them.

        Args:
            shuffler: Moves the reports of all places.
            part_of: For every place the number of its part.
            columns: The names of the coordinates.
            coordinates: One row per place.
            rng: The source of the draws; the operating system by default.
        """
        n = len(part_of)
        draws = min(max(_LEAST_DRAWS, _MOVED // n), _MOST_DRAWS)
        parts = int(part_of.max()) + 1
        inside = np.zeros(parts, dtype=np.int64)
        moves = []
        for _ in range(draws):
            sender = shuffler.order(n, rng=rng)
            inside += np.bincount(part_of[part_of[sender] == part_of], minlength=parts)
            if coordinates is not None:
                moves.append(np.abs(coordinates[sender] - coordinates))
        places = np.bincount(part_of, minlength=parts)
        if coordinates is None:
            return cls(draws, (), None, None, (), (), inside, places)
        every = np.concatenate(moves)
        distance = np.sqrt((every**2).sum(axis=1))
        median, far = np.quantile(distance, [0.5, 0.9]).tolist()
        along = np.median(every, axis=0).tolist()
        extent = np.ptp(coordinates, axis=0).tolist()
        return cls(draws, columns, median, far, tuple(along), tuple(extent), inside, places)

    def stayed_in(self, parts: Sequence[int]) -> float:
        """Return the share of the reports released in these parts that was sent from the same one.

        An average over the order: what was released in one batch differs by chance.
        """
        chosen = list(parts)
        return float(self.inside[chosen].sum() / (self.draws * self.places[chosen].sum()))
