"""Confidence intervals that hold at every sample size."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index

from scipy import special

from croupier.errors import ParameterError

__all__ = ["Interval", "clopper_pearson", "empirical_bernstein", "hoeffding", "median_interval"]

_SPECIAL_FUNCTION_ERROR = 1e-12
"""Relative allowance for scipy's inverse of the incomplete beta function."""


@dataclass(frozen=True)
class Interval:
    """Two ends that enclose the truth with the stated confidence."""

    lower: float
    upper: float
    confidence: float

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper


def clopper_pearson(successes: int, trials: int, *, confidence: float = 0.95) -> Interval:
    """Enclose a probability, from independent trials.

    Lower end: the p at which P(Bin(trials, p) >= successes) = (1 - confidence)/2; the upper end
    likewise.

    Direction: outward; widened by 1e-12 relative for the error of the special function.
    Reference: clopper1934.

    >>> clopper_pearson(0, 100).upper
    0.036216692646...
    """
    _check_confidence(confidence)
    if trials < 1:
        raise ParameterError("trials", must="be at least 1", got=trials)
    if not 0 <= index(successes) <= trials:
        raise ParameterError("successes", must=f"be in [0, trials = {trials}]", got=successes)
    tail = (1 - confidence) / 2
    failures = trials - successes
    lower = 0.0 if successes == 0 else float(special.betaincinv(successes, failures + 1, tail))
    miss = 0.0 if failures == 0 else float(special.betaincinv(failures, successes + 1, tail))
    shrink = 1 - _SPECIAL_FUNCTION_ERROR
    return Interval(lower * shrink, min(1.0, 1 - miss * shrink + 1e-16), confidence)


def hoeffding(
    mean: float, trials: int, *, low: float = 0.0, high: float = 1.0, confidence: float = 0.95
) -> Interval:
    """Enclose the expectation of independent observations in [low, high], from their mean.

    mean -+ (high - low) sqrt(ln(2/(1 - confidence)) / (2 trials)), cut to [low, high].

    Reference: hoeffding1963, Theorem 2.

    >>> hoeffding(0.5, 1000).upper
    0.54294694083467...
    """
    _check_range(mean, trials, low, high, confidence)
    radius = (high - low) * math.sqrt(math.log(2 / (1 - confidence)) / (2 * trials))
    return _cut(mean, radius, low, high, confidence)


def empirical_bernstein(  # noqa: PLR0913 - five keyword-only facts about one sample
    mean: float,
    variance: float,
    trials: int,
    *,
    low: float = 0.0,
    high: float = 1.0,
    confidence: float = 0.95,
) -> Interval:
    """Enclose the expectation of observations in [low, high]; sharp if they vary little.

    mean -+ sqrt(2 variance L/trials) + 7 (high - low) L/(3 (trials - 1)),

    where L = ln(4/(1 - confidence)) and `variance` is divided by trials - 1.

    Reference: maurer2009, Theorem 4, on both sides (hence 4, not 2, in the logarithm).

    >>> empirical_bernstein(0.01, 0.0099, 10_000).upper
    0.013968150...
    """
    _check_range(mean, trials, low, high, confidence)
    if trials < 2:
        raise ParameterError("trials", must="be at least 2", got=trials)
    if not variance >= 0:
        raise ParameterError("variance", must="be at least 0", got=variance)
    logarithm = math.log(4 / (1 - confidence))
    radius = math.sqrt(2 * variance * logarithm / trials)
    radius += 7 * (high - low) * logarithm / (3 * (trials - 1))
    return _cut(mean, radius, low, high, confidence)


def median_interval(observations: Sequence[float]) -> Interval:
    """Enclose the median of a law between the least and the greatest of independent observations.

    Confidence 1 - 2^(1 - m) for m observations: the interval misses the median only if all of them
    fall on one side of it. This holds for every law, without approximation.

    >>> median_interval([0.2, 0.5, 0.3, 0.4, 0.3, 0.3])
    Interval(lower=0.2, upper=0.5, confidence=0.96875)
    """
    if len(observations) < 2:
        raise ParameterError("observations", must="be at least 2", got=len(observations))
    confidence = 1 - 2.0 ** (1 - min(len(observations), 50))
    return Interval(min(observations), max(observations), confidence)


def _cut(mean: float, radius: float, low: float, high: float, confidence: float) -> Interval:
    wide = radius * (1 + 1e-15) + 1e-15 * max(abs(low), abs(high))
    return Interval(max(low, mean - wide), min(high, mean + wide), confidence)


def _check_range(mean: float, trials: int, low: float, high: float, confidence: float) -> None:
    _check_confidence(confidence)
    if trials < 1:
        raise ParameterError("trials", must="be at least 1", got=trials)
    if not low <= mean <= high:
        raise ParameterError("mean", must=f"be in [{low}, {high}]", got=mean)


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ParameterError("confidence", must="be in (0, 1)", got=confidence, hint="Try 0.95.")
