"""Outputs of a channel, merged if they say the same about a pair of inputs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from croupier.numerics.arrays import np
from croupier.numerics.rounding import log_above

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

__all__ = ["LikelihoodClasses"]


@dataclass(frozen=True)
class LikelihoodClasses:
    """The outputs of a channel, grouped by the ratio reference : first : second.

    Everything that amplification by shuffling asks about two inputs depends on the outputs through
    these three numbers only. A mechanism with 2**1000 outputs may have four classes.

    Attributes:
        reference: The other people's contribution to a class. Either the privacy blanket, the
            least probability over all inputs (or a lower bound of it), or one fixed input's row.
        first: The probability of a class under the first input.
        second: The probability of a class under the second input.

    Example:
        >>> half = Fraction(1, 2)
        >>> LikelihoodClasses.merged([(half, half, half), (half, half, half)]).reference
        (Fraction(1, 1),)
    """

    reference: tuple[Fraction, ...]
    first: tuple[Fraction, ...]
    second: tuple[Fraction, ...]

    @classmethod
    def merged(cls, outputs: Iterable[tuple[Fraction, Fraction, Fraction]]) -> LikelihoodClasses:
        """Add up the outputs (reference, first, second) that are proportional to each other."""
        classes: dict[tuple[Fraction, ...], list[Fraction]] = {}
        for output in outputs:
            total = sum(output)
            if total == 0:
                continue
            ratio = tuple(entry / total for entry in output)
            sums = classes.setdefault(ratio, [Fraction(0)] * 3)
            for column, entry in enumerate(output):
                sums[column] += entry
        reference, first, second = zip(*classes.values(), strict=True)
        return cls(reference=reference, first=first, second=second)

    @property
    def epsilon(self) -> float:
        """The logarithm of the largest ratio of a class's two probabilities, rounded up."""
        ends = [(max(p, q), min(p, q)) for p, q in zip(self.first, self.second, strict=True)]
        if any(low == 0 < high for high, low in ends):
            return math.inf
        return log_above(max((high / low for high, low in ends if low), default=Fraction(1)))

    def __len__(self) -> int:
        return len(self.reference)

    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The three columns as doubles, each entry rounded to nearest."""
        reference, first, second = (
            np.array([float(entry) for entry in column])
            for column in (self.reference, self.first, self.second)
        )
        return reference, first, second
