"""Exact independence against elimination in floating point, where that is reliable."""

from random import Random

import numpy as np
import pytest

from croupier.numerics.independence import are_independent
from croupier.randomizers import randomizer


def is_full_rank(rows, places):
    matrix = np.zeros((len(rows), places))
    for row, ones in zip(matrix, rows, strict=True):
        row[list(ones)] = 1
    return np.linalg.matrix_rank(matrix) == len(rows)


def test_small_rows_have_the_rank_that_singular_values_show():
    random = Random(5)  # noqa: S311 - cases of a test
    seen = set()
    for _ in range(2000):
        places = random.randint(1, 9)
        rows = [
            frozenset(random.choices(range(places), k=random.randint(1, 4)))
            for _ in range(random.randint(1, places + 1))
        ]
        found = are_independent(rows)
        assert found == is_full_rank(rows, places)
        seen.add(found)
    assert seen == {True, False}


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{0, 1}, {1, 2}, {2, 3}, {0, 3}], False),  # an even cycle: alternating signs cancel
        ([{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 4}], True),  # an odd one, dependent modulo 2
        ([{0}, {0}], False),
        ([set()], False),
    ],
)
def test_cycles(rows, expected):
    assert are_independent(rows) is expected


@pytest.mark.parametrize("hashes", [1, 2, 3, 8])
@pytest.mark.parametrize("k", [2, 3, 10, 57, 200])
def test_a_filter_is_the_least_that_floating_point_finds(k, hashes):
    rappor = randomizer("rappor", k=k, hashes=hashes, max_epsilon_local=2.0)
    bits = 1 << (4 * k - 1).bit_length()
    while not is_full_rank(rappor._bloom(bits), bits):  # noqa: SLF001 - the rows behind the choice
        bits *= 2
    assert rappor.filter_bits == bits
