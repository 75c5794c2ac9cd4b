"""The distribution of a number: proofs by enumeration, consistency, intervals, dummies."""

import itertools
import math
import re

import numpy as np
import pytest

from benchmarks.refute.oracle import exp_between, histogram_pairs, worst_delta
from croupier.accounting.blanket import lower_curve, upper_curve
from croupier.analyzer.dummies import DummySum, estimate_with_dummies
from croupier.errors import ParameterError
from croupier.model import Grid
from croupier.plan.plan import Plan
from croupier.randomizers import Distribution, KaryRandomizedResponse, LocalHashing
from croupier.randomizers.estimates.tree_fit import Level, TreeFit
from croupier.randomizers.number_tree import NumberTree
from croupier.randomizers.parallel import ParallelRandomizer
from croupier.shufflers.dummies import DummyTable

SMALL = [
    Distribution(grid=Grid(0, 3, 1), max_epsilon_local=1.5, denominator=32, fanout=2),
    Distribution(grid=Grid(0, 4, 1), max_epsilon_local=1.5, denominator=32, fanout=2),
    Distribution(grid=Grid(0, 1, 1), max_epsilon_local=0.9, denominator=16),
]
LATENCY = Grid(0, 255, 1)


def latencies(rng, people):
    """Numbers of a skewed law, as places on the grid."""
    return np.clip(np.rint(rng.lognormal(3.5, 0.7, people)), 0, 255).astype(int)


@pytest.mark.parametrize("made", SMALL, ids=["two levels", "uneven", "one level"])
def test_upper_and_lower_bounds_enclose_every_batch_of_two_and_three(made):
    rows = made.channel().weights.tolist()
    for n in (2, 3):
        pairs = histogram_pairs(rows, n)
        for epsilon in (0.0, 0.3, 0.8):
            low, high = (worst_delta(pairs, ratio) for ratio in exp_between(epsilon)[::-1])
            assert upper_curve(made, n=n).delta(epsilon) >= float(low) * (1 - 1e-12)
            assert lower_curve(made, n=n).delta(epsilon) <= float(high) * (1 + 1e-12)


def test_classes_are_those_of_the_channel():
    made = SMALL[1]
    listed = made.channel()
    for first, second in itertools.permutations(range(5), 2):
        for others in (None, 3):
            ours = made.likelihood_classes(first, second, others=others)
            theirs = listed.likelihood_classes(first, second, others=others)
            assert sorted(zip(ours.reference, ours.first, ours.second, strict=True)) == sorted(
                zip(theirs.reference, theirs.first, theirs.second, strict=True)
            )


