"""A test of whether counts come from a claimed law."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

__all__ = ["law_p_value"]


def law_p_value(counts: ArrayLike, probabilities: ArrayLike) -> float:
    """The p-value of independent draws with these counts under the claimed law.

    Each count is binomial; the smallest of the exact two-sided tails, times the number of cells
    (Bonferroni), is a p-value at every sample size, however rare the cells.

    >>> law_p_value([508, 492], [0.5, 0.5]) > 0.5
    True
    >>> law_p_value([608, 392], [0.5, 0.5]) < 1e-10
    True
    """
    observed = np.asarray(counts, dtype=np.float64)
    chance = np.asarray(probabilities, dtype=np.float64)
    total = observed.sum()
    # P(X >= c) and P(X <= c) as regularised incomplete beta functions, one at the borders.
    above = np.where(
        observed > 0, special.betainc(np.maximum(observed, 1), total - observed + 1, chance), 1
    )
    rest = np.maximum(total - observed, 1)
    below = np.where(observed < total, special.betainc(rest, observed + 1, 1 - chance), 1)
    tails = np.minimum(above, below)
    return float(min(1.0, 2 * observed.size * tails.min()))
