"""What is proved at the size that batches came to have."""

import pytest

from croupier.assessment.ladder.ladder import assess, batch_epsilon
from croupier.assessment.ladder.realised import realised_epsilon
from croupier.plan.plan import Plan

TABLES = {
    "schema": 2,
    "randomizer": {"mechanism": "k-rr", "k": 4, "max_epsilon_local": 2.0},
    "population": {"enrolled": 10_000, "corrupt_fraction": 0.01},
    "protections": {"minimum_batch": 1_000},
    "guarantee": {"delta": 1e-6},
}


def plan_of(**tables):
    return Plan.from_document(TABLES | tables)


@pytest.mark.parametrize(
    ("participation", "rounds"),
    [
        ({}, 1),
        ({}, 3),
        ({"model": "divide", "groups": 3}, 1),
        ({"model": "subsample", "repeats": 2}, 1),
        ({"model": "multinomial", "weights": [1, 3]}, 1),
    ],
    ids=["single", "rounds", "divide", "subsample", "multinomial"],
)
def test_at_the_minimum_it_is_what_was_planned(participation, rounds):
    plan = plan_of(participation=participation, collection={"rounds": rounds})
    expected = assess(plan)["batch"].epsilon.value
    assert batch_epsilon(plan).value == pytest.approx(expected, rel=1e-6)
    assert realised_epsilon(plan, people=1_000).value == pytest.approx(expected, rel=1e-6)


def test_more_people_hide_better_even_beyond_the_enrolled():
    found = [realised_epsilon(plan_of(), people=n).value for n in (950, 1_000, 5_000, 50_000)]
    assert found == sorted(found, reverse=True)
    assert found[0] > found[1] > found[3]


@pytest.mark.parametrize("model", ["multinomial", "bins"])
def test_where_nulls_fill_rounds_each_round_is_counted_alone(model):
    """M28: nobody sees from batches who missed a round, so that the in-out column holds."""
    own = {"weights": [1, 3]} if model == "multinomial" else {"bins": [[1, 3], [1, 1]]}
    rectified = plan_of(participation={"model": f"rectified-{model}"} | own)
    in_out = assess(plan_of(participation={"model": model} | own))["network"].epsilon.value
    found = realised_epsilon(rectified, people=1_000).value
    assert found == pytest.approx(in_out, rel=1e-6)
    assert found > 1.2 * batch_epsilon(rectified).value


def test_noise_that_is_resent_hides_in_one_batch_only():
    once, twice = (
        realised_epsilon(
            plan_of(participation={"noise": "reused"}, collection={"rounds": n}), people=1_000
        )
        for n in (1, 2)
    )
    assert once.value == pytest.approx(batch_epsilon(plan_of()).value, rel=1e-9)
    assert twice.value == pytest.approx(2.0)
