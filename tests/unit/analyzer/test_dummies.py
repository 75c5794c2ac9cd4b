"""Estimates from counts with dummies: unbiased, covered exactly, and moved by one liar by one."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from croupier.analyzer.dummies import DummySum, added_tail, estimate_with_dummies
from croupier.numerics.keystream import Keystream
from croupier.plan.plan import Plan
from croupier.randomizers.k_rr import KaryRandomizedResponse
from croupier.randomizers.plain import Plain
from croupier.shufflers.dummies import DummyTable

TABLE = {"epsilon": 1.0, "delta": 1e-6}


def plan_of(*shufflers, randomizer=None):
    return Plan.from_document(
        {
            "schema": 2,
            "randomizer": randomizer or {"mechanism": "plain", "k": 5},
            "population": {"enrolled": 5000},
            "protections": {"minimum_batch": 100},
            "shufflers": [{"dummies": TABLE} | each for each in shufflers],
        }
    )


ONE, TWO = plan_of({}), plan_of({}, {})
SAMPLED = plan_of({"keep": 0.5}, {"keep": 0.25})


def exact_law(plan):
    """The law of the dummies of one report after all shufflers, by listing."""
    law = {0: Fraction(1)}
    for section, table in zip(plan.shufflers, plan.dummies, strict=True):
        kept, share = {}, section.kept
        for many, chance in law.items():
            for left in range(many + 1):
                weight = math.comb(many, left) * share**left * (1 - share) ** (many - left)
                kept[left] = kept.get(left, 0) + chance * weight
        law = {}
        for (many, chance), (more, weight) in itertools.product(
            kept.items(), enumerate(table.weights)
        ):
            law[many + more] = law.get(many + more, 0) + chance * Fraction(weight, table.total)
    return law


@pytest.mark.parametrize("plan", [ONE, TWO])
def test_the_law_is_that_of_all_shufflers(plan):
    found, exact = DummySum.of(plan), exact_law(plan)
    assert found.law == pytest.approx([float(exact[many]) for many in range(len(found.law))])
    assert found.mean == pytest.approx(float(sum(table.mean for table in plan.dummies)))


@pytest.mark.parametrize("plan", [ONE, TWO, SAMPLED])
def test_mean_and_variance_are_those_of_the_law(plan):
    """The formula of the plan's error, beside the law that gives the intervals."""
    found = DummySum.of(plan, batches=3)
    numbers = np.arange(len(found.law))
    assert found.mean == pytest.approx(found.law @ numbers, rel=1e-12)
    assert found.variance == pytest.approx(found.law @ (numbers - found.mean) ** 2, rel=1e-9)


def test_a_sum_of_many_batches_is_the_law_of_a_sum():
    """So many that it is taken by Fourier transforms."""
    weak = plan_of({"dummies": {"epsilon": 0.1, "delta": 1e-6}})
    table, found = weak.dummies[0].law, DummySum.of(weak, batches=24)
    straight = np.ones(1)
    for _ in range(24):
        straight = np.convolve(straight, table)
    assert len(found.law) == len(straight)
    assert np.abs(np.cumsum(found.law) - np.cumsum(straight)).max() < 1e-12
    assert found.law.min() >= 0


def test_a_later_shuffler_keeps_its_share_of_earlier_dummies():
    found, exact = DummySum.of(SAMPLED), exact_law(SAMPLED)
    assert found.law == pytest.approx([float(exact[many]) for many in range(len(found.law))])
    assert found.kept == pytest.approx(1 / 8)


def test_batches_add_up():
    one, three = DummySum.of(TWO), DummySum.of(TWO, batches=3)
    assert three.mean == pytest.approx(3 * one.mean)
    assert three.variance == pytest.approx(3 * one.variance)


@pytest.mark.parametrize("level", [0.5, 0.025, 1e-3, 1e-9, 0.0])
def test_quantiles_leave_out_no_more_than_they_may(level):
    found = DummySum.of(TWO)
    least, most = found.quantiles(level)
    assert found.law[:least].sum() <= level
    assert found.law[most + 1 :].sum() <= level
    assert found.law[: least + 1].sum() > level - 1e-9, "and no less than needed"


def runs(plan, truth, number, seed=24):
    """Counts of released rows, drawn with the tables of the shufflers."""
    rng, coin = Keystream(insecure_seed=seed), np.random.default_rng(seed)
    for _ in range(number):
        reports = np.repeat(np.arange(len(truth)), truth)
        noisy = np.bincount(plan.randomizer.randomize(reports, rng=rng), minlength=len(truth))
        for section, table in zip(plan.shufflers, plan.dummies, strict=True):
            noisy = coin.binomial(noisy, float(section.kept)) + table.draw(len(truth), rng)
        yield noisy


NOISY = {"mechanism": "k-rr", "k": 5, "max_epsilon_local": 3.0}


