"""The ladder of plans with dummies: its order, its monotony, and the ends of its range."""

import itertools
import time

import pytest

from croupier.assessment.ladder.ladder import assess
from croupier.model.metric import Metric
from croupier.plan.plan import Plan

PLAIN = {"mechanism": "plain", "k": 50}
NOISY = {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 4.0}
PUBLISHED = ["estimate", "histogram", "sorted", "released-order", "none"]
READERS = [
    ("estimate", "batch"),
    ("batch", "network"),
    ("network", "combined"),
    ("batch", "clients"),
    ("clients", "combined"),
]
EDGES = {
    1: [*READERS, ("combined", "collusion"), ("estimate", "shuffler"), ("shuffler", "collusion")],
    2: [
        *READERS,
        ("combined", "all_but_one"),
        ("estimate", "shuffler_1"),
        ("estimate", "shuffler_2"),
        ("shuffler_1", "all_but_one"),
        ("shuffler_2", "all_but_one"),
        ("all_but_one", "everybody"),
    ],
}


def adding(epsilon=1.0, delta=1e-8, **more):
    return {"dummies": {"epsilon": epsilon, "delta": delta}} | more


def made(randomizer=PLAIN, *shufflers, **more):
    document = {
        "schema": 2,
        "randomizer": randomizer,
        "population": {"enrolled": 2000, "corrupt_fraction": 0.05},
        "protections": {"minimum_batch": 500},
        "guarantee": {"delta": 1e-8},
        "shufflers": list(shufflers) or [adding()],
    }
    return Plan.from_document(document | more)


def step(ladder, name):
    return ladder.combined if name == "combined" else ladder[name]


def gain(cell):
    """The promised gain; infinite if nothing is promised."""
    if cell.proved is None:
        return float("inf")
    return -cell.proved.value if cell.metric.protects else cell.proved.value


SHUFFLERS = [
    [adding()],
    [adding(keep=0.5)],
    [adding(0.5), adding(2.0)],
    [adding(keep=0.25), adding(keep=0.5)],
    [adding(), {}],
    [{}, adding()],
]


@pytest.mark.parametrize("shufflers", SHUFFLERS)
@pytest.mark.parametrize(
    ("randomizer", "publication"),
    [*((PLAIN, each) for each in PUBLISHED), (NOISY, "histogram"), (NOISY, "released-order")],
)
def test_who_sees_more_gains_no_less(randomizer, shufflers, publication):
    ladder = assess(made(randomizer, *shufflers, analyzer={"publication": publication}))
    for weaker, stronger in EDGES[len(shufflers)]:
        for metric in ladder.blind.cells:
            less, more = step(ladder, weaker)[metric], step(ladder, stronger)[metric]
            assert gain(less) <= gain(more), (weaker, stronger, metric)
    for row in (ladder.blind, *ladder.rows, ladder.combined):
        for metric, cell in row.cells.items():
            if cell.upper is not None and cell.lower is not None:
                assert cell.lower <= cell.upper * (1 + 1e-12), (row.rung, metric)
        coin, informed = row[Metric.GUESS_OF_TWO], row[Metric.GUESS_INFORMED]
        assert coin.upper >= 0.5
        assert row[Metric.GUESS_UNINFORMED].upper <= informed.upper


def test_no_corrupt_clients_leave_the_row_of_the_batch():
    ladder = assess(made(population={"enrolled": 2000}))
    for metric, cell in ladder["batch"].cells.items():
        assert gain(ladder["clients"][metric]) == gain(cell)


def test_corrupt_clients_and_other_people_change_nothing_for_plain_reports():
    """What dummies promise depends on nobody else."""
    few, many = (
        assess(
            made(
                population={"enrolled": n, "corrupt_fraction": share},
                protections={"minimum_batch": n},
            )
        )
        for n, share in ((40, 0.9), (10**9, 0.0))
    )
    for row in ("batch", "clients", "network"):
        for metric in (Metric.EPSILON, Metric.GUESS_INFORMED, Metric.BAYES_SECURITY):
            assert few[row][metric].proved.value == many[row][metric].proved.value


@pytest.mark.parametrize("randomizer", [PLAIN, pytest.param(NOISY, marks=pytest.mark.proof)])
@pytest.mark.parametrize(
    "plans",
    [
        [{"shufflers": [adding(epsilon)]} for epsilon in (0.1, 0.5, 1.0, 4.0)],
        [{"shufflers": [adding(keep=keep)]} for keep in (0.1, 0.5, 1.0)],
        [
            {"shufflers": [adding(0.2, 1e-12)], "collection": {"rounds": rounds}}
            for rounds in (1, 2, 5)
        ],
    ],
    ids=["epsilon", "keep", "rounds"],
)
def test_gains_grow_with_epsilon_keep_and_rounds(plans, randomizer):
    ladders = [assess(made(randomizer, **plan)) for plan in plans]
    for less, more in itertools.pairwise(ladders):
        for metric, cell in less["batch"].cells.items():
            assert gain(cell) <= gain(more["batch"][metric]) + 1e-9, metric


def test_noise_on_the_device_helps_beside_dummies():
    plain = assess(made({"mechanism": "plain", "k": 10}))
    noisy = assess(made(NOISY))
    for metric, cell in noisy["batch"].cells.items():
        assert gain(cell) <= gain(plain["batch"][metric]), metric


