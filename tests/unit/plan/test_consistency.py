import pytest

from croupier.plan.file import PlanError
from croupier.plan.plan import Plan

PLAN = Plan.from_toml("""
schema = 2
randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.0}
population.enrolled = 100
protections.minimum_batch = 50
""")


@pytest.mark.parametrize(
    "participation",
    [
        {"model": "divide", "groups": 2},
        {"model": "subsample", "repeats": 2},
        {"model": "multinomial", "weights": 3},
        {"model": "rectified-bins", "bins": [3, [1, 2]]},
    ],
)
def test_one_report_does_not_answer_several_queries(participation):
    with pytest.raises(PlanError, match="where the analyzer decides what each round asks"):
        PLAN.replace(participation=participation | {"noise": "reused"})
    assert PLAN.replace(participation=participation).asks_by_query


@pytest.mark.parametrize(
    ("participation", "rounds"),
    [
        ({}, 4),
        ({"model": "parallel", "weights": 3}, 1),
        ({"model": "multinomial", "weights": [1]}, 1),
    ],
)
def test_one_report_may_answer_one_question_again(participation, rounds):
    plan = PLAN.replace(
        participation=participation | {"noise": "reused"}, collection__rounds=rounds
    )
    assert not plan.asks_by_query