@pytest.mark.parametrize("size", [2, 7, 8, 9, 64, 101, 4096])
@pytest.mark.parametrize("fanout", [2, 3, 4, 16])
def test_the_nodes_of_a_level_divide_those_of_the_next(size, fanout):
    tree = NumberTree(size, fanout)
    levels = list(tree.nodes(np.arange(size)))
    assert levels[-1].tolist() == list(range(size))
    assert tree.sizes[0] <= max(2 * fanout, size if len(levels) == 1 else 0)
    for nodes, count in zip(levels, tree.sizes, strict=True):
        assert sorted(set(nodes.tolist())) == list(range(count))
    for coarse, fine in itertools.pairwise(levels):
        assert (coarse == fine // fanout).all()


def test_levels_have_the_mechanism_that_errs_less():
    made = Distribution(grid=Grid(0, 1023, 1), max_epsilon_local=4.0)
    for level in made.levels:
        given = {"k": level.size, "max_epsilon_local": 4.0}
        best = min(
            (KaryRandomizedResponse(**given), LocalHashing(**given)),
            key=lambda each: each.rms_error(1000),
        )
        assert level.rms_error(1000) <= 1.01 * best.rms_error(1000)


def listed_variance(mechanism, parts, shares):
    """The variance of a report's sum, from the channel and the support of each report."""
    p, q = (float(chance) for chance in mechanism.support_probabilities)
    reports = mechanism.reports()
    supported = np.array([report.supported for report in reports], dtype=float)
    scores = supported @ parts
    law = mechanism.channel().probabilities
    noise = law @ scores**2 - (law @ scores) ** 2
    return noise @ shares / (p - q) ** 2 + parts**2 @ shares - (parts @ shares) ** 2


@pytest.mark.parametrize(
    "mechanism",
    [
        KaryRandomizedResponse(k=4, max_epsilon_local=1.0),
        LocalHashing(k=4, max_epsilon_local=1.0, denominator=36, prime=17, buckets=3),
    ],
    ids=["k-rr", "local-hashing"],
)
def test_the_variance_of_a_sum_is_that_of_the_channel(mechanism):
    rng = np.random.default_rng(26)
    parts, shares = rng.normal(size=(5, 4)), rng.dirichlet(np.ones(4))
    level = Level.of(mechanism, 1.0)
    for one, found in zip(parts, level.variance(parts, shares), strict=True):
        # Buckets of hash functions modulo 17 differ in size: pairs are nearly independent.
        assert found == pytest.approx(listed_variance(mechanism, one, shares), rel=0.03)
    if isinstance(mechanism, KaryRandomizedResponse):
        assert level.variance(parts[0], shares) == pytest.approx(
            listed_variance(mechanism, parts[0], shares), rel=1e-12
        )


def test_answers_without_noise_are_found_again():
    """Least squares return a distribution from its own sums, whatever the weights."""
    tree = NumberTree(50, 3)
    truth = np.random.default_rng(26).dirichlet(np.ones(50))
    answers = [np.bincount(nodes, truth) for nodes in tree.nodes(np.arange(50))]
    tallies = [np.append(10**6, np.rint(1e6 * each)).astype(int) for each in answers]
    exact = [KaryRandomizedResponse(k=size, max_epsilon_local=20.0) for size in tree.sizes]
    fit = TreeFit.of(tree, exact, tallies, 10**6)
    assert np.abs(fit.shares - truth).max() < 2e-6
    assert fit.shares.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("runs", "slack"), [(20, 0.06), pytest.param(200, 0, marks=pytest.mark.proof)]
)
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_intervals_of_each_kind_hold_together(runs, slack, epsilon):
    rng = np.random.default_rng(26)
    made, n = Distribution(grid=LATENCY, max_epsilon_local=epsilon), 20_000
    held = dict.fromkeys(("quantiles", "curve", "histogram", "ranges", "mean"), 0)
    error = []
    for _ in range(runs):
        places = latencies(rng, n)
        truth = np.bincount(places, minlength=256) / n
        below = np.cumsum(truth)
        found = made.estimate(made.randomize(places, insecure_seed=int(rng.integers(1 << 30))))
        quantiles = found.quantiles(0.5, 0.9, 0.99)
        held["quantiles"] += all(
            each.lower <= np.argmax(below >= each.level) <= each.upper for each in quantiles
        )
        curve = found.curve
        held["curve"] += bool(
            ((curve.lower <= below + 1e-12) & (below <= curve.upper + 1e-12)).all()
        )
        held["histogram"] += bool(((found.lower <= truth) & (truth <= found.upper)).all())
        wanted = [(0, 20), (10, 60), (100, 255)]
        held["ranges"] += all(
            each.lower <= truth[low : high + 1].sum() <= each.upper
            for each, (low, high) in zip(found.between(wanted), wanted, strict=True)
        )
        held["mean"] += found.mean.lower <= places.mean() <= found.mean.upper
        error.append(((np.cumsum(found.points) - below)[:-1] ** 2).mean())
        assert (np.diff(curve.shares) >= 0).all()
        assert curve.shares[-1] == 1.0
    assert min(held.values()) >= (0.92 - slack) * runs, held
    # The stated error is that of people spread evenly, about the largest of all.
    assert 0.5 < math.sqrt(np.mean(error)) / made.rms_error(n) < 1.1


def test_a_tree_errs_less_than_a_list():
    rng = np.random.default_rng(26)
    n = 50_000
    made = Distribution(grid=LATENCY, max_epsilon_local=2.0)
    flat = KaryRandomizedResponse(k=256, max_epsilon_local=2.0)
    errors = {"tree": 0.0, "list": 0.0}
    for seed in range(5):
        places = latencies(rng, n)
        below = np.cumsum(np.bincount(places, minlength=256) / n)
        for name, mechanism in (("tree", made), ("list", flat)):
            points = mechanism.estimate(mechanism.randomize(places, insecure_seed=seed)).points
            errors[name] += float(((np.cumsum(points) - below)[:-1] ** 2).mean())
    assert errors["tree"] < errors["list"] / 20


def test_without_noise_of_its_own_it_is_plain():
    made = Distribution(grid=Grid(0, 9, 1))
    assert made.randomize([3.2, 9]).tolist() == [3, 9]
    assert made.epsilon_local == math.inf
    assert made.alphabet_size == 10
    found = made.estimate([1, 1, 2, 9])
    assert found.points.tolist() == pytest.approx([0, 0.5, 0.25, 0, 0, 0, 0, 0, 0, 0.25])
    assert [each.value for each in found.quantiles(0.5, 0.9)] == [1.0, 9.0]
    assert found.mean == pytest.approx((3.25, 3.25, 3.25))


def with_dummies(keep=1.0):
    return Plan.from_document(
        {
            "schema": 2,
            "randomizer": {"mechanism": "distribution", "grid": {"low": 0, "high": 255, "step": 1}},
            "population": {"enrolled": 50_000},
            "protections": {"minimum_batch": 100},
            "shufflers": [{"dummies": {"epsilon": 1.0, "delta": 1e-8}, "keep": keep}],
        }
    )


