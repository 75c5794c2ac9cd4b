"""The expected load of the fullest cell when balls are thrown at random."""

import math
from functools import lru_cache

import numpy as np

from croupier.errors import TooLargeError
from croupier.leakage.poissonised_load import PoissonisedLoad
from croupier.numerics.binomial import binomial_pmf, central_binomial
from croupier.numerics.validate import number_of_people, whole_number

__all__ = ["expected_maximum_load", "maximum_load_bounds", "three_cells", "two_cells"]

_MOST_WORK = 3 * 10**8
"""Complex powers that take a few seconds."""

_QUICK_WORK = 3 * 10**7
"""Complex powers that take a fraction of a second: for the smaller case that gives a bound."""

_MOST_BALLS = 10**18

_DEVIATIONS = 11.0
"""Standard deviations of one of three cells beyond which nothing is summed: 1e-26 remains."""

_LOADS_AT_ONCE = 1 << 14
"""Loads of three cells in a block that stays in the processor's cache."""

_ERROR = 1e-12
"""Relative allowance for the rounding of the exact value; 1e-13 is the largest error ever seen."""


def expected_maximum_load(n: int, k: int) -> float:
    """E[max(c_1, …, c_k)] for n balls thrown uniformly and independently into k cells.

    Divided by n, it is the chance of guessing one person's value from the histogram of n people
    whose values are uniform: the best guess is the most frequent value.

    One and two cells: closed forms. Three: a sum over O(sqrt n) loads. More: Poisson counts and one
    Fourier coefficient, O(n / sqrt k) for few cells and O(sqrt(n)) for many.

    Direction: nearest; E/n is exact to 1e-12.
    Reference: jurado2023, Proposition 20 (the quantity; the algorithm is ours).

    Raises:
        TooLargeError: The answer would take more than a few seconds; see `maximum_load_bounds`.

    >>> expected_maximum_load(5, 3)
    2.7777777777777...
    >>> expected_maximum_load(10**9, 1000) / 10**9
    0.00100324304025...
    """
    value = _affordable(*_checked(n, k), _MOST_WORK)
    if value is None:
        raise TooLargeError(
            f"the table of {n:,} balls in {k:,} cells",
            entries=_work(n, k),
            limit=_MOST_WORK,
            hint="Ask maximum_load_bounds for a proved bracket.",
        )
    return value


def maximum_load_bounds(n: int, k: int) -> tuple[float, float]:
    """Two numbers between which E[max(c_1, …, c_k)] lies, for any number of balls.

    The value itself, rounded outward, if it can be computed. Otherwise, for any smaller s,

        lower: n/k + (E max at s balls - s/k), and n/k + (v^3 / f)^{1/2} / 2
        upper: n/k + (k-1)/k sqrt(n),   (n/s) E max at s balls,
               min over t > 0 of [ln k + n ln(1 + (e^t - 1)/k)] / t,

    where v = 2n/k and f = v + 3 (1 - 1/n) v^2 are the second and the fourth moment of c_1 - c_2.

    Proofs. Each c_i - n/k is a martingale in n, so that its maximum over i does not fall in
    expectation. max(c_1, c_2) has mean n/k + E|c_1 - c_2|/2, and Hölder's inequality gives
    E|D| >= (v^3/f)^{1/2}. Numbers d_i that add up to zero have max d <= ((k-1)/k sum d_i^2)^{1/2},
    and the expected sum of squares is n (k-1)/k. Taking away one of n balls at random hits the
    fullest cell with chance max/n, so that E max at n-1 balls is at least (1 - 1/n) E max at n
    balls: E max / n does not rise with n. The last line is Jensen's inequality for
    e^{t max} <= sum e^{t c_i}.

    Direction: outward, by 1e-12 relative.

    >>> lower, upper = maximum_load_bounds(10**12, 4)
    >>> 0.25 < lower / 10**12 < upper / 10**12 < 0.2500008
    True
    """
    n, k = _checked(n, k)
    value = _affordable(n, k, _MOST_WORK)
    if value is not None:
        return max(n / k, 1.0, value * (1 - _ERROR)), min(float(n), value * (1 + _ERROR))
    smaller = n
    while (below := _affordable(smaller, k, _QUICK_WORK)) is None:
        smaller //= 4
    share = n / k
    second = 2 * share
    fourth = second + 3 * (1 - 1 / n) * second * second
    gain = max(below * (1 - _ERROR) - smaller / k, 0.5 * math.sqrt(second**3 / fourth))
    lower = max(1.0, share * (1 - 1e-15) + gain * (1 - 1e-15))
    upper = min(
        share + (k - 1) / k * math.sqrt(n), (n / smaller) * below * (1 + _ERROR), _chernoff(n, k)
    )
    return lower, upper * (1 + 1e-14)


