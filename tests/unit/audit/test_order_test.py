import math
from itertools import permutations, product

import numpy as np
import pytest

from croupier.audit.order_test import order_tests, pooled_order_tests
from croupier.numerics.keystream import Keystream
from croupier.shufflers import UniformShuffler


def test_p_values_bound_the_chance_over_every_order():
    """Enumerated: for each test, P(p-value <= p) <= p at every p that occurs."""
    m = 6
    found = {}
    for order in permutations(range(m)):
        for test in order_tests(np.array(order), false_alarm=0.01):
            found.setdefault(test.name, []).append(test.p_value)
    for name, chances in found.items():
        values = np.array(chances)
        assert len(values) == math.factorial(m), name
        for level in np.unique(values):
            assert (values <= level).mean() <= level, name


@pytest.mark.parametrize(("sizes", "tests"), [((6,), 5), ((4, 4), 3), ((2, 3, 4), 3)])
def test_pooled_p_values_bound_the_chance_over_all_orders(sizes, tests):
    """Enumerated likewise."""
    found = {}
    every = [np.array([*permutations(range(m))]) for m in sizes]
    for orders in product(*every):
        for test in pooled_order_tests(orders, false_alarm=0.01):
            found.setdefault(test.name, []).append(test.p_value)
    assert len(found) == tests
    for name, chances in found.items():
        values = np.array(chances)
        for level in np.unique(values):
            assert (values <= level).mean() <= level, name


def alarms(places, false_alarm=1e-6):
    return [
        test.name
        for test in order_tests(np.asarray(places), false_alarm=false_alarm)
        if test.observed >= test.found_from
    ]


@pytest.mark.parametrize("m", [8, 100, 5000])
def test_a_uniform_order_raises_no_alarm(m, alarm):
    assert not alarms(UniformShuffler().order(m), alarm)


@pytest.mark.parametrize("m", [8, 64, 1000])
def test_an_alarm_is_what_the_p_value_says(m):
    for test in order_tests(np.arange(m), false_alarm=1e-6):
        assert (test.observed >= test.found_from) == (test.p_value <= 1e-6 / _tests(m))


def _tests(m):
    return sum(1 for _ in order_tests(np.arange(m), false_alarm=1e-6))


def uniform(m):
    return UniformShuffler().order(m)


def kept_places(m, share):
    """A uniform order of all but a share, which stays where it was."""
    order = np.arange(m)
    moved = uniform(m)[round(share * m) :]
    order[np.sort(moved)] = moved
    return order


def rotated(m):
    return (np.arange(m) + 77) % m


def blocks(m):
    """Runs of ten, shuffled as a whole."""
    return (uniform(m // 10)[:, None] * 10 + np.arange(10)).reshape(-1)


def jittered(m):
    """Sorted by the place and some noise, as after a short buffer."""
    noise = Keystream().integers(m // 4, m).astype(np.int64)
    return np.argsort(np.argsort(np.arange(m) + noise))


def two_halves(m):
    return np.concatenate([uniform(m // 2), m // 2 + uniform(m // 2)])


@pytest.mark.parametrize(
    ("broken", "trace"),
    [
        (np.arange(2000), "kept their place"),
        (np.arange(2000)[::-1], "reverse"),
        (kept_places(2000, 0.02), "kept their place"),
        (rotated(2000), "same distance"),
        (blocks(2000), "beside"),
        (jittered(2000), "within"),
        (two_halves(2000), "eighth"),
    ],
    ids=["identity", "reverse", "2 % kept", "rotated", "blocks", "jittered", "halves"],
)
def test_traces_of_an_order_are_found(broken, trace):
    assert sorted(broken.tolist()) == list(range(2000))
    assert any(trace in name for name in alarms(broken))
