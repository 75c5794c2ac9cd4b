"""No cell is better than a cell above it allows, whatever the plan."""

import random

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.model.metric import Metric
from croupier.model.participation import Subsample
from croupier.plan.file import PlanError

EDGES = [
    ("estimate", "batch"),
    ("batch", "network"),
    ("network", "combined"),
    ("batch", "clients"),
    ("clients", "combined"),
    ("combined", "collusion"),
    ("estimate", "shuffler"),
    ("shuffler", "collusion"),
]
PLANS = 320
IN_EVERY_RUN = 48
"""Of these plans; the others with -m proof."""


def seeds(first=0, step=1):
    return [
        seed if seed < IN_EVERY_RUN else pytest.param(seed, marks=pytest.mark.proof)
        for seed in range(first, PLANS, step)
    ]


def step(ladder, name):
    return ladder.combined if name == "combined" else ladder[name]


@pytest.fixture(params=seeds())
def ladder(ladder_of, request):
    return ladder_of(request.param)


def test_who_sees_more_gains_no_less(ladder):
    """Edges R1 <= R2 <= R3 <= R3+R5 <= R6, R2 <= R5 <= R3+R5, R1 <= R4."""
    for weaker, stronger in EDGES:
        for metric in ladder.blind.cells:
            less, more = step(ladder, weaker)[metric], step(ladder, stronger)[metric]
            if less.proved is None or more.proved is None:
                # What is not bounded here is not bounded for anybody who sees more either.
                assert less.proved is not None or more.proved is None or more.exact
                continue
            if metric.protects:
                assert less.lower >= more.lower, (weaker, stronger, metric)
            else:
                assert less.upper <= more.upper, (weaker, stronger, metric)


def test_the_shuffler_gains_no_more_than_the_network_where_no_order_is_published(ladder):
    if ladder.plan.analyzer.publication == "released-order":
        pytest.skip("the shuffler is shown its own order")
    for metric in (Metric.EPSILON, Metric.GUESS_OF_TWO, Metric.GUESS_INFORMED):
        assert ladder["shuffler"][metric].upper <= ladder["network"][metric].upper
    seen = ladder["shuffler"][Metric.BAYES_SECURITY]
    assert seen.lower >= ladder["network"][Metric.BAYES_SECURITY].lower


def test_both_sides_are_in_order(ladder):
    for rung in (ladder.blind, *ladder, ladder.combined):
        for metric, cell in rung.cells.items():
            if cell.proved is not None and cell.attained is not None:
                assert cell.lower <= cell.upper, (rung.rung, metric)
            assert (cell.proved is None) == bool(cell.reason)


def test_numbers_are_what_they_claim_to_be(ladder):
    plan = ladder.plan
    for rung in ladder:
        cells = rung.cells
        assert cells[Metric.GUESS_OF_TWO].upper >= 0.5
        assert cells[Metric.GUESS_UNINFORMED].upper <= cells[Metric.GUESS_INFORMED].upper + 1e-12
        security, coin = cells[Metric.BAYES_SECURITY], cells[Metric.GUESS_OF_TWO]
        assert coin.upper == pytest.approx(1 - security.lower / 2, abs=1e-12)
        link = cells[Metric.REIDENTIFICATION]
        if link.proved is not None:
            assert 1 / plan.protections.minimum_batch <= link.upper * (1 + 1e-12)
            assert link.upper <= 1
        total = plan.reports if plan.participation.noise == "fresh" else 1
        local = max(question.epsilon_local for question in plan.randomizers)
        assert cells[Metric.EPSILON].upper <= total * local * (1 + 1e-12)


def test_a_coin_is_a_guess_of_two(ladder):
    if ladder.blind[Metric.GUESS_INFORMED].upper != 0.5:
        pytest.skip("more than two values")
    for rung in ladder:
        assert rung[Metric.GUESS_OF_TWO].upper == pytest.approx(
            rung[Metric.GUESS_INFORMED].upper, abs=1e-9
        )


def test_what_is_promised_has_a_proof(ladder):
    for rung in ladder:
        for cell in rung.cells.values():
            if cell.proved is not None:
                assert cell.proved.theorem
                assert cell.proved.metric is cell.metric


def risks_grow(small, large):
    for name in ("estimate", "batch", "network", "shuffler", "clients", "collusion", "combined"):
        for metric in small.blind.cells:
            less, more = step(small, name)[metric], step(large, name)[metric]
            if less.proved is None or more.proved is None:
                continue
            if metric.protects:
                assert less.lower >= more.lower - 1e-9, (name, metric)
            else:
                assert less.upper <= more.upper * (1 + 1e-6) + 1e-12, (name, metric)


@pytest.mark.parametrize("seed", seeds(0, 4))
def test_more_people_hide_better(ladder_of, seed):
    ladder = ladder_of(seed)
    plan = ladder.plan
    if isinstance(plan.participation_model, Subsample):
        pytest.skip("a larger sample also asks a person more often")
    grown = plan.replace(
        population__enrolled=4 * plan.population.enrolled,
        population__corrupt_fraction=plan.population.corrupt_fraction / 4,
        protections__minimum_batch=2 * plan.protections.minimum_batch,
    )
    if plan.shuffling.order == "uniform" or plan.analyzer.publication != "released-order":
        risks_grow(assess(grown), ladder)


@pytest.mark.parametrize("seed", seeds(1, 8))
def test_more_corrupt_people_hide_worse(ladder_of, seed):
    ladder = ladder_of(seed)
    share = ladder.plan.population.corrupt_fraction
    try:
        corrupted = ladder.plan.replace(population__corrupt_fraction=share + 0.1)
    except PlanError:
        pytest.skip("too few would be left")
    risks_grow(ladder, assess(corrupted))


@pytest.mark.parametrize("seed", seeds(2, 8))
def test_more_rounds_leak_more(ladder_of, seed):
    ladder = ladder_of(seed)
    plan = ladder.plan
    risks_grow(ladder, assess(plan.replace(collection__rounds=plan.collection.rounds + 1)))


@pytest.mark.parametrize("seed", seeds(0, 4))
def test_more_local_epsilon_leaks_more(make_plan, seed):
    pick = random.Random(seed)  # noqa: S311 - plans, not noise
    k, epsilon = pick.choice([2, 3, 8]), pick.uniform(0.2, 4)
    batch = pick.choice([3, 50, 1000])
    ladders = [
        assess(make_plan({"mechanism": "k-rr", "k": k, "max_epsilon_local": e}, batch=batch))
        for e in (epsilon, 1.2 * epsilon)
    ]
    risks_grow(*ladders)
