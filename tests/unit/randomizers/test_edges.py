"""Parameters and inputs at the border of what is accepted, each of which once went wrong."""

import numpy as np
import pytest

from croupier.errors import CroupierError, DataError, ParameterError, TooLargeError
from croupier.model import Grid
from croupier.randomizers import MECHANISMS, randomizer

TWO_POINTS = Grid(0, 1, 1)
EVERY = [
    ("k-rr", {"k": 4}),
    ("symmetric-unary", {"k": 4}),
    ("optimized-unary", {"k": 4}),
    ("rappor", {"k": 4}),
    ("local-hashing", {"k": 4}),
    ("hadamard", {"k": 4}),
    ("subset-selection", {"k": 4}),
    ("laplace", {"grid": TWO_POINTS}),
    ("gaussian", {"grid": TWO_POINTS}),
    ("one-bit-mean", {"grid": TWO_POINTS}),
]


@pytest.mark.parametrize(("mechanism", "own"), EVERY)
@pytest.mark.parametrize("shape", [(3, 1), (1, 3), (3, 2, 1)])
def test_only_one_column_of_values_is_taken(mechanism, own, shape):
    with pytest.raises(ParameterError, match="one column"):
        randomizer(mechanism, max_epsilon_local=2.0, **own).randomize(np.zeros(shape, dtype=int))


@pytest.mark.parametrize(
    ("mechanism", "parameters"),
    [
        ("k-rr", {"k": 5, "max_epsilon_local": 0.1, "denominator": 128}),
        ("k-rr", {"k": 10**9, "max_epsilon_local": 0.02}),
        ("k-rr", {"k": 2, "max_epsilon_local": 1e-20}),
        ("local-hashing", {"k": 4, "buckets": 5, "max_epsilon_local": 0.1, "denominator": 128}),
        (
            "subset-selection",
            {"k": 5, "max_epsilon_local": 0.1, "denominator": 13, "subset_size": 2},
        ),
        ("rappor", {"k": 3, "max_epsilon_local": 0.5, "denominator": 3, "bits": 6}),
        ("hadamard", {"k": 3, "max_epsilon_local": 0.01, "denominator": 64}),
        ("laplace", {"grid": TWO_POINTS, "max_epsilon_local": 0.01, "denominator": 64}),
        ("sampled-sign", {"dimension": 3, "max_epsilon_local": 0.01, "denominator": 64}),
    ],
)
def test_integers_that_would_say_nothing_or_the_opposite_are_refused(mechanism, parameters):
    with pytest.raises(ParameterError, match="expressible"):
        randomizer(mechanism, **parameters)


@pytest.mark.parametrize(
    ("mechanism", "parameters", "named"),
    [
        ("k-rr", {"k": 3.0}, "k"),
        ("k-rr", {"k": "3"}, "k"),
        ("k-rr", {"k": 2**63}, "k"),
        ("k-rr", {"k": 3, "denominator": 256.0}, "denominator"),
        ("k-rr", {}, "k"),
        ("k-rr", {"labels": ("a", "a")}, "labels"),
        ("local-hashing", {"k": 4, "prime": 9}, "prime"),
        ("local-hashing", {"k": 4, "prime": 2**31 - 1}, "prime"),
        ("local-hashing", {"k": 4, "buckets": 2.5}, "buckets"),
        ("subset-selection", {"k": 4, "subset_size": 4}, "subset_size"),
        ("rappor", {"k": 4, "bits": 0}, "bits"),
        ("rappor", {"k": 4, "hashes": -1}, "hashes"),
        ("rappor", {"k": 1001}, "k"),
        ("sampled-sign", {"dimension": 0}, "dimension"),
        ("laplace", {"grid": [0, 1]}, "grid"),
        ("laplace", {"grid": {"lo": 0}}, "grid"),
        ("laplace", {}, "grid"),
        ("gaussian", {"grid": TWO_POINTS, "tail": 1.0}, "tail"),
        ("k-rr", {"k": 3, "bukets": 2}, "bukets"),
    ],
)
def test_impossible_parameters_are_named(mechanism, parameters, named):
    with pytest.raises(ParameterError) as refusal:
        randomizer(mechanism, max_epsilon_local=2.0, **parameters)
    assert refusal.value.parameter == named


@pytest.mark.parametrize(
    "matrix", [(), ((),), ((0.5, 0.5), (1.0,)), ((0.5, 0.6),), ((1, 2), (1, 1))]
)
def test_what_is_no_matrix_is_refused(matrix):
    with pytest.raises(CroupierError):
        MECHANISMS["matrix"](matrix=matrix)


def test_a_numpy_matrix_of_integers_is_taken_as_it_is():
    assert MECHANISMS["matrix"](matrix=np.array([[3, 1], [1, 3]])).table.denominator == 4


@pytest.mark.parametrize("k", [2000, 5000])
def test_channels_with_more_reports_than_a_double_can_count_are_refused(k):
    with pytest.raises(TooLargeError, match="likelihood_classes"):
        randomizer("optimized-unary", k=k, max_epsilon_local=1.0).channel()


def test_labels_that_print_alike_are_told_apart():
    assert randomizer("rappor", labels=(0, "0"), max_epsilon_local=2.0).distance > 0


def test_a_set_must_have_as_many_members_as_it_claims():
    subset = randomizer("subset-selection", k=10, max_epsilon_local=1.0, subset_size=3)
    with pytest.raises(DataError, match="10 entries"):
        subset.estimate(np.full((10, 3), 7))


@pytest.mark.parametrize("values", [(0, 99), (0, -1), (0, 1.5)])
def test_likelihood_classes_are_for_existing_values(values):
    with pytest.raises(ParameterError):
        randomizer("k-rr", k=3, max_epsilon_local=1.0).likelihood_classes(*values)


def test_large_alphabets_stay_quick_and_small():
    subset = randomizer("subset-selection", k=20_000, max_epsilon_local=10.0)
    assert len(subset.randomize(np.zeros(500, dtype=int))) == 500
    unary = randomizer("optimized-unary", k=100_000, max_epsilon_local=1.0)
    assert sum(unary.likelihood_classes(0, 1).first) == 1


def test_masked_entries_are_missing():
    values = np.ma.array([0, 1], mask=[False, True])
    with pytest.raises(DataError, match="1 values are missing"):
        randomizer("k-rr", k=2, max_epsilon_local=1.0).randomize(values)


def test_equal_reports_do_not_make_a_mean_certain():
    mean = randomizer("one-bit-mean", grid=Grid(0, 20, 1), max_epsilon_local=2.0)
    assert mean.estimate(np.array([1])).standard_errors[0] > 1
    assert mean.estimate(np.ones(10, dtype=int)).standard_errors[0] > 1
