"""An event is a set of outputs: whether one is in it may not depend on what else was drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.auditing.mechanism.column import Shape, as_column, joined
from croupier.auditing.mechanism.feature import common_features, pair_feature, score_feature
from croupier.auditing.mechanism.parts import every_feature

OUTPUTS = st.one_of(
    st.lists(st.integers(-5, 5), min_size=1),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1),
    st.lists(st.floats(allow_nan=True), min_size=1),
    st.lists(st.binary(max_size=3), min_size=1),
    st.lists(st.text("ab", min_size=2, max_size=2), min_size=1),
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1),
    st.lists(st.booleans(), min_size=1),
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1),
    st.lists(
        st.fixed_dictionaries({"a": st.integers(0, 2), "b": st.text("a:", max_size=3)}), min_size=1
    ),
    st.lists(
        st.tuples(st.integers(0, 1), st.one_of(st.integers(0, 1), st.floats(0, 1))), min_size=1
    ),
    st.lists(st.one_of(st.none(), st.integers(0, 3), st.floats(0, 1), st.booleans()), min_size=1),
)


@given(learned=OUTPUTS, drawn=OUTPUTS)
def test_each_entry_is_encoded_by_itself(learned, drawn):
    column = as_column(learned)
    shape = Shape.of([column])
    features = [*every_feature(shape.read(column)[1])]
    own = pair_feature(column, column)
    for feature in features + ([own] if own else []):
        together = feature.encode(as_column(drawn))
        alone = [feature.encode(as_column([entry]))[0] for entry in drawn]
        assert together.tolist() == alone
        assert together.min() >= 0
        assert together.max() < feature.size


@pytest.mark.parametrize(
    ("numbers", "lowest"),
    [
        ([1.0, 0.5, 3.0, 1.5, 0.0, np.inf, 2.0**-60, 1 + 2.0**-52], [0, -1, 0, -1, 2000, 2000]),
    ],
)
def test_the_lowest_bit(numbers, lowest):
    column = np.array(numbers)
    (feature,) = (f for f in common_features(column) if "lowest" in f.name)
    found = [feature.labels[code] for code in feature.encode(column)]
    assert found == [*lowest, -60, -52]


def test_words_for_sets():
    numbers = np.arange(100) / 7
    feature = score_feature("score", numbers)
    member = np.zeros(feature.size, dtype=bool)
    member[70:-1] = True
    assert feature.describe(member) == "score >= 10"
    member[:] = False
    member[:7] = True
    assert feature.describe(member) == "score < 1"
    member[:] = False
    member[[1, 3]] = True
    assert feature.describe(member) == "score in one of 2 ranges"
    member[:] = False
    member[7:14] = True
    assert feature.describe(member) == "1 <= score < 2"


def test_a_set_that_holds_what_was_never_seen_says_so():
    (feature,) = common_features(np.array([0, 0, 1]))
    assert feature.describe(np.array([True, False, True])).endswith("never seen in the search")


def test_pieces_of_different_kinds_are_joined():
    parts = [as_column([1, 2]), as_column([None]), as_column([(1, 2), (3, 4)])]
    assert joined(parts).tolist() == [1, 2, None, (1, 2), (3, 4)]
    assert joined(parts[:1]).dtype.kind == "i"


def test_types_are_kept_apart():
    assert as_column([1, 2.0]).dtype == object
    assert Shape.of([as_column([True, False])]) == Shape("O")
    assert Shape.of([as_column([(True, False)])]) == Shape("b", 2)
    assert as_column([[1, 2], [3]]).dtype == object
    assert as_column(np.zeros((3, 2, 2))).shape == (3, 4)
    assert as_column(np.array(["a", "b"])).dtype == object
