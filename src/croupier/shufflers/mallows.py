"""Mallows shuffling: orders that stay close to a reference order."""

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.model.guarantee import Guarantee
from croupier.model.shuffler import Shuffler
from croupier.numerics.keystream import Keystream, stream
from croupier.numerics.validate import array_given
from croupier.shufflers.permutation_code import decode
from croupier.shufflers.sensitivity import (
    Grouping,
    component_sensitivities,
    connected_components,
    kendall_guarantee,
)
from croupier.shufflers.theta import checked_theta, theta_for
from croupier.shufflers.truncated_geometric import thetas_given, truncated_geometric

__all__ = ["MallowsShuffler", "around_reference", "log_normalizer"]


@dataclass(frozen=True, eq=False)
class MallowsShuffler(Shuffler):
    """A shuffler whose orders have probability proportional to e^(-theta inversions).

        z[s(k)] = y[s(t(k))],    P(t) proportional to e^(-theta inv(t)),

    where y are the reports, z is the batch, s is the `reference` order and inv(t) is the number of
    pairs that t puts the other way round than s does. With `components`, the people of each one are
    shuffled among themselves by a separate law of this kind, in the order in which the reference
    lists them.

    Holds when reference, components and theta were chosen without looking at the reports, from
    public data. The law is exact for the given double `theta`: a coin is decided by as many uniform
    bits as its probability needs, so that no error adds to alpha.

    Args:
        theta: Closeness to the reference: 0 is uniform, infinity changes nothing. One number, or
            one per component.
        reference: The people, each once, in an order in which groups lie close together; by
            default as the reports come.
        components: For each person the number of the component, counted from 0.

    Reference: meehan2022, Algorithm 1. Step 8 is read from left to right, and distance is between
    lists; other readings break the guarantee.

    Example:
        >>> shuffler = MallowsShuffler(theta=1.0, reference=[4, 1, 2, 7, 3, 0, 5, 6])
        >>> shuffler.order(8, insecure_seed=7)
        array([0, 1, 2, 3, 4, 6, 5, 7])
    """

    name = "mallows"

    theta: ArrayLike
    reference: ArrayLike | None = None
    components: ArrayLike | None = None
    _ends: NDArray[np.int64] | None = field(init=False, default=None, repr=False)
    _thetas: NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        reference = None if self.reference is None else _permutation("reference", self.reference)
        if self.components is not None:
            must = "give each person a number from 0 to n - 1"
            labels = np.array(array_given("components", self.components, must=must))
            reference = np.arange(labels.size) if reference is None else reference
            if (
                labels.dtype.kind not in "iu"
                or labels.shape != reference.shape
                or not 0 <= labels.min(initial=0) <= labels.max(initial=0) < max(1, labels.size)
            ):
                raise ParameterError("components", must=must)
            # Each component becomes a block of consecutive places.
            reference = reference[np.argsort(labels[reference], kind="stable")]
            object.__setattr__(self, "components", labels)
            object.__setattr__(self, "_ends", np.cumsum(np.bincount(labels)))
        thetas = np.atleast_1d(thetas_given(self.theta))
        for theta in np.unique(thetas):
            checked_theta(float(theta))
        blocks = 1 if self._ends is None else len(self._ends)
        if thetas.shape not in {(1,), (blocks,)}:
            raise ParameterError("theta", must="be one number, or one for each component")
        object.__setattr__(self, "reference", reference)
        object.__setattr__(self, "_thetas", np.broadcast_to(thetas, (blocks,)))

    @classmethod
    def for_alpha(
        cls,
        groups: Grouping,
        *,
        alpha: float,
        reference: ArrayLike | None = None,
        by_component: bool = True,
    ) -> "MallowsShuffler":
        """The shuffler closest to the reference whose guarantee for `groups` is at most `alpha`.

        People who share a group with nobody stay in place.

        Groups in different components of overlapping groups need not be mixed with each other, so
        each component has the theta that its own sensitivity allows.

        Example:
            >>> from types import SimpleNamespace
            >>> couples = SimpleNamespace(n=4, starts=np.array([0, 2, 4]), members=np.arange(4))
            >>> shuffler = MallowsShuffler.for_alpha(couples, alpha=1.0)
            >>> shuffler.theta, str(shuffler.guarantee(couples))
            (array([1., 1.]), 'alpha <= 1.00')
        """
        labels = connected_components(groups) if by_component else np.zeros(groups.n, dtype=int)
        uniform = cls(theta=0.0, reference=reference, components=labels)
        sensitivities = component_sensitivities(groups, uniform.position(groups.n), labels)
        values, index = np.unique(sensitivities, return_inverse=True)
        thetas = np.array([theta_for(alpha, sensitivity) for sensitivity in values.tolist()])
        return cls(theta=thetas[index], reference=reference, components=labels)

    def order(
        self, n: int, *, rng: Keystream | None = None, insecure_seed: int | None = None
    ) -> NDArray[np.int64]:
        """Draw an order."""
        rng = stream(rng, insecure_seed)
        reference = self._reference(n)
        ends = np.array([n]) if self._ends is None else self._ends
        sizes = np.diff(ends, prepend=0)
        # The number of places left in the same block, this one included, so that blocks do not mix.
        bounds = np.repeat(ends, sizes) - np.arange(n)
        thetas, index = np.unique(self._thetas, return_inverse=True)
        if len(thetas) == 1:
            code = truncated_geometric(bounds, float(thetas[0]), rng=rng)
        else:
            code = np.empty(n, dtype=np.int64)
            which = np.repeat(index, sizes)
            parts = np.cumsum(np.bincount(which, minlength=len(thetas)))[:-1]
            sorted_places = np.split(np.argsort(which, kind="stable"), parts)
            for theta, places in zip(thetas.tolist(), sorted_places, strict=True):
                code[places] = truncated_geometric(bounds[places], theta, rng=rng)
        moves = decode(code)
        return moves if self.reference is None else around_reference(reference, moves)

    def guarantee(self, groups: Grouping) -> Guarantee:
        """The guarantee for these groups, whatever groups the shuffler was made for."""
        labels = None if self.components is None else np.asarray(self.components)
        return kendall_guarantee(
            groups, self.position(groups.n), theta=self._thetas, components=labels
        )

    def position(self, n: int) -> NDArray[np.int64]:
        """The place of each of n people in the reference order."""
        reference = self._reference(n)
        places = np.empty(n, dtype=np.int64)
        places[reference] = np.arange(n)
        return places

    def _reference(self, n: int) -> NDArray[np.int64]:
        if self.reference is None:
            return np.arange(n)
        people = np.asarray(self.reference)
        if len(people) != n:
            must = f"be the {len(people):,} people of the reference order"
            raise ParameterError("n", must=must, got=n)
        return people


