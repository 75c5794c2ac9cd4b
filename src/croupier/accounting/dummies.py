"""delta as a function of epsilon where a shuffler adds dummies: exact, or with local noise."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from croupier.accounting.curve import NO_PROTECTION
from croupier.accounting.sums.terms import Real
from croupier.numerics.bisection import bisect_safe
from croupier.numerics.rounding import float_above, float_below
from croupier.shufflers.dummies import DummyTable

__all__ = ["DummyCurve", "DummyFloor"]

_SHARPNESS = 1e-9
_LOGARITHM = 4e-16
"""The relative error of a logarithm or an exponential."""

_EXACT = "exact law of the dummies"
_CONVEX = "local noise by joint convexity (Balle, Barthe and Gaboardi 2018, Theorem 2)"


@dataclass(frozen=True, eq=False)
class DummyCurve:
    """An upper curve for one report in a batch to which one honest shuffler adds dummies.

    With d the exact curve of the dummies and t the largest total variation between the laws of two
    values' reports,

        delta(epsilon') <= t d(epsilon),   e^epsilon' = 1 + t (e^epsilon - 1).

    It holds for every number of people, honest or not, and whatever is dropped or added before.

    Attributes:
        table: The law of the dummies of each possible report.
        keep: The chance that the shuffler keeps a report.
        distance: t, rounded up; 1 for reports without noise.
    """

    table: DummyTable
    keep: Fraction = Fraction(1)
    distance: float = 1.0

    @property
    def epsilon_local(self) -> float:
        """Infinite: a count may be one that dummies alone cannot reach."""
        return math.inf

    @property
    def theorem(self) -> str:
        """The proof."""
        sampled = "" if self.keep == 1 else ", with sampling"
        noisy = "" if self.distance == 1 else f"; {_CONVEX}"
        return f"{_EXACT}{sampled}{noisy}"

    def log_deltas(self, epsilons: Real, *, rtol: float = 1e-6) -> Real:  # noqa: ARG002 - exact
        """Logarithms of the bound of delta at every epsilon, rounded up."""
        return np.array([self.log_delta(epsilon) for epsilon in epsilons.tolist()])

    def log_delta(self, epsilon: float) -> float:
        """The logarithm of the bound of delta at `epsilon`, rounded up."""
        inner = min(epsilon, NO_PROTECTION)
        if self.distance < 1:
            widened = math.log1p(math.expm1(inner) / self.distance) * (1 - 4 * _LOGARITHM)
            inner = min(widened, NO_PROTECTION)
        found = float_above(self.table.delta(inner, own=self.keep)[1])
        if found <= 0:
            return -math.inf
        logarithm = math.log(found) + math.log(self.distance)
        return logarithm + (1 + abs(logarithm)) * 4 * _LOGARITHM

    def epsilon(self, delta: float) -> float:
        """The least epsilon found to be enough; infinite if none is.

        A table that was made for 0.3 is enough at 0.3, and not at hardly less: of numbers that
        differ by less than the search does, a short one is returned.
        """
        target = math.log(delta)
        if self.log_delta(0.0) <= target:
            return 0.0
        if self.log_delta(NO_PROTECTION) > target:
            return math.inf
        # Local noise: delta / distance is looked for at the epsilon of the dummies alone.
        inner = _guess(self.table, delta / self.distance, own=self.keep)
        found = _search(
            lambda epsilon: self.log_delta(epsilon) <= target,
            safe=NO_PROTECTION,
            unsafe=0.0,
            near=math.log1p(self.distance * math.expm1(inner)),
        )
        short = float(f"{found:.6g}")
        return short if short < found and self.log_delta(short) <= target else found


@dataclass(frozen=True, eq=False)
class DummyFloor:
    """A lower curve: the exact divergence of two counts if nobody else is in the batch.

    Attributes:
        table: The law of the dummies of each possible report.
        own: The chance that the report of the one value is that value.
        other: The chance that it is the other value.
    """

    table: DummyTable
    own: Fraction = Fraction(1)
    other: Fraction = Fraction(0)

    @property
    def theorem(self) -> str:
        """The proof."""
        return _EXACT if self.own == 1 else f"{_EXACT}, nobody else in the batch"

    def delta(self, epsilon: float) -> float:
        """The delta that is reached at `epsilon`, rounded down."""
        return float_below(self.table.delta(epsilon, own=self.own, other=self.other)[0])

    def epsilon(self, delta: float) -> float:
        """An epsilon that is proved necessary at `delta`; infinite if none is enough."""
        if self.delta(0.0) <= delta:
            return 0.0
        if self.delta(NO_PROTECTION) > delta:
            return math.inf
        return _search(
            lambda epsilon: self.delta(epsilon) > delta,
            safe=0.0,
            unsafe=NO_PROTECTION,
            near=_guess(self.table, delta, own=self.own, other=self.other),
        )


def _guess(table: DummyTable, delta: float, **chances: Fraction) -> float:
    """Return about the epsilon at which a table reaches delta, and an end if there seems none."""
    return bisect_safe(
        lambda epsilon: epsilon == NO_PROTECTION or table.rough_delta(epsilon, **chances) <= delta,
        safe=NO_PROTECTION,
        unsafe=0.0,
        tolerance=1e-14,
    )


def _search(holds: Callable[[float], bool], *, safe: float, unsafe: float, near: float) -> float:
    """Return the point nearest to `unsafe` at which a bound was seen to hold.

    Looks next to a guess if the bound holds on one side of it only, and everywhere otherwise.
    """
    step = math.copysign(2 * _SHARPNESS * near, safe - unsafe)
    if holds(near + step) and not holds(near - step):
        safe, unsafe = near + step, near - step
    return bisect_safe(holds, safe=safe, unsafe=unsafe, tolerance=_SHARPNESS * min(near, 0.1))
