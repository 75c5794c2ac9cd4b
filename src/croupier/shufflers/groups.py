"""Groups of people who must be indistinguishable, made from public data only."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.numerics.validate import array_given, number_of_people, whole_number
from croupier.shufflers.graph_balls import balls_in_graph
from croupier.shufflers.members import PIECE, narrowest, pieces, require_fitting, starts_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Groups", "coordinate_rows"]

_BALLS = 50_000
"""Balls counted at once."""
_WIDER = 1e-12
"""The relative growth of a radius, so that rounding leaves nobody out."""
_FARTHEST = 1e150
"""The coordinate beyond which squares of distances overflow."""

_LATEST = 2**62
"""The limit below which sums and differences of whole times fit 64 bits."""


@dataclass(frozen=True, eq=False, repr=False)
class Groups:
    """Groups of people, from public data only: places, times, contacts, households.

    No person's value enters, so that the groups, and any order computed from them, may be known to
    everybody. All groups are slices of one array of people; matrices of who shares a group with
    whom are never built.

    If there are n groups and everybody is in the group of their own number, person g owns group g.
    Otherwise the least member counts as the owner.

    Attributes:
        n: The number of people.
        starts: Group g is `members[starts[g] : starts[g + 1]]`, the owner included.
        members: Numbers of people, ascending within each group; 32 bits wide where n allows.

    Example:
        >>> groups = Groups.by_radius([0, 1, 3, 7], 2)
        >>> [group.tolist() for group in groups]
        [[0, 1], [0, 1, 2], [1, 2], [3]]
        >>> groups.is_partition
        False
    """

    n: int
    starts: NDArray[np.int64]
    members: NDArray[Any]

    def __post_init__(self) -> None:
        n = number_of_people("n", self.n, least=1)
        must = "be a flat array of whole numbers, as members"
        starts, members = (array_given("starts", a, must=must) for a in (self.starts, self.members))
        if starts.ndim != 1 or members.ndim != 1 or starts.dtype.kind not in "iu":
            raise ParameterError("starts", must=must)
        starts = starts.astype(np.int64)
        if len(starts) < 2 or starts[0] != 0 or starts[-1] != len(members):
            raise ParameterError("starts", must="go from 0 to the number of members")
        if (np.diff(starts) < 1).any():
            raise ParameterError("starts", must="increase: a group has at least one member")
        if members.dtype.kind not in "iu" or members.min() < 0 or members.max() >= n:
            raise ParameterError("members", must="be whole numbers below the number of people")
        members = _ascending(starts, members.astype(narrowest(n)), n)
        starts.flags.writeable = members.flags.writeable = False
        for name, value in (("n", n), ("starts", starts), ("members", members)):
            object.__setattr__(self, name, value)

    @classmethod
    def by_radius(cls, coordinates: ArrayLike, radius: ArrayLike) -> Self:
        """Make everybody's group: the people within the radius of their public coordinates.

        One dimension (time): strips of the sorted values; whole numbers are compared exactly.
        Several: Euclidean distance of floating-point coordinates, by a k-d tree. Rounding may let
        in somebody beyond the radius by a trillionth of it, but leaves out nobody within: what
        holds for a group holds for any part of it.

        Args:
            coordinates: One row per person, or one number per person.
            radius: One number for all, or one per person.
        """
        points = coordinate_rows(coordinates)
        reach = _radii(radius, len(points))
        if points.shape[1] == 1:
            return cls(len(points), *_by_strips(points[:, 0], reach))
        return cls(len(points), *_by_tree(_near_zero(points), reach.astype(np.float64)))

    @classmethod
    def nearest(cls, coordinates: ArrayLike, k: SupportsIndex) -> Self:
        """Make everybody's group: themselves and the k others nearest by public coordinates.

        Among others at one distance the k-d tree chooses; the same data give the same choice.
        """
        from scipy.spatial import cKDTree  # noqa: PLC0415 - slow to load, and seldom needed

        points = _near_zero(coordinate_rows(coordinates))
        n = len(points)
        size = whole_number("k", k, least=1, most=n - 1) + 1
        require_fitting(n * size, "Take fewer neighbours.")
        tree = cKDTree(points)
        members = np.empty((n, size), narrowest(n))
        rows = max(1, PIECE // size)
        for start in range(0, n, rows):
            owners = np.arange(start, min(start + rows, n))
            found: Any = tree.query(points[owners], k=size)[1]
            # Among many people in one place the owner need not be in the answer.
            missing = (found != owners[:, None]).all(axis=1)
            found[missing, -1] = owners[missing]
            members[owners] = np.sort(found, axis=1)
        return cls(n, size * np.arange(n + 1), members.ravel())

    @classmethod
    def by_graph_distance(cls, adjacency: Any, steps: SupportsIndex) -> Self:
        """Make everybody's group: the people at most `steps` away in a public graph.

        Args:
            adjacency: A square scipy sparse array; a stored non-zero entry is an edge, which is
                walked both ways.
            steps: The largest number of edges to anybody in the group.
        """
        reach = whole_number("steps", steps, least=0)
        return cls(*balls_in_graph(adjacency, reach))

    @classmethod
    def of_sets(cls, sets: Iterable[Iterable[SupportsIndex]], n: SupportsIndex) -> Self:
        """Make groups as listed, of people numbered from 0 to n - 1.

        >>> len(Groups.of_sets([{0, 1}, {1, 2}], 4))
        2
        """
        people = number_of_people("n", n, least=1)
        try:
            given = [set(one) for one in sets]
        except TypeError:
            raise ParameterError("sets", must="be groups, each of numbers of people") from None
        listed = [
            sorted(whole_number("sets", m, least=0, most=people - 1) for m in one) for one in given
        ]
        if not listed or not all(listed):
            raise ParameterError("sets", must="be some groups of at least one person each")
        sizes = np.fromiter(map(len, listed), np.int64, len(listed))
        members = np.fromiter(chain.from_iterable(listed), narrowest(people), int(sizes.sum()))
        return cls(people, starts_of(sizes), members)

    @classmethod
    def of_partition(cls, labels: ArrayLike) -> Self:
        """Make one group per public label: a household, a hospital, a day.

        >>> [group.tolist() for group in Groups.of_partition(["b", "a", "b"])]
        [[1], [0, 2]]
        """
        must = "be one label per person, all of one kind"
        tags = array_given("labels", labels, must=must)
        if tags.ndim != 1 or not len(tags):
            raise ParameterError("labels", must=must)
        try:
            _, which, sizes = np.unique(tags, return_inverse=True, return_counts=True)
        except TypeError:
            raise ParameterError("labels", must=must) from None
        return cls(len(tags), starts_of(sizes), np.argsort(which, kind="stable"))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __iter__(self) -> Iterator[NDArray[Any]]:
        for start, end in zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True):
            yield self.members[start:end]

    def __repr__(self) -> str:
        sizes = self.sizes
        return (
            f"<{len(self):,} groups of {self.n:,} people, "
            f"{sizes.mean():.3g} members on average, at most {sizes.max():,}>"
        )

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of members of each group."""
        return np.diff(self.starts)

    @property
    def owners(self) -> NDArray[np.int64]:
        """The owner of each group; the least member if groups are not numbered by people."""
        if len(self) == self.n:
            own = np.zeros(self.n, np.bool_)
            for first, last in pieces(self.starts):
                numbers = np.repeat(np.arange(first, last), self.sizes[first:last])
                inside = self.members[self.starts[first] : self.starts[last]]
                own[numbers[inside == numbers]] = True
            if own.all():
                return np.arange(self.n)
        return self.members[self.starts[:-1]].astype(np.int64)

    @property
    def is_partition(self) -> bool:
        """True if any two groups are equal or have nobody in common."""
        least, sizes = self.members[self.starts[:-1]], self.sizes
        block = np.full(self.n, -1, np.int64)
        for first, last in pieces(self.starts):
            inside = self.members[self.starts[first] : self.starts[last]]
            block[inside] = np.repeat(least[first:last], sizes[first:last])
        for first, last in pieces(self.starts):
            inside = self.members[self.starts[first] : self.starts[last]]
            if (block[inside] != np.repeat(least[first:last], sizes[first:last])).any():
                return False
        # Groups named by one least member are inside one block: equal if they fill it.
        counts = np.bincount(block[block >= 0], minlength=self.n)
        return bool((counts[least] == sizes).all())

    def adjacency(self) -> "csr_array[np.bool_, tuple[int, int]]":
        """The graph of owners and members: an edge between each owner and each other member.

        Symmetric, with people as vertices and no loops. It joins the same people, directly or by
        others, as the graph of all pairs within groups, with far fewer edges.
        """
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to load

        owners = self.owners.astype(self.members.dtype)
        owner = np.repeat(owners, self.sizes)
        other = self.members != owner
        member = self.members[other]
        edges: Any = np.ones(len(member), np.bool_)
        graph: Any
        if len(self) == self.n and (owners == np.arange(self.n)).all():
            # One row per group already; 32-bit indices keep the graph searches from copying.
            rows = (self.starts - np.arange(self.n + 1)).astype(np.int32)
            graph = csr_array((edges, member, rows), shape=(self.n, self.n))
        else:
            graph = csr_array((edges, (owner[other], member)), shape=(self.n, self.n))
        del owner, other, member
        graph.sum_duplicates()
        mirrored = graph.T.tocsr()
        if np.array_equal(graph.indptr, mirrored.indptr) and np.array_equal(
            graph.indices, mirrored.indices
        ):
            return graph  # type: ignore[no-any-return]
        return graph + mirrored  # type: ignore[no-any-return]

    def digest(self) -> str:
        """SHA-256 of the groups in canonical bytes, which a plan binds and anybody can recompute.

        >>> Groups.of_sets([{1, 0}, {2}], 3).digest() == Groups.of_partition([7, 7, 8]).digest()
        True
        """
        state = sha256(b"croupier groups 1\0")
        state.update(np.array([self.n, len(self)], "<i8").tobytes())
        state.update(self.starts.astype("<i8").tobytes())
        for start in range(0, len(self.members), PIECE):
            state.update(self.members[start : start + PIECE].astype("<i8").tobytes())
        return state.hexdigest()


