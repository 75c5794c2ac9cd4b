"""One person's two values in a shuffled batch: how far apart the batches are."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from croupier.accounting.enumeration import enumerate_bounds
from croupier.accounting.positive_part import CANCELLATION, LogBounds, Real, Terms, contour_bounds
from croupier.model.likelihood import LikelihoodClasses

__all__ = ["Laws", "ShuffledPair"]

_RARELY = 1e-100
"""Outputs that are rarer than this among the others are taken to hide nobody."""

_QUICK_LIST, _LONG_LIST = 10_000, 400_000
"""The number of counts listed at first, and the most listed if a contour would cost more."""


class Laws(NamedTuple):
    """The laws of one person's two values and of what hides them.

    Attributes:
        reference: w, the contribution of each of the others to each output.
        first: p.
        second: q.
        total: The sum of w, exactly.
    """

    reference: Real
    first: Real
    second: Real
    total: Fraction

    @classmethod
    def of(cls, classes: LikelihoodClasses) -> "Laws":
        """The laws of outputs that are merged into classes."""
        return cls(*classes.arrays(), sum(classes.reference, Fraction(0)))

    @classmethod
    def of_doubles(cls, reference: Real, first: Real, second: Real) -> "Laws":
        """The laws of probabilities given as doubles, not of integers rounded to doubles."""
        return cls(reference, first, second, sum(map(Fraction, reference.tolist()), Fraction(0)))


@dataclass(frozen=True, eq=False)
class ShuffledPair:
    """Two values of one person, hidden among n - 1 others who report from a common law.

    With w the law of the others (or the part of it that all their values share), p and q the laws
    of the two values,

        delta(epsilon) = (1/n) E[(G_1 + … + G_n)_+],
        G = (p_j - e^epsilon q_j)/(t w_j) with probability t w_j, else 0,

    where each of the others reports with probability t. Outputs with w_j = 0 count in full,
    (p_j - e^epsilon q_j)_+.

    Where w is the blanket, min over values of R(x)(j), this is an upper bound for every dataset
    (balle2019, Lemma 5.3). Where w is the law R(c) of one value, it is the exact divergence when
    everybody else holds c. Both are `log_delta` here; the code that makes a pair knows which of the
    two it is.

    Attributes:
        reference: t w, one entry per output or class of outputs.
        first: p.
        second: q.
        n: The number of honest people, the one person included.
        rest: 1 less the sum of t w, to full relative precision: from the integers of the
            mechanism, not from the rounded `reference`.
    """

    reference: Real
    first: Real
    second: Real
    n: int
    rest: float

    @classmethod
    def among(cls, laws: Laws, n: int, *, report_probability: float = 1.0) -> "ShuffledPair":
        """Hide the two values among n - 1 others, each of whom reports with that chance."""
        rest = max(0.0, float(1 - Fraction(report_probability) * laws.total))
        return cls(report_probability * laws.reference, laws.first, laws.second, n, rest)

    @cached_property
    def chi_square(self) -> float:
        """The sum of (p - q)^2/(t w); epsilon is near sqrt(2 ln(1/delta) chi_square / n)."""
        hidden = self.reference > _RARELY
        return float(((self.first - self.second)[hidden] ** 2 / self.reference[hidden]).sum())

    def log_delta(self, epsilon: float, *, rtol: float = 1e-6) -> LogBounds:
        """Enclose ln delta(epsilon), to about `rtol` where that is affordable."""
        bare, terms = self._split(epsilon)
        if terms is None:
            return bare
        found = (
            enumerate_bounds(terms, self.n, rtol=rtol, most_cells=_QUICK_LIST)
            or contour_bounds(terms, self.n, rtol=rtol)
            or enumerate_bounds(terms, self.n, rtol=rtol, most_cells=_LONG_LIST)
            or LogBounds(-math.inf, math.inf)
        )
        log_n = math.log(self.n)
        upper = min(found.upper, self._chernoff(terms, epsilon)) - log_n
        lower = -math.inf if self._hardly else found.lower - log_n
        return LogBounds(
            float(np.logaddexp(lower, bare.lower)), float(np.logaddexp(upper, bare.upper))
        )

    @cached_property
    def _hardly(self) -> bool:
        """Tell which outputs others may produce, but too rarely to compute with."""
        return bool(((self.reference > 0) & (self.reference <= _RARELY)).any())

    def log_ceiling(self, epsilon: float) -> float:
        """A quick upper bound of ln delta(epsilon), to skip pairs that do not matter."""
        bare, terms = self._split(epsilon)
        if terms is None:
            return bare.upper
        return float(np.logaddexp(self._chernoff(terms, epsilon) - math.log(self.n), bare.upper))

    def _split(self, epsilon: float) -> tuple[LogBounds, Terms | None]:
        """Enclose the part that nothing hides; give the law of G for the rest, if ever positive.

        Nothing hides a person who is alone, nor outputs that others never (or hardly ever) produce.
        Each difference of probabilities may be off by `CANCELLATION` of the two.
        """
        gain = (self.first - self.second) - math.expm1(epsilon) * self.second
        sizes = self.first + math.exp(epsilon) * self.second
        slack = CANCELLATION * sizes
        hidden = (self.reference > _RARELY) & (self.n > 1)
        if not (gain[hidden] > 0).any():
            hidden = hidden & (gain + slack < 0)
        never = (self.reference <= 0) | (self.n == 1)
        lower = -math.inf if self._hardly else _log_sum((gain - slack)[never])
        bare = LogBounds(lower, _log_sum((gain + slack)[~hidden]))
        if not (gain[hidden] > 0).any():
            return bare, None
        weights = self.reference[hidden]
        rest = self.rest + math.fsum(self.reference[~hidden])
        return bare, Terms(weights, gain[hidden] / weights, sizes[hidden], rest)

    def _chernoff(self, terms: Terms, epsilon: float) -> float:
        """Log of an upper bound of E[S_+]: e^(K(theta) - 1)/theta at one theta, or n E[G_+].

        The latter is the n = 1 value: delta does not grow with n. A gain may be smaller than its
        error, so both take it as large as it can be.
        """
        gain = terms.weights * terms.values + CANCELLATION * terms.sizes
        single = _log_sum(gain) + math.log(self.n)
        square = float(terms.weights @ terms.values**2)
        theta = math.expm1(epsilon) / square + math.sqrt(2 / (self.n * square))
        theta = min(theta, 300 / float(terms.values.max()))
        powers = theta * terms.values
        steps = terms.weights * np.expm1(powers)
        excess = float(steps.sum())
        noise = np.abs(steps) @ (4 + np.abs(powers)) + theta * terms.sizes @ np.exp(powers)
        rounding = 1e-14 * self.n * float(noise) / (1 + excess)
        exponential = self.n * math.log1p(excess) - 1 - math.log(theta) + rounding
        return min(exponential, single) + 1e-9


def _log_sum(parts: Real) -> float:
    """Log of the sum of the positive parts."""
    total = math.fsum(parts[parts > 0])
    return math.log(total) if total > 0 else -math.inf
