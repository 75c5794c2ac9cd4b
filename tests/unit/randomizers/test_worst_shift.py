"""The worst shift by corrupt reports equals brute force over all that they may send."""

from itertools import product

import numpy as np
import pytest

from croupier.model import Grid
from croupier.model.domain import SignVectors
from croupier.randomizers import (
    MECHANISMS,
    Dictionary,
    Distribution,
    KaryRandomizedResponse,
    LocalHashing,
    OneBitMean,
    ParallelRandomizer,
    Plain,
    SampledSign,
    SubsetSelection,
    SymmetricUnaryEncoding,
    Text,
    TogetherRandomizer,
)
from tests.unit.randomizers.test_contract import SMALL

UNKNOWN = {"dictionary", "text"}
SEVERAL = {*UNKNOWN, "parallel", "together"}
SINGLE = [made for made in SMALL if made.mechanism not in SEVERAL | {"distribution"}]
MANY = 10**7
"""People of a level or query, among whom one liar is a negligible share."""


def every_report(made):
    """All that a client may send, whatever its value."""
    rows = product(*map(range, made.report_format.bounds))
    return [row for row in rows if made.is_report(row)]


def extent(made):
    """The range of what is estimated."""
    if isinstance(made.domain, Grid) and not isinstance(made, Distribution):
        return made.domain.high - made.domain.low
    return 2.0 if isinstance(made.domain, SignVectors) else 1.0


def tally_of(made, report):
    shape = made.report_format.empty(1).shape
    return made.tally(np.array(report, dtype=np.int64).reshape(shape))


def points(made, tally, n):
    return made.estimate_tally(tally, n).points / extent(made)


@pytest.mark.parametrize("made", SINGLE, ids=repr)
def test_is_the_largest_difference_of_two_scores(made):
    """The scores of all reports, then 7 of 40 reports replaced at once."""
    tallies = [tally_of(made, report) for report in every_report(made)]
    alone = np.array([points(made, tally, 1) for tally in tallies])
    worst = np.ptp(alone, axis=0).max()
    assert float(made.worst_shift) == pytest.approx(worst, rel=1e-9)
    assert made.worst_shift >= worst * (1 - 1e-12)
    ends = alone.max(axis=1).argmax(), alone.min(axis=1).argmin()
    n, corrupt = 40, 7
    for honest, lie in (ends, ends[::-1]):
        before = n * tallies[honest]
        after = before + corrupt * (tallies[lie] - tallies[honest])
        moved = np.abs(points(made, after, n) - points(made, before, n)).max()
        assert moved <= float(corrupt * made.worst_shift / n) * (1 + 1e-9)


def test_every_mechanism_is_covered():
    assert {made.mechanism for made in SMALL} == set(MECHANISMS)
    assert {made.mechanism for made in SMALL if made.worst_shift is None} == SEVERAL


@pytest.mark.parametrize(
    ("made", "shift"),
    [
        (KaryRandomizedResponse(k=50, max_epsilon_local=1.0), 30.1),
        (KaryRandomizedResponse(k=50, max_epsilon_local=4.0), 1.94),
        (SymmetricUnaryEncoding(k=50, max_epsilon_local=1.0), 4.09),
        (SymmetricUnaryEncoding(k=50, max_epsilon_local=4.0), 1.32),
        (SubsetSelection(k=50, max_epsilon_local=1.0), 4.29),
        (SubsetSelection(k=50, max_epsilon_local=4.0), 1.94),
        (Plain(k=50), 1.0),
    ],
    ids=lambda each: getattr(each, "mechanism", ""),
)
def test_of_fifty_categories(made, shift):
    assert shift - 0.01 * max(1.0, shift / 10) < made.worst_shift <= shift


PARALLEL = ParallelRandomizer(
    queries=(
        KaryRandomizedResponse(k=2, max_epsilon_local=1.0, denominator=16),
        SymmetricUnaryEncoding(k=3, max_epsilon_local=2.0, denominator=16),
        LocalHashing(k=3, max_epsilon_local=0.9, denominator=13, prime=3),
    ),
    weights=(1, 3, 4),
)


def test_liars_may_all_answer_the_query_that_is_drawn_least():
    """Honest answers to each query are all alike; a liar replaces one of any query."""
    n, parts = 8 * MANY, []
    for query, weight in zip(PARALLEL.queries, PARALLEL.weights, strict=True):
        people, tallies = weight * MANY, [tally_of(query, each) for each in every_report(query)]
        worst = 0.0
        for honest, lie in product(tallies, repeat=2):
            before = points(query, people * honest, people)
            added = points(query, people * honest + lie, people + 1)
            replaced = points(query, people * honest + lie - honest, people)
            worst = max(worst, np.abs(added - before).max(), np.abs(replaced - before).max())
        parts.append(worst * n)
    assert [float(shift) for shift in PARALLEL.worst_shifts] == pytest.approx(parts, rel=1e-6)
    assert PARALLEL.worst_shift == max(PARALLEL.worst_shifts) == PARALLEL.worst_shifts[0]


def test_a_liar_answers_every_question_of_a_report():
    both = TogetherRandomizer(queries=PARALLEL.queries)
    assert both.worst_shifts == [query.worst_shift for query in PARALLEL.queries]


def test_liars_move_a_cell_of_a_two_way_table_further_than_a_share():
    """By brute force over the reports about two questions."""
    both = TogetherRandomizer(queries=PARALLEL.queries[:2])
    alone = [
        both.crossed(tally_of(both, report), 1, first=0, second=1).points
        for report in every_report(both)
    ]
    worst = np.ptp(np.array(alone), axis=0).max()
    assert worst > 1.5 * float(max(both.worst_shifts))
    assert float(both.worst_shift) == pytest.approx(worst)


