"""Dummies: reports that a shuffler makes up, a random number of each possible report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Self

from croupier.errors import ParameterError
from croupier.numerics.arrays import np
from croupier.numerics.bisection import bisect_safe_integer
from croupier.numerics.keystream import WORD, Keystream
from croupier.numerics.rounding import exp_enclosure
from croupier.numerics.weight_table import WeightTable

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MOST_BINS", "DummyTable", "Enclosure"]

MOST_BINS = 100_000
"""The largest number of possible reports for which dummies are made."""

_LONGEST = 1 << 13
"""The largest number of entries of a table."""

_UNIT = Fraction(1, 1 << 200)
"""The precision of factors in sums of integers."""

Enclosure = tuple[Fraction, Fraction]
"""Two rational numbers with the truth between them."""


@dataclass(frozen=True)
class DummyTable:
    """The law of the number of dummies of each possible report, as integer weights.

    To each possible report a shuffler adds u dummies with chance ``weights[u] / sum(weights)``,
    independently. One person who answers differently moves one report from one count to another,
    so that against somebody who reads the batch and knows everybody else,

        delta(epsilon) = sum over u, v of [D(u-1) D(v) - e^epsilon D(u) D(v-1)]_+,

    whatever the number of people, honest or not: two counts change, all others have the same law.

    Attributes:
        weights: The weights of 0, 1, 2, … dummies.

    Example:
        >>> table = DummyTable.two_sided_geometric(epsilon=1.0, delta=1e-8)
        >>> len(table.weights), float(table.mean), round(float(table.variance) ** 0.5, 3)
        (73, 36.0, 2.799)
    """

    weights: tuple[int, ...]

    def __post_init__(self) -> None:
        if not 1 < len(self.weights) <= _LONGEST or min(self.weights) < 0:
            raise ParameterError(
                "weights", must=f"be 2 to {_LONGEST:,} whole numbers of at least 0"
            )
        if not 0 < self.total <= WORD:
            raise ParameterError("weights", must="have a sum of 1 to 2^64", got=self.total)

    @classmethod
    def two_sided_geometric(cls, *, epsilon: float, delta: float) -> Self:
        """Return the shortest symmetric table that falls by e^(-epsilon/2) per dummy and suffices.

            D(u) proportional to e^(-epsilon |u - m| / 2) on 0, …, 2m, in units of 2^-64,

        with the least m whose exact delta at `epsilon` is at most `delta`.
        """
        if not 0.01 <= epsilon <= 20:
            raise ParameterError("epsilon", must="be in [0.01, 20]", got=epsilon, hint="Try 1.")
        if not 1e-15 <= delta <= 0.1:
            raise ParameterError("delta", must="be in [1e-15, 0.1]", got=delta, hint="Try 1e-8.")
        return cls(_shortest(float(epsilon), float(delta)))

    @property
    def total(self) -> int:
        """The sum of the weights."""
        return sum(self.weights)

    @property
    def most(self) -> int:
        """The largest number of dummies that the table names."""
        return len(self.weights) - 1

    @cached_property
    def mean(self) -> Fraction:
        """The expected number of dummies of one report."""
        return Fraction(sum(u * weight for u, weight in enumerate(self.weights)), self.total)

    @cached_property
    def variance(self) -> Fraction:
        """The variance of the number of dummies of one report."""
        square = sum(u * u * weight for u, weight in enumerate(self.weights))
        return Fraction(square, self.total) - self.mean**2

    @cached_property
    def law(self) -> NDArray[np.float64]:
        """The chances of 0, 1, 2, … dummies, as the nearest doubles."""
        return np.array([float(Fraction(weight, self.total)) for weight in self.weights])

    @cached_property
    def alone(self) -> Fraction:
        """The expectation of 1/(1 + dummies): the chance to pick a report among its dummies."""
        parts = (Fraction(weight, u + 1) for u, weight in enumerate(self.weights))
        return sum(parts, Fraction(0)) / self.total

    def draw(self, bins: int, rng: Keystream) -> NDArray[np.int64]:
        """Draw the number of dummies of each of some possible reports, exactly."""
        table = WeightTable((self.weights,), self.total)
        return table.respond(np.zeros(bins, dtype=np.int64), rng.integers(self.total, bins))

    def delta(
        self, epsilon: float, *, own: Fraction = Fraction(1), other: Fraction = Fraction(0)
    ) -> Enclosure:
        """Enclose delta at an epsilon; the ends differ only because e^epsilon is not rational.

        One report is added to the dummies. If it is about the first value it is in that value's
        count with the chance `own`, in the second value's with `other`, and else in neither; if it
        is about the second value, the other way round. The sum over both counts is that of

            [(own - e other) D(u-1) D(v) - (e own - other) D(u) D(v-1) - (e - 1) rest D(u) D(v)]_+,

        e = e^epsilon, rest = 1 - own - other: the exact divergence of the two counts. `own` below 1
        is the chance that a report is kept; then it is an upper bound if others are in the batch.
        """
        if not epsilon >= 0:
            raise ParameterError("epsilon", must="be at least 0", got=epsilon)
        if not (0 <= other <= own and 0 < own <= 1 - other):
            raise ParameterError("own", must="be a chance of at least `other`", got=float(own))
        low, high = exp_enclosure(epsilon)
        upper = self._positive_part(low, own, other)
        # delta falls as the factor grows, never faster than the factor itself.
        return max(Fraction(0), upper - (high - low) - 2 * _UNIT * high), upper

    def rough_delta(
        self, epsilon: float, *, own: Fraction = Fraction(1), other: Fraction = Fraction(0)
    ) -> float:
        """Return delta in floating point, to about 1e-12: a guide for a search, no bound."""
        factor, told, swapped = math.exp(epsilon), float(own), float(other)
        first, second = self._rough_steps
        gain = (told - factor * swapped) * second
        rest = (factor - 1) * (1 - told - swapped)
        loss = (factor * told - swapped) * first + rest * second
        above, below = (np.concatenate([[0.0], np.cumsum(each)]) for each in (first, second))
        with np.errstate(divide="ignore", invalid="ignore"):
            taken = np.searchsorted(-first / second, -loss / gain)
        total = (gain * above[taken] - loss * below[taken])[gain > 0].sum()
        return max(0.0, float(total))

    @cached_property
    def _rough_steps(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        chances = np.array(self._steps, dtype=np.float64) / float(self.total)
        return chances[:, 0], chances[:, 1]

    @lru_cache(maxsize=32)  # noqa: B019 - few tables; both bounds ask for the same points
    def _positive_part(self, factor: Fraction, own: Fraction, other: Fraction) -> Fraction:
        """Sum the positive terms, in integers; the factor is rounded down.

        With a = D(u-1), b = D(u) and v fixed, the term is a x - b y: it is positive if a/b > y/x.
        Going through v by rising y/x, which is by rising D(v-1)/D(v), fewer and fewer u are left.
        """
        unit, common = _UNIT.denominator, math.lcm(own.denominator, other.denominator)
        scaled = int(factor * unit)
        told, swapped = int(own * common), int(other * common)
        rest = (common - told - swapped) * (scaled - unit)
        gained, lost = told * unit - swapped * scaled, told * scaled - swapped * unit
        if gained <= 0:
            return Fraction(0)
        first, second = zip(*self._steps, strict=True)
        above, below = [0, *accumulate(first)], [0, *accumulate(second)]
        total, taken = 0, len(first)
        for before, here in zip(reversed(first), reversed(second), strict=True):
            if not here:
                break
            gain, loss = gained * here, lost * before + rest * here
            while taken and first[taken - 1] * gain <= second[taken - 1] * loss:
                taken -= 1
            total += gain * above[taken] - loss * below[taken]
        return Fraction(total, common * unit * self.total**2)

    @cached_property
    def _steps(self) -> list[tuple[int, int]]:
        """The pairs D(u-1), D(u) that are not both zero, by falling ratio."""
        pairs = [pair for pair in pairwise((0, *self.weights, 0)) if any(pair)]
        # Two ratios of integers below 2^64 differ by more than 2^-128, or not at all.
        return sorted(pairs, key=lambda pair: (pair[1] > 0, -(pair[0] << 128) // max(1, pair[1])))


@cache
def _shortest(epsilon: float, delta: float) -> tuple[int, ...]:
    """Find the weights of the two-sided geometric table."""

    def suffices(middle: int) -> bool:
        return DummyTable(_geometric(epsilon, middle)).delta(epsilon)[1] <= Fraction(delta)

    enough, too_few, most = 1, 0, (_LONGEST - 1) // 2
    # In long tables delta is about 2 tanh(epsilon/4) e^(-epsilon m/2): a guess, checked exactly.
    guess = math.ceil(2 / epsilon * math.log(2 * math.tanh(epsilon / 4) / delta))
    if 1 < guess <= most and suffices(guess) and not suffices(guess - 1):
        return _geometric(epsilon, guess)
    while not suffices(enough):
        if enough == most:
            raise ParameterError(
                "epsilon",
                must=f"be large enough for tables of {_LONGEST:,} entries",
                got=epsilon,
                hint="Raise epsilon or delta.",
            )
        enough, too_few = min(2 * enough, most), enough
    least = bisect_safe_integer(suffices, safe=enough, unsafe=too_few)
    return _geometric(epsilon, least)


def _geometric(epsilon: float, middle: int) -> tuple[int, ...]:
    """Return weights that fall on both sides of the middle and add up to 2^64.

    They are rounded up, so that no weight is larger than its outer neighbour allows by more than
    one unit; the middle takes what is left.
    """
    factor = int(exp_enclosure(-Fraction(epsilon) / 2)[0] * _UNIT.denominator)
    powers = [_UNIT.denominator]
    for _ in range(middle):
        powers.append(powers[-1] * factor // _UNIT.denominator)
    whole = powers[0] + 2 * sum(powers[1:])
    side = [-(-WORD * power // whole) for power in powers[1:]]
    return (*reversed(side), WORD - 2 * sum(side), *side)
