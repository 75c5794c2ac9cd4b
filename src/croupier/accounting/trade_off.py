"""The trade-off curve: the errors that remain to somebody who tests what one person answered."""

import math
from collections.abc import Callable, Sequence

from croupier.errors import ParameterError
from croupier.numerics.rounding import floor_digits

__all__ = ["FALSE_ALARMS", "trade_off"]

FALSE_ALARMS = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""The false positive rates at which the curve is reported."""

_STEPS = 80
"""Epsilons at which delta is evaluated, up to 8 mu: there the Gaussian delta is below 1e-15."""

_ROUNDING = 1e-12


def trade_off(
    deltas: Callable[[Sequence[float]], Sequence[float]],
    *,
    most: float,
    mu: float = math.inf,
    rates: Sequence[float] = FALSE_ALARMS,
) -> list[tuple[float, float]]:
    """Prove the least false negative rate at each false positive rate, for any test.

        f(x) = max over epsilon of max(0, 1 - delta - e^epsilon x, e^-epsilon (1 - delta - x)),
        f(x) >= Phi(z(x) - mu),    z(x) the upper x-quantile of N(0, 1),

    where the test decides between two answers of one person, x is how often it accuses wrongly, and
    f(x) how often it misses. Blind guessing has f(x) = 1 - x.

    Holds when `deltas` are proved for both directions. Any set of epsilons is safe.
    Direction: lower, to four digits rounded down: the safe side of a promise.
    Reference: dong2022, Proposition 2.4 and Definition 2.6.

    Args:
        deltas: Upper bounds of delta at several epsilons.
        most: An epsilon at which delta is zero; may be infinite.
        mu: A proved mu, see `gaussian_dp`; infinite if there is none.
        rates: False positive rates in [0, 1].

    >>> alike = lambda epsilons: [0.0] * len(epsilons)  # epsilon 0: no difference
    >>> trade_off(alike, most=1.0, rates=(0.0, 0.5))
    [(0.0, 1.0), (0.5, 0.4999)]
    """
    scale = 8 * mu if math.isfinite(mu) else 8.0
    scale = min(scale, most)
    epsilons = [scale * place / _STEPS for place in range(_STEPS + 1)]
    proved = list(zip(epsilons, deltas(epsilons), strict=True))
    if math.isfinite(most):
        proved.append((most, 0.0))
    return [(rate, _rounded(_least(rate, proved, mu))) for rate in rates]


def _least(rate: float, proved: Sequence[tuple[float, float]], mu: float) -> float:
    if not 0 <= rate <= 1:
        raise ParameterError("rates", must="be in [0, 1]", got=rate)
    best = _gaussian(rate, mu)
    for epsilon, delta in proved:
        accused = math.exp(min(1.0, epsilon + math.log(rate))) if rate else 0.0
        best = max(best, 1 - delta - accused, math.exp(-epsilon) * (1 - delta - rate))
    return best


def _gaussian(rate: float, mu: float) -> float:
    from scipy import special  # noqa: PLC0415 - slow to import

    if rate in (0, 1) or not math.isfinite(mu):
        return float(rate == 0 and math.isfinite(mu))
    return float(special.ndtr(-special.ndtri(rate) - mu))


def _rounded(value: float) -> float:
    if value >= 1:
        return 1.0
    return float(floor_digits(max(0.0, value - _ROUNDING), 4))
