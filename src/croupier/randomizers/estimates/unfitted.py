"""Noise in the counts of values from all values that are not fitted, by sharing buckets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from croupier.numerics.arrays import np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Unfitted"]

_GROUPS = 32
_ERRORS = 3.0
_DEVIATION = 1.4826
"""The standard deviation of a normal law in units of its median absolute deviation."""

_OF_MEDIANS = 1.2533
"""The standard error of a median in units of that of a mean."""


@dataclass(frozen=True)
class Unfitted:
    """The sum of the squares of the numbers t_f of people with values f that are not fitted.

    In the w n people of one function, of n in all, they leave a sum of squares over the buckets of
    (d w)^2 (1 - 1/g) sum t_f^2 beyond the noise, on average over the functions, where d is the
    chance of the own bucket less that of another. The functions are taken in groups: the median of
    the groups is the estimate, which few functions do not move, however many people chose them.

    The count of another value then has a variance of sum t_f^2 sum w^2/(g - 1) over the functions.

    Attributes:
        squares: The estimated sum of squares.
        most: The estimate and three of its standard errors.
        reuse: The number sum w^2/(g - 1).
        weight: The largest w.
    """

    squares: float
    most: float
    reuse: float
    weight: float

    @classmethod
    def of(
        cls,
        left: Sequence[NDArray[np.float64]],
        noise: Sequence[NDArray[np.float64]],
        weights: Sequence[NDArray[np.float64]],
        *,
        gap: float,
        fitted: int,
    ) -> Self:
        """Return the sum of squares behind what is left over.

        Args:
            left: What is left over in each bucket of each function, in each batch.
            noise: The variance of each entry.
            weights: The share of people of each function, in each batch.
            gap: The number d.
            fitted: The number of values that were fitted, each of which takes one part of the
                noise.
        """
        share = np.concatenate([each.ravel() for each in weights])
        size = left[0].shape[1]
        free = max(0.0, 1 - fitted / (len(share) * (size - 1)))
        energy = np.concatenate([(each**2).sum(axis=1) for each in left])
        energy -= free * np.concatenate([each.sum(axis=1) for each in noise])
        unit = (gap * share) ** 2 * (1 - 1 / size)
        groups = [np.arange(at, len(share), _GROUPS) for at in range(min(_GROUPS, len(share)))]
        groups = [each for each in groups if unit[each].sum()]
        found = np.array([energy[each].sum() / unit[each].sum() for each in groups])
        middle = float(np.median(found))
        # That of the noise, known, and that of the groups.
        known = np.concatenate([2 * (each**2).sum(axis=1) for each in noise])
        spread = [math.sqrt(known[each].sum()) / unit[each].sum() for each in groups]
        widest = max(float(np.median(spread)), _DEVIATION * float(np.median(abs(found - middle))))
        error = _OF_MEDIANS * widest / math.sqrt(len(found))
        return cls(
            squares=max(0.0, middle),
            most=max(0.0, middle + _ERRORS * error),
            reuse=float((share**2).sum()) / (size - 1),
            weight=float(share.max()),
        )

    @property
    def variance(self) -> float:
        """The variance of what they add to a count, over the functions."""
        return self.squares * self.reuse

    def reach(self, chance: float) -> float:
        """A number that what they add to a count exceeds with at most this chance.

        By Bernstein's inequality, over the functions; no more people hold one of them than the
        squares allow.
        """
        odds = -math.log(chance)
        return math.sqrt(2 * self.most * self.reuse * odds) + self._largest * odds / 3

    @property
    def _largest(self) -> float:
        """The most that one function adds."""
        return math.sqrt(self.most) * self.weight
