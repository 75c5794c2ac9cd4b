"""Synthetic patients of hospitals in towns, and their ways to pay."""

import numpy as np

from croupier.datasets.community import Community

__all__ = ["hospital"]

_TOWNS, _HOSPITALS = 60, 400
_REGION = 1_000.0
_TOWN = 3.0
_EVENNESS = 0.7
_MIDDLE_AMOUNTS = (400.0, 1_500.0, 4_000.0, 10_000.0, 25_000.0)
_SPREAD = 0.4


def hospital(*, n: int = 29_000, seed: int = 0) -> Community:
    """Synthetic: patients of 400 hospitals in 60 towns; the value is one of five ways to pay.

    A town's shares of the ways to pay follow a Dirichlet law, so that they differ from town to
    town. Hospitals, in km, are public. The amount that is paid depends on the way to pay, and is
    privileged: an attacker may know it, the shuffler does not use it.

    Example:
        >>> len(hospital(n=1000).labels)
        5
    """
    rng = np.random.default_rng(seed)
    ways = len(_MIDDLE_AMOUNTS)
    shares = rng.dirichlet(np.full(ways, _EVENNESS), size=_TOWNS)
    towns = _REGION * rng.random((_TOWNS, 2))
    popularity = rng.pareto(3.0, size=_TOWNS) + 1
    # Every town has a hospital; large towns have most of the others.
    others = rng.choice(_TOWNS, size=_HOSPITALS - _TOWNS, p=popularity / popularity.sum())
    town_of = np.concatenate([np.arange(_TOWNS), others])
    hospitals = np.round(towns[town_of] + _TOWN * rng.standard_normal((_HOSPITALS, 2)), 1)
    beds = rng.gamma(3.0, size=_HOSPITALS)
    visited = rng.choice(_HOSPITALS, size=n, p=beds / beds.sum())
    way = (rng.random(n)[:, None] > np.cumsum(shares, axis=1)[town_of[visited], :-1]).sum(axis=1)
    amount = np.asarray(_MIDDLE_AMOUNTS)[way] * np.exp(_SPREAD * rng.standard_normal(n))
    return Community(
        labels=("charity", "state", "self", "employer", "private"),
        values=way,
        places=hospitals[visited],
        privileged=np.log(amount),
        synthetic=True,
    )
