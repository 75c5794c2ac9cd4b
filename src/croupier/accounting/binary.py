"""Exact bounds for a yes-or-no question, for every split of the other people."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from croupier.accounting.positive_part import LogBounds, Real

__all__ = ["MOST_PEOPLE", "SplitOthers"]

MOST_PEOPLE = 200
"""Every split is listed up to this number of people."""

_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class SplitOthers:
    """Two values, two outputs: the exact divergence for every split of the others.

    With two outputs a batch is the number of its ones. When m of the others hold the second value,

        delta_m(epsilon) = sum over c of (P_m(c) - e^epsilon Q_m(c))_+,

    P_m and Q_m the laws of that number when the one person holds the first or the second value.
    Equal others are not always the worst: for odds 2 : 1, three people and e^epsilon = 41/40 a
    split gives 7/40, equal others 13/90.

    Attributes:
        first: The chance of a one for the first value.
        second: The chance of a one for the second value.
        n: The number of people, at most `MOST_PEOPLE`.
    """

    first: float
    second: float
    n: int

    @property
    def chi_square(self) -> float:
        """The same as for `ShuffledPair`, if all others hold the second value."""
        return (self.first - self.second) ** 2 / (self.second * (1 - self.second))

    @cached_property
    def _laws(self) -> tuple[Real, Real]:
        """The laws of the number of ones for either value, one row per split."""
        ones = [[np.ones(1)], [np.ones(1)]]
        for chain, chance in zip(ones, (self.first, self.second), strict=True):
            for _ in range(self.n - 1):
                chain.append(np.convolve(chain[-1], [1 - chance, chance]))
        others = [np.convolve(a, b) for a, b in zip(ones[0][::-1], ones[1], strict=True)]
        first, second = (
            np.array([np.convolve(law, [1 - chance, chance]) for law in others])
            for chance in (self.first, self.second)
        )
        return first, second

    def log_delta(self, epsilon: float, *, rtol: float = 1e-6) -> LogBounds:  # noqa: ARG002 - exact
        """Enclose ln of the largest divergence over all splits and both directions."""
        first, second = self._laws
        ratio = math.exp(epsilon)
        worst = max(
            float(np.maximum(one - ratio * other, 0).sum(axis=1).max())
            for one, other in ((first, second), (second, first))
        )
        error = _ROUNDING * (1 + ratio)
        lower = math.log(worst - error) if worst > error else -math.inf
        return LogBounds(lower, math.log(worst + error))

    def log_ceiling(self, epsilon: float) -> float:
        """The upper end."""
        return self.log_delta(epsilon).upper