def around_reference(reference: ArrayLike, moves: ArrayLike) -> NDArray[np.int64]:
    """The order that gives place k of the reference the report from its place moves[k].

    >>> around_reference([2, 0, 1], [1, 0, 2])
    array([2, 1, 0])
    """
    people = _permutation("reference", reference)
    order = np.empty(len(people), dtype=np.int64)
    order[people] = people[_permutation("moves", moves)]
    return order


def log_normalizer(n: int, theta: float) -> float:
    """The logarithm of the sum of e^(-theta inv(t)) over all orders t of n.

    The sum is the product over j = 1, …, n of (1 - q^j) / (1 - q), q = e^-theta.

    >>> round(math.exp(log_normalizer(4, 0.0)))
    24
    """
    checked_theta(theta)
    if theta == 0:
        return math.lgamma(n + 1)
    lengths = np.arange(1, n + 1)
    return math.fsum(np.log(np.expm1(-theta * lengths) / math.expm1(-theta)).tolist())


def _permutation(parameter: str, entries: ArrayLike) -> NDArray[np.int64]:
    must = "hold each of 0, 1, …, n - 1 once"
    order = array_given(parameter, entries, must=must)
    if order.ndim == 1 and order.size == 0:
        return np.zeros(0, dtype=np.int64)
    whole = order.ndim == 1 and order.dtype.kind in "iu"
    if not (
        whole
        and 0 <= order.min() <= order.max() < len(order)
        and np.bincount(order, minlength=len(order)).max() == 1
    ):
        raise ParameterError(parameter, must=must)
    return order.astype(np.int64)
