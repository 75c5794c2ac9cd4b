import math
import time
import tracemalloc
from fractions import Fraction
from itertools import combinations, pairwise

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.errors import ParameterError
from croupier.model import Channel

ORACLE = mpmath.MPContext()
ORACLE.dps = 200

WORD = 1 << 64


@st.composite
def channels(draw, rows=None, columns=None, *, positive=False):
    rows = rows or draw(st.integers(1, 4))
    columns = columns or draw(st.integers(1, 4))
    denominator = draw(st.integers(1, 12)) * draw(st.sampled_from([1, 1, (1 << 61) - 1, 10**30]))
    least = 1 if positive else 0
    weights = []
    for _ in range(rows):
        cuts = st.lists(st.integers(0, denominator), min_size=columns - 1, max_size=columns - 1)
        ends = [0, *sorted(draw(cuts)), denominator]
        weights.append([high - low + least for low, high in pairwise(ends)])
    return Channel.from_weights(np.array(weights, dtype=object), denominator + least * columns)


@st.composite
def cascades(draw):
    middle = draw(st.integers(1, 4))
    return draw(channels(columns=middle)), draw(channels(rows=middle))


@st.composite
def parallels(draw):
    rows = draw(st.integers(1, 4))
    return draw(channels(rows=rows)), draw(channels(rows=rows))


def exact(channel):
    rows, columns = channel.shape
    return [[channel.probability(x, y) for y in range(columns)] for x in range(rows)]


def columns_of(channel):
    return list(zip(*exact(channel), strict=True))


def proportional(one, two):
    return all(one[i] * two[j] == one[j] * two[i] for i, j in combinations(range(len(one)), 2))


def scaled(channel, factor):
    weights = channel.weights.astype(object) * factor
    return Channel.from_weights(weights, channel.denominator * factor)


@pytest.mark.parametrize(
    ("weights", "denominator", "problem"),
    [
        ([[1, 2], [2, 2]], 4, "sum to 4"),
        ([[1, 2], [2, 2]], 3, "sum to 3"),
        ([[5, -1]], 4, "negative"),
        ([[0.5, 0.5]], 1, "integers"),
        ([["1", "0"]], 1, "integers"),
        ([[]], 0, "rows and columns"),
        ([[0, 0]], 0, "sum to 0"),
        ([[Fraction(3, 2), Fraction(1, 2)]], 2, "integers"),
        (np.zeros((0, 2), dtype=int), 1, "rows and columns"),
        ([1, 2], 3, "matrix"),
        ([[[1]]], 1, "matrix"),
    ],
)
def test_weights_that_are_no_exact_channel_are_refused(weights, denominator, problem):
    with pytest.raises(ParameterError, match=problem) as refusal:
        Channel.from_weights(weights, denominator)
    assert refusal.value.parameter == "weights"


@pytest.mark.parametrize(
    "probabilities",
    [
        [[0.5, 0.4]],
        [[0.5, 0.5 + 1e-8]],
        [[1.5, -0.5]],
        [[math.nan, 1.0]],
        [[math.inf, 0.0]],
        [[]],
        [0.5, 0.5],
    ],
)
def test_probabilities_that_are_no_channel_are_refused(probabilities):
    with pytest.raises(ParameterError):
        Channel.from_probabilities(probabilities)


def test_row_sums_off_by_less_than_the_tolerance_are_accepted():
    assert Channel.from_probabilities([[0.5, 0.5 + 1e-10]]).denominator is None


@pytest.mark.parametrize("labels", [("a",), ("a", "b", "c"), ("a", "a")])
@pytest.mark.parametrize("side", ["inputs", "outputs"])
def test_labels_must_be_distinct_and_as_many_as_entries(labels, side):
    with pytest.raises(ParameterError) as refusal:
        Channel.from_weights([[3, 1], [1, 3]], 4, **{side: labels})
    assert refusal.value.parameter == side


