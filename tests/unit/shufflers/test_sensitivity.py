import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.errors import ParameterError
from croupier.model.adversary import Adversary, View
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.shufflers import sensitivity
from croupier.shufflers.groups import Groups
from croupier.shufflers.members import pieces
from croupier.shufflers.sensitivity import (
    component_sensitivities,
    composed_alpha,
    connected_components,
    group_sensitivities,
    group_widths,
    hamming_guarantee,
    hamming_sensitivities,
    kendall_guarantee,
    width_sensitivity,
)
from croupier.shufflers.theta import LEAST_THETA, theta_for

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "mallows.json").read_text())["cases"]


def golden(name):
    return [case for case in GOLDEN if case["name"] == name]


@dataclass(frozen=True)
class Grouped:
    n: int
    starts: np.ndarray
    members: np.ndarray


def grouped(n, *groups):
    starts = np.cumsum([0, *map(len, groups)])
    return Grouped(n, starts, np.array([person for group in groups for person in group], dtype=int))


@cache
def every_order(n):
    """All permutations of n, their inversions by base-n code, and the weights of the code."""
    orders = np.array(list(permutations(range(n))))
    inversions = sum(
        (orders[:, a] > orders[:, b]).astype(int) for a, b in combinations(range(n), 2)
    )
    weights = n ** np.arange(n)
    table = np.zeros(n**n, dtype=int)
    table[orders @ weights] = inversions
    return orders, table, weights


@cache
def largest_change(n, places):
    """Over all orders, and all exchanges of reports among the places: by enumeration."""
    orders, table, weights = every_order(n)
    before = table[orders @ weights]
    largest = 0
    for exchanged in permutations(places):
        renamed = np.arange(n)
        renamed[list(places)] = exchanged
        largest = max(largest, np.abs(table[renamed[orders] @ weights] - before).max())
    return int(largest)


@pytest.mark.parametrize("n", range(2, 8))
def test_every_group_of_few_people_has_its_enumerated_sensitivity(n):
    places = [group for size in range(n + 1) for group in combinations(range(n), size)]
    found = group_sensitivities(grouped(n, *places), np.arange(n))
    assert found.tolist() == [largest_change(n, group) for group in places]


def test_random_groups_in_random_orders_have_their_enumerated_sensitivities():
    rng = np.random.default_rng(0)
    for n in (3, 4, 5, 6):
        position = rng.permutation(n)
        groups = [rng.permutation(n)[: rng.integers(1, n + 1)] for _ in range(100)]
        expected = [largest_change(n, tuple(sorted(position[group].tolist()))) for group in groups]
        assert group_sensitivities(grouped(n, *groups), position).tolist() == expected
        assert len(set(expected)) > n - 1


@pytest.mark.parametrize("case", golden("delta_exact"))
def test_golden_sensitivities(case):
    places = case["inputs"]["sigma0_positions"]
    assert group_sensitivities(grouped(13, places), np.arange(13)) == [case["value"]]


@pytest.mark.parametrize("case", golden("delta_width_only"))
def test_golden_bounds_by_the_width(case):
    groups = grouped(13, case["inputs"]["sigma0_positions"])
    assert width_sensitivity(int(group_widths(groups, np.arange(13))[0])) == case["value"]


def test_the_worked_example_of_the_paper_has_less_than_half_the_printed_sensitivity():
    [exact], [printed] = golden("a10_delta_exact"), golden("a10_delta_paper")
    reference = np.array(golden("a10_sigma_star")[0]["inputs"]["sigma0"]) - 1
    groups = grouped(8, *(np.array(group) - 1 for group in exact["inputs"]["groups"].values()))
    position = np.argsort(reference)
    assert group_sensitivities(groups, position).max() == exact["value"] == 13
    assert width_sensitivity(int(group_widths(groups, position).max())) == printed["value"] == 28


def one_by_one(places):
    places = sorted(places)
    size = len(places)
    gaps = [b - a - 1 for a, b in pairwise(places)]
    turned = sum(gap * min(i, size - i) for i, gap in enumerate(gaps, start=1))
    return size * (size - 1) // 2 + 2 * turned


