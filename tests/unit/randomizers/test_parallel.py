"""Parallel queries: the law draw by draw, the weighted blocks, the worst pairs, the estimates."""

import math
from collections import Counter
from fractions import Fraction
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest

from croupier.accounting.amplify import amplify, bracket
from croupier.accounting.pair import Laws, ShuffledPair
from croupier.errors import DataError, ParameterError, TooLargeError
from croupier.leakage.bayes_security import bayes_security
from croupier.model import Categories, Grid, SignVectors
from croupier.model.domain import Product
from croupier.numerics.keystream import Keystream
from croupier.randomizers import (
    DiscreteLaplace,
    HadamardResponse,
    KaryRandomizedResponse,
    LocalHashing,
    MatrixRandomizer,
    OneBitMean,
    OptimizedUnaryEncoding,
    Rappor,
    SampledSign,
    SubsetSelection,
    SymmetricUnaryEncoding,
)
from croupier.randomizers import (
    randomizer as named,
)
from croupier.randomizers.parallel import ParallelRandomizer
from croupier.testing import check_randomizer, law_p_value

YES_NO = KaryRandomizedResponse(labels=("no", "yes"), max_epsilon_local=1.0, denominator=8)
SMALL = [
    ParallelRandomizer(
        queries=(KaryRandomizedResponse(k=3, max_epsilon_local=1.0, denominator=16),)
    ),
    ParallelRandomizer(
        queries=(YES_NO, KaryRandomizedResponse(k=3, max_epsilon_local=1.0, denominator=8)),
        weights=(1, 3),
    ),
    ParallelRandomizer(
        queries=(YES_NO, SymmetricUnaryEncoding(k=3, max_epsilon_local=2.0, denominator=8)),
        weights=(2, 5),
    ),
    ParallelRandomizer(
        queries=(
            LocalHashing(k=3, max_epsilon_local=1.0, denominator=16, prime=3, buckets=2),
            SubsetSelection(k=4, max_epsilon_local=1.0, denominator=8, subset_size=2),
        ),
        weights=(2, 1),
    ),
    ParallelRandomizer(
        queries=(
            OneBitMean(grid=Grid(0, 1, 0.5), max_epsilon_local=1.0, denominator=32),
            SampledSign(dimension=2, max_epsilon_local=1.0, denominator=32),
        ),
        weights=(1, 1),
    ),
    ParallelRandomizer(
        queries=(
            HadamardResponse(k=3, max_epsilon_local=1.0, denominator=16),
            MatrixRandomizer(matrix=((5, 3, 2), (1, 8, 1), (2, 2, 6))),
        ),
        weights=(3, 4),
    ),
]
SHIPPED = [
    ParallelRandomizer(
        queries=(
            KaryRandomizedResponse(k=4, max_epsilon_local=2.0),
            OptimizedUnaryEncoding(k=4, max_epsilon_local=2.0),
            Rappor(k=3, max_epsilon_local=2.0, bits=6),
        ),
        weights=(1, 2, 4),
    ),
]


def _random_matrix(rng, total):
    size, columns = rng.integers(2, 4, size=2)
    rows = rng.multinomial(total - columns, rng.dirichlet(np.ones(columns)), size=size) + 1
    return MatrixRandomizer(matrix=rows)


KINDS = [
    lambda rng, bound: KaryRandomizedResponse(
        k=int(rng.integers(2, 5)), max_epsilon_local=float(rng.uniform(1, 3)), denominator=bound
    ),
    lambda rng, bound: OptimizedUnaryEncoding(
        k=int(rng.integers(2, 4)), max_epsilon_local=float(rng.uniform(1, 3)), denominator=bound
    ),
    lambda rng, bound: SubsetSelection(
        k=4, subset_size=int(rng.integers(1, 4)), max_epsilon_local=2.0, denominator=bound
    ),
    _random_matrix,
]


def _random_parallel(rng):
    kinds = rng.integers(0, len(KINDS), size=rng.integers(1, 4))
    queries = tuple(KINDS[kind](rng, int(rng.choice([32, 45]))) for kind in kinds)
    return ParallelRandomizer(
        queries=queries, weights=tuple(map(int, rng.integers(1, 6, len(queries))))
    )


def _encoded(randomizer, row):
    """Row of the channel as respond takes it."""
    label = randomizer.channel().inputs[row]
    return randomizer.domain.encode(np.array([label], dtype=object))