def test_where_no_table_is_made_it_is_that_of_the_worst_question():
    mean = OneBitMean(grid=Grid(0, 1, 0.5), max_epsilon_local=1.0)
    both = TogetherRandomizer(queries=(PARALLEL.queries[0], mean))
    assert both.worst_shift == max(both.worst_shifts)


def test_a_projected_share_moves_nearly_twice_as_far():
    """Liars support one value and nothing else, or everything else and not that value."""
    made, n, liars = SymmetricUnaryEncoding(k=50, max_epsilon_local=2.0), 10**6, 10**4
    own, other = map(float, made.support_probabilities)
    support = np.rint(n * (other + (own - other) / 50 * np.ones(50))).astype(np.int64)
    support[0] += n // 10
    one = np.eye(50, dtype=np.int64)[0]
    ends = [made.estimate_tally(support + liars * lie, n) for lie in (one, 1 - one)]
    limit = float(made.worst_shift) * liars / n
    assert ends[0].points[0] - ends[1].points[0] == pytest.approx(limit)
    moved = ends[0].projected().points[0] - ends[1].projected().points[0]
    assert 1.5 * limit < moved <= 2 * limit


def test_what_is_not_known_of_one_query_is_not_known_of_all():
    given = {"max_epsilon_local": 1.0, "denominator": 16, "functions": 2}
    for part in (Dictionary(k=3, buckets=3, **given), Text(longest=2, alphabet="a", **given)):
        made = ParallelRandomizer(queries=(PARALLEL.queries[0], part))
        assert made.worst_shift is None
        assert made.worst_shifts == [2 * PARALLEL.queries[0].worst_shift, None]


@pytest.mark.parametrize(
    ("steps", "fanout", "epsilon", "denominator"),
    [(5, 2, 1.5, 32), (6, 3, 2.5, 99), (3, 2, 2.0, 64)],
)
def test_of_a_distribution_over_few_numbers(steps, fanout, epsilon, denominator):
    """Answers to a level are all alike but one, who may turn into a liar at any level."""
    given = {"max_epsilon_local": epsilon, "denominator": denominator}
    made = Distribution(grid=Grid(0, steps, 1), fanout=fanout, **given)
    assert {level.mechanism for level in made.levels} == {"k-rr"}
    n, sizes = MANY * len(made.levels), made.tree.sizes
    starts = np.cumsum([0, *sizes]) + np.arange(len(sizes) + 1)

    def cumulative(tally):
        return np.cumsum(made.estimate_tally(tally, n).points)[:-1]

    def answers(each):
        tally = np.zeros(made.tally_size, dtype=np.int64)
        for start, answer in zip(starts, each, strict=False):
            tally[start] += MANY
            tally[start + 1 + answer] += MANY
        return tally

    def single(level, answer):
        tally = np.zeros(made.tally_size, dtype=np.int64)
        tally[[starts[level], starts[level] + 1 + answer]] += 1
        return tally

    worst = 0.0
    every = list(product(*map(range, sizes)))
    singles = [single(level, each) for level, size in enumerate(sizes) for each in range(size)]
    for place in np.random.default_rng(5).permutation(len(every))[:40]:
        alike = answers(every[place])
        for other, lie in product(singles, repeat=2):
            before = cumulative(alike + other)
            worst = max(worst, np.abs(cumulative(alike + lie) - before).max() * n)
    assert 0.999 <= worst / float(made.worst_shift) < 1 + 1e-6


def test_of_a_distribution_without_noise_is_one():
    assert Distribution(grid=Grid(0, 100, 1)).worst_shift == 1


def test_of_a_distribution_with_hashing_is_a_bound():
    """The worst of 300 honest reports of another number, in place of one report."""
    rng = np.random.default_rng(3)
    made = Distribution(grid=Grid(0, 63, 1), max_epsilon_local=1.0, fanout=2)
    assert "local-hashing" in {level.mechanism for level in made.levels}
    n = 60 * len(made.levels)
    values = made.grid.points[rng.integers(made.grid.size, size=n)]
    reports = made.randomize(values, insecure_seed=1)
    before = np.cumsum(made.estimate(reports).points)[:-1]
    worst = 0.0
    for lie in made.randomize(made.grid.points[np.zeros(300, dtype=int)], insecure_seed=2):
        after = np.cumsum(made.estimate(np.vstack([reports[1:], lie])).points)[:-1]
        worst = max(worst, np.abs(after - before).max() * n)
    assert 0.1 < worst / float(made.worst_shift) <= 1


def test_a_mean_shifts_by_a_part_of_its_range():
    bit = OneBitMean(grid=Grid(0, 50, 1), max_epsilon_local=1.0)
    wide = OneBitMean(grid=Grid(-100, 100, 4), max_epsilon_local=1.0)
    assert (
        float(bit.worst_shift)
        == pytest.approx(float(wide.worst_shift))
        == pytest.approx(2.164, abs=1e-3)
    )


def test_liars_may_all_report_one_coordinate():
    one, many = (SampledSign(dimension=d, max_epsilon_local=1.0) for d in (1, 30))
    assert many.worst_shift == 30 * one.worst_shift


def test_a_matrix_whose_rows_depend_on_each_other_has_no_estimates_to_move():
    assert MECHANISMS["matrix"](matrix=((1, 1), (1, 1))).worst_shift is None