@pytest.mark.parametrize("keep", [1.0, 0.5])
def test_dummies_leave_intervals_that_hold(keep):
    plan, n = with_dummies(keep), 20_000
    [table] = plan.dummies
    rng = np.random.default_rng(26)
    held, error = 0, []
    for _ in range(30):
        places = latencies(rng, n)
        below = np.cumsum(np.bincount(places, minlength=256) / n)
        made = rng.choice(table.most + 1, size=256, p=table.law)
        counts = np.bincount(places[rng.random(n) < keep], minlength=256) + made
        found = estimate_with_dummies(
            plan.randomizer, counts, n, dummies=DummySum.of(plan), confidence=0.95
        )
        curve = found.curve
        held += bool(((curve.lower <= below + 1e-12) & (below <= curve.upper + 1e-12)).all())
        assert found.points.sum() == pytest.approx(1.0)
        error.append(((np.cumsum(found.points) - below)[:-1] ** 2).mean())
    assert held >= 27
    stated = plan.count_noise.rms_error(plan.randomizer, n)
    assert math.sqrt(np.mean(error)) == pytest.approx(stated, rel=0.25)


def test_half_of_a_thousand_counts_err_by_less_than_their_noise():
    """With the public total, 45 counts at epsilon 1 where 512 counts alone would give 63."""
    table = DummyTable.two_sided_geometric(epsilon=1.0, delta=1e-8)
    deviation = math.sqrt(float(table.variance))
    assert deviation * math.sqrt(1024 / 4) == pytest.approx(45, abs=1)
    assert deviation * math.sqrt(512) == pytest.approx(63, abs=1)


def test_beside_another_question_it_speaks_of_everybody():
    rng = np.random.default_rng(26)
    query = Distribution(grid=Grid(0, 63, 1), max_epsilon_local=4.0)
    both = ParallelRandomizer(queries=(query, KaryRandomizedResponse(k=2, max_epsilon_local=4.0)))
    assert both.representative_pairs()
    assert len(both.lots(np.zeros(both.tally_size, dtype=int))) == len(query.levels) + 1
    inside = 0
    for seed in range(20):
        places = np.clip(rng.geometric(0.1, 20_000), 0, 63)
        values = np.column_stack([places, rng.integers(2, size=20_000)])
        [numbers, _] = both.estimates(both.randomize(values, insecure_seed=seed))
        inside += numbers.mean.lower <= places.mean() <= numbers.mean.upper
        assert numbers.n < 20_000
    assert inside >= 16


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"grid": Grid(0, 5000, 1)}, "grid"),
        ({"grid": Grid(0, 9, 1), "fanout": 1}, "fanout"),
        ({"grid": Grid(0, 9, 1), "denominator": 1}, "denominator"),
        ({"grid": Grid(0, 9, 1), "denominator": 2**64 + 1}, "denominator"),
        ({"grid": Grid(0, 9, 1), "max_epsilon_local": 0.0}, "max_epsilon_local"),
        ({"grid": Grid(0, 9, 1), "max_epsilon_local": 21.0}, "max_epsilon_local"),
    ],
)
def test_refused_distributions(given, named):
    with pytest.raises(ParameterError) as caught:
        Distribution(**given)
    assert caught.value.parameter == named


def test_a_card_shows_quantiles_and_the_mean():
    made = Distribution(grid=Grid(0, 1023, 1), max_epsilon_local=8.0)
    found = made.estimate(made.randomize([3] * 5_000 + [800] * 5_000, insecure_seed=26))
    card = found._repr_html_()
    assert "<caption>Distribution: 1,024 shares from 10,000 reports, 95 % intervals" in card
    assert re.findall(r'rowheader">([^<]*)<', card) == ["p50", "p90", "p99", "mean"]
    [p90] = found.quantiles(0.5, 0.9, 0.99)[1:2]
    cells = [f">{end:.6g}</td>" for end in (*p90[1:], *found.mean)]
    assert [cell for cell in cells if cell not in card] == []


def test_refused_questions():
    made = Distribution(grid=Grid(0, 9, 1), max_epsilon_local=4.0)
    found = made.estimate(made.randomize([3] * 100))
    for level in (1.0, "a", [0.1], None):
        with pytest.raises(ParameterError, match=r"`levels` must be numbers in \(0, 1\)"):
            found.quantiles(level)
    with pytest.raises(ParameterError, match="`project` must be left out for a distribution"):
        found.projected()
    with pytest.raises(ParameterError, match="range"):
        found.between([(10.5, 11)])
    assert found.between([]) == []
    deep = Distribution(grid=Grid(0, 999, 1), max_epsilon_local=4.0)
    with pytest.raises(ParameterError, match="levels"):
        deep.estimate(deep.randomize([3]))
