"""The evaluator against sums in 200-digit arithmetic."""

import math

import mpmath
import numpy as np
import pytest

from croupier.accounting.pair import Laws, ShuffledPair

POINTS = [
    pytest.param(local, n, delta, marks=[pytest.mark.proof] if n == 10**9 and delta != 1e-6 else [])
    for local, n in (
        (0.5, 1_000),
        (1, 10_000),
        (2, 10_000),
        (4, 100_000),
        (1, 10**6),
        (8, 10**8),
        (1, 10**9),
    )
    for delta in (1e-3, 1e-6, 1e-12)
]


def _binary(local):
    """Everybody else holds the second of two values: laws of the others, first and second value."""
    high = math.exp(local) / (1 + math.exp(local))
    second = np.array([1 - high, high])
    return second, second[::-1].copy(), second


@pytest.mark.parametrize(("local", "n", "delta"), POINTS)
def test_binary_response_among_equal_others(local, n, delta):
    reference, first, second = _binary(local)
    pair = ShuffledPair.among(Laws.of_doubles(reference, first, second), n)
    epsilon = _near(pair, delta)
    bounds = pair.log_delta(epsilon)
    with mpmath.workdps(200):
        truth = mpmath.log(_exact(first, second, n, epsilon))
        assert mpmath.mpf(bounds.lower) <= truth <= mpmath.mpf(bounds.upper)
        assert bounds.upper - bounds.lower < 3e-6


def _near(pair, delta):
    """An epsilon at which delta is roughly as wanted; doubles, so that the oracle sees the same."""
    low, high = 0.0, 8.0
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (
            (middle, high)
            if pair.log_delta(middle, rtol=1e-2).upper > math.log(delta)
            else (low, middle)
        )
    return high


def _exact(first, second, n, epsilon):
    """sum over counts of the first output of (P - e^epsilon Q)_+; the ratio grows with the count.

    With X ~ Bin(n-1, s) the others' count, P(c) = a H(c-1) + (1-a) H(c), Q likewise with s for a.
    """
    s, a = mpmath.mpf(second[0]), mpmath.mpf(first[0])
    rest, miss = mpmath.mpf(second[1]), mpmath.mpf(first[1])
    e = mpmath.exp(mpmath.mpf(epsilon))
    # (P - eQ)(c) / H(c) = (a - e s) c rest/((n-c) s) + miss - e rest > 0
    odds = (e * rest - miss) / (a - e * s) * s / rest
    start = int(mpmath.floor(n * odds / (1 + odds))) + 1
    others = n - 1
    log_pmf = (
        mpmath.loggamma(others + 1)
        - mpmath.loggamma(start)
        - mpmath.loggamma(others - start + 2)
        + (start - 1) * mpmath.log(s)
        + (others - start + 1) * mpmath.log(rest)
    )
    before, total = mpmath.exp(log_pmf), mpmath.mpf(0)
    for count in range(start, n + 1):
        here = (
            before * (others - count + 1) / count * s / rest if count <= others else mpmath.mpf(0)
        )
        term = (a - e * s) * before + (miss - e * rest) * here
        total += term
        if term < total * mpmath.mpf(10) ** -30:
            break
        before = here
    return total


def test_several_classes_by_listing_in_200_digits():
    reference = np.array([0.1, 0.1, 0.25, 0.15])
    first = np.array([0.4, 0.1, 0.3, 0.2])
    second = np.array([0.1, 0.4, 0.3, 0.2])
    for n, epsilon in ((5, 0.3), (12, 0.5), (25, 0.4)):
        bounds = ShuffledPair.among(Laws.of_doubles(reference, first, second), n).log_delta(epsilon)
        with mpmath.workdps(200):
            e = mpmath.exp(mpmath.mpf(epsilon))
            weights = [mpmath.mpf(w) for w in reference]
            values = [
                (mpmath.mpf(p) - e * mpmath.mpf(q)) / w
                for p, q, w in zip(first, second, weights, strict=True)
            ]
            weights.append(1 - sum(weights))
            values.append(mpmath.mpf(0))
            truth = _listed(weights, values, n) / n
            assert mpmath.mpf(bounds.lower) <= mpmath.log(truth) <= mpmath.mpf(bounds.upper)


def _listed(weights, values, left, chance=1, total=0):
    """E[(sum)_+] over all counts, by recursion; multinomial coefficients as it goes."""
    if len(weights) == 1:
        total += left * values[0]
        return chance * weights[0] ** left * total if total > 0 else mpmath.mpf(0)
    return mpmath.fsum(
        _listed(
            weights[1:],
            values[1:],
            left - count,
            chance * mpmath.binomial(left, count) * weights[0] ** count,
            total + count * values[0],
        )
        for count in range(left + 1)
    )
