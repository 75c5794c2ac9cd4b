"""delta as a function of epsilon, proved on one side."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from croupier.accounting.crossing import crossing
from croupier.accounting.evaluation import Evaluation, PairEvaluation
from croupier.accounting.pair import ShuffledPair, ShuffledPairs
from croupier.accounting.sums.terms import Bounds, Real
from croupier.errors import ParameterError
from croupier.model.guarantee import Direction
from croupier.numerics.validate import require_delta

__all__ = ["NO_PROTECTION", "Curve", "PairFamily"]

NO_PROTECTION = 50.0
"""The epsilon above which a bound counts as infinite."""

_PASSES = ((1e-3, 0.3, 0.03), (1e-6, 3e-4, 1e-8))
"""A quick search, then a sharp one around its result: the precision of delta, the logarithm of the
factor by which the guess is off, and the precision of epsilon."""

_AROUND = 0.9
"""The share of the guess by the central limit at which epsilon is likely found."""


class PairFamily(Protocol):
    """Pairs of values of one person in a batch, of which the largest divergence counts."""

    @property
    def n(self) -> int:
        """The number of honest people."""

    @property
    def chi_square(self) -> float:
        """The distance of the two values that are likely the worst; it starts the search."""

    def largest(self, epsilons: Real, *, rtol: float, floor: Real | None = None) -> Bounds:
        """Enclose ln of the largest delta at every epsilon where it is above `floor`."""

    def each(self, epsilon: float, *, rtol: float) -> list[PairEvaluation]:
        """Say what `largest` does with every pair at one epsilon."""


@dataclass(frozen=True, eq=False)
class Curve:
    """The largest divergence over pairs of values: an upper or a lower bound for every epsilon.

    An upper curve takes the upper ends over all pairs that can be the worst. A lower curve takes
    the lower ends over any pairs.

    Attributes:
        pairs: Ordered pairs of values.
        direction: Upper or lower.
        epsilon_local: The epsilon from which on delta is zero, whatever the shuffler does.
        theorem: The proof.
        assumptions: What must hold.
        others: Further families of pairs.
    """

    pairs: Sequence[ShuffledPair]
    direction: Direction
    epsilon_local: float
    theorem: str
    assumptions: tuple[str, ...]
    others: Sequence[PairFamily] = ()

    @cached_property
    def families(self) -> list[PairFamily]:
        """The pairs that are computed together."""
        return [*ShuffledPairs.grouped(self.pairs), *self.others]

    def bounds(self, epsilons: Real, *, rtol: float = 1e-6) -> list[Bounds]:
        """Enclose ln delta of every family at every epsilon, where it is above the earlier ones."""
        found = [self.families[0].largest(epsilons, rtol=rtol)]
        for family in self.families[1:]:
            floor = np.max([each.lower for each in found], axis=0)
            found.append(family.largest(epsilons, rtol=rtol, floor=floor))
        return found

    def log_deltas(self, epsilons: Real, *, rtol: float = 1e-6) -> Real:
        """Logarithms of the bound of delta at every epsilon; they hold whatever `rtol` is."""
        epsilons = np.asarray(epsilons, dtype=np.float64)
        upper = self.direction is Direction.UPPER
        if not (epsilons >= 0).all():
            raise ParameterError("epsilon", must="be at least 0", got=float(epsilons.min()))
        found = np.full(epsilons.shape, -math.inf)
        # delta does not grow with epsilon, so an earlier upper bound still holds.
        wanted = (epsilons < self.epsilon_local) & (upper | (epsilons <= NO_PROTECTION))
        if wanted.any():
            at = np.minimum(epsilons[wanted], NO_PROTECTION)
            bounds = self.bounds(at, rtol=rtol)
            ends = [each.upper if upper else each.lower for each in bounds]
            found[wanted] = np.max(ends, axis=0)
        return found

    def log_delta(self, epsilon: float, *, rtol: float = 1e-6) -> float:
        """The logarithm of the bound of delta at `epsilon`; it holds whatever `rtol` is."""
        return float(self.log_deltas(np.array([epsilon]), rtol=rtol)[0])

    def evaluation(self, epsilon: float, *, rtol: float = 1e-6) -> Evaluation:
        """Return what is computed for the bound at `epsilon`: every pair, and how it was enclosed.

        >>> from croupier.accounting.amplify import proved_curve
        >>> from croupier.randomizers import randomizer
        >>> curve = proved_curve(randomizer("k-rr", k=10, max_epsilon_local=4.0), n=100_000)
        >>> found = curve.evaluation(0.11)
        >>> [(pair.method, len(pair.reference), sorted(pair.steps)) for pair in found.pairs]
        [('contour', 3, ['last', 'nodes', 'period', 'tau', 'theta'])]
        """
        log_delta = self.log_delta(epsilon, rtol=rtol)
        at = min(epsilon, NO_PROTECTION)
        return Evaluation(
            epsilon=epsilon,
            rtol=rtol,
            direction=self.direction.value,
            log_delta=log_delta if math.isfinite(log_delta) else None,
            theorem=self.theorem,
            pairs=tuple(pair for family in self.families for pair in family.each(at, rtol=rtol)),
        )

    def delta(self, epsilon: float) -> float:
        """The bound of delta at `epsilon`, rounded outward."""
        logarithm = self.log_delta(epsilon)
        if logarithm == -math.inf:
            return 0.0
        slack = (4 + abs(logarithm)) * 2.3e-16
        if self.direction is Direction.LOWER:
            return math.exp(logarithm - slack)
        return min(1.0, max(math.exp(logarithm + slack), sys.float_info.min))

    def epsilon(self, delta: float) -> float:
        """The least epsilon proved at `delta` (upper), or one that is proved necessary (lower).

        delta falls as epsilon grows. The returned point was evaluated: at it the upper curve is at
        most delta, or the lower curve above it.
        """
        require_delta(delta)
        side = -1 if self.direction is Direction.UPPER else 1
        target = math.log(delta) + side * (4 + abs(math.log(delta))) * 2.3e-16
        worst = max(self.families, key=lambda family: family.chi_square)
        guess = math.sqrt(2 * math.log(1 / delta) * worst.chi_square / worst.n)
        cap = min(self.epsilon_local, NO_PROTECTION)

        def excess(rtol: float) -> Callable[[Real], Real]:
            return lambda epsilons: self.log_deltas(epsilons, rtol=rtol) - target

        root = _AROUND * guess
        for rtol, spread, sharpness in _PASSES:
            found = crossing(
                excess(rtol), near=min(root, cap), spread=spread, cap=cap, sharpness=sharpness
            )
            if found.below in (0.0, math.inf):
                break
            root = found.root
        return found.below if self.direction is Direction.UPPER else found.above