def test_labels_default_to_positions():
    channel = Channel.from_weights([[3, 1, 0], [1, 3, 0]], 4)
    assert (channel.inputs, channel.outputs) == ((0, 1), (0, 1, 2))
    assert channel.shape == (2, 3)


@pytest.mark.parametrize(
    ("row", "denominator"),
    [
        ([WORD - 1, 1], WORD),
        ([WORD - 1, 0], WORD - 1),
        ([WORD - 1, WORD - 1, WORD - 1], 3 * WORD - 3),
        ([1 << 63, 1 << 63, 5], WORD + 5),
        ([WORD, 1], WORD + 1),
        ([(1 << 32) - 1, 1 << 32, (1 << 33) - 1], (1 << 34) - 2),
    ],
)
def test_rows_near_two_to_the_64_are_summed_exactly(row, denominator):
    weights = np.array([row], dtype=object)
    channel = Channel.from_weights(weights, denominator)
    assert [channel.probability(0, y) * denominator for y in range(len(row))] == row
    for wrong in (denominator - 1, denominator + 1, denominator % WORD or 1):
        if wrong != denominator:
            with pytest.raises(ParameterError, match="sum to"):
                Channel.from_weights(weights, wrong)


@settings(deadline=None)
@given(channels())
def test_probabilities_are_the_nearest_doubles(channel):
    assert channel.probabilities.tolist() == [[float(p) for p in row] for row in exact(channel)]


@pytest.mark.parametrize("denominator", [WORD, WORD - 1, 3, 10**40])
def test_probabilities_of_large_weights_are_the_nearest_doubles(denominator):
    low = denominator // 3
    channel = Channel.from_weights(np.array([[low, denominator - low]], dtype=object), denominator)
    assert channel.probabilities.tolist() == [
        [low / denominator, (denominator - low) / denominator]
    ]


