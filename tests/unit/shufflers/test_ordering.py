import json
from collections import deque
from itertools import pairwise, permutations, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence

from croupier.errors import ParameterError
from croupier.shufflers import ordering as module
from croupier.shufflers.groups import Groups
from croupier.shufflers.ordering import (
    best_order,
    breadth_first_order,
    cuthill_mckee_order,
    group_width,
    hilbert_order,
    place_of,
    spectral_order,
    sweep_order,
)

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "ordering.json").read_text())
SETS = st.lists(st.sets(st.integers(0, 8), min_size=1), min_size=1, max_size=9)


def sensitivity(groups, position):
    """g (g - 1) / 2 + 2 sum of gaps times the members on the smaller side; the largest."""
    sizes = np.diff(groups.starts)
    group = np.repeat(np.arange(len(sizes)), sizes)
    places = position[groups.members]
    places = places[np.lexsort((places, group))]
    before = np.arange(len(places)) - groups.starts[group]  # members of the group further left
    gap = np.where(before > 0, places - np.roll(places, 1) - 1, 0)
    crossed = 2 * gap * np.minimum(before, sizes[group] - before)
    return int((sizes * (sizes - 1) // 2 + np.add.reduceat(crossed, groups.starts[:-1])).max())


def instances():
    """The random numbers in the order in which the reference values drew them."""
    rng = np.random.default_rng(GOLDEN["plane"]["inputs"]["seed"])
    hidden = []
    for n in (1000, 10_000, 100_000):
        hidden.append(rng.permutation(n))
        rng.permutation(n)  # a random order beside it
    for n in (1000, 10_000, 100_000):
        rng.random(n)  # points on a line
    for n in (1000, 10_000):
        rng.random((n, 2))  # fewer points in the plane
    return hidden, rng.random((50_000, 2)) * [1, 0.6]


HIDDEN, PLANE = instances()


def named(found, name):
    return next(candidate for candidate in found.candidates if candidate.name == name)


@pytest.mark.parametrize(("hidden", "case"), list(zip(HIDDEN, GOLDEN["planted"], strict=True)))
def test_planted_orders_are_found(hidden, case):
    inputs, value = case["inputs"], case["value"]
    assert len(hidden) == inputs["n"]
    groups = Groups.by_radius(place_of(hidden), inputs["reach"])
    found = best_order(groups, cost=group_width)
    assert found.width == found.sensitivity == value["optimal"] == groups.sizes.max() - 1
    assert named(found, "reverse Cuthill-McKee").width == value["reverse_cuthill_mckee"]
    searched = named(found, "breadth-first search").width
    tolerance = case["tolerance"]["breadth_first_relative"]
    assert searched == pytest.approx(value["breadth_first"], rel=tolerance)
    # The hidden order is back, or its mirror image, up to people in the same groups.
    assert sensitivity(groups, found.position) == value["optimal"] * (value["optimal"] + 1) // 2


def test_points_in_the_plane_need_a_seventieth_of_the_printed_bound():
    case = GOLDEN["plane"]
    groups = Groups.by_radius(PLANE, case["inputs"]["radius"])
    found = best_order(groups, PLANE, cost=sensitivity)
    assert found.sensitivity <= case["tolerance"]["at_most"]
    assert found.sensitivity == sensitivity(groups, found.position)
    assert found.sensitivity <= named(found, "sweep along axis 0").sensitivity
    assert named(found, "sweep along axis 0").sensitivity == case["value"]["sweep"]
    printed = named(found, "breadth-first search").paper_bound
    expected = case["value"]["breadth_first_bound_by_width"]
    assert printed == pytest.approx(expected, rel=case["tolerance"]["breadth_first_relative"])
    assert printed > 70 * found.sensitivity


def test_the_printed_equality_with_the_width_is_a_bound_only():
    case = GOLDEN["illustration"]
    groups = Groups.of_sets([[p - 1 for p in group] for group in case["inputs"]["groups"]], 8)
    found = best_order(groups, cost=sensitivity)
    searched = named(found, "breadth-first search")
    assert searched.paper_bound == case["value"]["bound_by_width"]
    printed = place_of(np.array(case["inputs"]["order"]) - 1)
    assert sensitivity(groups, printed) == case["value"]["sensitivity"]
    assert group_width(groups, printed) == searched.width
    assert found.sensitivity <= case["value"]["sensitivity"] < searched.paper_bound
    # The print visits 8 before 4; here neighbours go by number.
    walked = breadth_first_order(groups.adjacency()) + 1
    assert walked.tolist() == [5, 2, 3, 4, 8, 1, 6, 7]


def search_by_queue(graph):
    """Breadth-first search as it is told: a queue, restarted from whoever has most neighbours."""
    neighbours = [graph.indices[a:b].tolist() for a, b in pairwise(graph.indptr.tolist())]
    seen, order = set(), []
    for root in sorted(range(len(neighbours)), key=lambda person: -len(neighbours[person])):
        if root in seen:
            continue
        seen.add(root)
        queue = deque([root])
        while queue:
            here = queue.popleft()
            order.append(here)
            new = [there for there in neighbours[here] if there not in seen]
            seen.update(new)
            queue.extend(new)
    return order


@given(SETS)
def test_breadth_first_search_is_that_of_a_queue(sets):
    graph = Groups.of_sets(sets, 9).adjacency()
    assert breadth_first_order(graph).tolist() == search_by_queue(graph)


def test_breadth_first_search_on_a_larger_graph_of_many_components():
    points = np.random.default_rng(1).random((3000, 2))
    graph = Groups.by_radius(points, 0.02).adjacency()
    assert breadth_first_order(graph).tolist() == search_by_queue(graph)


@given(SETS)
def test_every_candidate_is_an_order_and_the_best_comes_first(sets):
    groups = Groups.of_sets(sets, 9)
    coordinates = np.random.default_rng(2).random((9, 2))
    found = best_order(groups, coordinates, cost=sensitivity)
    assert sorted(found.order.tolist()) == list(range(9))
    assert found.position[found.order].tolist() == list(range(9))
    costs = [candidate.sensitivity for candidate in found.candidates]
    assert costs == sorted(costs)
    assert found.name == found.candidates[0].name
    assert (found.width, found.sensitivity) == (
        group_width(groups, found.position),
        sensitivity(groups, found.position),
    )
    assert found.paper_bound == found.width * (found.width + 1) // 2 >= found.sensitivity
    assert {candidate.name for candidate in found.candidates} == {
        "reverse Cuthill-McKee",
        "breadth-first search",
        "spectral order",
        "sweep along axis 0",
        "sweep along axis 1",
        "sweep along the longest direction",
        "Hilbert curve",
    }


@given(SETS)
def test_every_order_of_a_graph_has_each_person_once(sets):
    graph = Groups.of_sets(sets, 9).adjacency()
    for order in (cuthill_mckee_order, breadth_first_order, spectral_order):
        assert sorted(order(graph).tolist()) == list(range(9))


@given(SETS.filter(lambda sets: len(sets) < 5))
def test_the_width_is_the_largest_distance_in_a_group(sets):
    position = np.random.default_rng(3).permutation(9)
    expected = max(max(position[list(s)]) - min(position[list(s)]) for s in sets)
    assert group_width(Groups.of_sets(sets, 9), position) == expected


def test_small_graphs_come_near_the_best_of_all_orders():
    rng = np.random.default_rng(4)
    ratios = []
    for _ in range(20):
        groups = Groups.by_radius(rng.integers(0, 5, (6, 2)), 2)
        least = min(sensitivity(groups, np.array(places)) for places in permutations(range(6)))
        found = best_order(groups, cost=sensitivity).sensitivity
        assert found >= least
        ratios.append(found / max(least, 1))
    assert np.mean(ratios) < 1.5


def test_people_on_a_line_have_the_least_sensitivity_possible():
    times = np.random.default_rng(5).random(4000)
    groups = Groups.by_radius(times, np.random.default_rng(6).random(4000) / 50)
    found = best_order(groups, times, cost=sensitivity)
    largest = int(groups.sizes.max())
    assert found.name == "sweep along axis 0"
    assert found.sensitivity == largest * (largest - 1) // 2


def test_the_members_of_disjoint_groups_stand_together():
    labels = np.random.default_rng(7).integers(0, 700, 6000)
    groups = Groups.of_partition(labels)
    found = best_order(groups, cost=sensitivity)
    largest = int(groups.sizes.max())
    assert found.width == largest - 1
    assert all(candidate.width == largest - 1 for candidate in found.candidates)


def test_many_small_components_take_no_longer_than_one_graph():
    pairs = np.random.default_rng(8).permutation(400_000) // 2
    groups = Groups.of_partition(pairs)
    graph = groups.adjacency()
    for order in (cuthill_mckee_order, breadth_first_order):
        assert group_width(groups, place_of(order(graph))) == 1


@pytest.mark.parametrize(("dimensions", "side"), [(1, 64), (2, 16), (3, 8), (4, 4)])
def test_a_hilbert_curve_steps_between_neighbouring_cells(dimensions, side):
    cells = np.array(list(product(range(side), repeat=dimensions)))
    walked = cells[hilbert_order(cells + 0.5)]
    corners = np.abs(np.diff(walked, axis=0)).sum(axis=1)
    assert (corners == 1).all()


def test_people_in_one_cell_go_by_number():
    assert hilbert_order(np.zeros((5, 2))).tolist() == [0, 1, 2, 3, 4]


def test_a_sweep_breaks_ties_by_the_other_axes_then_by_number():
    points = [[1, 0, 2], [0, 1, 1], [0, 0, 9], [0, 1, 0], [0, 1, 0]]
    assert sweep_order(points, axis=0).tolist() == [2, 3, 4, 1, 0]


def test_a_slanted_strip_is_swept_along_its_length():
    rng = np.random.default_rng(9)
    along, across = rng.random(3000) * 30, rng.random(3000)
    turned = np.c_[along - across, along + across]
    groups = Groups.by_radius(turned, 0.5)
    found = best_order(groups, turned, cost=sensitivity)
    swept = named(found, "sweep along the longest direction").sensitivity
    assert swept < 0.8 * named(found, "sweep along axis 0").sensitivity


@pytest.mark.parametrize("n", [40, 900])
def test_a_spectral_order_finds_a_path(n):
    hidden = np.random.default_rng(n).permutation(n)
    graph = Groups.by_radius(place_of(hidden), 1).adjacency()
    order = spectral_order(graph).tolist()
    assert order in (hidden.tolist(), hidden[::-1].tolist())
    assert spectral_order(graph).tolist() == order


def test_a_spectral_order_keeps_components_apart():
    labels = np.random.default_rng(10).integers(0, 5, 300)
    order = spectral_order(Groups.of_partition(labels).adjacency())
    assert len(np.flatnonzero(np.diff(labels[order]))) == 4


def test_large_graphs_have_no_spectral_order():
    names = {
        c.name
        for c in best_order(Groups.by_radius(np.arange(6000), 1), cost=group_width).candidates
    }
    assert names == {"reverse Cuthill-McKee", "breadth-first search"}


def test_an_eigenvector_that_is_not_found_is_one_candidate_less(monkeypatch):
    def fail(_graph):
        raise ArpackNoConvergence("no convergence", np.empty(0), np.empty((0, 0)))

    monkeypatch.setattr(module, "spectral_order", fail)
    found = best_order(Groups.by_radius(np.arange(20), 1), cost=group_width)
    assert {c.name for c in found.candidates} == {"reverse Cuthill-McKee", "breadth-first search"}


def test_the_default_cost_is_the_exact_sensitivity():
    points = np.random.default_rng(11).random((500, 2))
    groups = Groups.by_radius(points, 0.08)
    ours, theirs = best_order(groups, points), best_order(groups, points, cost=sensitivity)
    assert ours.candidates == theirs.candidates


def test_a_graph_without_edges_keeps_everybody():
    graph = csr_array((4, 4), dtype=bool)
    assert breadth_first_order(graph).tolist() == [0, 1, 2, 3]
    assert sorted(cuthill_mckee_order(graph).tolist()) == [0, 1, 2, 3]
    assert spectral_order(graph).tolist() == [0, 1, 2, 3]


def test_orders_are_read_only():
    found = best_order(Groups.by_radius([1, 2, 3], 1), cost=group_width)
    for array in (found.order, found.position):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    assert repr(found).endswith("of 3 people: width 2, sensitivity 2>")


@pytest.mark.parametrize(
    "call",
    [
        lambda: best_order(Groups.by_radius([1, 2], 1), [1, 2, 3], cost=group_width),
        lambda: best_order(Groups.by_radius([1, 2], 1), [1, np.nan], cost=group_width),
        lambda: sweep_order(np.zeros((2, 2, 2))),
        lambda: hilbert_order(np.zeros((2, 63))),
    ],
)
def test_coordinates_that_do_not_fit_are_refused(call):
    with pytest.raises(ParameterError) as refusal:
        call()
    assert refusal.value.parameter == "coordinates"


def test_an_axis_that_is_not_there_is_refused():
    with pytest.raises(ParameterError, match=r"^`axis` must be a whole number in \[0, 1\]; got 2"):
        sweep_order([[1, 2]], axis=2)
