"""The limit of the chance of guessing in large batches: an approximation, not a bound."""

import math

import numpy as np
from scipy import special

from croupier.errors import ParameterError
from croupier.numerics.validate import number_of_people, whole_number

__all__ = ["expected_normal_maximum", "limiting_vulnerability"]

_STEP = 0.01

_MOST_VALUES = 10**15


def expected_normal_maximum(k: int) -> float:
    """E[max of k independent standard normals], by the trapezoidal rule on its density.

    The integrand x k phi(x) Phi(x)^(k-1) is analytic and falls like a Gaussian, so that the rule
    converges faster than any power of its step.

    Direction: nearest, to 1e-12 for k up to 1e15.

    >>> round(expected_normal_maximum(3), 10)
    0.8462843753
    """
    k = whole_number("k", k, least=1, most=_MOST_VALUES)
    point = np.arange(-12.0, 40.0, _STEP)
    log_density = math.log(k) - 0.5 * point * point - 0.5 * math.log(2 * math.pi)
    log_density += (k - 1) * special.log_ndtr(point)
    return _STEP * math.fsum((point * np.exp(log_density)).tolist())


def limiting_vulnerability(*, k: int, n: int, truth: float = 1.0) -> float:
    """Approximate chance of guessing one of k uniform values from n shuffled k-RR reports.

        1/k + lambda m_k / sqrt(k n),   lambda = (k truth - 1)/(k - 1),

    where m_k is `expected_normal_maximum` and `truth` the chance that a report is the value.

    Holds in the limit n -> infinity for fixed k.
    Direction: none. For a proved number, see `single_target.vulnerability`.
    Reference: jurado2023, Theorem 22, gives the order of decay. Its constant with f = 1 puts
    sqrt(ln k) in the place of m_k and falls below the truth from k = 9 on.

    >>> round(limiting_vulnerability(k=3, n=1000), 4)
    0.3488
    """
    k = whole_number("k", k, least=2, most=_MOST_VALUES)
    n = number_of_people("n", n, least=1, most=10**18)
    if not 1 / k <= truth <= 1:
        raise ParameterError("truth", must="be in [1/k, 1]", got=truth)
    share = (k * truth - 1) / (k - 1)
    return 1 / k + share * expected_normal_maximum(k) / math.sqrt(k * n)