def _counted(reports):
    rows, counts = np.unique(reports, axis=0, return_counts=True)
    return Counter(dict(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True)))


def _as_map(classes):
    rows = zip(classes.reference, classes.first, classes.second, strict=True)
    return {tuple(e / sum(row) for e in row): row for row in rows}


@pytest.mark.parametrize("randomizer", SMALL + SHIPPED, ids=range(len(SMALL) + len(SHIPPED)))
def test_the_public_contract_holds(randomizer, alarm):
    made = check_randomizer(randomizer, false_alarm=alarm)
    assert {"channel", "unbiased", "sampled law"} <= set(made)
    assert ("every draw" in made) == (randomizer in SMALL)


@pytest.mark.parametrize("randomizer", SMALL, ids=range(len(SMALL)))
def test_every_row_of_draws_gives_the_channel(randomizer):
    bounds = randomizer.draw_bounds
    assert math.prod(bounds) <= 1 << 17
    draws = np.array(list(product(*map(range, bounds))), dtype=np.uint64)
    before = draws.copy()
    channel = randomizer.channel()
    assert channel.denominator == len(draws)
    assert channel.epsilon == randomizer.epsilon_local
    for row in range(channel.shape[0]):
        inputs = np.repeat(_encoded(randomizer, row), len(draws), axis=0)
        found = _counted(randomizer.respond(inputs, draws))
        weights = zip(channel.outputs, channel.weights[row].tolist(), strict=True)
        assert found == {label: weight for label, weight in weights if weight}
    assert (draws == before).all()


@pytest.mark.parametrize("randomizer", SMALL + SHIPPED, ids=range(len(SMALL) + len(SHIPPED)))
def test_reports_keep_to_their_format_and_tallies_add(randomizer):
    form = randomizer.report_format
    rows = np.arange(500) % randomizer.channel().shape[0]
    inputs = np.concatenate([_encoded(randomizer, row) for row in rows])
    draws = Keystream().table(randomizer.draw_bounds, len(inputs))
    reports = randomizer.respond(inputs, draws)
    assert not form.malformed(reports)
    assert {len(entry) for entry in form.to_bytes(reports)} == {form.size}
    assert (form.from_bytes(form.to_bytes(reports)) == reports).all()
    assert (randomizer.read_reports(reports) == reports).all()
    parts = randomizer.tally(reports[:200]) + randomizer.tally(reports[200:])
    assert (parts == randomizer.tally(reports)).all()
    assert (randomizer.tally(reports[:0]) == 0).all()
    assert form.size >= max(randomizer.lengths)


@pytest.mark.parametrize("randomizer", SHIPPED, ids=range(len(SHIPPED)))
def test_samples_at_the_shipped_denominator_follow_the_channel(randomizer, alarm):
    channel = randomizer.channel()
    column = {label: place for place, label in enumerate(channel.outputs)}
    row = channel.shape[0] - 1
    inputs = np.repeat(_encoded(randomizer, row), 40_000, axis=0)
    draws = Keystream().table(randomizer.draw_bounds, len(inputs))
    counts = np.zeros(channel.shape[1])
    for report, times in _counted(randomizer.respond(inputs, draws)).items():
        counts[column[report]] = times
    law = channel.probabilities[row]
    assert law_p_value(counts, law) > alarm
    wrong = law * (1 + 0.3 * (np.array(channel.outputs)[:, 0] == 0))
    assert law_p_value(counts, wrong / wrong.sum()) < alarm


def test_channels_of_random_queries_are_weighted_blocks():
    rng = np.random.default_rng(20240)
    for _ in range(300):
        randomizer = _random_parallel(rng)
        channel = randomizer.channel()
        blocks = [query.channel() for query in randomizer.queries]
        assert channel.denominator == math.prod(randomizer.draw_bounds)
        assert channel.epsilon == randomizer.epsilon_local
        rows = list(product(*(range(block.shape[0]) for block in blocks)))
        assert channel.shape == (len(rows), sum(block.shape[1] for block in blocks))
        row = int(rng.integers(len(rows)))
        expected = [
            Fraction(weight, sum(randomizer.weights)) * block.probability(own, column)
            for own, block, weight in zip(rows[row], blocks, randomizer.weights, strict=True)
            for column in range(block.shape[1])
        ]
        assert [channel.probability(row, y) for y in range(channel.shape[1])] == expected


