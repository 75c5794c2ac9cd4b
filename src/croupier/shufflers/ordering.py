"""Reference orders: public places for all people that keep the members of each group together."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.numerics.validate import whole_number
from croupier.shufflers.groups import Groups, coordinate_rows
from croupier.shufflers.sensitivity import (
    connected_components,
    group_sensitivities,
    group_widths,
    width_sensitivity,
)

__all__ = ["Ordering", "TriedOrder", "best_order", "breadth_first_order", "cuthill_mckee_order"]
__all__ += ["group_width", "hilbert_order", "place_of", "spectral_order", "sweep_order"]

Order = NDArray[np.int64]
Cost = Callable[[Groups, Order], int]

_SPECTRAL_PEOPLE = 3_000
_SPECTRAL_EDGES = 500_000
"""The sizes up to which factoring a shifted Laplacian takes seconds, for any graph."""
_DENSE_PEOPLE = 200
_SHIFT = 1e-6
_MOST_SWEEPS = 8
_CURVE_BITS = 62


@dataclass(frozen=True)
class TriedOrder:
    """The result of one way of ordering.

    Attributes:
        name: The method that found the order.
        width: The largest distance of two places of one group.
        sensitivity: The largest change of Kendall's distance by permuting within one group, exact;
            or the cost that `best_order` was given.
    """

    name: str
    width: int
    sensitivity: int

    @property
    def paper_bound(self) -> int:
        """The bound of the sensitivity by the width alone: w (w + 1) / 2.

        Reference: meehan2022, Property 4, which gives it as an equality.
        """
        return width_sensitivity(self.width)


@dataclass(frozen=True, eq=False, repr=False)
class Ordering:
    """A reference order, and the results of the others that were tried.

    Attributes:
        order: The people, place by place.
        position: The place of each person; `position[order[k]] == k`.
        candidates: The result of every order that was tried, this one first.
    """

    order: Order
    position: Order
    candidates: tuple[TriedOrder, ...]

    @property
    def name(self) -> str:
        """The name of the method that found the order."""
        return self.candidates[0].name

    @property
    def width(self) -> int:
        """The largest distance of two places of one group."""
        return self.candidates[0].width

    @property
    def sensitivity(self) -> int:
        """The sensitivity, or the cost that `best_order` was given."""
        return self.candidates[0].sensitivity

    @property
    def paper_bound(self) -> int:
        """The bound by the width alone: w (w + 1) / 2."""
        return self.candidates[0].paper_bound

    def __repr__(self) -> str:
        return (
            f"<{self.name} of {len(self.order):,} people: width {self.width:,}, "
            f"sensitivity {self.sensitivity:,}>"
        )


def best_order(
    groups: Groups, coordinates: ArrayLike | None = None, *, cost: Cost | None = None
) -> Ordering:
    """The order of least exact sensitivity among those that are cheap to find.

    It tries reverse Cuthill-McKee and breadth-first search on the graph of owners and members; a
    spectral order if the graph is small; and, given public coordinates, sweeps along each axis and
    the longest direction, and a Hilbert curve. The sensitivity is that of the chosen order itself:
    a better order means less noise for the same guarantee, never a weaker guarantee.

    People whom no chain of groups joins may lie anywhere relative to each other. Given coordinates,
    each set of joined people is kept together in every order that is tried, and the sets follow a
    Hilbert curve through their centres: that raises no sensitivity, and reports that leave their
    set stay near it.

    Args:
        groups: The groups of people who must be indistinguishable.
        coordinates: Public, one row or one number per person.
        cost: The cost to minimise, from the groups and the place of each person; by default the
            largest sensitivity of `croupier.shufflers.sensitivity.group_sensitivities`.

    Direction: upper. The least possible width is NP-hard to find; the order is good, not optimal.
    Reference: meehan2022, Algorithm 1, steps 2 to 5, and Theorem A.3; it tries breadth-first search
        alone, and takes the bound by the width for the sensitivity.

    Example:
        >>> from croupier.shufflers.groups import Groups, coordinate_rows
        >>> times = [30, 10, 50, 20, 40]
        >>> found = best_order(Groups.by_radius(times, 10), times, cost=group_width)
        >>> found.order.tolist(), found.width
        ([1, 3, 0, 4, 2], 2)
    """
    measure = _largest_sensitivity if cost is None else cost
    tried: list[TriedOrder] = []
    best: tuple[TriedOrder, Order, Order] | None = None
    for name, order in _candidate_orders(groups, coordinates):
        position = place_of(order)
        candidate = TriedOrder(name, group_width(groups, position), int(measure(groups, position)))
        tried.append(candidate)
        if best is None or _rank(candidate) < _rank(best[0]):
            best = candidate, order, position
    if best is None:
        raise ParameterError("groups", must="hold at least one group")
    _, order, position = best
    for kept in (order, position):
        kept.flags.writeable = False
    return Ordering(
        order=order,
        position=position,
        candidates=tuple(sorted(tried, key=_rank)),
    )


def place_of(order: Order) -> Order:
    """The inverse of an order: the place of each person.

    >>> place_of(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    return position


def group_width(groups: Groups, position: Order) -> int:
    """The largest distance of two places of one group.

    Reference: meehan2022, section 4.4, the width.
    """
    return int(group_widths(groups, position).max(initial=0))


def cuthill_mckee_order(graph: Any) -> Order:
    """Cuthill and McKee's order of a symmetric sparse graph, reversed.

    Finds the planted order of overlapping windows where breadth-first search is 2.7 times as wide.
    """
    from scipy.sparse.csgraph import reverse_cuthill_mckee  # noqa: PLC0415 - slow to load

    return np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), dtype=np.int64)


