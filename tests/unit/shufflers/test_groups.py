import tracemalloc
from collections import deque
from fractions import Fraction
from hashlib import sha256
from itertools import combinations
from struct import pack

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array, random_array
from scipy.sparse.csgraph import connected_components, shortest_path

from croupier.errors import ParameterError, TooLargeError
from croupier.shufflers import members as module
from croupier.shufflers.groups import Groups
from croupier.shufflers.members import pieces

SETS = st.lists(st.sets(st.integers(0, 6), min_size=1), min_size=1, max_size=7)


def as_sets(groups):
    return [set(group.tolist()) for group in groups]


def within(points, radii):
    """Brute force over all pairs, in whole numbers."""
    return [
        {
            other
            for other, there in enumerate(points)
            if sum((int(a) - int(b)) ** 2 for a, b in zip(here, there, strict=True)) <= int(r) ** 2
        }
        for here, r in zip(points, radii, strict=True)
    ]


@pytest.mark.parametrize("dimensions", [1, 2, 3, 5])
@pytest.mark.parametrize("radius", [0, 1, 5, 40])
def test_balls_are_those_of_all_pairs(dimensions, radius):
    rng = np.random.default_rng(dimensions)
    points = rng.integers(-15, 15, (120, dimensions))
    expected = within(points.tolist(), [radius] * 120)
    assert as_sets(Groups.by_radius(points, radius)) == expected
    assert as_sets(Groups.by_radius(points.astype(float), radius)) == expected


@pytest.mark.parametrize("dimensions", [1, 2])
def test_each_owner_may_have_an_own_radius(dimensions):
    rng = np.random.default_rng(3)
    points, radii = rng.integers(0, 60, (90, dimensions)), rng.integers(0, 20, 90)
    assert as_sets(Groups.by_radius(points, radii)) == within(points.tolist(), radii)


def test_strips_and_balls_agree_over_many_pieces():
    times = np.random.default_rng(4).permutation(6000)
    strips = Groups.by_radius(times, 500)
    balls = Groups.by_radius(np.c_[times, np.zeros(6000)], 500)
    assert len(strips.members) > 5_000_000
    assert np.array_equal(strips.starts, balls.starts)
    assert np.array_equal(strips.members, balls.members)
    last, first = np.minimum(times + 500, 5999), np.maximum(times - 500, 0)
    assert strips.sizes.tolist() == (last - first + 1).tolist()


def test_whole_times_are_compared_exactly_where_floats_cannot():
    base = 1_700_000_000_000_000_001
    times = np.array([base, base + 100, base + 101])
    assert as_sets(Groups.by_radius(times, 100)) == [{0, 1}, {0, 1, 2}, {1, 2}]
    assert as_sets(Groups.by_radius(times, 100.9)) == [{0, 1}, {0, 1, 2}, {1, 2}]
    assert as_sets(Groups.by_radius(times, 1e300)) == [{0, 1, 2}] * 3
    ends = np.array([-(2**62) + 1, 2**62 - 1])
    assert as_sets(Groups.by_radius(ends, 2**62)) == [{0}, {1}]


@pytest.mark.parametrize("dimensions", [1, 2])
@pytest.mark.parametrize("radius", [0.1, 0.2, 0.3, 0.7, 1.1])
def test_rounding_leaves_nobody_out(dimensions, radius):
    line = np.arange(60) * 0.1
    points = np.zeros((60, dimensions))
    points[:, 0] = line
    found = as_sets(Groups.by_radius(points, radius))
    exact = [Fraction(x) for x in line.tolist()]
    for group, here in zip(found, exact, strict=True):
        truly = {o for o, there in enumerate(exact) if abs(there - here) <= Fraction(radius)}
        barely = {o for o, there in enumerate(exact) if abs(there - here) <= radius + 2e-12}
        assert truly <= group <= barely


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_two_people_at_the_radius_share_a_group(dimensions):
    rng = np.random.default_rng(dimensions)
    for pair in rng.random((400, 2, dimensions)):
        here, there = ([Fraction(x) for x in point] for point in pair.tolist())
        square = sum((a - b) ** 2 for a, b in zip(here, there, strict=True))
        radius = float(np.linalg.norm(pair[0] - pair[1]))
        while Fraction(radius) ** 2 < square:
            radius = float(np.nextafter(radius, np.inf))
        while Fraction(float(np.nextafter(radius, 0))) ** 2 >= square:
            radius = float(np.nextafter(radius, 0))
        assert as_sets(Groups.by_radius(pair, radius)) == [{0, 1}, {0, 1}]


