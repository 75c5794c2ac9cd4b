"""Preservation: the share of a set of people's reports that stays with that set."""

import math
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp, xlogy

from croupier.errors import ParameterError
from croupier.numerics.validate import number_given, number_of_people, require_delta, whole_number

__all__ = ["Preservation", "block_preservation", "crossing_law", "crossing_mean"]
__all__ += ["hamming_loss_law", "hamming_preservation", "losing_orders"]

Real = NDArray[np.float64]

_SLACK = 1e-9
"""An upper bound of the relative rounding error of a tail of the crossing law."""


@dataclass(frozen=True, kw_only=True)
class Preservation:
    """A bound: a fraction `eta` of a set's places keeps reports of the set, except with `delta`.

    Attributes:
        eta: The fraction; None if the bound says nothing: simulate instead.
        delta: The probability that less is kept.

    Example:
        >>> print(Preservation(eta=0.924, delta=0.01))
        at least 92.4 % kept, except with probability 0.01
        >>> print(Preservation(eta=None, delta=0.01))
        the bound says nothing here: simulate instead
    """

    eta: float | None
    delta: float

    def __str__(self) -> str:
        if self.eta is None:
            return "the bound says nothing here: simulate instead"
        share = math.floor(1000 * _as_written(self.eta)) / 10
        return f"at least {share:.1f} % kept, except with probability {self.delta:.3g}"


def crossing_law(*, n: int, cut: int, theta: float) -> Real:
    """The law of the number of reports that Mallows shuffling carries over a cut of the order.

        P(K = k) = q^(k^2) [m, k] [n - m, k] / [n, m],    k = 0, …, min(m, n - m)

    where m (`cut`) people are before the cut, q = e^-theta, and the brackets are Gaussian
    binomial coefficients. As many cross one way as the other; K counts one way. At theta = 0
    it is the hypergeometric law. Summed outward from the most likely k by

        P(k + 1) / P(k) = q^(2k+1) (1 - q^(m-k)) (1 - q^(n-m-k)) / (1 - q^(k+1))^2.

    Holds when the shuffler follows the Mallows law by Kendall's distance.

    Direction: exact; rounding grows with the distance from the most likely k only.

    Reference: meehan2022, Definition A.4, for the definition of preservation; this law, known as
    q-hypergeometric, is not in the paper.

    Example:
        >>> crossing_law(n=7, cut=3, theta=0.4).round(6).tolist()
        [0.171807, 0.590955, 0.225873, 0.011364]
    """
    people = number_of_people("n", n, least=1)
    before = whole_number("cut", cut, least=0, most=people)
    dispersion = _theta(theta)
    k = np.arange(min(before, people - before), dtype=np.float64)

    def log_bracket(number: Real) -> Real:
        # All four may share a factor 1 - q; without it theta = 0 is not an exception.
        return np.log(-np.expm1(-dispersion * number) if dispersion else number)

    steps = log_bracket(before - k) + log_bracket(people - before - k)
    steps -= 2 * log_bracket(k + 1) + dispersion * (2 * k + 1)
    likeliest = int((steps > 0).sum())  # the law is log-concave: the steps decrease
    rise = -np.cumsum(steps[:likeliest][::-1])[::-1]
    fall = np.cumsum(steps[likeliest:])
    law = np.exp(np.concatenate((rise, [0.0], fall)))
    return np.asarray(law / law.sum(), dtype=np.float64)


def crossing_mean(*, n: int, cut: int, theta: float) -> float:
    """The mean number of reports that cross a cut: about ln 2 / theta far from both ends.

    Direction: exact.

    Example:
        >>> round(crossing_mean(n=10_000, cut=5_000, theta=0.01), 4), round(math.log(2) / 0.01, 4)
        (69.1895, 69.3147)
    """
    law = crossing_law(n=n, cut=cut, theta=theta)
    return float(law @ np.arange(len(law)))


def block_preservation(
    *, n: int, first: int, size: int, theta: float, delta: float
) -> Preservation:
    """Bound the share that a block of the reference order keeps under Mallows shuffling.

        eta = 1 - (t_a + t_b) / size,    P(K_a > t_a) <= delta / 2,    P(K_b > t_b) <= delta / 2

    where K_a and K_b count the reports that cross the block's two ends (`crossing_law`), and t_a
    and t_b are the least such numbers. A report from outside has crossed one of the ends. A block
    at an end of the order has one cut only, which gets all of delta.

    Holds when the shuffler follows the Mallows law by Kendall's distance, and the set is a block:
    the `size` people from place `first` on.

    Direction: eta is a lower bound, by the union bound; vacuous (None) for blocks that are short
    compared with ln 2 / theta. Simulate these instead.

    Reference: meehan2022, Definition A.4; the paper has no bound for this distance.

    Example:
        >>> print(block_preservation(n=10_000, first=3_750, size=2_500, theta=4/465, delta=0.01))
        at least 92.4 % kept, except with probability 0.01
        >>> print(block_preservation(n=10_000, first=3_750, size=2_500, theta=1e-5, delta=0.01))
        the bound says nothing here: simulate instead
    """
    people = number_of_people("n", n, least=1)
    start = whole_number("first", first, least=0, most=people - 1)
    length = whole_number("size", size, least=1, most=people - start)
    _theta(theta)
    require_delta(delta)
    cuts = [cut for cut in (start, start + length) if 0 < cut < people]
    lost = sum(_most_crossing(people, cut, theta, delta / len(cuts)) for cut in cuts)
    return Preservation(eta=(length - lost) / length if lost < length else None, delta=delta)


