"""Estimates from batches with dummies: their mean is subtracted, their law gives the intervals."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import signal, stats

from croupier.model.domain import Categories
from croupier.model.estimate import Estimate
from croupier.model.interval_rule import Ends, IntervalRule
from croupier.model.randomizer import Randomizer
from croupier.numerics.support_count import SupportCount
from croupier.plan.noise import CountNoise
from croupier.plan.plan import Plan
from croupier.randomizers.distribution import Distribution
from croupier.randomizers.estimates.tree_fit import CountFit
from croupier.shufflers.dummies import DummyTable

__all__ = ["DummySum", "added_tail", "estimate_with_dummies"]

Real = NDArray[np.float64]

_ROUNDING = 1e-9
"""The chance by which a tail of a law of doubles may be wrong, at most, also one of 1e6 numbers.

A Fourier transform of N numbers errs by a few units in the last place times log2 N in each."""

_DIRECT = 1 << 22
"""The most products of chances that are added up one by one."""

_SPLITS = (0.5, 0.25, 0.1, 0.02)
"""The parts of the chance of an error that dummies may get; local noise gets the rest."""


@dataclass(frozen=True)
class DummySum:
    """The number of dummies of one possible report in what the last shuffler releases.

    A shuffler keeps its share of the dummies of the one before, as of all reports.

    Attributes:
        law: The chances of 0, 1, 2, …, as doubles.
        mean: The expected number.
        variance: Its variance.
        kept: The chance that a report passes all shufflers.
    """

    law: Real
    mean: float
    variance: float
    kept: float

    @classmethod
    def of(cls, plan: Plan, *, batches: int = 1) -> Self:
        """Return the law for a plan's shufflers, and for several batches added up."""
        law, noise = np.ones(1), CountNoise.of(plan.shufflers)
        for section, table in zip(plan.shufflers, plan.dummies, strict=True):
            law = _thinned(law, float(section.kept))
            if table is not None:
                law = _added(law, table.law)
        mean, variance = float(batches * noise.mean), float(batches * noise.variance)
        return cls(_power(law, batches), mean, variance, float(noise.kept))

    def quantiles(self, level: float) -> tuple[int, int]:
        """Return numbers below and above which the number lies with a chance of at most `level`."""
        below = np.cumsum(self.law)
        allowed = max(0.0, level - _ROUNDING)
        least = int(np.searchsorted(below, allowed, side="right"))
        above = np.cumsum(self.law[::-1])
        most = len(self.law) - 1 - int(np.searchsorted(above, allowed, side="right"))
        return least, max(least, most)


@dataclass(frozen=True, eq=False)
class DummyRule(IntervalRule):
    """Shares that the counts do not refute, with the exact law of the dummies.

    Without local noise the number of holders is the count less the dummies. With it, dummies and
    noise each get a part of the chance of an error; the part is the one with the narrowest
    intervals to be expected, and does not depend on the counts.

    Attributes:
        counts: The number of rows of each possible report.
        dummies: The law of the dummies among them.
        n: The number of people.
        own: The chance that a person's report is released and is the value.
        other: The chance that it is released and is a given other value.
    """

    counts: NDArray[np.int64]
    dummies: DummySum
    n: int
    own: float
    other: float

    def ends(self, confidence: float) -> Ends:
        """The numbers of holders over the number of people."""
        wrong = 1 - confidence
        if (self.own, self.other) == (1.0, 0.0):
            least, most = self.dummies.quantiles(wrong / 2)
            fewest, greatest = self.counts - most, self.counts - least
        else:
            part = min(_SPLITS, key=lambda split: self._width(split, wrong))
            least, most = self.dummies.quantiles(wrong * part / 2)
            law = SupportCount(people=self.n, answers=self.n, own=self.own, other=self.other)
            rest = 1 - wrong * (1 - part)
            fewest, _ = law.holders(np.clip(self.counts - most, 0, self.n), confidence=rest)
            _, greatest = law.holders(np.clip(self.counts - least, 0, self.n), confidence=rest)
        return np.clip(fewest, 0, self.n) / self.n, np.clip(greatest, 0, self.n) / self.n

    def _width(self, part: float, wrong: float) -> float:
        least, most = self.dummies.quantiles(wrong * part / 2)
        noise = max(self.own * (1 - self.own), self.other * (1 - self.other)) * self.n
        return most - least + 2 * stats.norm.isf(wrong * (1 - part) / 2) * math.sqrt(noise)

    def among(self, people: int) -> "DummyRule":  # noqa: ARG002 - everybody answers
        """The same rule: everybody answers where there are dummies."""
        return self