def test_likelihood_classes_of_random_queries_are_those_of_the_channel():
    rng = np.random.default_rng(20241)
    for _ in range(300):
        randomizer = _random_parallel(rng)
        channel = randomizer.channel()
        rows = list(product(*(range(query.channel().shape[0]) for query in randomizer.queries)))
        first, second, others = rng.integers(0, len(rows), size=3).tolist()
        assert _as_map(randomizer.likelihood_classes(rows[first], rows[second])) == _as_map(
            channel.likelihood_classes(first, second)
        )
        given = randomizer.likelihood_classes(rows[first], rows[second], others=rows[others])
        assert _as_map(given) == _as_map(channel.likelihood_classes(first, second, others=others))


def test_a_lone_person_leaves_most_queries_without_an_answer():
    grids = [DiscreteLaplace(grid=Grid(0, 1, 0.5), max_epsilon_local=1.0) for _ in range(3)]
    parallel = ParallelRandomizer(queries=(*grids, MatrixRandomizer(matrix=((3, 1), (1, 3)))))
    for _ in range(20):
        assert len(parallel.randomize([[0, 1, 0, 1]])) == 1


def test_signs_are_given_as_vectors():
    randomizer = SMALL[4]
    channel = randomizer.channel()
    inputs = [(point, signs) for point in range(3) for signs in product((-1, 1), repeat=2)]
    for first, second in product(range(len(inputs)), repeat=2):
        ours = randomizer.likelihood_classes(inputs[first], inputs[second])
        assert _as_map(ours) == _as_map(channel.likelihood_classes(first, second))
    pairs = randomizer.representative_pairs()
    assert len(pairs) == 1
    for n, epsilon in product((1, 4), (0.0, 0.4)):
        best = max(_delta(randomizer.likelihood_classes(*pair), n, epsilon) for pair in pairs)
        for first, second in product(range(len(inputs)), repeat=2):
            found = _delta(channel.likelihood_classes(first, second), n, epsilon)
            assert found <= best * (1 + 1e-5) + 1e-12
    bounds = bracket(randomizer, n=1000, delta=1e-6)
    assert 0 < bounds.lower.value <= bounds.upper.value < randomizer.epsilon_local


def _delta(classes, n, epsilon):
    return math.exp(ShuffledPair.among(Laws.of(classes), n).log_delta(epsilon).upper)


def test_no_pair_of_rows_beats_the_representative_ones():
    rng = np.random.default_rng(20242)
    for _ in range(60):
        randomizer = _random_parallel(rng)
        channel = randomizer.channel()
        pairs = randomizer.representative_pairs()
        n, epsilon = int(rng.integers(1, 8)), float(rng.uniform(0, 0.8) * channel.epsilon)
        best = max(_delta(randomizer.likelihood_classes(*pair), n, epsilon) for pair in pairs)
        for _ in range(25):
            first, second = rng.integers(0, channel.shape[0], size=2).tolist()
            found = _delta(channel.likelihood_classes(first, second), n, epsilon)
            assert found <= best * (1 + 1e-5) + 1e-12


def test_no_pair_of_rows_beats_the_representative_ones_of_noisy_bits():
    randomizer = ParallelRandomizer(
        queries=(Rappor(k=3, max_epsilon_local=6.0, denominator=16, bits=6), YES_NO), weights=(2, 1)
    )
    channel = randomizer.channel()
    for n, epsilon in product((1, 3, 10), (0.0, 0.5, 2.0)):
        best = max(
            _delta(randomizer.likelihood_classes(*pair), n, epsilon)
            for pair in randomizer.representative_pairs()
        )
        for first, second in product(range(channel.shape[0]), repeat=2):
            found = _delta(channel.likelihood_classes(first, second), n, epsilon)
            assert found <= best * (1 + 1e-5) + 1e-12


def test_equal_answers_to_one_query_are_never_the_worst_pair_of_two_inputs():
    """A convex-order argument stands behind leaving them out; here it is enumerated."""
    rng = np.random.default_rng(20243)
    strict = 0
    for _ in range(100):
        randomizer = ParallelRandomizer(
            queries=(
                YES_NO,
                MatrixRandomizer(matrix=rng.multinomial(28, [0.2, 0.3, 0.5], size=2) + 1),
            ),
            weights=tuple(map(int, rng.integers(1, 6, 2))),
        )
        n, epsilon = int(rng.integers(1, 7)), float(rng.uniform(0, 0.7) * randomizer.epsilon_local)
        best = max(
            _delta(randomizer.likelihood_classes(*pair), n, epsilon)
            for pair in randomizer.representative_pairs()
        )
        for value in (0, 1):
            equal = randomizer.likelihood_classes((0, value), (1, value))
            assert _delta(equal, n, epsilon) <= best * (1 + 1e-5) + 1e-12
            strict += _delta(equal, n, epsilon) < 0.99 * best
    assert strict > 50


