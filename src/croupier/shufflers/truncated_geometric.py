"""Truncated geometric numbers, drawn exactly: the codes of Mallows orders."""

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.numerics.keystream import WORD, Keystream, stream
from croupier.numerics.validate import array_given
from croupier.shufflers.theta import checked_theta

__all__ = ["thetas_given", "truncated_geometric", "uniform_below"]

_FIRST_BITS = 16
_LAST_WORD = np.uint64(WORD - 1)
_CODES_AT_A_TIME = 1 << 15


def truncated_geometric(
    bounds: ArrayLike,
    theta: float,
    *,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
) -> NDArray[np.int64]:
    """Draw independent V with P(V = v) proportional to e^(-theta v) on 0, …, bound - 1, exactly.

    A geometric number G modulo the bound has this law, and the binary digits of G are independent
    coins: digit i is one with probability 1 / (1 + e^(theta 2^i)). All digits above the I-th make a
    geometric number again, which is zero except with probability e^(-theta 2^I) < e^-32. A coin
    compares sixteen uniform bits with those of its probability, and more while they agree.

    >>> truncated_geometric([9, 9, 9, 9, 1], 0.2, insecure_seed=7)
    array([0, 2, 2, 3, 0])
    """
    rng = stream(rng, insecure_seed)
    checked_theta(theta)
    limits = np.asarray(bounds, dtype=np.int64)
    if limits.size and limits.min() < 1:
        raise ParameterError("bounds", must="be at least 1")
    if math.isinf(theta):
        return np.zeros(len(limits), dtype=np.int64)
    if theta == 0:
        return uniform_below(limits, rng)
    digits = max(0, math.ceil(math.log2(32 / theta)))
    values = np.empty(len(limits), dtype=np.int64)
    for start in range(0, len(limits), _CODES_AT_A_TIME):
        some = slice(start, start + _CODES_AT_A_TIME)
        values[some] = _geometric_modulo(limits[some], theta, digits, rng)
    return values


def uniform_below(limits: NDArray[np.int64], stream: Keystream) -> NDArray[np.int64]:
    """Draw independent uniform numbers, each below its own limit, by rejection.

    >>> uniform_below(np.array([1, 1]), Keystream())
    array([0, 0])
    """
    bounds = limits.astype(np.uint64)
    one = np.uint64(1)
    last = _LAST_WORD - (_LAST_WORD % bounds + one) % bounds
    draws = stream.words(len(bounds))
    rejected = np.flatnonzero(draws > last)
    while len(rejected):
        draws[rejected] = stream.words(len(rejected))
        rejected = rejected[draws[rejected] > last[rejected]]
    return (draws % bounds).astype(np.int64)


def thetas_given(theta: ArrayLike) -> NDArray[np.float64]:
    """One theta or several, as an array of numbers."""
    must = "be one number, or one for each component"
    thetas = array_given("theta", theta, must=must)
    if thetas.dtype.kind not in "iuf":
        raise ParameterError("theta", must=must)
    return thetas.astype(np.float64)


def _geometric_modulo(
    limits: NDArray[np.int64], theta: float, digits: int, stream: Keystream
) -> NDArray[np.int64]:
    count = len(limits)
    coins = digits + 1  # the last one tells whether anything is left above the digits
    words = stream.words(-(-coins * count * _FIRST_BITS // 64))
    draws = words.view(np.uint16)[: coins * count].reshape(coins, count)
    thresholds = np.array(
        [_threshold(theta, digit, _FIRST_BITS, above=digit == digits) for digit in range(coins)],
        dtype=np.uint16,
    )[:, None]
    ones = draws < thresholds
    for tie in np.flatnonzero(draws == thresholds).tolist():
        digit, place = divmod(tie, count)
        ones[digit, place] = _tossed(theta, digit, stream, _FIRST_BITS, above=digit == digits)
    values = np.zeros(count, dtype=np.int64)
    for first in range(0, digits, 8):
        byte = np.zeros(count, dtype=np.uint8)
        for digit in range(first, min(first + 8, digits)):
            byte |= ones[digit].view(np.uint8) << np.uint8(digit - first)
        values |= byte.astype(np.int64) << first
    values %= limits
    for place in np.flatnonzero(ones[digits]).tolist():
        excess = 1
        while _tossed(theta, digits, stream, 0, above=True):
            excess += 1
        values[place] = (int(values[place]) + (excess << digits)) % int(limits[place])
    return values


def _tossed(theta: float, digit: int, stream: Keystream, bits: int, *, above: bool) -> bool:
    """A coin whose first `bits` uniform bits agree with those of its probability."""
    while True:
        bits += 64
        word = int(stream.words(1)[0])
        threshold = _threshold(theta, digit, bits, above=above) % WORD
        if word != threshold:
            return word < threshold


@lru_cache(maxsize=1 << 16)
def _threshold(theta: float, digit: int, bits: int, *, above: bool) -> int:
    """The first `bits` bits of 1 / (1 + e^x), or of e^-x where `above`; x = theta 2^digit."""
    exponent = math.ldexp(theta, digit)
    if exponent >= bits:
        return 0
    precision = 40 + bits
    while True:
        low, high = _exponential(exponent, precision)
        rest = 0 if above else 1
        least, most = (math.floor(Fraction(1 << bits) / (rest + e)) for e in (high, low))
        if least == most:  # some precision is enough: e^x is irrational
            return least
        precision *= 2


def _exponential(exponent: float, precision: int) -> tuple[Fraction, Fraction]:
    """Rational numbers below and above e**exponent: decimal's is correctly rounded."""
    context = Context(prec=precision, Emax=MAX_EMAX, Emin=MIN_EMIN)
    value = Fraction(context.exp(Decimal(exponent)))
    slack = Fraction(1, 10 ** (precision - 1))
    return value * (1 - slack), value * (1 + slack)
