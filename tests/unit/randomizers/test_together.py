"""Questions together: the product of the laws, the worst pairs, the estimates, two-way tables."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binom

from croupier.accounting.blanket import local_curve, upper_curve
from croupier.accounting.clones import unlisted_curve
from croupier.accounting.pair import Laws, ShuffledPair
from croupier.errors import ParameterError, TooLargeError
from croupier.model import Grid
from croupier.randomizers import (
    DiscreteGaussian,
    DiscreteLaplace,
    Distribution,
    HadamardResponse,
    KaryRandomizedResponse,
    LocalHashing,
    MatrixRandomizer,
    OneBitMean,
    OptimizedUnaryEncoding,
    ParallelRandomizer,
    Plain,
    Rappor,
    SampledSign,
    SubsetSelection,
    SymmetricUnaryEncoding,
    TogetherRandomizer,
)
from croupier.randomizers import randomizer as named

YES_NO = KaryRandomizedResponse(labels=("no", "yes"), max_epsilon_local=1.0, denominator=8)
KINDS = [
    YES_NO,
    KaryRandomizedResponse(k=3, max_epsilon_local=1.3, denominator=32),
    SymmetricUnaryEncoding(k=3, max_epsilon_local=2.0, denominator=8),
    OptimizedUnaryEncoding(k=3, max_epsilon_local=1.0, denominator=32),
    SubsetSelection(k=4, max_epsilon_local=1.0, denominator=8, subset_size=2),
    HadamardResponse(k=5, max_epsilon_local=1.0, denominator=16),
    LocalHashing(k=3, max_epsilon_local=1.0, denominator=16, prime=3, buckets=2),
    Rappor(k=3, max_epsilon_local=6.0, denominator=16, bits=6),
    OneBitMean(grid=Grid(0, 1, 0.25), max_epsilon_local=1.0, denominator=32),
    DiscreteLaplace(grid=Grid(0, 3, 1), max_epsilon_local=1.5, denominator=64),
    SampledSign(dimension=2, max_epsilon_local=1.0, denominator=32),
    Distribution(grid=Grid(0, 5, 1), max_epsilon_local=1.5, denominator=32, fanout=2),
]
CROSSED = [made for made in KINDS if hasattr(made, "supported")]


def together(*queries):
    return TogetherRandomizer(queries=queries)


def gains(classes, factor):
    """G = p/w - factor q/w for each class, and the chance of the class under the blanket."""
    rows = zip(classes.reference, classes.first, classes.second, strict=True)
    return [(w, p / w - factor * q / w) for w, p, q in rows]


def spread(classes, factor, points):
    """E(G - t)_+ under the blanket: larger at all t if G is larger in the convex order."""
    law = gains(classes, factor)
    return [sum(w * max(gain - t, Fraction(0)) for w, gain in law) for t in points]


def row_pair(made, pair):
    """The rows of the channel; those of signs are labelled by the signs."""
    if made.mechanism != "sampled-sign":
        return pair
    return [made.channel().inputs.index(tuple(map(int, signs))) for signs in pair]


@pytest.mark.parametrize("made", KINDS, ids=lambda made: made.mechanism)
def test_one_pair_of_a_question_is_the_worst_at_every_factor(made):
    """The condition under which it may be taken whatever the other answers are.

    It is about the blanket itself. A lower bound of it, as of two mechanisms, hides less.
    """
    channel = made.channel()
    pairs = [row_pair(made, pair) for pair in made.representative_pairs()]
    for factor in (Fraction(n, 4) for n in (0, 1, 2, 3, 4, 5, 8, 20)):
        best = [channel.likelihood_classes(*pair) for pair in pairs]
        points = sorted({gain for classes in best for _, gain in gains(classes, factor)})
        rows = range(channel.shape[0])
        others = [channel.likelihood_classes(x, z) for x, z in product(rows, repeat=2)]
        points += [gain for classes in others for _, gain in gains(classes, factor)]
        curves = [spread(classes, factor, points) for classes in best]
        worst = max(curves)
        assert all(c <= w for curve in curves for c, w in zip(curve, worst, strict=True))
        for classes in others:
            found = spread(classes, factor, points)
            assert all(f <= w for f, w in zip(found, worst, strict=True))


def test_ends_without_one_law_are_listed_in_both_orders_and_alone():
    gaussian = DiscreteGaussian(grid=Grid(0, 2, 1), max_epsilon_local=6.0, tail=2.0)
    assert gaussian.representative_pairs() == [(0, 2), (2, 0)]
    pairs = together(gaussian).representative_pairs()
    assert sorted(pairs) == [((x,), (z,)) for x, z in ((0, 0), (0, 2), (2, 0), (2, 2))]


def delta(classes, n, epsilon):
    return math.exp(ShuffledPair.among(Laws.of(classes), n).log_delta(epsilon).upper)


def test_no_pair_of_rows_beats_the_representative_ones():
    rng = np.random.default_rng(27)
    pool = [YES_NO, KINDS[1], KINDS[4], KINDS[8], MatrixRandomizer(matrix=((5, 3), (1, 7)))]
    for _ in range(25):
        made = together(*(pool[i] for i in rng.integers(len(pool), size=2)))
        channel = made.channel()
        n, epsilon = int(rng.integers(1, 7)), float(rng.uniform(0, 0.8) * channel.epsilon)
        pairs = made.representative_pairs()
        best = max(delta(made.likelihood_classes(*pair), n, epsilon) for pair in pairs)
        for _ in range(25):
            first, second = rng.integers(0, channel.shape[0], size=2).tolist()
            found = delta(channel.likelihood_classes(first, second), n, epsilon)
            assert found <= best * (1 + 1e-5) + 1e-12


@pytest.mark.parametrize(
    "queries", [(YES_NO, KINDS[1]), (KINDS[4], YES_NO), (YES_NO,) * 3], ids=str
)
def test_classes_are_those_of_the_channel(queries):
    made = together(*queries)
    channel = made.channel()
    labels = [range(query.domain.size) for query in queries]
    rows = list(product(*labels))
    for (i, first), (j, second) in product(enumerate(rows), repeat=2):
        ours = made.likelihood_classes(first, second)
        assert _as_map(ours) == _as_map(channel.likelihood_classes(i, j))
        ours = made.likelihood_classes(first, second, others=rows[-1])
        theirs = channel.likelihood_classes(i, j, others=len(rows) - 1)
        assert _as_map(ours) == _as_map(theirs)


def _as_map(classes):
    rows = zip(classes.reference, classes.first, classes.second, strict=True)
    return {tuple(e / sum(row) for e in row): row for row in rows}


def test_epsilons_add_up():
    made = together(YES_NO, KINDS[1], KINDS[4])
    parts = sum(Fraction(query.epsilon_local) for query in made.queries)
    assert Fraction(made.epsilon_local) >= parts
    assert made.epsilon_local == pytest.approx(made.channel().epsilon, rel=1e-15)
    assert made.epsilon_local >= made.channel().epsilon
    assert made.checked_epsilon_local == made.epsilon_local
    assert made.budget_cost == 3.3


def test_fifty_questions_have_fifty_one_classes():
    made = together(*(KaryRandomizedResponse(k=2, max_epsilon_local=0.1),) * 50)
    [pair] = made.representative_pairs()
    assert len(made.likelihood_classes(*pair)) == 51
    assert made.epsilon_local == pytest.approx(5.0, rel=1e-8)
    with pytest.raises(TooLargeError):
        made.channel()


def test_questions_that_differ_have_too_many_classes():
    made = together(
        *(KaryRandomizedResponse(k=2, max_epsilon_local=0.1 + i / 100) for i in range(9))
    )
    with pytest.raises(TooLargeError, match="classes"):
        made.representative_pairs()


def test_many_pairs_of_several_classes_are_too_many_classes():
    lopsided = MatrixRandomizer(matrix=((5, 1, 1, 2), (1, 5, 1, 2), (1, 2, 5, 1), (2, 1, 1, 5)))
    with pytest.raises(TooLargeError, match="classes"):
        together(lopsided, lopsided, YES_NO).representative_pairs()


def test_of_pairs_with_the_same_classes_one_is_enough():
    circle = MatrixRandomizer(matrix=((2, 1, 1), (1, 2, 1), (1, 1, 2)))
    pairs = together(circle, YES_NO).representative_pairs()
    assert len(pairs) == 2  # equal inputs, and different ones


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.1, 2.2])
def test_a_law_of_which_only_epsilon_local_is_known_is_no_safer(epsilon):
    made = together(YES_NO, KINDS[1])
    unlisted = unlisted_curve(made.epsilon_local)
    assert unlisted.delta(epsilon) >= local_curve(made).delta(epsilon)
    alone = KaryRandomizedResponse(k=2, max_epsilon_local=1.0)
    assert unlisted_curve(alone.epsilon_local).delta(epsilon) == pytest.approx(
        local_curve(alone).delta(epsilon), rel=1e-6
    )


def test_shuffling_hides_two_answers_less_than_one():
    one = upper_curve(YES_NO, n=1000).epsilon(1e-6)
    two = upper_curve(together(YES_NO, YES_NO), n=1000).epsilon(1e-6)
    assert one < two < together(YES_NO, YES_NO).epsilon_local


@pytest.mark.parametrize(
    "queries",
    [
        (),
        (YES_NO, Plain(k=3)),
        (YES_NO, ParallelRandomizer(queries=(YES_NO,))),
        (YES_NO, together(YES_NO)),
        (MatrixRandomizer(matrix=((1, 0), (0, 1))),),
    ],
    ids=["none", "plain", "parallel", "together", "no noise"],
)
def test_refused(queries):
    with pytest.raises(ParameterError, match="queries"):
        together(*queries)
    with pytest.raises(ParameterError, match="queries"):
        ParallelRandomizer(queries=(YES_NO, together(YES_NO)))


def test_every_answer_must_be_one_of_its_question():
    made = together(YES_NO, KINDS[4])
    assert made.is_report((1, 0, 3))
    assert not made.is_report((1, 3, 0))
    assert not made.is_report((2, 0, 3))
    rows = np.array([[1, 0, 3], [1, 3, 0], [2, 0, 3], [0, 1, 1]])
    assert made.refused(rows).tolist() == [False, True, True, True]


def test_specification_builds_it_again():
    made = together(YES_NO, KINDS[4])
    again = named(**made.specification)
    assert again == made


@pytest.mark.parametrize("made", CROSSED, ids=lambda made: made.mechanism)
def test_supported_categories_add_up_to_the_support(made):
    values = np.array(made.domain.labels)[np.arange(500) % made.size]
    reports = made.randomize(values, insecure_seed=5)
    found = made.supported(reports)
    assert found.shape == (500, made.size)
    assert found.sum(axis=0).tolist() == made.support(made.tally(reports)).tolist()


def test_a_table_of_the_exact_law_is_the_truth():
    for one, two in combinations(CROSSED, 2):
        made = together(one, two)
        channel = made.channel()
        reports = np.array(channel.outputs, dtype=made.report_format.dtype)
        tallies = np.array([made.tally(reports[[y]]) for y in range(len(reports))], dtype=float)
        shares = np.arange(1, channel.shape[0] + 1) / np.arange(channel.shape[0] + 1).sum()
        n = 10**9
        tally = np.rint(n * shares @ channel.probabilities @ tallies).astype(np.int64)
        found = made.crossed(tally, n, first=0, second=1)
        assert found.points == pytest.approx(shares, abs=1e-6)
        turned = made.crossed(tally, n, first=1, second=0)
        grid = found.points.reshape(one.size, two.size)
        assert turned.points.reshape(two.size, one.size) == pytest.approx(grid.T)
        assert list(turned.values)[1] == f"{two.domain.labels[0]}, {one.domain.labels[1]}"


def test_the_error_of_a_cell_is_that_of_the_law():
    """The variance of one report's score, by whom it comes from, computed from the channel."""
    one, two = KINDS[1], KINDS[4]
    made = together(one, two)
    channel = made.channel()
    reports = np.array(channel.outputs, dtype=made.report_format.dtype)
    scores = np.array(
        [
            made.crossed(made.tally(reports[[y]]), 1, first=0, second=1).points
            for y in range(len(reports))
        ]
    )
    means = channel.probabilities @ scores
    assert means == pytest.approx(np.eye(len(means)), abs=1e-9)
    variances = channel.probabilities @ scores**2 - means**2
    shares = np.arange(1, len(means) + 1) / np.arange(len(means) + 1).sum()
    n = 10**9
    tally = (
        n * shares @ channel.probabilities @ [made.tally(reports[[y]]) for y in range(len(reports))]
    )
    found = made.crossed(np.rint(tally).astype(np.int64), n, first=0, second=1)
    assert found.standard_errors**2 * n == pytest.approx(shares @ variances, rel=1e-5)