def test_one_query_is_amplified_as_if_it_were_alone():
    alone = KaryRandomizedResponse(k=10, max_epsilon_local=2.0)
    one = ParallelRandomizer(queries=(alone,))
    expected = amplify(alone, n=10_000, delta=1e-6)
    assert amplify(one, n=10_000, delta=1e-6).value == pytest.approx(expected.value, rel=1e-9)
    assert bayes_security(one).value == pytest.approx(bayes_security(alone).value, rel=1e-12)


def test_equal_queries_are_amplified_like_one_and_bayes_security_is_their_average():
    alone = KaryRandomizedResponse(k=10, max_epsilon_local=2.0)
    other = KaryRandomizedResponse(k=3, max_epsilon_local=1.0)
    twice = ParallelRandomizer(queries=(alone, alone), weights=(1, 9))
    expected = amplify(alone, n=10_000, delta=1e-6)
    assert amplify(twice, n=10_000, delta=1e-6).value == pytest.approx(expected.value, rel=1e-6)
    mixed = ParallelRandomizer(queries=(alone, other), weights=(1, 3))
    average = bayes_security(alone).value / 4 + bayes_security(other).value * 3 / 4
    assert bayes_security(mixed).value == pytest.approx(average, rel=1e-12)


def test_many_queries_share_their_draws_and_need_no_channel():
    many = ParallelRandomizer(
        queries=tuple(OptimizedUnaryEncoding(k=50, max_epsilon_local=1.0) for _ in range(100))
    )
    assert len(many.draw_bounds) == 51
    assert len(many.representative_pairs()) == 1
    first, second = many.representative_pairs()[0]
    assert len(many.likelihood_classes(first, second)) == 4
    with pytest.raises(TooLargeError, match="likelihood_classes"):
        many.channel()


def test_no_pair_of_rows_beats_those_of_equal_queries():
    """Half of the pairs of equal queries are left out; none of the others is worse."""
    lopsided = MatrixRandomizer(matrix=((5, 2, 1), (1, 3, 4)))
    for weights, most in (((1, 1, 1), 4), ((2, 2, 3), 6)):
        randomizer = ParallelRandomizer(queries=(lopsided,) * 3, weights=weights)
        pairs = randomizer.representative_pairs()
        assert len(pairs) == most
        every = list(product(product(range(2), repeat=3), repeat=2))
        for n, epsilon in product((1, 3, 6), (0.0, 0.3, 1.0)):
            found = {
                pair: _delta(randomizer.likelihood_classes(*pair), n, epsilon) for pair in every
            }
            worst = max(found[pair] for pair in pairs)
            assert max(found.values()) <= worst * (1 + 1e-5) + 1e-12


def test_fifty_questions_have_few_pairs_of_their_own():
    yes_or_no = MatrixRandomizer(matrix=((3, 1), (1, 3)))
    assert len(ParallelRandomizer(queries=(yes_or_no,) * 50).representative_pairs()) == 1
    lopsided = MatrixRandomizer(matrix=((7, 1), (2, 6)))
    assert len(ParallelRandomizer(queries=(lopsided,) * 50).representative_pairs()) == 51


def test_too_many_pairs_are_refused_with_the_way_out():
    table = MatrixRandomizer(matrix=[[1 + (x == y) for y in range(70)] for x in range(70)])
    with pytest.raises(TooLargeError, match="clones"):
        ParallelRandomizer(queries=(table, table)).representative_pairs()


def test_two_grids_have_one_pair_of_ends():
    laplace = DiscreteLaplace(grid=Grid(0, 200, 1), max_epsilon_local=2.0)
    both = ParallelRandomizer(queries=(laplace, laplace))
    assert both.representative_pairs() == [((0, 0), (200, 200))]


