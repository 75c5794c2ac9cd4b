"""One person's two values in a shuffled batch: how far apart the batches are."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from croupier.accounting.enumeration import enumerate_bounds
from croupier.accounting.positive_part import LogBounds, Terms, contour_bounds

__all__ = ["Real", "ShuffledPair"]

Real = NDArray[np.float64]

_QUICK_LIST, _LONG_LIST = 10_000, 400_000
"""Counts that are listed gladly, and those listed where a contour would take longer still."""


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
    everybody else holds c. Both are `log_delta` here; which of the two a pair is, its maker knows.

    Attributes:
        reference: t w, one entry an output or a class of outputs.
        first: p.
        second: q.
        n: The number of honest people, the one person included.
    """

    reference: Real
    first: Real
    second: Real
    n: int

    @cached_property
    def chi_square(self) -> float:
        """The sum of (p - q)^2/(t w); epsilon is near sqrt(2 ln(1/delta) chi_square / n)."""
        hidden = self.reference > 0
        return float(((self.first - self.second)[hidden] ** 2 / self.reference[hidden]).sum())

    def log_delta(self, epsilon: float, *, rtol: float = 1e-6) -> LogBounds:
        """Enclose ln delta(epsilon), to about `rtol` where that is affordable."""
        if self.n == 1:
            return self._local(epsilon)
        bare, terms = self._terms(epsilon)
        if terms is None:
            hidden = LogBounds(-math.inf, -math.inf)
        else:
            found = (
                enumerate_bounds(terms, self.n, rtol=rtol, most_cells=_QUICK_LIST)
                or contour_bounds(terms, self.n, rtol=rtol)
                or enumerate_bounds(terms, self.n, rtol=rtol, most_cells=_LONG_LIST)
                or LogBounds(-math.inf, math.inf)
            )
            hidden = LogBounds(found.lower, min(found.upper, self._chernoff(terms, epsilon)))
            hidden = LogBounds(*(part - math.log(self.n) for part in hidden))
        if bare == 0:
            return hidden
        return LogBounds(*(float(np.logaddexp(part, math.log(bare))) for part in hidden))

    def log_ceiling(self, epsilon: float) -> float:
        """A quick upper bound of ln delta(epsilon), to tell pairs that do not matter."""
        bare, terms = self._terms(epsilon)
        log_bare = math.log(bare) if bare else -math.inf
        if terms is None:
            return log_bare
        return float(np.logaddexp(self._chernoff(terms, epsilon) - math.log(self.n), log_bare))

    def _local(self, epsilon: float) -> LogBounds:
        """One person alone: the divergence of the two laws, added up as it is."""
        parts = (self.first - self.second) - math.expm1(epsilon) * self.second
        total = math.fsum(parts[parts > 0])
        error = 4e-16 * (1 + math.exp(epsilon))
        lower = math.log(total - error) if total > error else -math.inf
        return LogBounds(lower, math.log(total + error) if total > 0 else -math.inf)

    def _terms(self, epsilon: float) -> tuple[float, Terms | None]:
        """What lies outside the others' law, and the law of G unless it is never positive."""
        reference, first, second = self.reference, self.first, self.second
        gain = (first - second) - math.expm1(epsilon) * second
        hidden = reference > 0
        bare = math.fsum(np.maximum(gain[~hidden], 0)) * (1 + 1e-15)
        values = gain[hidden] / reference[hidden]
        if not (values > 0).any():
            return bare, None
        sizes = first[hidden] + math.exp(epsilon) * second[hidden]
        return bare, Terms(weights=reference[hidden], values=values, sizes=sizes)

    def _chernoff(self, terms: Terms, epsilon: float) -> float:
        """Log of an upper bound of E[S_+]: e^(K(theta) - 1)/theta at one theta, or n E[G_+].

        The latter is the n = 1 value: delta does not grow with n.
        """
        square = float(terms.weights @ terms.values**2)
        theta = math.expm1(epsilon) / square + math.sqrt(2 / (self.n * square))
        theta = min(theta, 300 / float(terms.values.max()))
        excess = float(terms.weights @ np.expm1(theta * terms.values))
        single = math.log(float(terms.weights @ np.maximum(terms.values, 0)))
        exponential = self.n * math.log1p(excess) - 1 - math.log(theta)
        rounding = 1e-9 + 1e-15 * self.n * theta * float(terms.sizes.sum())
        return min(exponential, single + math.log(self.n)) + rounding