def coordinate_rows(coordinates: ArrayLike) -> NDArray[Any]:
    """Return public coordinates as one row of numbers per person: whole, or doubles.

    >>> coordinate_rows([3, 1]).tolist()
    [[3], [1]]
    """
    must = "be one number or one row of numbers per person"
    points = array_given("coordinates", coordinates, must=must)
    if points.ndim == 1:
        points = points[:, None]
    if points.ndim != 2 or 0 in points.shape or points.dtype.kind not in "iuf":
        raise ParameterError("coordinates", must=must)
    if points.dtype.kind == "f":
        points = points.astype(np.float64)
        if not (np.abs(points) < _FARTHEST).all():
            raise ParameterError("coordinates", must="be finite and below 1e150")
    return points


def _near_zero(points: NDArray[Any]) -> NDArray[np.float64]:
    """Subtract the least from whole numbers, so that doubles hold them; keep others unchanged."""
    if points.dtype.kind == "f":
        return points.astype(np.float64)
    spread = [int(high) - int(low) for low, high in zip(points.min(0), points.max(0), strict=True)]
    if max(spread) >= 2**53:
        raise ParameterError("coordinates", must="span less than 2^53 where they are whole numbers")
    return np.asarray(points - points.min(axis=0), dtype=np.float64)


def _radii(radius: ArrayLike, n: int) -> NDArray[Any]:
    must = "be one number, or one per person"
    reach = array_given("radius", radius, must=must)
    if reach.dtype.kind not in "iuf" or reach.shape not in {(), (n,)}:
        raise ParameterError("radius", must=must)
    if not (np.isfinite(reach) & (reach >= 0)).all():
        raise ParameterError("radius", must="be finite and at least 0")
    wide = np.float64 if reach.dtype.kind == "f" else np.uint64
    return np.broadcast_to(reach.astype(wide), n)


