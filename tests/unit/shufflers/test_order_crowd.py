"""Crowds near a person in a Mallows order: from their definition, and against whole orders."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.errors import ParameterError
from croupier.shufflers.order_crowd import order_crowds
from croupier.shufflers.theta import most_crowd

THETAS = st.sampled_from([0.0, 1e-9, 0.003, 0.4, 5.0, 800.0, math.inf])


def by_definition(places, theta):
    def weight(distance):
        return 0.0 if math.isinf(theta) else math.exp(-theta * (2 * distance - 1))

    return [
        1 + math.fsum(weight(abs(here - there)) for there in places if there != here)
        for here in places
    ]


@given(st.sets(st.integers(0, 60), min_size=1, max_size=30), THETAS)
def test_a_crowd_is_what_its_definition_says(places, theta):
    found = order_crowds(list(places), theta=theta, people=61)
    expected = by_definition(places, theta)
    assert found == pytest.approx(expected, rel=1e-7)
    assert all(near <= true for near, true in zip(found, expected, strict=True))


def test_people_in_a_uniform_order_are_counted_exactly():
    assert order_crowds([0, 4, 9], theta=0.0, people=10).tolist() == [3.0] * 3


@given(st.sets(st.integers(0, 60), min_size=1, max_size=30), THETAS)
def test_the_first_of_the_order_has_the_most_that_a_plan_may_ask_for(places, theta):
    most = most_crowd(n=len(places), theta=theta)
    assert order_crowds(list(places), theta=theta, people=61).min() <= most * (1 + 1e-12)
    filled = by_definition(range(len(places)), theta)
    assert min(filled) == pytest.approx(most, rel=1e-12)


def inversions(moves):
    return sum(a > b for place, b in enumerate(moves) for a in moves[:place])


@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_an_exchange_of_two_changes_the_inversions_by_less_than_twice_their_distance(n):
    """The weight of a neighbour: what all orders say, and one of them attains."""
    worst = {}
    for moves in permutations(range(n)):
        for low in range(n):
            for high in range(low + 1, n):
                swap = {low: high, high: low}
                other = [swap.get(entry, entry) for entry in moves]
                change = inversions(other) - inversions(moves)
                distance = high - low
                worst[distance] = max(worst.get(distance, 0), change)
    assert worst == {distance: 2 * distance - 1 for distance in range(1, n)}


def test_a_million_people_take_no_time():
    crowds = order_crowds(np.arange(1_000_000), theta=1e-4, people=1_000_000)
    assert crowds[0] == pytest.approx(most_crowd(n=1_000_000, theta=1e-4), rel=1e-7)
    assert crowds.max() == pytest.approx(2 * crowds[0] - 1, rel=1e-7)


@pytest.mark.parametrize("places", [[0, 0], [-1], [3], [0.5], [[1]]])
def test_places_are_different_places_of_the_order(places):
    with pytest.raises(ParameterError, match="`places` must be different places"):
        order_crowds(places, theta=1.0, people=3)


def test_nobody_present_is_no_crowd():
    assert len(order_crowds([], theta=1.0, people=3)) == 0
