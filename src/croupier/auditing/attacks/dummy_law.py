"""The law of counts in a batch with dummies, without the one person's report."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from croupier.numerics.keystream import Keystream
from croupier.shufflers.dummies import DummyTable

__all__ = ["MOST_PAIRS", "CountLaw", "Counts", "PairLaw", "Real", "Unknown"]

Real = NDArray[np.float64]
Counts = NDArray[np.int64]

MOST_PAIRS = 4_000_000
"""The most pairs of counts that are listed."""

_DEVIATIONS = 10.0
"""Standard deviations of the others' reports that an attacker reckons with."""

_SECRET = 32


@dataclass(frozen=True)
class Unknown:
    """The dummies of one shuffler, which the attacker does not know.

    Attributes:
        table: Their law.
        passed: The share that the shuffler after it keeps.
    """

    table: DummyTable
    passed: float = 1.0

    def draw(self, size: int, rng: np.random.Generator) -> Counts:
        """Draw numbers of dummies as the shuffler does, exactly."""
        drawn = self.table.draw(size, Keystream(secret=rng.bytes(_SECRET)))
        return drawn if self.passed == 1 else rng.binomial(drawn, self.passed)

    @cached_property
    def law(self) -> Real:
        """The chances of 0, 1, 2, … dummies in what is released."""
        if self.passed == 1:
            return self.table.law
        from scipy.stats import binom  # noqa: PLC0415 - slow to load

        numbers = np.arange(self.table.most + 1)
        return np.asarray(self.table.law @ binom.pmf(numbers, numbers[:, None], self.passed))


@dataclass(frozen=True, eq=False)
class CountLaw:
    """The law of one count without the one person's report: other people's reports and dummies.

    Attributes:
        start: The least count that is reckoned with.
        law: The chances of `start`, `start` + 1, ….
    """

    start: int
    law: Real

    @classmethod
    def of(cls, others: int, chance: float, unknown: tuple[Unknown, ...]) -> "CountLaw":
        """Return the law of `others` people who are each counted with a chance, and of dummies."""
        start, law = _binomial(others, chance)
        for each in unknown:
            law = np.convolve(law, each.law)
        return cls(start, law)

    def chance(self, counts: Counts) -> Real:
        """Return the chance of each count."""
        places = counts - self.start
        inside = (places >= 0) & (places < len(self.law))
        return np.where(inside, self.law[np.where(inside, places, 0)], 0.0)

    def ratio(self, counts: Counts) -> Real:
        """Return how much likelier each count is if one more report is in it."""
        without, one_more = self.chance(counts), self.chance(counts - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num(one_more / without, nan=1.0, posinf=math.inf)


@dataclass(frozen=True, eq=False)
class PairLaw:
    """The joint law of two counts without the one person's report.

    Attributes:
        one: The law of the first count.
        two: The law of the second count.
        joint: The chance of each pair, if the counts depend on each other: whoever sends the first
            report does not send the second one. None if they do not, or if pairs are too many.
        exact: False if they depend on each other, and are taken not to.
    """

    one: CountLaw
    two: CountLaw
    joint: Real | None
    exact: bool

    @classmethod
    def of(
        cls, others: int, chances: tuple[float, float], unknown: tuple[Unknown, ...]
    ) -> "PairLaw":
        """Return the law of people who are each in one of two counts with chances, and of dummies.

        Args:
            others: The number of people.
            chances: The chance that a person is in the first count, and in the second.
            unknown: The dummies.
        """
        one, two = (CountLaw.of(others, chance, unknown) for chance in chances)
        depend = others > 0 and all(chance > 0 for chance in chances)
        if not depend:
            return cls(one, two, None, exact=True)
        if len(one.law) * len(two.law) > MOST_PAIRS:
            return cls(one, two, None, exact=False)
        from scipy.linalg import convolution_matrix  # noqa: PLC0415 - slow to load
        from scipy.stats import binom  # noqa: PLC0415 - as above

        (start, first), (beside, second) = (_binomial(others, chance) for chance in chances)
        numbers, rest = np.arange(start, start + len(first)), chances[1] / (1 - chances[0])
        joint = first[:, None] * binom.pmf(
            np.arange(beside, beside + len(second)), others - numbers[:, None], min(1.0, rest)
        )
        for each in unknown:
            rows, columns = (convolution_matrix(each.law, size) for size in joint.shape)
            joint = rows @ joint @ columns.T
        return cls(one, two, joint, exact=True)

    @property
    def laws(self) -> tuple[CountLaw, CountLaw]:
        """The laws of both counts."""
        return self.one, self.two

    def chance(self, first: Counts, second: Counts) -> Real:
        """Return the chance of each pair of counts."""
        if self.joint is None:
            return self.one.chance(first) * self.two.chance(second)
        rows, columns = first - self.one.start, second - self.two.start
        height, width = self.joint.shape
        inside = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
        found = self.joint[np.where(inside, rows, 0), np.where(inside, columns, 0)]
        return np.where(inside, found, 0.0)


def _binomial(trials: int, chance: float) -> tuple[int, Real]:
    """Return the likely numbers of successes: the least, and the chances from there on."""
    if not trials or chance in (0.0, 1.0):
        return round(trials * chance), np.ones(1)
    from scipy.stats import binom  # noqa: PLC0415 - slow to load

    spread = _DEVIATIONS * math.sqrt(trials * chance * (1 - chance)) + _DEVIATIONS
    least, most = (trials * chance + side * spread for side in (-1, 1))
    numbers = np.arange(max(0, math.floor(least)), min(trials, math.ceil(most)) + 1)
    return int(numbers[0]), np.asarray(binom.pmf(numbers, trials, chance))
