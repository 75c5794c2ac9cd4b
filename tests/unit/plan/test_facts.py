from decimal import Decimal

import pytest

from croupier.plan.plan import Plan

PLAN = Plan.from_toml("""
schema = 2
randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.0}
population.enrolled = 100
protections.minimum_batch = 50
policy.batch = {max_epsilon = 0.1, max_reidentification = 5e-4}
policy.collusion = {max_epsilon = 4.0}
""")


@pytest.mark.parametrize(
    ("share", "enrolled", "corrupt"),
    [
        ("0.29", 100, 29),
        ("0.57", 100, 57),
        ("0.07", 300, 21),
        ("0.1", 10**9, 10**8),
        ("1e-9", 10**18, 10**9),
        ("0.28999", 100, 28),
        ("0", 100, 0),
    ],
)
def test_shares_are_decimals_as_written(share, enrolled, corrupt):
    plan = PLAN.replace(
        population={"enrolled": enrolled, "corrupt_fraction": float(share)},
        protections={"minimum_batch": enrolled},
    )
    assert plan.corrupt == corrupt == int(Decimal(share) * enrolled)


def test_corrupt_people_of_a_batch_are_rounded_up():
    population = {"enrolled": 100, "corrupt_fraction": 0.29, "corrupt_fraction_of": "batch"}
    plan = PLAN.replace(population=population)
    assert (plan.corrupt, plan.honest) == (15, 35)


@pytest.mark.parametrize(
    ("participation", "rounds", "people", "reports"),
    [
        ({}, 1, 50, 1),
        ({}, 7, 50, 7),
        ({"model": "multinomial", "weights": 3}, 1, 50, 1),
        ({"model": "divide", "groups": 2}, 1, 100, 1),
        ({"model": "subsample", "repeats": 5}, 2, 100, 10),
        ({"model": "rectified-bins", "bins": [3, [1, 2]]}, 1, 100, 1),
    ],
)
def test_people_and_reports_of_a_participation_model(participation, rounds, people, reports):
    plan = PLAN.replace(participation=participation, collection__rounds=rounds)
    assert (plan.people, plan.reports) == (people, reports)


def test_limits_in_the_order_of_the_policy():
    assert [(limit.rung, limit.key, limit.value) for limit in PLAN.limits] == [
        ("batch", "max_epsilon", 0.1),
        ("batch", "max_reidentification", 5e-4),
        ("collusion", "max_epsilon", 4.0),
    ]


@pytest.mark.parametrize(
    ("mixer", "estimator", "operators"),
    [
        (None, None, "separate"),
        ("Example Foundation", None, "separate"),
        (None, "Example Ltd", "separate"),
        ("Example Foundation", "Example Ltd", "separate"),
        ("Example Ltd", "Example Ltd", "same"),
    ],
)
def test_one_name_in_both_places_is_one_operator(mixer, estimator, operators):
    named = {"shufflers__operator": mixer, "analyzer__operator": estimator}
    plan = PLAN.replace(**{key: name for key, name in named.items() if name is not None})
    assert plan.operators == operators


def test_parallel_questions_make_one_randomizer():
    plan = PLAN.replace(participation={"weights": [1, 3]})
    assert plan.randomizer.mechanism == "parallel"
    assert plan.randomizer.weights == (1, 3)
    assert PLAN.replace(participation={"model": "multinomial", "weights": [1, 3]}).randomizer.k == 2