def test_the_nearest_are_nearer_than_all_others():
    points = np.random.default_rng(5).random((200, 3))
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    groups = Groups.nearest(points, 7)
    assert groups.sizes.tolist() == [8] * 200
    for owner, group in enumerate(groups):
        assert set(group.tolist()) == set(np.argsort(distances[owner])[:8].tolist())


def test_people_in_one_place_are_in_their_own_groups():
    groups = Groups.nearest(np.zeros((50, 2)), 2)
    assert all(owner in group for owner, group in enumerate(groups))
    assert groups.sizes.tolist() == [3] * 50


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 99])
def test_graph_distance_walks_edges_both_ways(steps):
    one_way = random_array((80, 80), density=0.012, rng=6, format="coo")
    hops = shortest_path(one_way, directed=False, unweighted=True)
    expected = [set(np.flatnonzero(row <= steps).tolist()) for row in hops]
    assert as_sets(Groups.by_graph_distance(one_way, steps)) == expected


def test_many_paths_between_two_people_do_not_wrap_around():
    hubs = 512
    links = [(0, h) for h in range(2, hubs + 2)] + [(1, h) for h in range(2, hubs + 2)]
    rows, columns = np.array(links).T
    graph = coo_array((np.ones(len(links), np.int8), (rows, columns)), shape=(hubs + 2,) * 2)
    assert 1 in Groups.by_graph_distance(graph, 2).members[: hubs + 2]


def test_steps_go_on_to_the_end_of_a_path():
    path = csr_array(np.eye(4, k=1))
    assert as_sets(Groups.by_graph_distance(path, 2)) == [
        {0, 1, 2},
        {0, 1, 2, 3},
        {0, 1, 2, 3},
        {1, 2, 3},
    ]
    assert as_sets(Groups.by_graph_distance(path, 3)) == [{0, 1, 2, 3}] * 4


def test_stored_zeros_are_not_edges():
    graph = csr_array((np.array([0.0, 2.0]), np.array([1, 2]), np.array([0, 2, 2, 2])), (3, 3))
    assert as_sets(Groups.by_graph_distance(graph, 1)) == [{0, 2}, {1}, {0, 2}]


@given(SETS)
def test_sets_come_back_as_they_went_in(sets):
    groups = Groups.of_sets(sets, 7)
    assert as_sets(groups) == sets
    assert groups.sizes.tolist() == [len(s) for s in sets]


@given(SETS)
def test_a_partition_is_known_from_pairs_of_groups(sets):
    expected = all(a == b or not a & b for a, b in combinations(sets, 2))
    assert Groups.of_sets(sets, 7).is_partition is expected


@given(st.lists(st.integers(0, 3), min_size=1, max_size=20))
def test_labels_make_a_partition(labels):
    groups = Groups.of_partition(labels)
    assert as_sets(groups) == [
        {person for person, own in enumerate(labels) if own == label}
        for label in sorted(set(labels))
    ]
    assert groups.is_partition
    owned = Groups.of_sets(
        [{o for o, b in enumerate(labels) if a == b} for a in labels], len(labels)
    )
    assert owned.is_partition


@pytest.mark.parametrize(
    "sets", [[{0, 1}, {0, 2}], [{0, 1}, {0, 1, 2}], [{0, 2}, {1, 2}], [{0, 2}, {0, 3}, {1, 2}]]
)
def test_groups_that_share_some_people_are_no_partition(sets):
    assert not Groups.of_sets(sets, 4).is_partition


def reachable(sets, person):
    """Everybody joined to a person by a chain of groups."""
    seen, queue = {person}, deque([person])
    while queue:
        here = queue.popleft()
        for new in set().union(*(s for s in sets if here in s)) - seen:
            seen.add(new)
            queue.append(new)
    return seen


@given(SETS)
def test_the_graph_of_owners_joins_the_same_people_as_all_pairs(sets):
    groups = Groups.of_sets(sets, 7)
    graph = groups.adjacency()
    edges = set(zip(*(a.tolist() for a in graph.nonzero()), strict=True))
    owners = groups.owners.tolist()
    star = {(o, m) for o, s in zip(owners, sets, strict=True) for m in s if m != o}
    assert edges == star | {(b, a) for a, b in star}
    _, labels = connected_components(graph, directed=False)
    for person in range(7):
        joined = {other for other in range(7) if labels[other] == labels[person]}
        assert joined == reachable(sets, person)