def losing_orders(*, n: int, size: int, lost: int, distance: int) -> int:
    """The number of orders at a Hamming distance that lose more than `lost` reports of a set.

        c_h = sum over j > k of C(l, j) C(n-l, j) sum over i of
              C(l-j, i) f(i, j) C(n-l-j, h-2j-i) f(h-2j-i, j),
        f(i, j) = sum over t of (-1)^t C(i, t) (i + j - t)!

    where n people contain the set of l (`size`), k is `lost`, h is `distance`; j reports leave
    the set and j enter, and of those that stay on either side, i and h - 2j - i change places.

    Direction: exact.

    Reference: meehan2022, Theorem A.4, corrected: as printed it has a factor too many, another
    f(i, 0), and sums beyond min(l, n - l).

    Example:
        >>> [losing_orders(n=7, size=3, lost=0, distance=h) for h in range(8)]
        [0, 0, 12, 60, 288, 888, 1812, 1836]
    """
    people, inside = _set_size(n, size)
    allowed = whole_number("lost", lost, least=0)
    moved = whole_number("distance", distance, least=0, most=people)
    outside = people - inside
    return sum(
        comb(inside, j) * comb(outside, j) * _displaced(inside - j, outside - j, moved - 2 * j, j)
        for j in range(allowed + 1, min(inside, outside, moved // 2) + 1)
    )


def hamming_loss_law(*, n: int, size: int, theta: float) -> Real:
    """The law of the number of reports that a set loses when shuffled by Hamming distance.

        P(J = j) proportional to C(l, j) C(n-l, j) x^(2j) B(l - j) B(n - l - j),
        B(m) = E (S + j)!,    S ~ Bin(m, x),    x = e^-theta

    where n people contain the set of l (`size`). It is `losing_orders`, weighted by e^(-theta h)
    and summed over the distance h in closed form, without alternating signs.

    Holds when the shuffler follows the Mallows law by Hamming distance; in any reference order.

    Direction: exact; relative rounding about 1e-15 n ln n. Time and memory grow with n, and time
        with `size` too.

    Reference: meehan2022, Theorem A.4, for the counts behind it.

    Example:
        >>> hamming_loss_law(n=7, size=3, theta=0.5).round(4).tolist()
        [0.0544, 0.4317, 0.4445, 0.0694]
    """
    people, inside = _set_size(n, size)
    dispersion = _theta(theta)
    outside = people - inside
    if math.isinf(dispersion):
        return np.eye(1, min(inside, outside) + 1, dtype=np.float64).ravel()
    factorials = gammaln(np.arange(1.0, people + 2))
    logs = np.array(
        [
            _log_side(factorials, inside, j, dispersion)
            + _log_side(factorials, outside, j, dispersion)
            for j in range(min(inside, outside) + 1)
        ]
    )
    law = np.exp(logs - logs.max())
    return np.asarray(law / law.sum(), dtype=np.float64)


def hamming_preservation(*, n: int, size: int, eta: float, theta: float) -> Preservation:
    """The chance that a set keeps less than a fraction eta when shuffled by Hamming distance.

        delta = P(J > floor((1 - eta) size)),    J as in `hamming_loss_law`

    where `eta` is read as the decimal that is written: 0.9 of ten is nine.

    Holds when the shuffler follows the Mallows law by Hamming distance; for any set of that size.

    Direction: exact.

    Reference: meehan2022, Theorem A.4, corrected as in `losing_orders`; it rounds (1 - eta) size
    up, which allows one loss too many.

    Example:
        >>> round(hamming_preservation(n=7, size=3, eta=0.5, theta=0.5).delta, 10)
        0.5138998476
    """
    if not 0 <= eta <= 1:
        raise ParameterError("eta", must="be in [0, 1]", got=eta)
    law = hamming_loss_law(n=n, size=size, theta=theta)
    allowed = math.floor((1 - _as_written(eta)) * size)
    return Preservation(eta=eta, delta=float(law[allowed + 1 :].sum()))


def _most_crossing(n: int, cut: int, theta: float, delta: float) -> int:
    """The least t with P(K > t) <= delta."""
    law = crossing_law(n=n, cut=cut, theta=theta)
    from_here_on = np.cumsum(law[::-1])[::-1]
    return int((from_here_on[1:] > delta * (1 - _SLACK)).sum())


def _displaced(inside: int, outside: int, distance: int, entering: int) -> int:
    """Ways to move `distance` of the reports that stay, and to put the entering ones anywhere."""
    return sum(
        comb(inside, i)
        * _away(i, entering)
        * comb(outside, distance - i)
        * _away(distance - i, entering)
        for i in range(min(inside, distance) + 1)
    )


def _away(bound: int, free: int) -> int:
    """Arrangements of `bound + free` things in which the bound ones avoid their own places."""
    return sum((-1) ** t * comb(bound, t) * factorial(bound + free - t) for t in range(bound + 1))


def _log_side(factorials: Real, size: int, lost: int, theta: float) -> float:
    """Ln of C(size, lost) x^lost E (S + lost)!, from ln 0!, ln 1!, …; S ~ Bin(size - lost, x)."""
    stay = size - lost
    s = np.arange(stay + 1, dtype=np.float64)
    # The (size - lost)! of the two binomial coefficients cancel.
    logs = factorials[lost : size + 1] - factorials[: stay + 1] - factorials[stay::-1]
    logs += xlogy(stay - s, -math.expm1(-theta)) - theta * (s + lost)
    return float(factorials[size] - factorials[lost] + logsumexp(logs))


def _as_written(fraction: float) -> Fraction:
    """The decimal number as written: 0.9 is nine tenths, not the double above it."""
    return Fraction(str(float(fraction)))


def _set_size(n: int, size: int) -> tuple[int, int]:
    people = number_of_people("n", n, least=1)
    return people, whole_number("size", size, least=1, most=people)


def _theta(theta: float) -> float:
    return number_given("theta", theta)
