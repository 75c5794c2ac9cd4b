"""Gaussian differential privacy: the least mu whose curve is above a proved one everywhere."""

import heapq
import math
from dataclasses import dataclass, field
from itertools import chain, pairwise

import numpy as np

from croupier.accounting.composition import UpperCurve
from croupier.errors import ParameterError
from croupier.numerics.validate import number_of_people

__all__ = ["gaussian_delta", "gaussian_dp"]

_HALVINGS = 14
"""The first points are epsilon_local divided by powers of two, up to this one."""

_PRECISION = 1e-5
"""Relative precision of delta at a point; any holds."""

_GAIN = 1e-4
"""Halving stops once it lowers mu by less than this share."""

_MOST_TURNS, _HALVED_AT_ONCE = 500, 8

_ROUNDING = 8e-16
"""Relative allowance per logarithm and per quantile, four units in the last place."""


def gaussian_dp(curve: UpperCurve, *, rounds: int = 1) -> float:
    r"""Prove a mu such that everything that one person sends is mu-Gaussian differentially private.

        mu = sqrt(rounds) max_j [z(alpha_j) - z(c_j)],    z(p) the upper p-quantile of N(0, 1),

    where the lines c_j - alpha_j a, a = e^epsilon, are the chords of `curve` between the points of
    a grid that ends at epsilon_local, at which delta is zero. The true delta is convex in a, so on
    each interval it is below the chord. The line c - alpha a is below the Gaussian curve for every
    a exactly if the trade-off curve G of mu has 1 - G(alpha) >= c, and
    G(alpha) = Phi(z(alpha) - mu) turns this into mu >= z(alpha) - z(c). Beyond epsilon_local
    nothing is required, and below epsilon 0 both curves continue as 1 - a + a D(1/a), so that the
    whole line is covered. Intervals that decide mu are halved until that gains no more.

    Holds when `curve` bounds delta of each round in both directions, given the earlier rounds;
    noise is fresh. Rounds compose as mu sqrt(rounds), exactly for the Gaussian curve.
    Direction: upper, rounded up; infinite if delta is not proved to reach zero or to begin below
    one, since no Gaussian curve is above one that stays positive, or that is 1 at epsilon 0.
    Reference: dong2022, Proposition 2.12 and Corollary 2.13 (trade-off curves and deltas) and
    Corollary 3.3 (composition); gomez2025 for reporting the least mu.

    >>> from croupier.accounting.blanket import local_curve
    >>> from croupier.randomizers import KaryRandomizedResponse
    >>> response = KaryRandomizedResponse(k=2, max_epsilon_local=1.0)
    >>> round(gaussian_dp(local_curve(response)), 6)  # 2 z(1/(1 + e))
    1.232035
    """
    rounds = number_of_people("rounds", rounds, least=1)
    if not math.isfinite(curve.epsilon_local):
        return math.inf
    if curve.epsilon_local == 0:
        return 0.0
    return math.sqrt(rounds) * _least_mu(curve) * (1 + 4 * _ROUNDING)


def gaussian_delta(epsilon: float, mu: float) -> float:
    """Return delta of mu-Gaussian differential privacy at `epsilon`, to double precision.

        delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)

    Reference: dong2022, Corollary 2.13.

    >>> round(gaussian_delta(0.0, 1.0), 6)
    0.382925
    """
    from scipy import special  # noqa: PLC0415 - slow to import

    if not mu > 0:
        raise ParameterError("mu", must="be above 0", got=mu)
    first = float(special.log_ndtr(mu / 2 - epsilon / mu))
    second = epsilon + float(special.log_ndtr(-mu / 2 - epsilon / mu))
    return math.exp(first) * -math.expm1(min(0.0, second - first))


@dataclass(frozen=True, order=True)
class _Interval:
    """Neighbouring points of the grid, with ln delta there; the one with the largest mu first."""

    order: float = field(init=False)
    start: float
    at_start: float
    end: float
    at_end: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", -self._mu())

    @property
    def mu(self) -> float:
        """The least mu whose curve is above the chord."""
        return -self.order

    def _mu(self) -> float:
        from scipy.special import ndtri_exp  # noqa: PLC0415 - slow to import

        if self.at_start == -math.inf:
            return 0.0
        slope = self.at_start + math.log(-math.expm1(self.at_end - self.at_start))
        slope -= self.end + math.log(-math.expm1(self.start - self.end))
        # Any slope will do, so its rounding is harmless: the line is put above both ends.
        intercept = max(
            _log_sum(self.at_start, slope + self.start), _log_sum(self.at_end, slope + self.end)
        )
        if intercept >= 0:
            return math.inf
        left, right = -float(ndtri_exp(slope)), -float(ndtri_exp(intercept))
        return max(0.0, left - right + _ROUNDING * (abs(left) + abs(right)))

    @property
    def middle(self) -> float:
        """The point at which the interval is halved."""
        return (self.start + self.end) / 2

    def parts(self, at_middle: float) -> "tuple[_Interval, ...]":
        """Split at the middle, unless the bound there says no more than one of the ends."""
        if not self.at_end < at_middle < self.at_start:
            return (self,)
        return (
            _Interval(self.start, self.at_start, self.middle, at_middle),
            _Interval(self.middle, at_middle, self.end, self.at_end),
        )


def _log_sum(first: float, second: float) -> float:
    """Return ln(e^first + e^second), rounded up."""
    large, small = max(first, second), min(first, second)
    total = large + math.log1p(math.exp(small - large))
    return total + _ROUNDING * (2 + abs(large))


def _least_mu(curve: UpperCurve) -> float:
    first = curve.epsilon_local * np.append(0.0, 2.0 ** -np.arange(_HALVINGS, 0.0, -1))
    values = np.minimum(curve.log_deltas(first, rtol=_PRECISION), 0.0)
    points = [(0.0, float(values[0]))]
    for epsilon, value in zip(first[1:].tolist(), values[1:].tolist(), strict=True):
        if value < points[-1][1]:  # a chord may pass over points that say nothing new
            points.append((epsilon, value))
    points.append((curve.epsilon_local, -math.inf))
    intervals = [_Interval(*start, *end) for start, end in pairwise(points)]
    heapq.heapify(intervals)
    for _ in range(_MOST_TURNS):
        worst = [heapq.heappop(intervals) for _ in range(min(_HALVED_AT_ONCE, len(intervals)))]
        middles = np.array([each.middle for each in worst])
        at_middles = curve.log_deltas(middles, rtol=_PRECISION).tolist()
        parts = [each.parts(value) for each, value in zip(worst, at_middles, strict=True)]
        for part in chain.from_iterable(parts):
            heapq.heappush(intervals, part)
        gained = worst[0].mu - max(part.mu for part in parts[0])
        if len(parts[0]) == 1 or (math.isfinite(worst[0].mu) and gained < _GAIN * worst[0].mu):
            break
    return intervals[0].mu