@settings(deadline=None)
@given(cascades())
def test_cascade_is_the_product_of_matrices(pair):
    first, second = pair
    composed = first @ second
    rows, columns = exact(first), columns_of(second)
    assert exact(composed) == [
        [sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in rows
    ]
    assert composed.denominator == first.denominator * second.denominator


@settings(deadline=None)
@given(parallels())
def test_parallel_is_the_product_of_rows(pair):
    first, second = pair
    composed = first | second
    assert exact(composed) == [
        [a * b for a in one for b in two]
        for one, two in zip(exact(first), exact(second), strict=True)
    ]
    assert composed.outputs == tuple((a, b) for a in first.outputs for b in second.outputs)


def test_composition_keeps_labels_and_needs_them_to_fit():
    first = Channel.from_weights([[3, 1], [1, 3]], 4, inputs="ab", outputs="cd")
    second = Channel.from_weights([[3, 1], [1, 3]], 4, inputs="cd", outputs="ef")
    assert (first @ second).inputs == ("a", "b")
    assert (first @ second).outputs == ("e", "f")
    with pytest.raises(ParameterError):
        second @ first
    with pytest.raises(ParameterError):
        first | second


@pytest.mark.parametrize("compose", [lambda a, b: a @ b, lambda a, b: a | b])
def test_composing_with_a_float_channel_gives_a_float_channel(compose):
    whole = Channel.from_weights([[3, 1], [1, 3]], 4)
    rounded = Channel.from_probabilities(whole.probabilities)
    for pair in ((whole, rounded), (rounded, whole), (rounded, rounded)):
        composed = compose(*pair)
        assert not composed.exact
        assert composed.probabilities.tolist() == compose(whole, whole).probabilities.tolist()


@pytest.mark.parametrize("compose", [lambda a, b: a @ b, lambda a, b: a | b])
def test_composing_with_something_else_is_a_type_error(compose):
    with pytest.raises(TypeError):
        compose(Channel.from_weights([[1]], 1), [[1]])


@settings(deadline=None)
@given(channels(), st.integers(1, 1 << 70))
def test_equality_is_that_of_probabilities_across_denominators(channel, factor):
    other = scaled(channel, factor)
    assert channel == other
    assert hash(channel) == hash(other)


@settings(deadline=None)
@given(channels(columns=3), st.integers(1, 5))
def test_one_unit_moved_makes_channels_differ(channel, factor):
    other = scaled(channel, factor)
    weights = other.weights.astype(object)
    full = int(np.argmax(weights[0]))
    weights[0, full] -= 1
    weights[0, (full + 1) % 3] += 1
    assert channel != Channel.from_weights(weights, other.denominator)


@pytest.mark.parametrize(
    "other",
    [
        Channel.from_weights([[3, 1], [1, 3]], 4, inputs="ab"),
        Channel.from_weights([[3, 1], [1, 3]], 4, outputs="ab"),
        Channel.from_weights([[1, 3], [3, 1]], 4),
        Channel.from_probabilities([[0.75, 0.25], [0.25, 0.75]]),
        [[3, 1], [1, 3]],
    ],
)
def test_other_labels_laws_and_kinds_are_not_equal(other):
    assert Channel.from_weights([[3, 1], [1, 3]], 4) != other


@settings(deadline=None)
@given(channels(positive=True))
def test_epsilon_is_the_log_of_the_largest_ratio_rounded_up(channel):
    ratio = max(max(column) / min(column) for column in columns_of(channel))
    truth = ORACLE.log(ORACLE.mpf(ratio.numerator) / ratio.denominator)
    assert ORACLE.mpf(channel.epsilon) >= truth
    below = math.nextafter(channel.epsilon, -math.inf)
    assert ORACLE.mpf(below) < truth + ORACLE.mpf("1e-45")


@pytest.mark.parametrize(
    ("weights", "epsilon"),
    [
        ([[1, 1], [1, 1]], 0.0),
        ([[2, 0], [1, 1]], math.inf),
        ([[2, 0], [2, 0]], 0.0),
        ([[2]], 0.0),
    ],
)
def test_epsilon_of_excluded_outputs(weights, epsilon):
    assert Channel.from_weights(weights, 2).epsilon == epsilon
    assert Channel.from_probabilities(np.array(weights) / 2).epsilon == epsilon


@settings(deadline=None)
@given(cascades())
def test_data_processing_never_raises_epsilon(pair):
    first, second = pair
    assert (first @ second).epsilon <= min(first.epsilon, second.epsilon)


@settings(deadline=None)
@given(parallels())
def test_parallel_epsilon_is_at_most_the_sum(pair):
    first, second = pair
    assert (first | second).epsilon <= (first.epsilon + second.epsilon) * (1 + 1e-15)


def vulnerability(channel, prior):
    return sum(
        max(weight * p for weight, p in zip(prior, column, strict=True))
        for column in columns_of(channel)
    )


@settings(deadline=None)
@given(st.data(), channels())
def test_reduction_keeps_bayes_vulnerability_for_every_prior(data, channel):
    rows = channel.shape[0]
    prior = data.draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows))
    assert vulnerability(channel.reduced(), prior) == vulnerability(channel, prior)


@settings(deadline=None)
@given(channels())
def test_reduction_merges_proportional_columns_and_no_others(channel):
    columns, reduced = columns_of(channel), channel.reduced()
    for group, merged in zip(reduced.outputs, columns_of(reduced), strict=True):
        members = [columns[channel.outputs.index(label)] for label in group]
        assert merged == tuple(map(sum, zip(*members, strict=True)))
        assert all(proportional(one, two) for one, two in combinations(members, 2))
        assert any(merged)
    assert not any(proportional(one, two) for one, two in combinations(columns_of(reduced), 2))
    kept = {label for group in reduced.outputs for label in group}
    assert kept == {y for y, column in zip(channel.outputs, columns, strict=True) if any(column)}


def test_columns_that_are_proportional_only_as_doubles_stay_apart():
    unit = 1 << 60
    channel = Channel.from_weights([[unit + 1, unit, 1], [unit, unit, 2]], 2 * unit + 2)
    assert channel.reduced().shape == (2, 3)
    assert len(channel.likelihood_classes(0, 1)) == 3