def _by_strips(times: NDArray[Any], reach: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The starts and members of groups that are slices of the sorted people."""
    low, high = _strip_ends(times, reach)
    order = np.argsort(times, kind="stable").astype(narrowest(len(times)))
    ranked = times[order].astype(low.dtype)
    left = np.searchsorted(ranked, low, side="left")
    starts = starts_of(np.searchsorted(ranked, high, side="right") - left)
    require_fitting(int(starts[-1]), "Take a smaller radius.")
    members = np.empty(starts[-1], order.dtype)
    for first, last in pieces(starts):
        shift = np.repeat(left[first:last] - starts[first:last], np.diff(starts[first : last + 1]))
        members[starts[first] : starts[last]] = order[
            np.arange(starts[first], starts[last]) + shift
        ]
    return starts, members


def _strip_ends(times: NDArray[Any], reach: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The places where each person's strip begins and ends.

    Rounding keeps order, and does not move a person: it leaves out nobody whom the exact ends let
    in.
    """
    if times.dtype.kind in "iu":
        if max(abs(int(times.min())), abs(int(times.max()))) >= _LATEST:
            raise ParameterError("coordinates", must="be below 2^62 where they are whole numbers")
        floor = reach if reach.dtype.kind in "iu" else np.floor(reach)
        whole = np.where(floor >= _LATEST, _LATEST, floor).astype(np.int64)
        exact = times.astype(np.int64)
        return exact - whole, exact + whole
    points, wide = times.astype(np.float64), np.nextafter(reach.astype(np.float64), np.inf)
    return points - wide, points + wide


def _by_tree(points: NDArray[np.float64], reach: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The starts and members of groups that are balls around everybody."""
    from scipy.spatial import cKDTree  # noqa: PLC0415 - slow to load, and seldom needed

    tree, n = cKDTree(points), len(points)
    wide = reach * (1 + _WIDER)
    # Visiting neighbours in the tree one after the other keeps their balls in the cache.
    people = tree.indices
    sizes = np.empty(n, np.int64)
    # Counting first costs a fifth of the time, and tells whether the groups fit at all.
    for start in range(0, n, _BALLS):
        some = people[start : start + _BALLS]
        sizes[some] = tree.query_ball_point(points[some], wide[some], return_length=True)
    starts, walked = starts_of(sizes), starts_of(sizes[people])
    require_fitting(int(starts[-1]), "Take a smaller radius.")
    members = np.empty(starts[-1], narrowest(n))
    for first, last in pieces(walked):
        some, count = people[first:last], int(walked[last] - walked[first])
        found: Iterable[list[int]] = tree.query_ball_point(
            points[some], wide[some], return_sorted=True
        )
        places = np.repeat(starts[some] - walked[first:last], sizes[some])
        places += np.arange(walked[first], walked[last])
        members[places] = np.fromiter(chain.from_iterable(found), members.dtype, count)
    return starts, members


def _ascending(starts: NDArray[np.int64], members: NDArray[Any], n: int) -> NDArray[Any]:
    """Members in ascending order within each group; the same array if they are already."""
    if not _out_of_order(starts, members):
        return members.view()
    ordered = np.empty_like(members)
    for first, last in pieces(starts):
        inside = slice(starts[first], starts[last])
        group = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
        ordered[inside] = np.sort(group * n + members[inside]) - group * n
    if _out_of_order(starts, ordered):
        raise ParameterError("members", must="differ within each group")
    return ordered


def _out_of_order(starts: NDArray[np.int64], members: NDArray[Any]) -> bool:
    falls = members[1:] <= members[:-1]
    falls[starts[1:-1] - 1] = False
    return bool(falls.any())