def two_cells(n: int) -> float:
    """E max(X, n - X) for X ~ Bin(n, 1/2): n/2 + n C(2m, m) / 2^(2m+1), m = floor(n/2).

    Reference: jurado2023, Theorem 17, whose C(n-1, floor((n-1)/2)) / 2^n is the same number.

    >>> two_cells(3)
    2.25
    """
    return n / 2 + n * central_binomial(n // 2) / 2


def three_cells(n: int) -> float:
    """E of the fullest of three cells, by summing over the O(sqrt n) loads that it may have.

    With b(m) = P(Bin(n, 1/3) = m), W(m) the chance that neither of the other two cells exceeds m
    and t(m) = P(Bin(n-m, 1/2) = m) that a given one of them equals it, inclusion and exclusion give

        P(max = m) = b(m) [3 W(m) - 3 t(m) + t(m) [n = 3m]],   m >= n/3,
        W(m+1) = W(m) + P(Bin(n-m-1, 1/2) = m) + 2 t(m+1),

    so that W is a sum of positive terms.

    >>> three_cells(5)
    2.77777777777777...
    """
    least = -(-n // 3)
    most = min(n, least + math.ceil(_DEVIATIONS * math.sqrt(2 * n / 9)) + 60)
    within, total, weighted = _neither_exceeds(n, least), [], []
    for start in range(least, most + 1, _LOADS_AT_ONCE):
        load = np.arange(start, min(start + _LOADS_AT_ONCE, most + 1), dtype=np.float64)
        tie = binomial_pmf(load, n - load, success=0.5)
        steps = binomial_pmf(load - 1, n - load, success=0.5) + 2 * tie
        steps[0] = within if start == least else within + steps[0]
        # From n/2 on the others cannot exceed m, and the sum would count beyond the last cell.
        below = np.where(2 * load >= n, 1.0, np.minimum(np.cumsum(steps), 1.0))
        within = float(below[-1])
        law = binomial_pmf(load, n, success=1 / 3, failure=2 / 3)
        law *= 3 * below - np.where(3 * load == n, 2, 3) * tie
        total.append(float(law.sum()))
        weighted.append(float((load - least) @ law))
    return least + math.fsum(weighted) / math.fsum(total)


def _neither_exceeds(n: int, least: int) -> float:
    """W(ceil(n/3)): the 1 to 3 splits of the other balls in which both parts are small enough."""
    others = n - least
    splits = np.arange(others - least, least + 1)
    return float(binomial_pmf(splits, others, success=0.5).sum())


def _chernoff(n: int, k: int) -> float:
    """The bound by exponential moments; every t is valid, so a coarse search is enough."""
    # The best t is near sqrt(2 k ln k / n) for many balls per cell, near its logarithm for few.
    scale = math.log1p(math.sqrt(2 * k * math.log(k) / n))
    tilt = scale * np.geomspace(0.25, 4.0, 257)
    return float(((math.log(k) + n * np.log1p(np.expm1(tilt) / k)) / tilt).min())


def _checked(n: int, k: int) -> tuple[int, int]:
    return number_of_people("n", n, least=1, most=_MOST_BALLS), whole_number("k", k, least=1)


def _work(n: int, k: int) -> int:
    """The cost, in complex powers."""
    if k <= 2:
        return 0
    return 200 * math.isqrt(n) if k == 3 else PoissonisedLoad(n, k).work


@lru_cache(maxsize=256)
def _affordable(n: int, k: int, most_work: int) -> float | None:
    """E[max], unless it takes more than `most_work`."""
    if k == 1 or n == 1:
        return float(n)
    if k > 10**17 * n * n:
        # Any two balls meet with chance 1/k: less than 1e-17 in all.
        return 1.0
    if _work(n, k) > most_work:
        return None
    if k <= 3:
        return two_cells(n) if k == 2 else three_cells(n)
    return PoissonisedLoad(n, k).expected_maximum()