@given(st.lists(st.sets(st.integers(0, 200), max_size=12), max_size=12), st.randoms())
def test_any_groups_at_once_are_as_one_by_one_and_below_the_bound_by_the_width(groups, random):
    position = list(range(201))
    random.shuffle(position)
    position = np.array(position)
    together = grouped(201, *map(list, groups))
    found = group_sensitivities(together, position)
    assert found.tolist() == [one_by_one(position[list(group)].tolist()) for group in groups]
    widths = group_widths(together, position).tolist()
    assert all(a <= width_sensitivity(b) for a, b in zip(found.tolist(), widths, strict=True))


def test_the_bound_by_the_width_is_reached_with_at_most_the_middle_place_free():
    for width in range(1, 7):
        for inner in range(width):
            for between in combinations(range(1, width), inner):
                [value] = group_sensitivities(grouped(7, [0, *between, width]), np.arange(7))
                free = set(range(1, width)) - set(between)
                assert (value == width_sensitivity(width)) == (free <= {width / 2})


@pytest.mark.parametrize("members", [1, 3, 10, 1000])
def test_working_in_pieces_changes_nothing(monkeypatch, members):
    rng = np.random.default_rng(1)
    groups = [rng.permutation(50)[: rng.integers(0, 9)] for _ in range(200)]
    together, position = grouped(50, *groups), rng.permutation(50)
    whole = group_sensitivities(together, position), group_widths(together, position)
    monkeypatch.setattr(sensitivity, "pieces", partial(pieces, members=members))
    assert (group_sensitivities(together, position) == whole[0]).all()
    assert (group_widths(together, position) == whole[1]).all()


def test_wide_groups_do_not_overflow():
    n = 3_000_000
    groups = grouped(n, range(n))
    assert group_sensitivities(groups, np.arange(n)) == [n * (n - 1) // 2]
    halves = [*range(500_000), *range(n - 500_000, n)]
    assert group_sensitivities(grouped(n, halves), np.arange(n)) == [one_by_one(halves)]


def test_people_twice_in_a_group_and_positions_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="name each person of a group once"):
        group_sensitivities(grouped(3, [0, 1, 0]), np.arange(3))
    with pytest.raises(ParameterError, match="`position` must give the place of each person"):
        group_sensitivities(grouped(3, [0, 1]), np.arange(4))


def test_hamming_sensitivity_is_the_size_wherever_the_members_are():
    orders, _, _ = every_order(5)
    in_place = (orders != np.arange(5)).sum(axis=1)
    groups = [group for size in range(1, 5) for group in combinations(range(5), size)]
    for group, value in zip(groups, hamming_sensitivities(grouped(5, *groups)), strict=True):
        largest = 0
        for exchanged in permutations(group):
            renamed = np.arange(5)
            renamed[list(group)] = exchanged
            change = (renamed[orders] != np.arange(5)).sum(axis=1) - in_place
            largest = max(largest, np.abs(change).max())
        assert value == largest


@given(st.floats(1e-6, 1e3), st.integers(1, 10**14))
def test_theta_is_the_largest_double_that_keeps_alpha(alpha, value):
    """Of those that can be drawn, and zero."""
    theta = theta_for(alpha, value)
    assert Fraction(theta) * value <= Fraction(alpha)
    following = max(math.nextafter(theta, math.inf), LEAST_THETA)
    assert Fraction(following) * value > Fraction(alpha)


def test_edges_of_theta():
    assert theta_for(0.0, 5) == 0
    assert theta_for(1.0, 0) == theta_for(math.inf, 5) == math.inf
    for wrong in (-1.0, math.nan):
        with pytest.raises(ParameterError, match="`alpha` must be at least 0"):
            theta_for(wrong, 5)


def test_another_grouping_has_its_own_alpha_under_the_same_theta():
    theta = theta_for(1.0, 13)
    chosen, other = grouped(8, [0, 4, 7]), grouped(8, [0, 1], [2, 3, 4])
    assert kendall_guarantee(chosen, np.arange(8), theta=theta).value <= 1
    found = kendall_guarantee(other, np.arange(8), theta=theta)
    assert found.value == pytest.approx(3 / 13, rel=1e-15)
    assert Fraction(found.value) >= Fraction(theta) * 3
    assert (found.metric, found.direction) == (Metric.ALPHA, Direction.UPPER)