@pytest.mark.parametrize(
    "plan",
    [
        ONE,
        TWO,
        SAMPLED,
        plan_of({}, randomizer=NOISY),
        plan_of({"keep": 0.5}, {}, randomizer=NOISY),
    ],
    ids=["one", "two", "sampled", "noisy", "noisy and sampled"],
)
def test_estimates_are_unbiased_covered_and_as_exact_as_they_say(plan):
    truth = np.array([0, 3, 60, 140, 300])
    n, dummies = int(truth.sum()), DummySum.of(plan)
    found = [
        estimate_with_dummies(plan.randomizer, tally, n, dummies=dummies, confidence=0.9)
        for tally in runs(plan, truth, 400)
    ]
    points = np.array([each.points for each in found])
    errors = np.array([each.standard_errors for each in found])
    spread = np.sqrt((errors**2).mean(axis=0))
    assert np.abs(points.mean(axis=0) - truth / n).max() < 6 * spread.max() / 20
    assert (points.std(axis=0) / spread) == pytest.approx(np.ones(5), abs=0.3)
    covered = np.mean([(e.lower <= truth / n) & (truth / n <= e.upper) for e in found])
    assert covered > 0.85, "90 % of 2,000 intervals at least"


def test_intervals_of_plain_reports_hold_exactly():
    """Every number of dummies that the table names is tried, with its chance."""
    table = DummyTable((1, 3, 5, 3, 1))
    dummies, people, holders = (
        DummySum(table.law, float(table.mean), float(table.variance), 1.0),
        10,
        4,
    )
    for confidence in (0.5, 0.8, 0.9, 0.99):
        covered = 0.0
        for made, weight in enumerate(table.law):
            tally = np.array([holders + made, people - holders])
            found = estimate_with_dummies(
                Plain(k=2), tally, people, dummies=dummies, confidence=confidence
            )
            covered += weight * bool(found.lower[0] <= holders / people <= found.upper[0])
        assert covered >= confidence


def test_one_liar_moves_one_count_by_one():
    """Whatever one client sends, the share of one value moves by 1/n and no other at all."""
    tally, n, dummies = np.array([40, 50, 60, 70, 80]), 100, DummySum.of(ONE)

    def points(counts):
        return estimate_with_dummies(Plain(k=5), counts, n, dummies=dummies, confidence=0.9).points

    for sent in range(5):
        lie = np.eye(5, dtype=int)[sent]
        assert points(tally + lie) - points(tally) == pytest.approx(lie / n)


def test_one_liar_moves_noisy_counts_by_the_inverse_of_the_truth():
    noisy = KaryRandomizedResponse(k=5, max_epsilon_local=1.0)
    own, other = (float(chance) for chance in noisy.levels)
    tally, n, dummies = np.array([40, 50, 60, 70, 80]), 100, DummySum.of(ONE)
    moved = [
        estimate_with_dummies(noisy, counts, n, dummies=dummies, confidence=0.9).points[0]
        for counts in (tally, tally + np.eye(5, dtype=int)[0])
    ]
    assert moved[1] - moved[0] == pytest.approx(1 / (n * (own - other)))


@pytest.mark.parametrize("bins", [1, 3, 40])
def test_the_tail_of_all_dummies_is_never_too_small(bins):
    table = DummyTable((1, 3, 5, 3, 1))
    law = np.ones(1)
    for _ in range(bins):
        law = np.convolve(law, table.law)
    center = float(table.mean) * bins
    for added in range(len(law)):
        tail = law[added:].sum() if added >= center else law[: added + 1].sum()
        assert added_tail(table, bins, added) >= tail * (1 - 1e-9)
    assert added_tail(table, bins, -1) == added_tail(table, bins, 4 * bins + 1) == 0


def test_a_constant_far_from_the_mean_is_caught():
    (table,) = ONE.dummies
    assert added_tail(table, 1000, 0) < 1e-9
    assert added_tail(table, 1000, round(float(table.mean) * 1000)) == pytest.approx(1)


@pytest.mark.parametrize("kept", [0.25, 0.9])
def test_the_tail_of_dummies_less_reports_left_out_is_never_too_small(kept):
    table, bins, accepted = DummyTable((1, 3, 5, 3, 1)), 3, 20
    law = stats.binom.pmf(np.arange(accepted + 1), accepted, kept)  # released, by listing
    for _ in range(bins):
        law = np.convolve(law, table.law)
    center = float(table.mean) * bins + kept * accepted
    for released in range(len(law)):
        tail = law[released:].sum() if released >= center else law[: released + 1].sum()
        found = added_tail(table, bins, released - accepted, accepted=accepted, kept=kept)
        assert tail * (1 - 1e-9) <= found <= 1
    for impossible in (-accepted - 1, bins * table.most + 1):
        assert added_tail(table, bins, impossible, accepted=accepted, kept=kept) == 0
    assert added_tail(table, bins, 1, accepted=-1, kept=kept) == 0
