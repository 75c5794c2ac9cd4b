"""Sensitivity: the change of a rank distance when the members of a group change places."""

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.model.adversary import Adversary, Goal, Knowledge, View
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.numerics.rounding import float_above
from croupier.numerics.validate import array_given
from croupier.shufflers.members import pieces
from croupier.shufflers.theta import checked_theta
from croupier.shufflers.truncated_geometric import thetas_given

__all__ = ["Grouping", "component_sensitivities", "composed_alpha", "connected_components"]
__all__ += ["group_sensitivities", "group_widths", "hamming_guarantee", "hamming_sensitivities"]
__all__ += ["kendall_guarantee", "width_sensitivity"]

_PUBLIC = "groups, reference order and theta chosen from public data only"


class Grouping(Protocol):
    """Groups of people: group g is ``members[starts[g]:starts[g + 1]]``, its owner included."""

    @property
    def n(self) -> int:
        """The number of people."""

    @property
    def starts(self) -> NDArray[np.int64]:
        """The offsets at which each group starts, and the one at which the last ends."""

    @property
    def members(self) -> NDArray[Any]:
        """The people of all groups, one group after the other."""


def group_sensitivities(groups: Grouping, position: ArrayLike) -> NDArray[np.int64]:
    """The most inversions that exchanging reports within a group adds or takes away, by group.

        Delta = g (g - 1) / 2 + 2 sum over i < g of (p(i+1) - p(i) - 1) min(i, g - i)

    where p(1) < … < p(g) are the places (`position`) of the g members in the reference order. Of
    the pairs inside the group all may turn over; an entry between p(i) and p(i+1) may turn over
    with min(i, g - i) members on either side; one outside with none. All of it happens at once
    between the group sorted and the group reversed, if half of its entries are above and half
    below all the others.

    Direction: exact. The square of the width that bounds it in the paper, `width_sensitivity`, is
        often far larger.

    Reference: meehan2022, Section 4.4, where the sensitivity is bounded by the width.

    Example:
        >>> from types import SimpleNamespace
        >>> members = np.array([0, 3, 0, 4, 7])
        >>> groups = SimpleNamespace(n=8, starts=np.array([0, 2, 5]), members=members)
        >>> group_sensitivities(groups, np.arange(8))
        array([ 5, 13])
    """
    found = np.zeros(_number(groups), dtype=np.int64)
    for some, starts, places in _sorted_places(groups, position):
        sizes = np.diff(starts)
        rank = np.arange(1, len(places) + 1) - np.repeat(starts[:-1], sizes)
        turned = np.minimum(rank, np.repeat(sizes, sizes) - rank)
        # The last member of a group has turned = 0, so gaps between groups count nothing.
        gaps = np.diff(places, append=0) - 1
        sums = np.concatenate(([0], np.cumsum(gaps * turned)))
        found[some] = sizes * (sizes - 1) // 2 + 2 * (sums[starts[1:]] - sums[starts[:-1]])
    return found


def group_widths(groups: Grouping, position: ArrayLike) -> NDArray[np.int64]:
    """The distance between the first and the last member in the reference order, by group.

    >>> from types import SimpleNamespace
    >>> groups = SimpleNamespace(n=8, starts=np.array([0, 3]), members=np.array([0, 4, 7]))
    >>> group_widths(groups, np.arange(8))
    array([7])
    """
    found = np.zeros(_number(groups), dtype=np.int64)
    for some, starts, places in _places(groups, position):
        inhabited = np.diff(starts) > 0
        heads = starts[:-1][inhabited]
        if len(heads):
            spread = np.maximum.reduceat(places, heads) - np.minimum.reduceat(places, heads)
            found[some][inhabited] = spread
    return found


def width_sensitivity(width: int) -> int:
    """The bound that the paper uses for the sensitivity: w (w + 1) / 2.

    It is reached if every place in between, except perhaps the middle one, is a member's.

    >>> width_sensitivity(7)
    28
    """
    return width * (width + 1) // 2