def test_reduction_of_a_float_channel_adds_equal_columns():
    reduced = Channel.from_probabilities([[0.25, 0.25, 0.5, 0.0], [0.5, 0.5, 0.0, 0.0]]).reduced()
    assert reduced.weights.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert reduced.outputs == ((0, 1), (2,))


@pytest.mark.parametrize("factor", [1, 1 << 70])
def test_equal_inputs_are_grouped_in_order(factor):
    weights = np.array([[3, 1], [1, 3], [3, 1], [2, 2], [1, 3]], dtype=object) * factor
    channel = Channel.from_weights(weights, 4 * factor, inputs="abcde")
    assert channel.equal_inputs() == [("a", "c"), ("b", "e"), ("d",)]


@settings(deadline=None)
@given(st.data(), channels())
def test_likelihood_classes_add_up_and_are_told_apart(data, channel):
    first, second, others = (data.draw(st.integers(0, channel.shape[0] - 1)) for _ in range(3))
    blanket = sum(map(min, columns_of(channel)))
    for row, reference in ((None, blanket), (others, 1)):
        classes = channel.likelihood_classes(first, second, others=row)
        assert (sum(classes.first), sum(classes.second)) == (1, 1)
        assert sum(classes.reference) == reference
        triples = list(zip(classes.reference, classes.first, classes.second, strict=True))
        assert len(triples) == len(classes)
        assert not any(proportional(one, two) for one, two in combinations(triples, 2))


def test_likelihood_classes_of_a_response_by_hand():
    channel = Channel.from_weights([[3, 1, 1], [1, 3, 1], [1, 1, 3]], 5)
    classes = channel.likelihood_classes(0, 1)
    fifth = Fraction(1, 5)
    assert set(zip(classes.reference, classes.first, classes.second, strict=True)) == {
        (fifth, 3 * fifth, fifth),
        (fifth, fifth, 3 * fifth),
        (fifth, fifth, fifth),
    }


@pytest.mark.parametrize("build", [Channel, Channel.from_weights])
def test_a_channel_cannot_be_changed(build):
    source = np.array([[3, 1], [1, 3]], dtype=np.uint64)
    channel = build(source, 4)
    source[0] = 2
    assert channel.weights.tolist() == [[3, 1], [1, 3]]
    for matrix in (channel.weights, channel.probabilities):
        with pytest.raises(ValueError, match="read-only"):
            matrix[0, 0] = 0
    for name in ("weights", "denominator", "inputs", "outputs", "epsilon", "anything"):
        with pytest.raises(AttributeError, match=name):
            setattr(channel, name, None)


def test_twenty_thousand_inputs_and_a_thousand_outputs_fit():
    weights = np.full((20_000, 1_000), 1 << 54, dtype=np.uint64)
    weights[7, :2] += np.array([1 << 53, -(1 << 53)]).astype(np.uint64)
    tracemalloc.start()
    start = time.process_time()
    channel = Channel.from_weights(weights, 1_000 << 54)
    assert channel.epsilon == pytest.approx(math.log(2))
    elapsed, (_, peak) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert elapsed < 10
    assert peak < 5 * weights.nbytes


def test_html_escapes_labels_and_cuts_large_tables():
    weights = np.eye(9, 10, dtype=int)
    inputs = ["<script>", *range(8)]
    html = Channel.from_weights(weights, 1, inputs=inputs, outputs="&123456789")._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "&amp;</th>" in html
    assert "the first 8 x 8 shown" in html
    assert html.count("<td") == 64


def test_html_of_a_small_channel_says_nothing_is_cut():
    assert "shown" not in Channel.from_weights([[1, 1]], 2)._repr_html_()


def test_repr_says_the_size_and_the_kind():
    assert repr(Channel.from_weights([[3, 1], [1, 3]], 4)) == (
        "Channel(2 inputs, 2 outputs, exact, denominator 4)"
    )
    assert "float" in repr(Channel.from_probabilities([[1.0]]))
