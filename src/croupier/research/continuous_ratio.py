"""Finding one report among decoys when reports are real numbers."""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError
from croupier.leakage.likelihood_ratio import LikelihoodRatio, chance_unrivalled_between
from croupier.numerics.validate import number_of_people, whole_number

__all__ = ["cell_probabilities", "laplace_probability", "tail_probability"]

Density = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_TOLERANCE = 1e-13
_FAR = 40.0
_NOTHING = math.exp(-_FAR)
"""The part of an integral that is left out at its far ends."""


def tail_probability(  # noqa: PLR0913 - keyword-only facts about one law
    tail: Callable[[float], float],
    *,
    limit: float,
    n: int,
    guesses: int = 1,
    certain: float = 0.0,
    breaks: Sequence[float] = (),
) -> float:
    """The success of the best attack, from the law of the likelihood ratio itself.

        certain + (1/n) integral over t from 0 to M of E[min(k, Bin(n, T(t)))],

    where T is `tail`: the probability of the decoys' law on ratios above t; M is `limit`, possibly
    infinite; k is `guesses`. The integral is taken over ln t, between the `breaks` at which `tail`
    is not smooth.

    Direction: numerical, to about 1e-12 relative.
    Reference: su2025, Equation 10, for any number of guesses.

    Raises:
        ParameterError: The tail is too rough between the breaks for nine digits.

    Example:
        P has the density x + 1/2 on [0, 1] and Q is uniform: k(3n + 2 - k)/(2n(n + 1)).

        >>> found = tail_probability(lambda t: 1.5 - t, limit=1.5, n=20, breaks=[0.5])
        >>> abs(found - 61 / 840) < 1e-13
        True
    """
    from scipy.integrate import quad  # noqa: PLC0415 - slow to import

    n = number_of_people("n", n, least=1)
    guesses = min(n, number_of_people("guesses", guesses, least=1))
    if not limit > 0:
        raise ParameterError("limit", must="be above 0", got=limit)
    if not 0 <= certain <= 1:
        raise ParameterError("certain", must="be in [0, 1]", got=certain)

    def hits(log_ratio: float) -> float:
        ratio = math.exp(log_ratio)
        chance = min(1.0, max(0.0, tail(ratio)))
        return ratio * float(chance_unrivalled_between(0.0, chance, n=n, guesses=guesses))

    top = math.log(limit)
    points = sorted({math.log(point) for point in breaks if 0 < point < limit} | {min(0.0, top)})
    ends = [points[0] - _FAR, *points]
    while ends[-1] < top and (math.isfinite(top) or hits(ends[-1]) > _NOTHING * hits(points[0])):
        ends.append(min(top, ends[-1] + 2))
    found = [
        quad(hits, low, high, epsabs=0, epsrel=_TOLERANCE, limit=200, full_output=True)[:2]
        for low, high in pairwise(ends)
    ]
    total, error = (math.fsum(column) for column in zip(*found, strict=True))
    if not error <= 1e-9 * total:
        raise ParameterError(
            "tail", must="be smooth between the breaks", hint="Name its kinks and jumps in breaks."
        )
    return min(1.0, certain + total)


def cell_probabilities(
    target: Any, decoy: Any, *, n: int, guesses: int = 1, cells: int = 1 << 16
) -> tuple[float, float]:
    """Enclose the success of the best attack, for continuous laws on a line.

    The line is cut into cells. An attacker who sees only the cell does no better: this gives the
    lower value. If P is at most t Q on a cell, replacing P by t Q there makes the attack no worse:
    this gives the upper value, with t the larger of the ratios of densities at the ends of the
    cell.

    Holds when the ratio of densities is largest at an end of every cell.
    Direction: encloses the truth, up to the accuracy of ``cdf`` and ``sf``; the width falls as
        1/cells.
    Reference: su2025, Theorem 4, on the cells.

    Args:
        target: The law P of the report that is looked for: a frozen continuous distribution of
            scipy.stats, or anything else with ``pdf``, ``cdf``, ``sf`` and ``ppf``.
        decoy: The law Q of the others.
        n: The number of reports.
        guesses: The number of reports that the attacker may point at.
        cells: The number of cells, equally likely under half P, half Q.

    Example:
        >>> from scipy import stats
        >>> low, high = cell_probabilities(stats.norm(1), stats.norm(0), n=10)
        >>> round(low, 4), round(high, 4)
        (0.3409, 0.341)
    """
    whole_number("cells", cells, least=2)
    quantiles = np.linspace(0, 1, cells // 2 + 1)
    edges = np.unique(np.concatenate([target.ppf(quantiles), decoy.ppf(quantiles)]))
    p, q = (_masses(law, edges) for law in (target, decoy))
    lower = LikelihoodRatio.of(p, q).probability(n=n, guesses=guesses)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inside, at_ends = p / q, target.pdf(edges) / decoy.pdf(edges)
        # For cells with an undefined ratio, as at infinity, the attacker is told the answer.
        largest = np.maximum(np.maximum(at_ends[:-1], at_ends[1:]), inside)
        known = np.isfinite(largest)
        above = LikelihoodRatio.of_measures(
            largest[known] * q[known], q[known], certain=float(p[~known].sum())
        )
    return lower, above.probability(n=n, guesses=guesses)


def _masses(law: Any, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probabilities of the cells, from the nearer end of the law."""
    below, above = law.cdf(edges), law.sf(edges)
    return np.asarray(np.where(below[:-1] > 0.5, above[:-1] - above[1:], np.diff(below)))


def laplace_probability(*, epsilon_local: float, x: float, n: int, guesses: int = 1) -> float:
    """The blanket bound for continuous Laplace noise of scale 1/epsilon_local on [0, 1].

    With d = |x - 1/2| the ratio of P = R(x) to the blanket is e^(epsilon_local (1/2 + d)) on one
    side, e^(epsilon_local (1/2 - d)) on the other, and falls from one to the other between.

    Holds when all use this noise with fresh draws and the order is uniform.
    Direction: upper, numerical to 1e-12. A deployed mechanism draws from a grid: see
        `croupier.leakage.reidentification`.
    Reference: su2025, Example VI.1, with the two missing factors n.

    Example:
        >>> round(laplace_probability(epsilon_local=1.0, x=0.25, n=10), 12)
        0.207769628685
    """
    if not 0 < epsilon_local <= 100:
        raise ParameterError("epsilon_local", must="be in (0, 100]", got=epsilon_local)
    if not 0 <= x <= 1:
        raise ParameterError("x", must="be in [0, 1]", got=x)
    distance = abs(x - 0.5)
    high = math.exp(epsilon_local * (0.5 + distance))
    low = math.exp(epsilon_local * (0.5 - distance))
    blanket = math.exp(-epsilon_local / 2)

    def tail(ratio: float) -> float:
        return (
            blanket
            if ratio < low
            else math.exp(-epsilon_local * (0.5 + distance) / 2) / (2 * math.sqrt(ratio))
        )

    return tail_probability(tail, limit=high, n=n, guesses=guesses, breaks=[low])