def test_lengths_are_those_of_unpadded_messages_and_padding_makes_them_one():
    randomizer = ParallelRandomizer(
        queries=(
            KaryRandomizedResponse(k=1000, max_epsilon_local=1.0),
            OptimizedUnaryEncoding(k=100, max_epsilon_local=1.0),
        )
    )
    # One bit for the query, then ten bits of a category, or a hundred bits.
    assert randomizer.lengths == (2, 13)
    # The first integer of the answer takes ten bits, the other 99 one each.
    assert randomizer.report_format.size == 14


@pytest.mark.parametrize("randomizer", SMALL[1:4], ids=range(3))
def test_estimates_from_the_exact_law_are_the_truth(randomizer):
    """Feed every report as often as its weight: what comes out is the expectation."""
    channel = randomizer.channel()
    reports = np.array(channel.outputs, dtype=randomizer.report_format.dtype)
    for row in range(channel.shape[0]):
        batch = np.repeat(reports, channel.weights[row].astype(int), axis=0)
        indices = _encoded(randomizer, row)[0]
        for estimate, index in zip(randomizer.estimates(batch), indices, strict=True):
            truth = np.arange(len(estimate.values)) == index
            # Weights over so small denominators express the frequency oracle's p and q exactly.
            assert estimate.points == pytest.approx(truth.astype(float), abs=1e-9)


def test_estimates_are_unbiased_with_the_stated_error(alarm):
    runs, people = 300, 2_000
    randomizer = ParallelRandomizer(
        queries=(
            KaryRandomizedResponse(labels=("no", "yes"), max_epsilon_local=2.0),
            OptimizedUnaryEncoding(k=4, max_epsilon_local=3.0),
            OneBitMean(grid=Grid(0, 10, 1), max_epsilon_local=3.0),
        ),
        weights=(2, 1, 1),
    )
    rng = np.random.default_rng(7)
    answer, category = (
        rng.integers(0, 2, people) | (rng.random(people) < 0.5),
        rng.integers(0, 4, people),
    )
    level = rng.integers(0, 11, people)
    values = np.array(
        [
            [("no", "yes")[a], int(c), int(v)]
            for a, c, v in zip(answer, category, level, strict=True)
        ],
        dtype=object,
    )
    truth = [
        np.bincount(answer.astype(int), minlength=2) / people,
        np.bincount(category, minlength=4) / people,
        np.array([level.mean()]),
    ]
    found = [randomizer.estimates(randomizer.randomize(values)) for _ in range(runs)]
    worst = NormalDist().inv_cdf(1 - alarm / 14)
    for place, exact in enumerate(truth):
        errors = np.array([estimates[place].points for estimates in found]) - exact
        stated = np.mean([estimates[place].standard_errors for estimates in found], axis=0)
        spread = errors.std(axis=0, ddof=1)
        assert (np.abs(errors.mean(axis=0)) < worst * spread / math.sqrt(runs)).all()
        # Seven deviations of a spread from 300 runs are 29 per cent.
        assert (spread < 1.3 * stated).all()
        if place < 2:
            assert (spread > 0.7 * stated).all()
            promised = randomizer.rms_errors(people)[place]
            assert math.sqrt((spread**2).mean()) == pytest.approx(promised, rel=0.3)


def test_sampling_is_part_of_the_error_even_without_noise():
    honest = MatrixRandomizer(matrix=((1, 0), (0, 1)))
    randomizer = ParallelRandomizer(queries=(honest, honest))
    reports = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    coin, sure = randomizer.estimates(reports)
    # Two of four people, share one half: (1 - 2/4)(1/4)/2.
    assert coin.standard_errors == pytest.approx(math.sqrt(1 / 16))
    assert sure.standard_errors == pytest.approx(0)
    assert coin.n == 2


def test_one_estimate_holds_all_queries_of_a_kind():
    randomizer = SMALL[1]
    reports = randomizer.randomize(np.array([["no", 2]] * 400, dtype=object))
    joined, apart = randomizer.estimate(reports), randomizer.estimates(reports)
    assert list(joined.values) == ["0: no", "0: yes", "1: 0", "1: 1", "1: 2"]
    assert joined.points.tolist() == np.concatenate([e.points for e in apart]).tolist()
    assert joined.n == 400
    projected = randomizer.estimate(reports, project=True)
    assert projected.points[:2].sum() == pytest.approx(1)
    assert projected.points[2:].sum() == pytest.approx(1)
    assert joined.to_frame("pandas").shape == (5, 5)


