import math
import traceback

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.errors import DataError, ParameterError
from croupier.model import Categories, Grid, SignVectors

NUMBERED = Categories.of(k=5, labels=None)
NAMED = Categories.of(k=None, labels=("no", "yes", 7))
GRID = Grid(low=-1, high=1, step=0.5)
SIGNS = SignVectors(2)


@pytest.mark.parametrize(
    ("domain", "values", "indices"),
    [
        (NUMBERED, np.array([0, 4]), [0, 4]),
        (NUMBERED, np.array([0, 4], dtype=np.uint8), [0, 4]),
        (NUMBERED, np.array([0, 4], dtype=np.uint64), [0, 4]),
        (NUMBERED, np.array([False, True]), [0, 1]),
        (NUMBERED, np.array([0.0, 4.0]), [0, 4]),
        (NUMBERED, np.array([0, 4.0], dtype=object), [0, 4]),
        (NUMBERED, np.array([]), []),
        (NAMED, np.array(["yes", "no"]), [1, 0]),
        (NAMED, np.array(["yes", 7, "no"], dtype=object), [1, 2, 0]),
        (NAMED, np.array([7, 7]), [2, 2]),
        (NAMED, np.array([]), []),
        (GRID, np.array([-1, 0, 1]), [0, 2, 4]),
        (GRID, np.array([-0.3, 0.24, 0.26, 0.9]), [1, 2, 3, 4]),
        (GRID, np.array([math.inf, -math.inf, 100, -100]), [4, 0, 4, 0]),
        (GRID, np.array([(1 << 64) - 1], dtype=np.uint64), [4]),
        (GRID, np.array([False, True]), [2, 4]),
        (SIGNS, np.array([[1, -1], [-1, 1]]), [[1, 0], [0, 1]]),
        (SIGNS, np.array([[1.0, -1.0]]), [[1, 0]]),
        (SIGNS, np.array([[1, -1]], dtype=object), [[1, 0]]),
    ],
)
def test_values_of_the_domain_become_indices(domain, values, indices):
    assert domain.encode(values).tolist() == indices


SECRET = 987654321


@pytest.mark.parametrize(
    ("domain", "values", "count", "problem"),
    [
        (NUMBERED, np.array([0, SECRET, -SECRET]), 2, "categories"),
        (NUMBERED, np.array([5, 4]), 1, "categories"),
        (NUMBERED, np.array([-1, 4]), 1, "categories"),
        (NUMBERED, np.array([1 << 63, (1 << 64) - 1, 0], dtype=np.uint64), 2, "categories"),
        (NUMBERED, np.array([0.5, SECRET + 0.5, 1.0]), 2, "whole"),
        (NUMBERED, np.array([math.inf, -math.inf, 1.0]), 2, "whole"),
        (NUMBERED, np.array([math.nan, 1.0]), 1, "missing"),
        (NUMBERED, np.array([None, 1, None], dtype=object), 2, "missing"),
        (NUMBERED, np.array([f"person {SECRET}", "x"]), 2, "numbers"),
        (NUMBERED, np.array([0, f"person {SECRET}"], dtype=object), 1, "numbers"),
        (NUMBERED, np.array([{SECRET}, 1], dtype=object), 1, "numbers"),
        (NAMED, np.array(["yes", f"person {SECRET}"]), 1, "categories"),
        (NAMED, np.array(["Yes", " yes", "7"]), 3, "categories"),
        (NAMED, np.array([None, math.nan, "yes", SECRET], dtype=object), 3, "categories"),
        (GRID, np.array([math.nan, 0.5]), 1, "missing"),
        (GRID, np.array([None, SECRET], dtype=object), 1, "missing"),
        (GRID, np.array([f"person {SECRET}"]), 1, "numbers"),
        (SIGNS, np.array([[1, 0], [SECRET, -1]]), 2, "neither"),
        (SIGNS, np.array([[math.nan, 1.0]]), 1, "neither"),
        (SIGNS, np.array([[None, 1]], dtype=object), 1, "neither"),
        (SIGNS, np.array([[str(SECRET), "1"]]), 2, "neither"),
    ],
)
def test_values_outside_are_counted_and_never_shown(domain, values, count, problem):
    with pytest.raises(DataError, match=problem) as refusal:
        domain.encode(values)
    assert refusal.value.count == count
    assert str(SECRET) not in "".join(traceback.format_exception(refusal.value))


@pytest.mark.parametrize("values", [np.array([1, -1]), np.ones((2, 3)), np.ones((2, 2, 1))])
def test_sign_vectors_need_one_column_a_sign(values):
    with pytest.raises(ParameterError) as refusal:
        SIGNS.encode(values)
    assert refusal.value.got == values.shape


@pytest.mark.parametrize(
    ("k", "labels", "parameter"),
    [
        (None, None, "k"),
        (2, ("a", "b"), "k"),
        (1, None, "k"),
        (0, None, "k"),
        (-3, None, "k"),
        (None, ("a",), "labels"),
        (None, (), "labels"),
        (None, ("a", "b", "a"), "labels"),
    ],
)
def test_categories_that_cannot_be_are_refused(k, labels, parameter):
    with pytest.raises(ParameterError) as refusal:
        Categories.of(k=k, labels=labels)
    assert refusal.value.parameter == parameter


def test_categories_know_their_size():
    assert (NUMBERED.size, NAMED.size) == (5, 3)


@pytest.mark.parametrize(
    "ends",
    [
        (0, 1, 0),
        (0, 1, -0.1),
        (0, 1, 0.3),
        (0, 1, 2),
        (1, 1, 0.5),
        (1, 0, 0.5),
        (0, math.inf, 1),
        (-math.inf, 0, 1),
        (0, math.nan, 1),
        (0, 1, math.nan),
        (0, 1, math.inf),
    ],
)
def test_grids_that_cannot_be_are_refused(ends):
    with pytest.raises(ParameterError) as refusal:
        Grid(*ends)
    assert refusal.value.parameter == "grid"


@pytest.mark.parametrize("dimension", [0, -1])
def test_signs_need_a_dimension(dimension):
    with pytest.raises(ParameterError):
        SignVectors(dimension)


@settings(deadline=None)
@given(st.integers(-1000, 1000), st.integers(2, 200), st.sampled_from([0.1, 0.01, 0.25, 3.0]))
def test_grid_points_encode_to_their_own_index(start, steps, step):
    grid = Grid(low=start * step, high=(start + steps) * step, step=step)
    assert grid.size == steps + 1
    assert grid.encode(grid.points).tolist() == list(range(grid.size))


@settings(deadline=None)
@given(st.lists(st.floats(-1e9, 1e9), min_size=1))
def test_grid_encodes_to_the_nearest_point(values):
    numbers = np.array(values)
    found = GRID.points[GRID.encode(numbers)]
    nearest = np.abs(numbers[:, None] - GRID.points).min(axis=1)
    assert np.abs(numbers - found) == pytest.approx(nearest)
