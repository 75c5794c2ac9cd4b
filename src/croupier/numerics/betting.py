"""The mean of observations that vary little, by betting against what it might be."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.numerics.bisection import bisect_safe
from croupier.numerics.intervals import Interval

__all__ = ["Observations", "bounded_mean"]

_STAKES = 0.5 ** np.arange(13)
"""Shares of the wealth that are staked; the wealth is divided evenly among them."""

_ROUNDING = 1e-9
"""A generous bound on the error of the logarithm of the wealth."""

_SHARPNESS = 1e-5
"""Relative width at which the search for an end of the interval stops."""


@dataclass(frozen=True, eq=False)
class Observations:
    """Independent observations of at least 0; equal ones are counted together.

    A bet that costs one and pays x/m at the next observation x is fair at best if the mean is at
    most m. A player who starts with one and stakes a share s of the wealth each time has in the
    end, if the start is divided evenly among several s,

        W(m) = average over s of the product over all observations x of (1 - s + s x/m).

    Its expectation is at most 1 if the mean is at most m, so that it reaches 1/error with
    probability at most `error` (Markov). No upper limit of the observations is needed.

    Attributes:
        values: The distinct observations.
        counts: How often each occurred.

    Reference: waudbysmith2024, the fixed stakes of section 4; ours are powers of two.

    Example:
        >>> seen = Observations.of([0.02, 0.021, 0.019, 0.02] * 250)
        >>> round(seen.mean, 3), round(seen.lower(0.95), 3)
        (0.02, 0.02)
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, observed: ArrayLike) -> "Observations":
        """Count a list of observations."""
        values, counts = np.unique(np.asarray(observed, dtype=np.float64), return_counts=True)
        if not len(values) or not values[0] >= 0 or not math.isfinite(values[-1]):
            raise ParameterError("observed", must="be finite numbers of at least 0")
        return cls(values, counts.astype(np.int64))

    @property
    def total(self) -> int:
        """The number of observations."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Their average."""
        return math.fsum((self.values * self.counts).tolist()) / self.total

    def log_wealth(self, mean: float) -> float:
        """The logarithm of W(mean): the strength of the evidence for a larger mean."""
        gain, times = self.values / mean - 1, self.counts.astype(np.float64)
        with np.errstate(divide="ignore"):
            wealth = np.array([times @ np.log1p(stake * gain) for stake in _STAKES])
        most = float(wealth.max())
        if most == -math.inf:
            return most
        return most + math.log(float(np.exp(wealth - most).mean()))

    def exceed(self, mean: float, *, confidence: float) -> bool:
        """Tell whether the true mean is above `mean`; wrong at most with chance 1 - confidence.

        The wealth falls as `mean` grows: if one mean is refuted, so are all below it.
        """
        needed = -math.log1p(-confidence) + _ROUNDING
        return mean <= 0 or (mean < self.mean and self.log_wealth(mean) >= needed)

    def lower(self, confidence: float, *, tolerance: float | None = None) -> float:
        """The greatest mean that is refuted, to within `tolerance` or 1e-5 of itself.

        Direction: lower.
        """
        _check_confidence(confidence)
        mean = self.mean
        width = _SHARPNESS * mean if tolerance is None else tolerance

        def is_refuted(candidate: float) -> bool:
            return self.exceed(candidate, confidence=confidence)

        return bisect_safe(is_refuted, safe=0.0, unsafe=mean, tolerance=width)


def bounded_mean(observed: ArrayLike, *, most: float = 1.0, confidence: float = 0.95) -> Interval:
    """Enclose the expectation of independent observations in [0, most].

    Each end is `Observations.lower`, of x and of most - x, at half the error.

    Direction: outward.
    Reference: waudbysmith2024.

    >>> interval = bounded_mean([0.1, 0.3] * 500)
    >>> round(interval.lower, 2), round(interval.upper, 2)
    (0.19, 0.21)
    """
    _check_confidence(confidence)
    seen = Observations.of(observed)
    if seen.values[-1] > most:
        raise ParameterError("observed", must=f"be at most {most:g}")
    missed = Observations((most - seen.values)[::-1], seen.counts[::-1])
    each = 1 - (1 - confidence) / 2
    width = _SHARPNESS * min(seen.mean, missed.mean)
    upper = most - missed.lower(each, tolerance=width)
    return Interval(seen.lower(each, tolerance=width), min(most, upper * (1 + 1e-15)), confidence)


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ParameterError("confidence", must="be in (0, 1)", got=confidence, hint="Try 0.95.")
