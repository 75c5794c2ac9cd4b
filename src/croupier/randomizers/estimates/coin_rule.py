"""Exact intervals of a mean, from the number of people whose coin shows one."""

from __future__ import annotations

import math
from dataclasses import dataclass

from croupier.model.interval_rule import Ends, IntervalRule
from croupier.numerics.arrays import np

__all__ = ["CoinRule"]


@dataclass(frozen=True, kw_only=True)
class CoinRule(IntervalRule):
    """Intervals of the average chance: the averages that the number of ones does not refute.

    Everybody tosses a coin with a chance of their own, between `least` and `most`; the estimate is
    of the average chance p. Among all ways to spread the chances, equal ones make P(ones >= c)
    largest, for every c >= n p + 1 (Hoeffding). So Clopper and Pearson's ends for the binomial hold
    if they keep that distance; otherwise the end is moved to where it does, or to where n p, which
    bounds P(ones >= 1), equals the level.

    The same holds for a sample of the people: the generating function of its number of ones is an
    elementary symmetric polynomial of linear functions, which is stable, so that the number is
    again a sum of independent coins, with the same average.

    Attributes:
        ones: The number of coins that showed one.
        coins: The number of coins tossed.
        least: The chance at the low end of the quantity.
        most: The chance at its high end.
        low: The low end.
        high: The high end.
        slack: The most by which the quantity may differ from a linear function of the chance.

    Reference: hoeffding1956, Theorem 5, for the bound; clopper1934.
    """

    ones: int
    coins: int
    least: float
    most: float
    low: float
    high: float
    slack: float = 0.0

    def ends(self, confidence: float) -> Ends:
        """The quantity at the least and at the greatest average chance that are not refuted.

        If there are fewer ones than the average with everybody at the low end, the upper end uses
        that average; likewise at the high end.
        """
        fewest = min(self.ones, math.ceil(self.coins * self.most))
        lower = _least_chance(fewest, self.coins, confidence)
        most_ones = max(self.ones, math.floor(self.coins * self.least))
        upper = 1 - _least_chance(self.coins - most_ones, self.coins, confidence)
        return self._quantity(lower, -self.slack), self._quantity(upper, self.slack)

    def among(self, people: int) -> CoinRule:  # noqa: ARG002 - the bound is the same
        """The same rule: it holds for a sample too."""
        return self

    def _quantity(self, chance: float, slack: float) -> np.ndarray:
        share = (chance - self.least) / (self.most - self.least)
        value = self.low + share * (self.high - self.low) + slack
        return np.array([min(max(value, self.low), self.high)])


def _least_chance(ones: int, coins: int, confidence: float) -> float:
    """A lower bound of the average chance."""
    if ones == 0:
        return 0.0
    level = (1 - confidence) / 2
    if ones == 1:
        return level / coins
    from croupier.numerics.intervals import clopper_pearson  # noqa: PLC0415 - it needs scipy

    return min(clopper_pearson(ones, coins, confidence=confidence).lower, (ones - 1) / coins)