def estimate_with_dummies(
    randomizer: Randomizer,
    tally: NDArray[np.int64],
    n: int,
    *,
    dummies: DummySum,
    confidence: float,
) -> Estimate:
    """Estimate shares from counts that contain dummies.

        share = ((count - mean)/n - q) / (p - q),

    where p and q are the chances that a person's report is released and is the value, or a given
    other one.

    Args:
        randomizer: The mechanism of the reports.
        tally: The number of rows of each report.
        n: The number of people who reported.
        dummies: The law of the dummies.
        confidence: The coverage of each interval.
    """
    if isinstance(randomizer, Distribution):
        return _distribution(randomizer, tally, n, dummies=dummies, confidence=confidence)
    domain = randomizer.domain
    own, other = (dummies.kept * float(chance) for chance in randomizer.require_answer_chances())
    points = ((tally - dummies.mean) / n - other) / (own - other)
    share = np.clip(points, 0.0, 1.0)
    variance = n * (share * own * (1 - own) + (1 - share) * other * (1 - other))
    return Estimate(
        quantity="share",
        values=domain.labels if isinstance(domain, Categories) else range(len(tally)),
        points=points,
        standard_errors=np.sqrt(variance + dummies.variance) / (n * (own - other)),
        n=n,
        confidence=confidence,
        rule=DummyRule(tally, dummies, n, own, other),
    )


def _distribution(
    randomizer: Distribution,
    tally: NDArray[np.int64],
    n: int,
    *,
    dummies: DummySum,
    confidence: float,
) -> Estimate:
    """Estimate the distribution of a number from counts that contain dummies.

    A count of N people has the variance N K (1 - K) + V: each is kept with the chance K, and V is
    that of the dummies.
    """
    kept, numbers = dummies.kept, np.arange(len(dummies.law))
    points = np.asarray((tally - dummies.mean) / (n * kept), dtype=np.float64)
    variances = np.clip(points, 0.0, 1.0) * n * kept * (1 - kept) + dummies.variance
    away = np.abs(numbers - numbers @ dummies.law)
    jump = float(away**3 @ dummies.law) / max(dummies.variance, math.ulp(0.0))
    scale = n * kept
    fit = CountFit.of(points, n, variances=variances / scale**2, jump=max(jump, 1.0) / scale)
    return fit.estimate(randomizer.grid, confidence=confidence)


def added_tail(
    table: DummyTable, bins: int, added: int, *, accepted: int = 0, kept: float = 1.0
) -> float:
    """Bound the chance that a shuffler adds as many rows in all, or as far from the mean.

    It adds dummies D in each bin and leaves out each accepted row with the chance 1 - kept:

        P(added >= s) <= min over x of exp(bins ln E[e^(x D)]
                                           + accepted ln(kept + (1 - kept) e^(-x)) - x s),

    and so for the other side, with x below 0. A number that cannot occur has the chance 0.

    Direction: upper. Reference: chernoff1952.
    """
    left_out = accepted if kept < 1 else 0
    if accepted < 0 or not -left_out <= added <= bins * table.most:
        return 0.0
    center = float(table.mean) * bins - (1 - kept) * accepted
    side = 1.0 if added >= center else -1.0
    numbers = np.arange(table.most + 1)
    law = np.log(np.maximum(table.law, 1e-300))
    exponents = [
        bins * float(np.logaddexp.reduce(law + x * numbers))
        + left_out * math.log1p((1 - kept) * math.expm1(-x))
        - x * added
        for x in side * np.geomspace(1e-6, 20.0, 400)
    ]
    return min(1.0, math.exp(min(0.0, *exponents)) * (1 + 1e-6))


def _thinned(law: Real, share: float) -> Real:
    """Return the law of a number of which each is kept with a chance."""
    if share == 1:
        return law
    numbers = np.arange(len(law))
    return np.asarray(law @ stats.binom.pmf(numbers[None, :], numbers[:, None], share))


def _added(law: Real, other: Real) -> Real:
    """Return the law of the sum of two independent numbers."""
    if len(law) * len(other) <= _DIRECT:
        return np.convolve(law, other)
    return np.maximum(signal.fftconvolve(law, other), 0.0)


def _power(law: Real, times: int) -> Real:
    """Return the law of a sum of several independent numbers of one law."""
    found = np.ones(1)
    while times:
        if times & 1:
            found = _added(found, law)
        law = _added(law, law) if times > 1 else law
        times >>= 1
    return found