def test_people_own_the_groups_of_their_number():
    assert Groups.by_radius([5, 0, 4], 1).owners.tolist() == [0, 1, 2]
    assert Groups.of_sets([{0, 2}, {1, 2}, {0, 1}], 3).owners.tolist() == [0, 1, 0]
    assert Groups.of_partition([7, 7, 8, 8]).owners.tolist() == [0, 2]


def test_balls_have_their_pairs_as_edges_and_nobody_a_loop():
    points = np.random.default_rng(8).integers(0, 30, (150, 2))
    graph = Groups.by_radius(points, 4).adjacency()
    expected = np.zeros((150, 150), bool)
    for owner, ball in enumerate(within(points.tolist(), [4] * 150)):
        expected[owner, list(ball - {owner})] = True
    assert (graph.toarray() == expected).all()
    assert graph.indices.dtype == graph.indptr.dtype == np.int32


def test_one_sided_neighbours_become_edges_of_both():
    groups = Groups.nearest([0, 10, 11, 13], 1)
    assert as_sets(groups) == [{0, 1}, {1, 2}, {1, 2}, {2, 3}]
    expected = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]]
    assert groups.adjacency().toarray().astype(int).tolist() == expected


def test_the_digest_is_of_canonical_bytes():
    numbers = [3, 2, 0, 2, 3, 0, 1, 2]  # people, groups, starts, members
    expected = sha256(b"croupier groups 1\0" + pack("<8q", *numbers)).hexdigest()
    wide = Groups(3, np.array([0, 2, 3], np.uint8), np.array([1, 0, 2], np.int64))
    assert Groups.of_sets([[1, 0], [2]], 3).digest() == wide.digest() == expected
    others = [Groups.of_sets(s, n) for s, n in [([[1, 0], [2]], 4), ([[1], [0, 2]], 3)]]
    assert len({expected, *(other.digest() for other in others)}) == 3


def test_members_are_narrow_ascending_and_read_only():
    groups = Groups(5, np.array([0, 3, 5]), np.array([4, 0, 2, 3, 1]))
    assert groups.members.tolist() == [0, 2, 4, 1, 3]
    assert groups.members.dtype == np.int32
    for array in (groups.starts, groups.members):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert repr(groups) == "<2 groups of 5 people, 2.5 members on average, at most 3>"


def test_pieces_cover_all_groups_in_turn():
    sizes = np.random.default_rng(9).integers(1, 30, 400)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    runs = list(pieces(starts, members=50))
    assert [first for first, _ in runs] == [0, *(last for _, last in runs[:-1])]
    assert runs[-1][1] == 400
    assert all(starts[last] - starts[first] <= 50 for first, last in runs)


@pytest.mark.parametrize(
    ("build", "parameter"),
    [
        (lambda: Groups(3, np.array([0, 2, 2]), np.array([0, 1])), "starts"),
        (lambda: Groups(3, np.array([0, 1]), np.array([0, 1])), "starts"),
        (lambda: Groups(3, np.array([1, 2]), np.array([0, 1])), "starts"),
        (lambda: Groups(3, np.array([0.0, 2.0]), np.array([0, 1])), "starts"),
        (lambda: Groups(3, np.array([0, 2]), np.array([0, 3])), "members"),
        (lambda: Groups(3, np.array([0, 2]), np.array([-1, 2])), "members"),
        (lambda: Groups(3, np.array([0, 2]), np.array([1, 1])), "members"),
        (lambda: Groups(3, np.array([0, 2]), np.array([0.0, 1.0])), "members"),
        (lambda: Groups(0, np.array([0, 1]), np.array([0])), "n"),
        (lambda: Groups.by_radius([[0.0, np.nan]], 1), "coordinates"),
        (lambda: Groups.by_radius(["a"], 1), "coordinates"),
        (lambda: Groups.by_radius([], 1), "coordinates"),
        (lambda: Groups.by_radius([2**62], 1), "coordinates"),
        (lambda: Groups.by_radius([1, 2], -1), "radius"),
        (lambda: Groups.by_radius([1, 2], np.inf), "radius"),
        (lambda: Groups.by_radius([1, 2], [1, 2, 3]), "radius"),
        (lambda: Groups.nearest([1, 2], 2), "k"),
        (lambda: Groups.nearest([1, 2], 0), "k"),
        (lambda: Groups.by_graph_distance(np.eye(3), 1), "adjacency"),
        (lambda: Groups.by_graph_distance(csr_array((2, 3)), 1), "adjacency"),
        (lambda: Groups.by_graph_distance(csr_array((2, 2)), -1), "steps"),
        (lambda: Groups.of_sets([{0}, set()], 2), "sets"),
        (lambda: Groups.of_sets([], 2), "sets"),
        (lambda: Groups.of_sets([{2}], 2), "sets"),
        (lambda: Groups.of_partition([]), "labels"),
        (lambda: Groups.of_partition([[1, 2]]), "labels"),
    ],
)
def test_what_cannot_be_is_refused(build, parameter):
    with pytest.raises(ParameterError) as refusal:
        build()
    assert refusal.value.parameter == parameter


