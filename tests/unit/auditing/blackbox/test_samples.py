import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest

from croupier.auditing.blackbox.samples import (
    bernstein_lower,
    binomial_lower,
    binomial_upper,
    chernoff_lower,
    neighbours,
    read_outputs,
    stratified_lower,
    subsets_logarithm,
)
from croupier.errors import CroupierError, DataError, ParameterError

WORDS = "a-persons-own-words"


def successes_law(probabilities):
    """The law of the number of successes of unequal trials."""
    law = [Fraction(1)]
    for p in probabilities:
        stay = [x * (1 - p) for x in law] + [Fraction(0)]
        move = [Fraction(0)] + [x * p for x in law]
        law = [x + y for x, y in zip(stay, move, strict=True)]
    return law


def failure(bound, probabilities, confidence):
    """The exact probability that a lower bound exceeds the mean."""
    trials = len(probabilities)
    mean = sum(probabilities) / trials
    law = successes_law(probabilities)
    return sum(law[s] for s in range(trials + 1) if bound(s, trials, confidence) > mean)


@pytest.mark.parametrize("confidence", [0.75, 0.95, 0.999])
def test_stratified_bound_holds_for_unequal_trials(confidence):
    grid = [Fraction(0), Fraction(1, 40), Fraction(1, 19), Fraction(1, 3), Fraction(9, 10)]
    for strata in product(grid, repeat=3):
        for repeat in (1, 2, 5):
            assert failure(stratified_lower, list(strata) * repeat, confidence) <= 1 - Fraction(
                confidence
            )


def test_plain_clopper_pearson_fails_for_unequal_trials():
    unequal = [Fraction(506, 10_000), Fraction(0)]
    assert failure(binomial_lower, unequal, 0.95) > Fraction(5, 100)
    assert failure(stratified_lower, unequal, 0.95) <= Fraction(5, 100)


@pytest.mark.parametrize("confidence", [0.75, 0.95, 1 - 1e-9])
def test_chernoff_holds_exactly_for_coins(confidence):
    for trials in (1, 7, 40):
        for p in (Fraction(1, 100), Fraction(1, 3), Fraction(97, 100)):
            law = successes_law([p] * trials)
            wrong = sum(
                law[s]
                for s in range(trials + 1)
                if chernoff_lower(s / trials, trials, confidence) > p
            )
            assert wrong <= 1 - Fraction(confidence)


@pytest.mark.parametrize(("mean", "trials"), [(0.5, 1000), (1e-3, 10**5), (0.999, 50), (1.0, 20)])
def test_chernoff_solves_its_equation(mean, trials):
    p = chernoff_lower(mean, trials, 0.95)
    divergence = mean * math.log(mean / p)
    if mean < 1:
        divergence += (1 - mean) * math.log((1 - mean) / (1 - p))
    assert trials * divergence == pytest.approx(math.log(20), rel=1e-4)
    assert p > mean - math.sqrt(math.log(20) / (2 * trials))


def test_chernoff_of_nothing_is_nothing():
    assert chernoff_lower(0.0, 10, 0.95) == 0


def test_one_sided_ends_spend_the_whole_error():
    assert binomial_lower(10, 10, 0.95) == pytest.approx(0.05 ** (1 / 10), rel=1e-9)
    assert binomial_upper(0, 10, 0.95) == pytest.approx(1 - 0.05 ** (1 / 10), rel=1e-9)
    logarithm = math.log(2 / 0.05)
    radius = math.sqrt(2 * 0.01 * logarithm / 100) + 7 * logarithm / (3 * 99)
    assert bernstein_lower(0.6, 0.01, 100, 0.95) == pytest.approx(0.6 - radius, abs=1e-9)


@pytest.mark.parametrize("size", [1, 2, 3, 10, 50])
def test_number_of_sets(size):
    sets = 2**size - 2
    expected = math.log(sets) if sets else -math.inf
    assert subsets_logarithm(size) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    "sample",
    [
        ["x", "y", "x"],
        np.array(["x", "y", "x"]),
        pd.Series(["x", "y", "x"]),
        pl.Series(["x", "y", "x"]),
        [("x", 1), ("y", 2), ("x", 1)],
        [3, 1, 3],
        np.array([[1, 2], [3, 4], [1, 2]]),
        [True, False, True],
    ],
)
def test_categories_of_every_kind_are_coded_alike(sample):
    read = read_outputs({"a": sample, "b": sample})
    first, second = read.samples
    assert first.tolist() == second.tolist()
    assert first[0] == first[2] != first[1]
    assert len(read.labels) == 2


def test_rows_of_different_lengths_are_categories_too():
    read = read_outputs({"a": [(1,), (1, 2)], "b": [(1, 2), (1, 2)]})
    assert [x.tolist() for x in read.samples] == [[0, 1], [1, 1]]


def test_numbers_become_points_unless_asked():
    read = read_outputs({"a": [0.5, 1.5], "b": [1, 2, 3]})
    assert read.labels is None
    assert [sample.shape for sample in read.samples] == [(2, 1), (3, 1)]
    assert read_outputs({"a": [0.5, 1.5], "b": [0.5]}, as_categories=True).labels == (0.5, 1.5)


def test_split_by_position_or_mixed():
    read = read_outputs({"a": range(10), "b": range(10, 14)})
    first, second = read.split(0.3, None)
    assert [x.tolist() for x in first.samples] == [[0, 1, 2], [10]]
    assert [x.tolist() for x in second.samples] == [[3, 4, 5, 6, 7, 8, 9], [11, 12, 13]]
    mixed, rest = read.split(0.3, np.random.default_rng(0))
    assert sorted([*mixed.samples[0], *rest.samples[0]]) == list(range(10))
    assert mixed.samples[0].tolist() != [0, 1, 2]


def test_neighbours_are_the_nearest():
    rng = np.random.default_rng(3)
    points, at = rng.normal(size=(60, 2)), rng.normal(size=(5, 2))
    distance = ((at[:, None] - points) ** 2).sum(axis=2)
    assert (neighbours(points, at) == distance.argsort(axis=1)[:, :4]).all()


@pytest.mark.parametrize(
    "outputs",
    [
        {"a": [WORDS]},
        {"a": [], "b": [WORDS]},
        {"a": [WORDS, [WORDS]], "b": [WORDS, WORDS]},
        {"a": [[1, 2]], "b": [1]},
        {"a": np.zeros((2, 2, 2)), "b": np.zeros((2, 2, 2))},
        {"a": [math.nan, 0.25], "b": [0.5]},
        {"a": [math.inf], "b": [0.5]},
        {"a": pd.Series([WORDS, None]), "b": [WORDS]},
    ],
)
def test_what_cannot_be_read_is_refused_without_naming_it(outputs):
    with pytest.raises(CroupierError) as refusal:
        read_outputs(outputs)
    assert WORDS not in str(refusal.value)
    assert "0.25" not in str(refusal.value)
    assert isinstance(refusal.value, ParameterError | DataError)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, math.nan])
def test_split_must_leave_something_on_both_sides(share):
    with pytest.raises(ParameterError, match="split"):
        read_outputs({"a": [1, 2], "b": [1, 2]}).split(share, None)


def test_one_sample_cannot_be_split():
    with pytest.raises(ParameterError, match="two or more samples"):
        read_outputs({"a": [1], "b": [1, 2]}).split(0.5, None)
