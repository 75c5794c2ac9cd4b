"""Binomial probabilities that stay accurate for a billion people."""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

__all__ = ["binomial_excess", "binomial_pmf", "binomial_tail", "binomial_tail_above"]
__all__ += ["central_binomial"]

Real = NDArray[np.float64]

_TABLE = 40
"""Below this, Stirling's error is tabulated from factorials; above, four terms of its series."""

_EXACT_CENTRE = 60
"""Below this, the central binomial coefficient is computed with integers."""

_CENTRE_SERIES = (
    1.0,
    -1 / 8,
    1 / 128,
    5 / 1024,
    -21 / 32768,
    -399 / 262144,
    869 / 4194304,
)


def binomial_pmf(
    count: ArrayLike, trials: ArrayLike, *, success: float, failure: float | None = None
) -> Real:
    """P(Bin(trials, success) = count), elementwise.

    The saddle-point form, for x of n trials with chances p and q = 1 - p,

        sqrt(n / (2 pi x (n-x))) exp(s(n) - s(x) - s(n-x) - d(x, n p) - d(n-x, n q)),

    where s is the error of Stirling's formula and d(x, m) = x ln(x/m) + m - x. Log-gamma would lose
    seven digits at a billion trials.

    Direction: nearest; relative error about 1e-15 + 2e-16 |count - mean|, the latter because
    `success` is rounded.
    Reference: loader2000, the saddle-point form.

    >>> binomial_pmf([0, 1, 2], 2, success=0.5).round(12).tolist()
    [0.25, 0.5, 0.25]
    """
    q = 1 - success if failure is None else failure
    x, n = np.broadcast_arrays(
        np.asarray(count, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    )
    y = n - x
    possible = (x >= 0) & (y >= 0)
    if success <= 0 or q <= 0:
        certain = x if success <= 0 else y
        return np.where(possible & (certain == 0), 1.0, 0.0)
    inside = (x > 0) & (y > 0)
    s, f, t = np.where(inside, x, 1.0), np.where(inside, y, 1.0), np.where(inside, n, 2.0)
    excess = s * q - f * success
    log_pmf = _stirling_error(t) - _stirling_error(s) - _stirling_error(f)
    log_pmf -= _deviance(s, t * success, excess) + _deviance(f, t * q, -excess)
    pmf = np.exp(log_pmf) * np.sqrt(t / (2 * math.pi * s * f))
    # All or none: a plain power, with its logarithm from the smaller of the two chances.
    log_success = math.log1p(-q) if q < 0.5 else math.log(success)
    log_failure = math.log1p(-success) if success < 0.5 else math.log(q)
    edge = np.exp(
        np.where(x == 0, n * log_failure, n * log_success), where=possible, out=np.zeros_like(pmf)
    )
    return np.where(inside, pmf, edge)


def binomial_tail(count: int, trials: int, *, success: float) -> float:
    """P(Bin(trials, success) >= count)."""
    if count <= 0:
        return 1.0
    if count > trials:
        return 0.0
    return float(special.betainc(float(count), float(trials - count + 1), success))


def binomial_tail_above(count: int, trials: int, *, success: float) -> float:
    """Bound P(Bin(trials, success) >= count) from above, also where it is tiny.

    Beyond the mean, each probability is at most r times the one before, so that the tail is at most

        P(X = count) / (1 - r),   r = (n - count) p / ((count + 1) (1 - p)).

    Direction: upper; an allowance for the rounding of the probability (1e-9 + 1e-15 n) is added. Up
    to the mean, 1.

    >>> 0.5**100 <= binomial_tail_above(100, 100, success=0.5) < 0.5**100 * 1.000001
    True
    """
    if count > trials:
        return 0.0
    if count <= trials * success or success >= 1:
        return 1.0
    ratio = (trials - count) * success / ((count + 1) * (1 - success))
    first = float(binomial_pmf(count, trials, success=success))
    allowance = 1 + 1e-9 + 1e-15 * trials
    return min(1.0, first / (1 - ratio) * allowance + float(np.finfo(np.float64).tiny))


def binomial_excess(trials: int, *, success: float, threshold: float, gap: float) -> float:
    """E max(0, Bin(trials, success) - threshold).

        (n p - threshold) P(X >= T) + T (1 - p) P(X = T),

    where n is `trials`, p `success`, T the least integer above the threshold, and `gap` is
    n p - threshold, which the caller can compute without cancellation. By de Moivre's identity
    E[(X - n p); X >= T] = T (1 - p) P(X = T), two numbers of the size of n are never subtracted.

    >>> binomial_excess(2, success=0.5, threshold=0.5, gap=0.5)
    0.625
    """
    least = math.floor(threshold) + 1
    if least > trials:
        return 0.0
    if least <= 0:
        return gap
    at_least = binomial_pmf(least, trials, success=success)
    mean_part = gap * binomial_tail(least, trials, success=success)
    return mean_part + least * (1 - success) * float(at_least)


def central_binomial(half: int) -> float:
    """C(2 m, m) / 4^m for m = `half`, to the last digit or two.

    >>> central_binomial(1), central_binomial(500_000_000)
    (0.5, 2.5231325213893...e-05)
    """
    if half < _EXACT_CENTRE:
        return math.comb(2 * half, half) / (1 << 2 * half)
    series = 0.0
    for coefficient in reversed(_CENTRE_SERIES):
        series = series / half + coefficient
    return series / math.sqrt(math.pi * half)


def _stirling_error(value: Real) -> Real:
    """The log of x! less (x + 1/2) ln x - x + ln(2 pi)/2, for positive whole x."""
    small = value < _TABLE
    large = np.where(small, float(_TABLE), value)
    square = 1 / (large * large)
    series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / large
    return np.where(small, _STIRLING[np.where(small, value, 0).astype(np.int64)], series)


def _deviance(value: Real, mean: Real, excess: Real) -> Real:
    """Compute x ln(x/m) + m - x, given x - m: a series where the two are close."""
    ratio = excess / (value + mean)
    square = ratio * ratio
    series = np.zeros_like(square)
    for order in range(19, 1, -2):
        series = square * (1 / order + series)
    near = excess * ratio + 2 * value * ratio * series
    far = value * np.log(value / mean) - excess
    return np.where(np.abs(ratio) < 0.1, near, far)


def _tabulate() -> Real:
    errors = [0.0]
    for value in range(1, _TABLE):
        stirling = (value + 0.5) * math.log(value) - value + 0.5 * math.log(2 * math.pi)
        errors.append(math.log(math.factorial(value)) - stirling)
    return np.array(errors)


_STIRLING = _tabulate()
