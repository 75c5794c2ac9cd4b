"""A graph of friends, who are alike."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from croupier.datasets.community import Community

__all__ = ["friendship"]

_BLOCK = 150
_NEARER = 0.35
"""The factor by which friends are rarer for each block further away."""
_LIKE = 0.7
"""The share of friends who are looked for among those with the same value."""
_FRIENDS = 12
_MAP_AXES = 2


def friendship(*, n: int = 9_000, seed: int = 0) -> Community:
    """Synthetic: a degree-corrected block model on a line; the value is one of two, and contagious.

    Blocks of 150 lie side by side. Everybody names 13 friends on average, mostly in their own
    block or the next, popular people more often than others, and seven in ten among people of the
    same value. The graph is public; so is the map of it: two eigenvectors of its Laplacian.

    Example:
        >>> friendship(n=600).contacts.shape
        (600, 600)
    """
    from scipy.sparse import coo_array  # noqa: PLC0415 - slow to load

    rng = np.random.default_rng(seed)
    blocks = max(1, n // _BLOCK)
    block = np.minimum(np.arange(n) // _BLOCK, blocks - 1)
    value = (rng.random(n) < _block_rates(blocks, rng)[block]).astype(np.int64)
    popularity = rng.lognormal(sigma=0.7, size=n)
    named = 1 + rng.poisson(_FRIENDS * popularity / popularity.mean())
    who = np.repeat(np.arange(n), named)
    away = (rng.geometric(1 - _NEARER, size=len(who)) - 1) * rng.choice([-1, 1], size=len(who))
    where = np.clip(block[who] + away, 0, blocks - 1)
    like = rng.random(len(who)) < _LIKE
    wanted = np.where(like, value[who], rng.integers(2, size=len(who)))
    whom = _popular(popularity, 2 * block + value, 2 * where + wanted, rng)
    kept = (whom >= 0) & (whom != who)
    half = coo_array((np.ones(kept.sum()), (who[kept], whom[kept])), shape=(n, n)).tocsr()
    contacts: Any = ((half + half.T) > 0).astype(np.float64).tocsr()
    numbers = rng.permutation(n)  # the order of the rows must reveal nothing
    contacts = contacts[numbers][:, numbers]
    return Community(
        labels=("no", "yes"),
        values=value[numbers],
        places=_map(contacts),
        contacts=contacts,
        synthetic=True,
    )


def _block_rates(blocks: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The share of "yes" in each block: a walk along the line, drawn back to a half."""
    logit = np.zeros(blocks)
    for place in range(1, blocks):
        logit[place] = 0.8 * logit[place - 1] + 1.3 * rng.standard_normal()
    return np.asarray(1 / (1 + np.exp(-logit)))


def _popular(
    popularity: NDArray[np.float64],
    kind: NDArray[np.int64],
    wanted: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Draw a person of each wanted kind, by popularity; -1 if there is none."""
    people = np.argsort(kind, kind="stable")
    ends = np.cumsum(np.bincount(kind, minlength=int(wanted.max()) + 1))
    starts = np.concatenate([[0], ends[:-1]])
    mass = np.concatenate([[0.0], np.cumsum(popularity[people])])
    low, high = mass[starts[wanted]], mass[ends[wanted]]
    draw = low + rng.random(len(wanted)) * (high - low)
    place = np.searchsorted(mass, draw, side="right") - 1
    found = people[np.clip(place, starts[wanted], np.maximum(ends[wanted] - 1, 0))]
    return np.where(high > low, found, -1)


def _map(contacts: Any) -> NDArray[np.float64]:
    """Two eigenvectors of the normalised Laplacian, scaled to a spread of one."""
    from scipy.sparse.csgraph import laplacian  # noqa: PLC0415 - slow to load
    from scipy.sparse.linalg import eigsh  # noqa: PLC0415 - as above

    # A fixed start, so that the same seed gives the same map.
    start = np.cos(np.arange(contacts.shape[0]))
    matrix: Any = laplacian(contacts, normed=True)
    values, vectors = eigsh(matrix.tocsc(), k=_MAP_AXES + 1, sigma=-1e-4, v0=start)
    degrees = np.sqrt(np.asarray(contacts.sum(axis=1)).ravel())
    axes = vectors[:, np.argsort(values)[1:]] / np.maximum(degrees, 1)[:, None]
    return np.asarray(axes / axes.std(axis=0))