def hamming_sensitivities(groups: Grouping) -> NDArray[np.int64]:
    """The most reports that exchanging those of a group brings in or out of place: its size.

    This holds in every reference order; one person alone has nobody to exchange with.
    """
    sizes = np.diff(groups.starts)
    return np.where(sizes > 1, sizes, 0)


def connected_components(groups: Grouping) -> NDArray[np.int64]:
    """The number of each person's component: people joined by a chain of groups.

    >>> from types import SimpleNamespace
    >>> groups = SimpleNamespace(n=5, starts=np.array([0, 2, 4]), members=np.array([0, 3, 3, 1]))
    >>> connected_components(groups)
    array([0, 0, 1, 0, 2])
    """
    from scipy.sparse import coo_array, csgraph  # noqa: PLC0415 - slow to import

    sizes = np.diff(groups.starts)
    first = groups.members[groups.starts[:-1][sizes > 0]]
    joined = coo_array(
        (
            np.ones(len(groups.members), dtype=np.int32),
            (np.repeat(first, sizes[sizes > 0]), groups.members),
        ),
        shape=(groups.n, groups.n),
    )
    labels = csgraph.connected_components(joined.tocsr(), directed=False)[1]
    return np.asarray(labels, dtype=np.int64)


def component_sensitivities(
    groups: Grouping, position: ArrayLike, components: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The largest sensitivity of a group, by component; each component fills consecutive places."""
    found = np.zeros(int(components.max(initial=-1)) + 1, dtype=np.int64)
    inhabited = np.diff(groups.starts) > 0
    component = components[groups.members[groups.starts[:-1][inhabited]]]
    np.maximum.at(found, component, group_sensitivities(groups, position)[inhabited])
    return found


def kendall_guarantee(
    groups: Grouping,
    position: ArrayLike,
    *,
    theta: ArrayLike,
    components: NDArray[np.int64] | None = None,
) -> Guarantee:
    """Mallows shuffling hides the order of the reports within each group, up to alpha.

        P(z | y) <= e^alpha P(z | y'),    alpha = max over groups of theta Delta

    for every batch z and all reports y and y' that differ by an exchange within one group, where
    Delta is the group's sensitivity. `groups` may be any, not only those theta was chosen for.
    With `components` each has its `theta` and is shuffled on its own in consecutive places: the
    factor is that of the group's component, and infinite for a group in more than one of them.
    If theta = 0, the order within a component is uniform, and alpha = 0.

    Holds when the shuffler follows the law exactly, and groups, order and theta are public.

    Direction: upper, and reached if all reports differ; rounded up.

    Reference: meehan2022, Theorems 4.3 and 4.4, with the exact sensitivity.

    Example:
        >>> from types import SimpleNamespace
        >>> groups = SimpleNamespace(n=8, starts=np.array([0, 3]), members=np.array([0, 4, 7]))
        >>> print(kendall_guarantee(groups, np.arange(8), theta=0.1))
        alpha <= 1.31
    """
    labels = np.zeros(groups.n, dtype=np.int64) if components is None else components
    thetas = thetas_given(theta)
    thetas = np.broadcast_to(thetas, (int(labels.max(initial=0)) + 1,))
    if not _inside_components(groups, labels):
        return _alpha(math.inf, "Theorems 4.3 and 4.4")
    sensitivities = component_sensitivities(groups, position, labels)
    exposed = sensitivities > 0
    return _alpha(_largest_product(thetas[exposed], sensitivities[exposed]), "Theorems 4.3 and 4.4")


def hamming_guarantee(groups: Grouping, *, theta: float) -> Guarantee:
    """Shuffling by Hamming distance hides the order within each group, up to theta times its size.

    Conditions and direction are those of `kendall_guarantee`.

    Reference: meehan2022, Theorems 4.3 and 4.4. The paper lets the sensitivity of every rank
    distance grow with the width; this one does not depend on it.
    """
    largest = hamming_sensitivities(groups).max(initial=0)
    exposed = np.array([largest]) if largest else np.zeros(0, dtype=np.int64)
    checked_theta(theta)
    thetas = np.full(len(exposed), theta)
    return _alpha(_largest_product(thetas, exposed), "Theorems 4.3 and 4.4")


def composed_alpha(guarantees: Sequence[Guarantee]) -> Guarantee:
    """The guarantee of several batches of the same reports, shuffled independently: alphas add.

    Holds when all guarantees are for the same groups.

    Direction: upper; the sum is rounded up.

    Reference: meehan2022, Theorem A.2.

    Example:
        >>> from types import SimpleNamespace
        >>> groups = SimpleNamespace(n=8, starts=np.array([0, 3]), members=np.array([0, 4, 7]))
        >>> once = kendall_guarantee(groups, np.arange(8), theta=0.125)
        >>> print(once, composed_alpha([once, once]), sep=", ")
        alpha <= 1.63, alpha <= 3.25
    """
    values = [guarantee.value for guarantee in guarantees]
    if any(
        guarantee.metric is not Metric.ALPHA or guarantee.direction is Direction.LOWER
        for guarantee in guarantees
    ):
        raise ParameterError("guarantees", must="bound alpha from above")
    total = math.inf if math.inf in values else float_above(sum(map(Fraction, values), Fraction(0)))
    return _alpha(total, "Theorem A.2", "the same groups in every batch, independent randomness")


def _alpha(value: float, theorem: str, *assumptions: str) -> Guarantee:
    return Guarantee(
        metric=Metric.ALPHA,
        value=value,
        direction=Direction.UPPER,
        adversary=Adversary(
            sees=frozenset({View.BATCH}), knows=Knowledge.EVERYONE_ELSE, wants=Goal.LINK
        ),
        theorem=f"Meehan et al. 2022, {theorem}",
        assumptions=(_PUBLIC, *assumptions),
    )


def _largest_product(thetas: NDArray[np.float64], sensitivities: NDArray[np.int64]) -> float:
    """The largest theta * sensitivity, rounded up once."""
    for theta in np.unique(thetas).tolist():
        checked_theta(theta)
    products = thetas * sensitivities
    largest = float(products.max(initial=0.0))
    if math.isinf(largest):
        return math.inf
    close = products >= largest * (1 - 1e-12)
    pairs = set(zip(thetas[close].tolist(), sensitivities[close].tolist(), strict=True))
    return float_above(max((Fraction(a) * b for a, b in pairs), default=Fraction(0)))


def _inside_components(groups: Grouping, labels: NDArray[np.int64]) -> bool:
    of_member = labels[groups.members]
    same_group = np.ones(len(of_member), dtype=np.bool_)
    same_group[groups.starts[:-1][np.diff(groups.starts) > 0]] = False
    return bool((of_member[1:] == of_member[:-1])[same_group[1:]].all())


def _number(groups: Grouping) -> int:
    return len(groups.starts) - 1


def _positions(groups: Grouping, position: ArrayLike) -> NDArray[np.int64]:
    must = "give the place of each person, from 0 on"
    places = array_given("position", position, must=must)
    if places.shape != (groups.n,) or places.dtype.kind not in "iu" or places.min(initial=0) < 0:
        raise ParameterError("position", must=must)
    return places.astype(np.int64)


def _places(
    groups: Grouping, position: ArrayLike
) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.int64]]]:
    """Groups in portions: their range, the start of each, and the places of its members."""
    places = _positions(groups, position)
    starts = np.asarray(groups.starts, dtype=np.int64)
    for first, last in pieces(starts):
        members = groups.members[starts[first] : starts[last]]
        yield slice(first, last), starts[first : last + 1] - starts[first], places[members]


def _sorted_places(
    groups: Grouping, position: ArrayLike
) -> Iterator[tuple[slice, NDArray[np.int64], NDArray[np.int64]]]:
    """The same portions, with the places of each group ascending."""
    span = int(_positions(groups, position).max(initial=0)) + 1
    for some, starts, places in _places(groups, position):
        group = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        keys = group * span + places
        keys.sort()
        if (keys[1:] == keys[:-1]).any():
            raise ParameterError("groups", must="name each person of a group once")
        yield some, starts, keys - group * span
