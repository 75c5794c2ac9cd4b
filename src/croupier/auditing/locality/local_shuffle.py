"""Orders that an evaluation compares, from no shuffling to a uniform shuffle."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from croupier.datasets.community import Community
from croupier.model.shuffler import Shuffler
from croupier.shufflers.groups import Groups
from croupier.shufflers.mallows import MallowsShuffler
from croupier.shufflers.ordering import best_order, place_of
from croupier.shufflers.sensitivity import (
    component_sensitivities,
    connected_components,
)
from croupier.shufflers.uniform import UniformShuffler

__all__ = ["Setting", "among_nearest", "ladder", "near_sites", "no_shuffle"]
__all__ += ["uniform_shuffle", "within_radius"]


@dataclass(frozen=True, kw_only=True)
class Setting:
    """One way to shuffle a community.

    Attributes:
        name: The name of the shuffle.
        shuffler: The law of the order.
        alpha: The proved alpha of the groups; infinite without a shuffle.
        group: The number of people per group, on average over people.
    """

    name: str
    shuffler: Shuffler
    alpha: float
    group: float


def no_shuffle() -> Setting:
    """Leave reports in their order: the local model."""
    unmoved = MallowsShuffler(theta=math.inf)
    return Setting(name="no shuffling", shuffler=unmoved, alpha=math.inf, group=1.0)


def uniform_shuffle(community: Community) -> Setting:
    """Put everybody into one group: the shuffle model."""
    everybody = float(len(community))
    return Setting(name="uniform", shuffler=UniformShuffler(), alpha=0.0, group=everybody)


def within_radius(community: Community, radius: float, *, alpha: float, unit: str = "") -> Setting:
    """Return a Mallows shuffle whose groups are those within the radius of each person's place."""
    near = Groups.by_radius(community.sites, radius)
    groups = _people_of(near, community.site)
    components = connected_components(groups)

    def cost(_: Groups, site_position: NDArray[np.int64]) -> int:
        """Return the largest sensitivity of people, each component shuffled by itself."""
        order = np.lexsort((site_position[community.site], components))
        return int(component_sensitivities(groups, place_of(order), components).max())

    found = best_order(near, community.sites, cost=cost)
    order = np.argsort(found.position[community.site], kind="stable")
    sizes = groups.sizes[community.site]
    return _mallows(f"r = {radius:g} {unit}".strip(), groups, order, alpha, float(sizes.mean()))


def among_nearest(community: Community, size: int, *, alpha: float) -> Setting:
    """Return a Mallows shuffle with groups of each person and the nearest others, `size` in all."""
    groups = Groups.nearest(community.places, size - 1)
    order = best_order(groups, community.places).order
    return _mallows(f"{size:,} nearest", groups, order, alpha, float(size))


def ladder(
    community: Community,
    *,
    alpha: float,
    radii: Iterable[float] = (),
    sizes: Iterable[int] = (),
    unit: str = "",
) -> Iterator[Setting]:
    """List settings from no shuffling, by growing groups of one alpha, to a uniform shuffle.

    >>> line = np.arange(4.0)
    >>> four = Community(labels=("a", "b"), values=np.arange(4) % 2, places=line, synthetic=True)
    >>> [step.name for step in ladder(four, alpha=1.0, radii=[0, 1.5], unit="m")]
    ['no shuffling', 'r = 0 m', 'r = 1.5 m', 'uniform']
    """
    yield no_shuffle()
    for radius in radii:
        yield within_radius(community, radius, alpha=alpha, unit=unit)
    for size in sizes:
        yield among_nearest(community, size, alpha=alpha)
    yield uniform_shuffle(community)


def near_sites(community: Community, radius: float) -> Groups:
    """Return for each place those within the radius; with contacts, those so many contacts away."""
    if community.contacts is not None:
        return Groups.by_graph_distance(community.contacts, int(radius))
    return Groups.by_radius(community.sites, radius)


def _mallows(
    name: str, groups: Groups, order: NDArray[np.int64], alpha: float, group: float
) -> Setting:
    shuffler = MallowsShuffler.for_alpha(groups, alpha=alpha, reference=order)
    proved = shuffler.guarantee(groups).value
    return Setting(name=name, shuffler=shuffler, alpha=proved, group=group)


def _people_of(near: Groups, site: NDArray[np.int64]) -> Groups:
    """Return the people at the places of each group; people of one place share one group."""
    people = np.argsort(site, kind="stable")
    counts = np.bincount(site, minlength=near.n)
    first = np.cumsum(counts) - counts
    sizes = counts[near.members]
    ends = np.cumsum(sizes)
    shift = np.repeat(first[near.members] - (ends - sizes), sizes)
    starts = np.concatenate([[0], ends])[near.starts]
    return Groups(len(site), starts, people[np.arange(ends[-1]) + shift])
