import math
from itertools import permutations, product

import numpy as np
import pytest
from scipy.stats import binom, poisson

from croupier.auditing.shuffler.order_law import board_tail, hypergeometric_tail, least_found
from croupier.auditing.shuffler.order_uniformity import (
    KINDS,
    _turns,
    order_tests,
    pooled_order_tests,
)
from croupier.numerics.keystream import Keystream
from croupier.shufflers import UniformShuffler
from tests.unit.auditing.disorders import DISORDERS


def test_p_values_bound_the_chance_over_every_order():
    """Enumerated: for each test, P(p-value <= p) <= p at every p that occurs."""
    m = 6
    found = {}
    for order in permutations(range(m)):
        for test in order_tests(np.array(order), false_alarm=0.01):
            found.setdefault(test.kind, []).append(test.p_value)
    for name, chances in found.items():
        values = np.array(chances)
        assert len(values) == math.factorial(m), name
        for level in np.unique(values):
            assert (values <= level).mean() <= level, name


@pytest.mark.parametrize(("sizes", "tests"), [((6,), 5), ((4, 4), 4), ((2, 3, 4), 3)])
def test_pooled_p_values_bound_the_chance_over_all_orders(sizes, tests):
    """Enumerated likewise."""
    found = {}
    every = [np.array([*permutations(range(m))]) for m in sizes]
    for orders in product(*every):
        for test in pooled_order_tests(orders, false_alarm=0.01):
            found.setdefault(test.kind, []).append(test.p_value)
    assert len(found) == tests
    for name, chances in found.items():
        values = np.array(chances)
        for level in np.unique(values):
            assert (values <= level).mean() <= level, name


@pytest.mark.parametrize("m", [4, 5, 6])
def test_the_tail_of_a_board_bounds_the_chance_over_every_order(m):
    """Enumerated: random boards of every density, and their sums over two orders."""
    every = np.array([*permutations(range(m))])
    rng = np.random.default_rng(m)
    for density in np.linspace(0.05, 0.95, 19):
        boards = [rng.random((m, m)) < density for _ in range(2)]
        counts = [board[np.arange(m), every].sum(axis=1) for board in boards]
        laws = [counts[0], np.add.outer(*counts).reshape(-1)]
        means = [boards[0].sum() / m, sum(board.sum() for board in boards) / m]
        for law, mean in zip(laws, means, strict=True):
            assert law.mean() == pytest.approx(mean)
            for count in range(2 * m + 1):
                assert (law >= count).mean() <= board_tail(count, mean=mean)


def test_the_tail_of_a_board_is_close_to_that_of_poisson():
    """Within the factor that no bound by moments can avoid, and far below a quarter of the rate."""
    for mean in (1.0, 5.0, 129.0, 4000.0):
        count = round(mean + 6 * mean**0.5)
        tail = poisson.sf(count - 1, mean)
        assert tail < board_tail(count, mean=mean) < 20 * mean**0.5 * tail


@pytest.mark.parametrize("m", [6, 7])
def test_the_law_of_runs_is_hypergeometric(m):
    """Enumerated: runs of the first half, read at every step, and their complement."""
    orders = [*permutations(range(m))]
    for side, marked in enumerate((m - m // 2 + 1, m // 2 - 1)):
        found = [[*_turns(np.array(order), 3)][side].counts for order in orders]
        for counts in np.array(found).T:
            for count in range(m + 1):
                tail = hypergeometric_tail(count, reports=m, marked=marked, drawn=m // 2)
                assert (counts >= count).mean() == pytest.approx(tail, rel=1e-5, abs=1e-12)


@pytest.mark.parametrize("level", [0.5, 1e-3, 1e-9])
def test_the_least_count_that_is_found(level):
    for mean in (0.5, 1.0, 2.0, 17.0, 1024.7):

        def chance(count, mean=mean):
            return board_tail(count, mean=mean)

        found = least_found(chance, level=level, start=mean)
        assert chance(found) <= level
        assert found <= np.ceil(mean) or chance(found - 1) > level


def alarms(places, false_alarm=1e-6):
    return [
        test.kind
        for test in order_tests(np.asarray(places), false_alarm=false_alarm)
        if test.observed >= test.found_from
    ]


@pytest.mark.parametrize("m", [8, 100, 5000])
def test_a_uniform_order_raises_no_alarm(m, alarm):
    assert not alarms(UniformShuffler().order(m), alarm)


@pytest.mark.parametrize("m", [8, 64, 1000])
def test_an_alarm_is_what_the_p_value_says(m):
    rng = np.random.default_rng(m)
    disorders = DISORDERS.values() if m > 100 else [DISORDERS["reverse"]]
    orders = [np.arange(m), *(draw(m, rng) for draw in disorders), rng.permutation(m)]
    for order in orders:
        spent = 0.0
        for test in order_tests(order, false_alarm=1e-6):
            assert (test.observed >= test.found_from) == (test.p_value <= test.level)
            assert test.kind in KINDS
            spent += test.level
        assert spent == pytest.approx(1e-6)


@pytest.mark.parametrize("m", [12, 100])
def test_uniform_orders_alarm_at_most_as_often_as_stated(m, alarm):
    """And orders that are not uniform more often: the count can tell."""
    rng = np.random.default_rng(Keystream().words(4))
    runs, level = 400, 0.2

    def chance(draw):
        found = sum(bool(alarms(draw(m, rng), level)) for _ in range(runs))
        return binom.sf(found - 1, runs, level)

    assert chance(lambda m, rng: rng.permutation(m)) > alarm
    assert chance(DISORDERS["identity" if m < 100 else "two interleaved halves"]) < alarm


@pytest.mark.parametrize("m", [1000, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("disorder", DISORDERS)
def test_every_kind_of_disorder_is_found_20_times_in_20(disorder, m):
    for seed in range(20):
        order = DISORDERS[disorder](m, np.random.default_rng(seed))
        assert (np.sort(order) == np.arange(len(order))).all()
        assert alarms(order), seed


@pytest.mark.parametrize(
    ("disorder", "kind"),
    [
        ("identity", "kept"),
        ("reverse", "kept"),
        ("2 % left in place", "kept"),
        ("rotated", "moved"),
        ("blocks of 10", "beside"),
        ("a fifth left in order", "sorted"),
        ("three riffles", "sorted"),
        ("delayed by half a round", "near"),
        ("two blocks", "parts"),
        ("two interleaved halves", "parts"),
        ("odd and even dealt", "parts"),
        ("two interleaved halves", "turns"),
        ("halves in turns of 10", "turns"),
        ("13 parts in drawn turns", "turns"),
    ],
)
def test_each_kind_of_look_finds_what_it_is_for(disorder, kind):
    assert kind in alarms(DISORDERS[disorder](2000, np.random.default_rng(1)))


@pytest.mark.parametrize("disorder", ["two interleaved halves", "two blocks", "identity"])
def test_many_short_orders_show_together_what_none_shows_alone(disorder):
    rng = np.random.default_rng(2)
    orders = [DISORDERS[disorder](10, rng) for _ in range(100)]
    assert not any(alarms(order) for order in orders[:5]) or disorder == "identity"
    found = [*pooled_order_tests(orders, false_alarm=1e-6)]
    assert any(test.observed >= test.found_from for test in found)
    fair = [rng.permutation(10) for _ in orders]
    honest = [*pooled_order_tests(fair, false_alarm=1e-6)]
    assert not any(test.observed >= test.found_from for test in honest)