def test_one_shuffler_knows_its_own_dummies():
    """Nothing is promised against it where devices add no noise."""
    row = assess(made())["shuffler"]
    assert row.epsilon is None
    assert row.guess_informed.value == 1.0
    assert row.bayes_security.value == 0.0
    noisy = assess(made(NOISY))
    without = assess(made(NOISY, {}))
    for metric, cell in noisy["shuffler"].cells.items():
        assert gain(cell) == pytest.approx(gain(without["shuffler"][metric])), metric


def test_either_of_two_shufflers_protects_from_the_other():
    ladder = assess(made(PLAIN, adding(0.5), adding(2.0)))
    found = {row.rung.value: row.epsilon and row.epsilon.value for row in ladder}
    assert found["shuffler_1"] == pytest.approx(2.0, rel=1e-6)
    assert found["shuffler_2"] == pytest.approx(0.5, rel=1e-6)
    assert found["batch"] == pytest.approx(0.5, rel=1e-6)
    assert found["all_but_one"] == pytest.approx(2.0, rel=1e-6)
    assert found["everybody"] is None


def test_a_shuffler_without_dummies_protects_nobody_once_all_others_are_dropped():
    ladder = assess(made(PLAIN, adding(), {}))
    assert ladder["all_but_one"].epsilon is None
    assert ladder["shuffler_1"].epsilon is None
    assert ladder["shuffler_2"].epsilon.value == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("delta", [1e-9, 1e-15])
def test_below_the_delta_of_the_table_no_epsilon_is_promised(delta, rounds):
    """A count that dummies alone cannot reach gives the value away, whatever the epsilon."""
    plan = made(guarantee={"delta": delta}, collection={"rounds": rounds})
    row = assess(plan)["batch"]
    assert row.epsilon is None
    assert row["epsilon"].reason.endswith(f"with a larger chance than delta {delta:g}")
    assert 1 / 50 < row.guess_informed.value < 1
    assert 0 < row.bayes_security.value < 1


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(0.01, 1e-8), (0.02, 1e-15), (1.0, 1e-15), (20.0, 1e-15), (20.0, 0.1)]
)
def test_the_ends_of_the_range_are_assessed(epsilon, delta):
    plan = made(PLAIN, adding(epsilon, delta), guarantee={"delta": delta})
    row = assess(plan)["batch"]
    assert 0.6 * epsilon <= row.epsilon.value <= epsilon
    assert row["epsilon"].exact


@pytest.mark.parametrize("epsilon", [0.07, 0.3, 0.7, 1.3, 3.0])
def test_a_table_keeps_the_epsilon_that_it_was_made_for(epsilon):
    """Not a digit more: a limit of the same number is met."""
    plan = made(PLAIN, adding(epsilon), policy={"batch": {"max_epsilon": epsilon}})
    assert assess(plan)["batch"].epsilon.value <= epsilon


@pytest.mark.parametrize("shufflers", [[adding()], [adding(), adding(0.01)]])
def test_a_hundred_thousand_values_are_assessed_quickly(shufflers):
    plan = made({"mechanism": "plain", "k": 100_000}, *shufflers)
    started = time.process_time()
    row = assess(plan)["batch"]
    assert time.process_time() - started < 2
    assert row.guess_informed.value < 2e-5


def test_the_stated_figures_of_fifty_values():
    """0.6225 between two values, 0.0330 among fifty, 1 in 36.8 for a report."""
    row = assess(made())["batch"]
    assert row.guess_of_two.value == pytest.approx(0.62246, abs=1e-5)
    assert row.guess_informed.value == pytest.approx(0.03297, abs=1e-5)
    assert row["guess_informed"].exact
    assert 1 / row.reidentification.value == pytest.approx(36.78, abs=0.01)


def test_everybody_but_one_shuffler_is_stopped_by_encryption_too():
    row = assess(made(PLAIN, adding(), adding()))["all_but_one"]
    assert "HPKE holds (computational)" in row.epsilon.assumptions


@pytest.mark.parametrize("published", ["sorted", "released-order"])
@pytest.mark.parametrize("shufflers", [[adding()], [adding(), adding()]])
def test_a_shuffler_is_not_said_to_reach_what_its_own_dummies_prevent(shufflers, published):
    """Sorted rows of one value are alike, so that one in 1 + D is yours, and D are dummies."""
    plan = made({"mechanism": "plain", "k": 3}, *shufflers, analyzer={"publication": published})
    ladder, alone = assess(plan), float(plan.dummies[0].alone)
    for rung in ("shuffler",) if len(shufflers) == 1 else ("shuffler_1", "shuffler_2"):
        cell = ladder[rung][Metric.REIDENTIFICATION]
        knows_the_order = published == "released-order" and rung == "shuffler"
        assert knows_the_order or (cell.lower or 0.0) <= alone


@pytest.mark.parametrize("people", [5, 20, 500])
def test_luck_is_no_more_than_what_is_proved(people):
    """With few people, dummies are most of the rows."""
    plan = made(
        PLAIN,
        adding(),
        population={"enrolled": 2000},
        protections={"minimum_batch": people},
    )
    ladder = assess(plan)
    luck, batch = (each[Metric.REIDENTIFICATION] for each in (ladder.blind, ladder["batch"]))
    assert luck.lower <= luck.upper <= batch.upper
    assert luck.upper <= 1 / people * (1 + 1e-12)
    assert luck.lower <= 1 / (people + 50 * 36)
