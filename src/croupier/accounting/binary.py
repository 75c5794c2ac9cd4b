"""Exact bounds for a yes-or-no question, for every split of the other people."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from croupier.accounting.evaluation import PairEvaluation
from croupier.accounting.sums.terms import Bounds, Real

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

    def each(self, epsilon: float, *, rtol: float) -> list[PairEvaluation]:
        """Say what `largest` does at one epsilon."""
        lower, upper = self.largest(np.array([epsilon]), rtol=rtol)[0]
        return [
            PairEvaluation(
                reference=(1 - self.second, self.second),
                first=(1 - self.first, self.first),
                second=(1 - self.second, self.second),
                n=self.n,
                rest=0.0,
                log_lower=lower if math.isfinite(lower) else None,
                log_upper=upper,
                method="splits",
                steps={},
            )
        ]

    def largest(
        self,
        epsilons: Real,
        *,
        rtol: float,  # noqa: ARG002 - exact
        floor: Real | None = None,  # noqa: ARG002 - all are computed
    ) -> Bounds:
        """Enclose ln of the largest divergence over all splits and both directions."""
        found = Bounds.unknown(len(epsilons))
        found.steps["method"] = "splits"
        first, second = self._laws
        for row, ratio in enumerate(np.exp(epsilons)):
            worst = max(
                float(np.maximum(one - ratio * other, 0).sum(axis=1).max())
                for one, other in ((first, second), (second, first))
            )
            error = _ROUNDING * (1 + ratio)
            found.lower[row] = math.log(worst - error) if worst > error else -math.inf
            found.upper[row] = math.log(worst + error)
        return found
