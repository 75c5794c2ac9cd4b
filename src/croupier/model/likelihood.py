"""Outputs of a channel, merged if they say the same about a pair of inputs."""

from __future__ import annotations

import math
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from croupier.numerics.arrays import np
from croupier.numerics.rounding import log_above

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["LikelihoodClasses"]

Ratio = tuple[int, int, int]
"""reference : first : second, without a common factor."""


@dataclass(frozen=True)
class LikelihoodClasses:
    """The outputs of a channel, grouped by the ratio reference : first : second.

    Everything that amplification by shuffling asks about two inputs depends on the outputs through
    these three numbers only. A mechanism with 2**1000 outputs may have four classes.

    Attributes:
        ratios: reference : first : second of every class, as integers without a common factor.
        units: What one of these integers stands for, in every class.

    Example:
        >>> half = Fraction(1, 2)
        >>> LikelihoodClasses.merged([(half, half, half), (half, half, half)]).reference
        (Fraction(1, 1),)
    """

    ratios: tuple[Ratio, ...]
    units: tuple[Fraction, ...]

    @classmethod
    def merged(cls, outputs: Iterable[tuple[Fraction, Fraction, Fraction]]) -> LikelihoodClasses:
        """Add up the outputs (reference, first, second) that are proportional to each other."""

        def lines() -> Iterator[tuple[Ratio, Fraction]]:
            for output in outputs:
                denominator = math.lcm(*(entry.denominator for entry in output))
                w, p, q = (entry.numerator * (denominator // entry.denominator) for entry in output)
                yield (w, p, q), Fraction(1, denominator)

        return cls._added(lines())

    @classmethod
    def of_weights(
        cls, outputs: Iterable[tuple[int, int, int]], denominator: int
    ) -> LikelihoodClasses:
        """Do the same for integer weights over a common denominator.

        >>> LikelihoodClasses.of_weights([(1, 2, 1), (2, 4, 2)], 8).first
        (Fraction(3, 4),)
        """
        weights: dict[Ratio, int] = {}
        for output in outputs:
            if common := math.gcd(*output):
                w, p, q = output
                ratio = (w // common, p // common, q // common)
                weights[ratio] = weights.get(ratio, 0) + common
        units = tuple(Fraction(weight, denominator) for weight in weights.values())
        return cls(tuple(weights), units)

    @classmethod
    def side_by_side(cls, parts: Iterable[tuple[Fraction, LikelihoodClasses]]) -> LikelihoodClasses:
        """The classes if one of several channels is drawn, with chances that are known."""
        return cls._added(
            (ratio, chance * unit)
            for chance, part in parts
            if chance
            for ratio, unit in zip(part.ratios, part.units, strict=True)
        )

    def times(self, other: LikelihoodClasses) -> LikelihoodClasses:
        """The classes of an output of this channel and, independently, one of another."""
        lines = product(*(zip(each.ratios, each.units, strict=True) for each in (self, other)))
        return self._added(
            ((w * v, p * r, q * s), unit * factor)
            for ((w, p, q), unit), ((v, r, s), factor) in lines
        )

    @classmethod
    def _added(cls, lines: Iterable[tuple[Ratio, Fraction]]) -> LikelihoodClasses:
        """Merge proportional weights, each in units of their own."""
        found: dict[Ratio, Fraction] = {}
        for (w, p, q), unit in lines:
            if common := math.gcd(w, p, q):
                ratio = (w // common, p // common, q // common)
                mass = unit if common == 1 else common * unit
                found[ratio] = found[ratio] + mass if ratio in found else mass
        return cls(tuple(found), tuple(found.values()))

    @cached_property
    def reference(self) -> tuple[Fraction, ...]:
        """The other people's contribution to each class.

        Either the privacy blanket, the least probability over all inputs (or a lower bound of it),
        or one fixed input's row.
        """
        return self._column(0)

    @cached_property
    def first(self) -> tuple[Fraction, ...]:
        """The probability of each class under the first input."""
        return self._column(1)

    @cached_property
    def second(self) -> tuple[Fraction, ...]:
        """The probability of each class under the second input."""
        return self._column(2)

    def _column(self, column: int) -> tuple[Fraction, ...]:
        return tuple(
            ratio[column] * unit for ratio, unit in zip(self.ratios, self.units, strict=True)
        )

    @cached_property
    def mass(self) -> Fraction:
        """The sum of the reference."""
        totals: Counter[int] = Counter()  # by denominators, of which there are few
        for (reference, _, _), unit in zip(self.ratios, self.units, strict=True):
            totals[unit.denominator] += reference * unit.numerator
        return sum((Fraction(above, below) for below, above in totals.items()), Fraction(0))

    @cached_property
    def epsilon(self) -> float:
        """The logarithm of the largest ratio of a class's two probabilities, rounded up."""
        ends = [(max(p, q), min(p, q)) for _, p, q in self.ratios]
        if any(low == 0 < high for high, low in ends):
            return math.inf
        finite = [(high, low) for high, low in ends if low]
        with suppress(OverflowError):  # few fractions need comparing if the ratios are doubles
            nearly = max((high / low for high, low in finite), default=1.0) * (1 - 1e-12)
            finite = [(high, low) for high, low in finite if high / low >= nearly]
        return log_above(max((Fraction(*end) for end in finite), default=Fraction(1)))

    def __len__(self) -> int:
        return len(self.ratios)

    def __hash__(self) -> int:
        return hash(self.ratios)

    def arrays(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """The three columns as doubles, each entry rounded to nearest."""
        units = [(unit.numerator, unit.denominator) for unit in self.units]
        reference, first, second = (
            np.array(
                [entry * above / below for entry, (above, below) in zip(column, units, strict=True)]
            )
            for column in zip(*self.ratios, strict=True)
        )
        return reference, first, second
