"""Limits on how far corrupt people move an estimate: in plans, in policies and in searches."""

import pytest

from croupier import Plan, design
from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import check, checked, enough_people
from croupier.errors import ParameterError
from croupier.model.metric import Metric
from croupier.plan.policy import Policy

PLAN = """
schema = 2
randomizer = {mechanism = "k-rr", k = 10, max_epsilon_local = 4.0}
population = {enrolled = 100_000, corrupt_fraction = 0.01}
protections.minimum_batch = 20_000
policy.batch.max_epsilon = 1.0
policy.clients = {max_epsilon = 1.0, max_manipulation = LIMIT}
"""


def plan_of(limit, **changes):
    return Plan.from_toml(PLAN.replace("LIMIT", str(limit))).replace(**changes)


def verdict_of(plan, policy=None):
    found = checked(assess(plan), policy)
    return next(each for each in found if each.limit.metric is Metric.MANIPULATION)


def test_a_limit_holds_up_to_the_largest_shift():
    shift = float(plan_of(0.5).manipulation)
    assert shift == pytest.approx(0.05 * float(plan_of(0.5).randomizer.worst_shift))
    assert check(plan_of(shift * (1 + 1e-9))).met
    failing = plan_of(shift * (1 - 1e-9))
    verdict = verdict_of(failing)
    assert not verdict.met
    assert verdict.limits_something
    assert not verdict.limits_answers
    assert verdict.cell.proved.value == pytest.approx(shift)
    enough = enough_people(failing, [verdict])
    assert 20_000 < enough <= 20_001
    assert verdict_of(failing.replace(protections__minimum_batch=enough)).met


@pytest.mark.parametrize(
    ("plan", "why"),
    [
        (plan_of(0.05, population__corrupt_fraction=0.0), "nobody to be corrupt"),
        (plan_of(1.0), "any value"),
        (plan_of(0.05).replace(policy__batch__max_manipulation=0.05), "only corrupt clients lie"),
    ],
)
def test_limits_that_limit_nothing(plan, why):
    assert why in verdict_of(plan).idle


def test_an_organisation_limits_it():
    policy = Policy.from_toml("schema = 1\npolicy.clients.max_manipulation = 0.01\n")
    verdict = verdict_of(plan_of(0.5), policy)
    assert verdict.organisation
    assert not verdict.met


def test_what_is_not_bounded_is_not_met():
    text = PLAN.replace('"k-rr", k = 10', '"dictionary", k = 5000').replace("LIMIT", "0.9")
    assert not verdict_of(Plan.from_toml(text)).met


ASKED = {
    "k": 10,
    "enrolled": 100_000,
    "corrupt_fraction": 0.01,
    "target_error": 0.05,
    "max_epsilon": 1.0,
    "mechanisms": ["k-rr"],
}


def test_a_search_keeps_the_limit():
    free, limited = (design(**ASKED, max_manipulation=limit)[0].plan for limit in (None, 0.03))
    assert free.manipulation > 0.03 >= limited.manipulation > 0.0299
    assert limited.protections.minimum_batch > free.protections.minimum_batch
    assert check(limited).met
    assert limited.policy["clients"].max_manipulation == 0.03


def test_a_search_with_dummies_keeps_the_limit():
    asked = ASKED | {"mechanisms": ["plain"], "max_manipulation": 0.04}
    (found,) = design(**asked)
    assert found.plan.protections.minimum_batch == 25_000
    assert found.worst_shift == 1


@pytest.mark.parametrize("mechanism", ["k-rr", "plain"])
def test_a_search_says_that_liars_move_too_much(mechanism):
    with pytest.raises(ParameterError, match="reachable") as raised:
        design(**ASKED | {"mechanisms": [mechanism], "max_manipulation": 0.019})
    assert raised.value.parameter == "max_manipulation"


def test_a_search_refuses_what_no_batch_keeps():
    with pytest.raises(ParameterError, match="max_manipulation"):
        design(**ASKED, max_manipulation=0.0)