def test_shares_and_means_stay_apart():
    randomizer = ParallelRandomizer(
        queries=(YES_NO, OneBitMean(grid=Grid(0, 1, 0.5), max_epsilon_local=1.0))
    )
    reports = randomizer.randomize(np.array([["no", 0.5]] * 100, dtype=object))
    assert [estimate.quantity for estimate in randomizer.estimates(reports)] == ["share", "mean"]
    with pytest.raises(ParameterError, match="`estimates`"):
        randomizer.estimate(reports)


def test_a_query_without_answers_is_refused():
    with pytest.raises(ParameterError, match="none for 1 of 2"):
        SMALL[1].estimates(np.array([[0, 1], [0, 0]]))


@pytest.mark.parametrize(
    "report", [[2, 0, 0, 0], [0, 2, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 2, 0]]
)
def test_what_is_no_padded_answer_is_refused(report):
    good = [[0, 1, 0, 0], [1, 1, 0, 1]]
    assert len(SMALL[2].read_reports(np.array(good)))
    with pytest.raises(DataError, match="1 entries"):
        SMALL[2].read_reports(np.array([*good, report]))


@pytest.mark.parametrize(
    ("randomizer", "good", "wrong"),
    [(SMALL[1], [1, 2], [0, 2]), (SMALL[3], [1, 2, 3], [1, 2, 2])],
    ids=["answer of another query", "set with one member twice"],
)
def test_answers_are_checked_by_their_own_query(randomizer, good, wrong):
    assert not randomizer.report_format.malformed(np.array([good, wrong]))
    with pytest.raises(DataError, match="1 entries are not reports of parallel"):
        randomizer.read_reports(np.array([good, wrong]))


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"queries": ()}, "queries"),
        ({"queries": ("k-rr",)}, "queries"),
        ({"queries": (SMALL[0],)}, "queries"),
        ({"queries": (YES_NO,), "weights": (1, 2)}, "weights"),
        ({"queries": (YES_NO,), "weights": (0,)}, "weights"),
        ({"queries": (YES_NO,), "weights": (0.5,)}, "weights"),
        ({"queries": (YES_NO, YES_NO), "weights": (2**64, 1)}, "weights"),
    ],
)
def test_impossible_parameters_are_named(given, named):
    with pytest.raises(ParameterError) as refusal:
        ParallelRandomizer(**given)
    assert refusal.value.parameter == named


@pytest.mark.parametrize("row", [0, (0,), (0, 1, 1)])
def test_likelihood_classes_take_one_input_a_query(row):
    with pytest.raises(ParameterError, match="one per query"):
        SMALL[1].likelihood_classes(row, (0, 1))


def test_the_specification_is_plain_data():
    assert SMALL[1].specification == {
        "mechanism": "parallel",
        "queries": [query.specification for query in SMALL[1].queries],
        "weights": [1, 3],
    }


@pytest.mark.parametrize("randomizer", SMALL, ids=range(len(SMALL)))
def test_the_specification_builds_the_same_again(randomizer):
    assert named(**randomizer.specification) == randomizer


@pytest.mark.parametrize("query", [{"k": 3}, "k-rr", 3])
def test_a_query_without_a_mechanism_is_refused(query):
    with pytest.raises(ParameterError, match="mechanism"):
        named("parallel", queries=[query])


def test_a_product_encodes_every_column_by_its_own_domain():
    both = Product((Categories(("a", "b")), SignVectors(2), Grid(0, 1, 0.5)))
    values = np.array([["b", -1, 1, 0.4], ["a", 1, 1, 9.0]], dtype=object)
    assert both.encode(values).tolist() == [[1, 0, 1, 1], [0, 1, 1, 2]]
    assert (both.size, both.shape) == (2 * 4 * 3, (4,))
    with pytest.raises(DataError, match="1 values are not among"):
        both.encode(np.array([["c", 1, 1, 0.5]], dtype=object))


@pytest.mark.parametrize("shape", [(3,), (3, 1), (3, 3), (3, 2, 1)])
def test_a_product_takes_a_matrix_with_its_columns(shape):
    with pytest.raises(ParameterError, match="matrix with 2 columns"):
        SMALL[1].randomize(np.zeros(shape, dtype=int))


def test_a_product_of_nothing_is_refused():
    with pytest.raises(ParameterError, match="at least one"):
        Product(())
