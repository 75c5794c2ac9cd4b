import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.assessment.design.family import LARGEST_INDEX, decimal_at, families, index_of
from croupier.errors import ParameterError


@given(st.integers(0, LARGEST_INDEX))
def test_indices_are_the_numbers_of_four_digits_in_order(index):
    value = decimal_at(index)
    assert float(f"{value:.4g}") == value
    assert index_of(value) == index
    assert decimal_at(index + 1) > value


@given(st.floats(0.001, 20.0))
def test_an_index_is_the_nearest_below(value):
    index = index_of(value)
    assert decimal_at(index) <= value < decimal_at(index + 1)


@pytest.mark.parametrize("family", families({"k": 20}), ids=lambda f: f"{f.mechanism}{f.given}")
def test_the_least_index_and_the_fewest_people_just_reach_the_error(family):
    index = family.least_index(0.01, 20_000, most=LARGEST_INDEX)
    assert family.error(index, 20_000) <= 0.01 < family.error(index - 1, 20_000)
    people = family.people(0.01, index, most=20_000)
    assert family.error(index, people) <= 0.01 < family.error(index, people - 1)


@pytest.mark.parametrize(
    "family",
    [
        one
        for one in families({"k": 20})
        if one.mechanism != "subset-selection" or len(one.given) > 1
    ],
    ids=lambda f: f"{f.mechanism}{f.given}",
)
def test_the_error_falls_with_epsilon_local_where_own_parameters_are_fixed(family):
    indices = range(index_of(0.01), LARGEST_INDEX, 977)
    errors = [family.error(index, 1_000) for index in indices]
    assert errors == sorted(errors, reverse=True)


def test_many_values_need_other_mechanisms_than_few():
    few, many = ({one.mechanism for one in families({"k": k})} for k in (20, 5_000))
    assert few - many == {"symmetric-unary", "optimized-unary", "local-hashing"}
    assert many - few == {"dictionary"}
    sets = [one.given.get("subset_size", 1) for one in families({"k": 10**6})]
    assert max(sets) <= 512


def test_texts_have_one_mechanism():
    (family,) = families({"longest": 6, "alphabet": "abc"})
    index = family.least_index(0.01, 200_000, most=LARGEST_INDEX)
    assert family.randomizer(index).longest == 6
    with pytest.raises(ParameterError, match=r"be one of text here; got 'k-rr'\. Try text"):
        families({"longest": 6}, mechanisms=["k-rr"])


def test_an_error_out_of_reach_has_no_index():
    family = families({"k": 20}, mechanisms=["hadamard"])[0]
    assert family.least_index(1e-9, 1_000, most=LARGEST_INDEX) is None


def test_a_mechanism_that_cannot_be_built_has_no_error():
    family = families({"k": 10**6}, mechanisms=["symmetric-unary"])[0]
    assert family.error(LARGEST_INDEX, 1_000) == math.inf


def test_questions_are_shared_out():
    parallel, divided = families({"k": 3}, questions=4, mechanisms=["k-rr"])
    assert (parallel.batch(1_000), divided.batch(1_000)) == (1_000, 250)
    assert divided.error(index_of(2.0), 1_000) < parallel.error(index_of(2.0), 1_000)


@pytest.mark.parametrize(
    ("given", "parameter"),
    [({"mechanisms": ["laplace"]}, "mechanism"), ({"models": ["bins"]}, "model")],
)
def test_what_is_not_known_is_refused(given, parameter):
    with pytest.raises(ParameterError) as refused:
        families({"k": 3}, **given)
    assert refused.value.parameter == parameter