def breadth_first_order(graph: Any) -> Order:
    """Breadth-first search from the person with most neighbours, component by component.

    Neighbours are visited by ascending number; of several people with most neighbours the one with
    the least number comes first, in the graph and in each component that is left.

    Reference: meehan2022, Algorithm 1, steps 2 to 4, on the graph of owners and members.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to load
    from scipy.sparse.csgraph import breadth_first_order as search  # noqa: PLC0415
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    n = graph.shape[0]
    # On a symmetric graph strong components are the components, without a transposed copy.
    count, component = connected_components(graph, directed=True, connection="strong")
    by_degree = np.argsort(-np.diff(graph.indptr), kind="stable")
    _, found = np.unique(component[by_degree], return_index=True)
    roots = by_degree[np.sort(found)]
    # One search from an extra vertex before all roots visits every component in its own order.
    rows = np.concatenate([graph.indptr, [graph.indptr[-1] + count]]).astype(graph.indptr.dtype)
    columns = np.concatenate([graph.indices, roots.astype(graph.indices.dtype)])
    rooted = csr_array((np.ones(len(columns)), columns, rows), shape=(n + 1, n + 1))
    visited = search(rooted, n, directed=True, return_predecessors=False)[1:]
    turn = place_of(component[roots].astype(np.int64))
    return np.asarray(visited[np.argsort(turn[component[visited]], kind="stable")], dtype=np.int64)


def spectral_order(graph: Any) -> Order:
    """People sorted by the Laplacian's eigenvector of second least eigenvalue, in each component.

    For small graphs: the shifted Laplacian is factored.
    """
    from scipy.sparse.csgraph import connected_components, laplacian  # noqa: PLC0415 - slow to load

    _, component = connected_components(graph, directed=False)
    parts = np.split(np.argsort(component, kind="stable"), np.cumsum(np.bincount(component))[:-1])
    order = []
    for part in parts:
        if len(part) > 2:
            vector = _second_eigenvector(laplacian(graph[part][:, part].astype(np.float64)))
            order.append(part[np.argsort(vector, kind="stable")])
        else:
            order.append(part)
    return np.concatenate(order).astype(np.int64)


def sweep_order(coordinates: ArrayLike, *, axis: int | None = None) -> Order:
    """People sorted along one axis of their public coordinates, or along the longest direction.

    Ties go by the other axes in turn, then by number.

    Args:
        coordinates: One row or one number per person.
        axis: The axis; None for the direction of most variance.

    >>> sweep_order([[1, 5], [0, 3], [2, 4]], axis=1).tolist()
    [1, 2, 0]
    """
    points = _rows(coordinates)
    if axis is None:
        centred = points - points.mean(axis=0)
        _, directions = np.linalg.eigh(centred.T @ centred)
        direction = directions[:, -1]
        along = centred @ (direction * np.sign(direction[np.abs(direction).argmax()]))
    else:
        along = points[:, whole_number("axis", axis, least=0, most=points.shape[1] - 1)]
    return np.lexsort((*points.T[::-1], along)).astype(np.int64)


def hilbert_order(coordinates: ArrayLike) -> Order:
    """People in the order in which a Hilbert curve through their public coordinates meets them.

    The curve fills a grid, of 2^31 cells per side in the plane, by steps between neighbouring
    cells; people in one cell are sorted by number.
    """
    points = _rows(coordinates)
    dimensions = points.shape[1]
    if dimensions > _CURVE_BITS:
        raise ParameterError("coordinates", must=f"have at most {_CURVE_BITS} dimensions")
    bits = min(31, _CURVE_BITS // dimensions)
    corner = points.min(axis=0)
    extent = float((points.max(axis=0) - corner).max()) or 1.0
    cells = ((points - corner) / extent * 2**bits).astype(np.int64)
    keys = _hilbert_keys(np.minimum(cells, 2**bits - 1), bits)
    return np.argsort(keys, kind="stable")


def _hilbert_keys(cells: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """The distance along the curve of each cell of a grid with 2^bits cells per side."""
    axes = cells.T.copy()
    for level in reversed(range(1, bits)):
        half = np.int64(1) << level
        below = half - 1
        for axis in axes:
            # In the upper half the first axis is mirrored, in the lower half swapped with this one.
            upper = (axis & half) != 0
            swapped = np.where(upper, 0, (axes[0] ^ axis) & below)
            axes[0] ^= np.where(upper, below, swapped)
            axis ^= swapped  # noqa: PLW2901 - a row of axes, changed in place
    for previous, axis in pairwise(axes):
        axis ^= previous  # noqa: PLW2901 - as above
    parity = np.zeros_like(axes[0])
    for level in range(1, bits):
        half = np.int64(1) << level
        parity ^= np.where(axes[-1] & half, half - 1, 0)
    axes ^= parity
    keys: NDArray[np.int64] = np.zeros_like(parity)
    for level in reversed(range(bits)):
        for axis in axes:
            keys = (keys << 1) | ((axis >> level) & 1)
    return keys


def _second_eigenvector(laplacian: Any) -> NDArray[np.float64]:
    from scipy.sparse.linalg import eigsh  # noqa: PLC0415 - slow to load

    n = laplacian.shape[0]
    if n <= _DENSE_PEOPLE:
        return np.asarray(np.linalg.eigh(laplacian.toarray())[1][:, 1])
    # A fixed start, so that the same graph gives the same order.
    start = np.cos(np.arange(n))
    values, vectors = eigsh(laplacian.tocsc(), k=2, sigma=-_SHIFT, v0=start)
    return np.asarray(vectors[:, np.argsort(values)[1]])


def _candidate_orders(groups: Groups, coordinates: ArrayLike | None) -> Iterator[tuple[str, Order]]:
    """Yield orders to try, by name; given coordinates, with joined people together."""
    if coordinates is None:
        yield from _plain_orders(groups, None)
        return
    points = _rows(coordinates)
    if len(points) != groups.n:
        raise ParameterError("coordinates", must="have one row per person", got=len(points))
    along = _along_the_map(connected_components(groups), points)
    for name, order in _plain_orders(groups, points):
        yield name, order[np.argsort(along[order], kind="stable")]


def _along_the_map(component: NDArray[np.int64], points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return for each person the rank of their component on a Hilbert curve through the centres."""
    sizes = np.bincount(component)
    sums = [np.bincount(component, weights=axis) for axis in points.T]
    return place_of(hilbert_order(np.column_stack(sums) / sizes[:, None]))[component]