@pytest.mark.parametrize(
    ("theta", "groups", "alpha"),
    [
        (0.0, [[0, 7]], 0.0),
        (math.inf, [[0, 7]], math.inf),
        (math.inf, [[0], [3], []], 0.0),
        (math.inf, [], 0.0),
        (0.25, [[0, 7]], 3.25),
    ],
)
def test_edges_of_alpha(theta, groups, alpha):
    assert kendall_guarantee(grouped(8, *groups), np.arange(8), theta=theta).value == alpha


def test_each_component_counts_with_its_own_theta():
    groups = grouped(7, [0, 1], [1, 2], [], [4, 6], [4, 5])
    labels = connected_components(groups)
    assert labels.tolist() == [0, 0, 0, 1, 2, 2, 2]
    assert component_sensitivities(groups, np.arange(7), labels).tolist() == [1, 0, 3]
    thetas = np.array([2.0, math.inf, 0.5])
    found = kendall_guarantee(groups, np.arange(7), theta=thetas, components=labels)
    assert found.value == 2.0
    across = grouped(7, [0, 1], [2, 3])
    assert kendall_guarantee(across, np.arange(7), theta=0.0, components=labels).value == math.inf


def test_the_hamming_guarantee_is_theta_times_the_largest_size():
    assert hamming_guarantee(grouped(8, [0, 4, 7], [1, 2]), theta=0.5).value == 1.5
    assert hamming_guarantee(grouped(8, [0], [1]), theta=math.inf).value == 0


def test_alphas_of_several_batches_add_up_and_round_up():
    groups = grouped(8, [0, 1])
    tenth = kendall_guarantee(groups, np.arange(8), theta=0.1)
    total = composed_alpha([tenth] * 3)
    assert Fraction(total.value) >= 3 * Fraction(0.1) > Fraction(0.3)
    assert total.value == pytest.approx(0.3, rel=1e-15)
    assert any("independent randomness" in assumption for assumption in total.assumptions)
    endless = kendall_guarantee(groups, np.arange(8), theta=math.inf)
    assert composed_alpha([tenth, endless]).value == math.inf
    assert composed_alpha([]).value == 0


@pytest.mark.parametrize(
    ("metric", "direction"),
    [(Metric.EPSILON, Direction.UPPER), (Metric.ALPHA, Direction.LOWER)],
)
def test_only_upper_bounds_on_alpha_are_added(metric, direction):
    other = Guarantee(
        metric=metric,
        value=1.0,
        direction=direction,
        adversary=Adversary(sees={View.BATCH}),
        theorem="none",
    )
    with pytest.raises(ParameterError, match="`guarantees` must bound alpha from above"):
        composed_alpha([other])


@pytest.mark.parametrize("theta", [math.nan, -1.0, np.array([math.nan, 1.0])])
def test_a_theta_that_is_none_is_no_guarantee(theta):
    groups = Groups.of_sets([[0, 1], [2, 3]], 4)
    components = np.array([0, 0, 1, 1]) if np.ndim(theta) else None
    with pytest.raises(ParameterError, match="theta"):
        kendall_guarantee(groups, np.arange(4), theta=theta, components=components)
    if not np.ndim(theta):
        with pytest.raises(ParameterError, match="theta"):
            hamming_guarantee(groups, theta=theta)


@pytest.mark.parametrize("position", [[-5, 0, -7, 0], [0.0, 0.5, 1.9, 3.0], [0, 1, 2]])
def test_places_start_at_zero(position):
    groups = Groups.of_sets([[0, 1], [2, 3]], 4)
    with pytest.raises(ParameterError, match="position"):
        group_sensitivities(groups, position)


def test_an_alpha_too_small_to_draw_is_a_uniform_order():
    assert theta_for(1e-20, 10) == 0
    with pytest.raises(ParameterError, match="sensitivity"):
        theta_for(1.0, -3)


def test_wrong_kinds_are_named():
    with pytest.raises(ParameterError, match="`alpha` must be at least 0"):
        theta_for("4", 3)
    with pytest.raises(ParameterError, match="`position`"):
        group_sensitivities(Groups.of_sets([{0, 1}], 2), [[0], [1, 2]])
    with pytest.raises(ParameterError, match="`theta`"):
        kendall_guarantee(Groups.of_sets([{0, 1}], 2), [0, 1], theta="close")
