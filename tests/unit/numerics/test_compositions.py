"""Lists of histograms against their definition."""

import time
from itertools import product

import pytest

from croupier.errors import TooLargeError
from croupier.numerics.compositions import composition_count, compositions


@pytest.mark.parametrize(("people", "categories"), list(product(range(6), range(1, 6))))
def test_every_histogram_in_descending_order(people, categories):
    rows = [tuple(row) for row in compositions(people, categories, most=1000).tolist()]
    every = product(range(people + 1), repeat=categories)
    assert rows == sorted((row for row in every if sum(row) == people), reverse=True)
    assert composition_count(people, categories) == len(rows)


def test_many_categories():
    start = time.process_time()
    assert (compositions(1, 3000, most=3000).sum(axis=0) == 1).all()
    assert time.process_time() - start < 5


def test_a_number_with_a_million_digits_is_not_computed():
    start = time.process_time()
    assert composition_count(10**18, 10**7) > 10**37
    assert composition_count(64, 66) == composition_count(65, 65)
    assert time.process_time() - start < 1


def test_refusal():
    with pytest.raises(TooLargeError, match="fewer people"):
        compositions(4, 3, most=14)