def _plain_orders(
    groups: Groups, points: NDArray[np.float64] | None
) -> Iterator[tuple[str, Order]]:
    if points is not None:
        for axis in range(min(points.shape[1], _MOST_SWEEPS)):
            yield f"sweep along axis {axis}", sweep_order(points, axis=axis)
        if points.shape[1] > 1:
            yield "sweep along the longest direction", sweep_order(points)
            yield "Hilbert curve", hilbert_order(points)
    graph = groups.adjacency()
    yield "reverse Cuthill-McKee", cuthill_mckee_order(graph)
    yield "breadth-first search", breadth_first_order(graph)
    if groups.n <= _SPECTRAL_PEOPLE and graph.nnz <= _SPECTRAL_EDGES:
        from scipy.sparse.linalg import ArpackError  # noqa: PLC0415 - slow to load

        with suppress(ArpackError):  # skip the candidate if the eigenvectors do not converge
            yield "spectral order", spectral_order(graph)


def _largest_sensitivity(groups: Groups, position: Order) -> int:
    return int(group_sensitivities(groups, position).max())


def _rank(candidate: TriedOrder) -> tuple[int, int]:
    return candidate.sensitivity, candidate.width


def _rows(coordinates: ArrayLike) -> NDArray[np.float64]:
    return coordinate_rows(coordinates).astype(np.float64)