@pytest.mark.parametrize(
    ("queries", "shares", "n"),
    [
        ((3, 2.0, 2, 1.5), (0.3, 0.1, 0.25, 0.2, 0.1, 0.05), 2000),
        ((2, 8.0, 3, 6.0), (0.5, 0.4, 0.09, 0.005, 0.004, 0.001), 500),
    ],
)
def test_intervals_of_a_table_cover(queries, shares, n, alarm):
    k, epsilon, k2, epsilon2 = queries
    made = together(
        KaryRandomizedResponse(k=k, max_epsilon_local=epsilon),
        KaryRandomizedResponse(k=k2, max_epsilon_local=epsilon2),
    )
    cells = np.random.default_rng(3).permutation(
        np.repeat(np.arange(6), (n * np.array(shares)).astype(int))
    )
    truth = np.bincount(cells, minlength=6) / len(cells)
    values = np.stack([cells // k2, cells % k2], axis=1)
    runs, each, every = 200, np.zeros(6), 0
    for seed in range(runs):
        reports = made.randomize(values, insecure_seed=seed)
        found = made.crossed(made.tally(reports), len(cells), first=0, second=1)
        each += (found.lower <= truth) & (truth <= found.upper)
        wide = found.simultaneous()
        every += bool(((wide.lower <= truth) & (truth <= wide.upper)).all())

    least = binom.ppf(alarm / 7, runs, 0.95)
    assert each.min() >= least
    assert every >= least
    narrow = (each <= binom.ppf(1 - alarm / 7, runs, 0.97)).any()
    assert narrow or n == 500  # where many reports decide, intervals are not wider than they say


def test_no_table_of_these():
    grid = OneBitMean(grid=Grid(0, 1, 0.25), max_epsilon_local=1.0)
    made = together(YES_NO, grid, KINDS[1])
    tally = made.tally(made.randomize(np.array([["no", 0.5, 1]], dtype=object)))
    assert made.crossed(tally, 1, first=0, second=2).values[0] == "no, 0"
    for first, second in ((0, 1), (1, 2), (0, 0), (0, 3)):
        with pytest.raises(ParameterError):
            made.crossed(tally, 1, first=first, second=second)
    large = together(YES_NO, KaryRandomizedResponse(k=255, max_epsilon_local=1.0))
    assert large.crossable == {}
    with pytest.raises(ParameterError, match="256 together"):
        large.crossed(np.zeros(257, dtype=int), 1, first=0, second=1)
    assert large.tally_size == 257


def test_pairs_of_values_are_pooled_over_batches():
    given = {"functions": 2, "buckets": 3, "denominator": 16}
    made = together(YES_NO, named("dictionary", k=3, max_epsilon_local=1.0, **given), KINDS[1])
    names = [b"one", b"two"]
    parts = []
    for name in names:
        own = made.in_batches([name])
        reports = own.randomize([["yes", 1, 2]] * 30, insecure_seed=4)
        parts.append(own.tally(reports))
    both = made.in_batches(names)
    pooled = both.pool(parts)
    assert len(pooled) == both.tally_size
    pairs = YES_NO.size * KINDS[1].size
    assert pooled[-pairs:].tolist() == (parts[0] + parts[1])[-pairs:].tolist()
    assert pooled[-pairs:].sum() == 60
    assert len(both.split(pooled)) == 3