def test_groups_beyond_memory_are_refused_before_they_are_built():
    with pytest.raises(TooLargeError, match=r"^The groups would have 2\.50e\+9 entries"):
        Groups.by_radius(np.arange(50_000), 50_000)


@pytest.mark.parametrize(
    "build",
    [
        lambda: Groups.by_radius(np.zeros((10, 2)), 1),
        lambda: Groups.nearest(np.zeros((10, 2)), 9),
        lambda: Groups.by_graph_distance(csr_array(np.ones((10, 10))), 1),
    ],
)
def test_every_way_of_grouping_has_the_limit(build, monkeypatch):
    monkeypatch.setattr(module, "_MOST_MEMBERS", 100)
    assert len(build()) == 10
    monkeypatch.setattr(module, "_MOST_MEMBERS", 99)
    with pytest.raises(TooLargeError):
        build()


NOW = 1_700_000_000_000_000_100


@pytest.mark.parametrize(
    ("coordinates", "radius", "size"),
    [
        (np.array([[NOW, 0], [NOW + 40, 0]]), 100, 2),
        ([-1.0, 2.0**53], 2**53 + 1, 2),
        ([0, 1, 3], np.int32(1), 2),
        ([0, 1, 3], np.uint8(1), 2),
        (np.array([2**60, 2**60 + 1, 2**60 + 100], np.uint64), 1, 2),
        (np.array([1, 2], np.longdouble) + np.longdouble(2) ** -60, 1, 2),
    ],
)
def test_nobody_within_the_radius_is_left_out(coordinates, radius, size):
    assert Groups.by_radius(coordinates, radius).sizes[0] == size


def test_groups_do_not_change_with_the_arrays_they_came_from():
    members = np.arange(4, dtype=np.int32)
    groups = Groups(4, np.array([0, 2, 4]), members)
    members[:] = [0, 3, 1, 2]
    assert [group.tolist() for group in groups] == [[0, 1], [2, 3]]


def test_falling_starts_are_refused_whatever_their_type():
    with pytest.raises(ParameterError, match="starts"):
        Groups(6, np.array([0, 5, 3, 6], np.uint64), np.arange(6))


@pytest.mark.parametrize("points", [[[0, 0], [1e200, 0]], [[0, 0], [2**60, 1]]])
def test_coordinates_too_far_apart_are_refused(points):
    with pytest.raises(ParameterError, match="coordinates"):
        Groups.by_radius(np.array(points), 1)


def test_a_star_is_refused_before_it_fills_memory():
    leaves = np.arange(1, 100_000)
    star = coo_array((np.ones(len(leaves)), (np.zeros_like(leaves), leaves)), shape=(10**5, 10**5))
    tracemalloc.start()
    with pytest.raises(TooLargeError, match="fewer steps"):
        Groups.by_graph_distance(star, 2)
    assert tracemalloc.get_traced_memory()[1] < 10**8
    tracemalloc.stop()
    assert Groups.by_graph_distance(star, 1).sizes.max() == 100_000


def test_parallel_edges_do_not_cancel():
    graph = coo_array(([1.0, -1.0, 0.0], ([0, 0, 1], [1, 1, 2])), shape=(3, 3))
    assert as_sets(Groups.by_graph_distance(graph, 1)) == [{0, 1}, {0, 1}, {2}]


@pytest.mark.parametrize(
    ("parameter", "make"),
    [
        ("coordinates", lambda: Groups.by_radius([[1, 2], [3]], 1)),
        ("radius", lambda: Groups.by_radius([1, 2], [[1], [2, 3]])),
        ("sets", lambda: Groups.of_sets([1, 2], 3)),
        ("labels", lambda: Groups.of_partition([[1], [2, 3]])),
        ("labels", lambda: Groups.of_partition([1, None])),
        ("starts", lambda: Groups(3, [0, [1]], [1])),
    ],
)
def test_wrong_kinds_are_named(parameter, make):
    with pytest.raises(ParameterError) as refused:
        make()
    assert refused.value.parameter == parameter
