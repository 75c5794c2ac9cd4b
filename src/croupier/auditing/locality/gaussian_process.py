"""A Gaussian process over public places: everybody's value, guessed from all reports at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.datasets.community import Community
from croupier.errors import ParameterError
from croupier.numerics.keystream import Keystream, generator

__all__ = ["field_guesses", "guessed_share"]

_MOST_SITES = 2_000
_NOISE = 1.0
"""The variance of one report, as a multiple of that of the process."""


def guessed_share(
    community: Community,
    batch: NDArray[Any],
    *,
    length: float,
    rng: Keystream | None = None,
    insecure_seed: int | None = None,
) -> float:
    """Return the share of people whose value is the likeliest at their place by the process.

    In a community with more than 2,000 places, that many are drawn and the people there attacked.

    Direction: a measurement; a better attack may find more.

    Reference: meehan2022, Figure 1; it does not say which kernel, so the scale is a parameter.
    """
    sites = np.arange(len(community.sites))
    if len(sites) > _MOST_SITES:
        sites = np.sort(generator(rng, insecure_seed).permutation(sites)[:_MOST_SITES])
    people = np.isin(community.site, sites)
    where = np.searchsorted(sites, community.site[people])
    guess = field_guesses(
        community.sites[sites], where, batch[people], k=len(community.labels), length=length
    )
    return float((guess[where] == community.values[people]).mean())


def field_guesses(
    sites: NDArray[np.float64],
    where: NDArray[np.int64],
    batch: NDArray[Any],
    *,
    k: int,
    length: float,
) -> NDArray[np.int64]:
    """Return the likeliest value at each place, given all reports.

    Each value has a Gaussian process with covariance exp(-d^2 / (2 length^2)) at distance d; a
    report is 1 for its own value and 0 for the others, plus unit noise. With K the covariance of
    the places and m their numbers of reports, the mean given the averages a of reports is

        K (K + diag(1/m))^-1 (a - 1/k).

    Args:
        sites: The places, one row each, with at least one report each.
        where: The number of the place of each report.
        batch: The reports.
        k: The number of values.
        length: The distance over which people are alike.

    Example:
        >>> line = np.array([[0.0], [1.0], [9.0], [10.0]])
        >>> field_guesses(line, np.arange(4), np.array([0, 0, 1, 1]), k=2, length=1.0).tolist()
        [0, 0, 1, 1]
    """
    from scipy.linalg import cho_factor, cho_solve  # noqa: PLC0415 - slow to load
    from scipy.spatial.distance import cdist  # noqa: PLC0415 - as above

    if not length > 0:
        raise ParameterError("length", must="be positive", got=length)
    counts = np.bincount(where * k + batch, minlength=len(sites) * k).reshape(-1, k)
    reports = counts.sum(axis=1)
    covariance = np.exp(-0.5 * cdist(sites, sites, "sqeuclidean") / length**2)
    noisy = cho_factor(covariance + np.diag(_NOISE / reports))
    mean = covariance @ cho_solve(noisy, counts / reports[:, None] - 1 / k)
    return np.asarray(mean.argmax(axis=1))
