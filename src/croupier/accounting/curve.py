"""delta as a function of epsilon, proved on one side."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

from croupier.accounting.positive_part import LogBounds
from croupier.errors import ParameterError
from croupier.model.guarantee import Direction
from croupier.numerics.validate import require_delta

__all__ = ["NO_PROTECTION", "Curve", "Pair"]

NO_PROTECTION = 50.0
"""The epsilon above which a bound counts as infinite."""

_PASSES = ((1e-3, 1e-4), (1e-6, 1e-8))
"""Precision of delta and of epsilon: a quick search, then a sharp one around its result."""


class Pair(Protocol):
    """Two values of one person in a batch; a curve takes the largest over such pairs."""

    @property
    def n(self) -> int:
        """The number of honest people."""

    @property
    def chi_square(self) -> float:
        """The distance of the two values; it only orders the pairs and starts the search."""

    def log_delta(self, epsilon: float, *, rtol: float) -> LogBounds:
        """Enclose ln delta, to about `rtol`."""

    def log_ceiling(self, epsilon: float) -> float:
        """A quick upper bound of ln delta."""


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
    """

    pairs: Sequence[Pair]
    direction: Direction
    epsilon_local: float
    theorem: str
    assumptions: tuple[str, ...]

    @cached_property
    def _ranked(self) -> list[Pair]:
        return sorted(self.pairs, key=lambda pair: -pair.chi_square)

    def log_delta(self, epsilon: float, *, rtol: float = 1e-6) -> float:
        """The logarithm of the bound of delta at `epsilon`; it holds whatever `rtol` is."""
        if not epsilon >= 0:
            raise ParameterError("epsilon", must="be at least 0", got=epsilon)
        if epsilon >= self.epsilon_local:
            return -math.inf
        if epsilon > NO_PROTECTION:
            # delta does not grow with epsilon, so an earlier upper bound still holds.
            below = self.direction is Direction.LOWER
            return -math.inf if below else self.log_delta(NO_PROTECTION, rtol=rtol)
        best = -math.inf
        for pair in self._ranked:
            if pair.log_ceiling(epsilon) > best:
                bounds = pair.log_delta(epsilon, rtol=rtol)
                best = max(
                    best, bounds.upper if self.direction is Direction.UPPER else bounds.lower
                )
        return best

    def delta(self, epsilon: float) -> float:
        """The bound of delta at `epsilon`, rounded outward."""
        logarithm = self.log_delta(epsilon)
        if logarithm == -math.inf:
            return 0.0
        slack = (4 + abs(logarithm)) * 2.3e-16
        if self.direction is Direction.LOWER:
            return math.exp(logarithm - slack)
        return min(1.0, max(math.exp(logarithm + slack), sys.float_info.min))

    def _excess(self, epsilon: float, *, target: float, rtol: float) -> float:
        return self.log_delta(epsilon, rtol=rtol) - target

    def epsilon(self, delta: float) -> float:
        """The least epsilon proved at `delta` (upper), or one that is proved necessary (lower).

        delta falls as epsilon grows. The returned point was evaluated: at it the upper curve is at
        most delta, or the lower curve above it.
        """
        require_delta(delta)
        target = math.log(delta)
        if self.log_delta(0.0) <= target:
            return 0.0
        worst = self._ranked[0]
        guess = math.sqrt(2 * math.log(1 / delta) * worst.chi_square / worst.n)
        above, below = 0.0, 0.8 * guess
        stride = 0.3
        for rtol, sharpness in _PASSES:
            above, below = _crossing(
                partial(self._excess, target=target, rtol=rtol),
                start=min(below, NO_PROTECTION),
                stride=stride,
                cap=min(self.epsilon_local, NO_PROTECTION),
                sharpness=sharpness,
            )
            stride = 2 * sharpness
        return below if self.direction is Direction.UPPER else above


def _crossing(
    excess: Callable[[float], float], *, start: float, stride: float, cap: float, sharpness: float
) -> tuple[float, float]:
    """Two close points where a falling function is positive and where it is at most zero.

    The second is infinite if the function is positive at the cap already.
    """
    above, below = 0.0, min(max(start, 1e-9), cap)
    at_above, at_below = math.inf, excess(below)
    while at_below > 0:
        if below >= cap:
            return below, math.inf
        above, at_above = below, at_below
        below = min((1 + stride) * below, cap)
        stride *= 1.5
        at_below = excess(below)
    while at_above == math.inf:
        point = max(1 - stride, 0.5) * below
        stride *= 1.5
        value = excess(point)
        if value > 0:
            above, at_above = point, value
        elif point < 1e-12:
            return 0.0, point
        else:
            below, at_below = point, value
    turn = 0
    while below - above > sharpness * below:
        turn += 1
        point = (above + below) / 2
        if math.isfinite(at_below) and turn % 3:
            # A secant step, pushed a little across the root so that both ends come closer.
            point = above + (below - above) * at_above / (at_above - at_below)
            push = 0.3 * sharpness * below
            point += push if turn % 2 else -push
            point = min(max(point, above + push), below - push)
        value = excess(point)
        if value > 0:
            above, at_above = point, value
        else:
            below, at_below = point, value
    return above, below
