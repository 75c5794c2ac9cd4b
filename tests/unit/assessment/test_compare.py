import pytest

from croupier.assessment.compare import compare
from croupier.assessment.ladder.ladder import assess
from croupier.plan.plan import Plan

PLAN = Plan.model_validate(
    {
        "schema": 2,
        "randomizer": {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 2.0},
        "population": {"enrolled": 500},
        "protections": {"minimum_batch": 100},
    }
)


def test_a_plan_does_not_differ_from_itself():
    found = compare(PLAN, PLAN)
    assert not found.keys
    assert not found.differences
    assert not found.redeployed
    assert found.errors[0] == found.errors[1]


def test_a_policy_gives_nobody_a_new_key():
    found = compare(PLAN, PLAN.replace(policy__batch={"max_epsilon": 1.0}))
    assert [(one.key, one.before, one.after) for one in found.keys] == [
        ("policy.batch.max_epsilon", None, 1.0)
    ]
    assert not found.redeployed
    assert not found.differences


def test_differences_are_those_of_the_ladders():
    other = PLAN.replace(randomizer__max_epsilon_local=3.0)
    found, ladders = compare(PLAN, other), (assess(PLAN), assess(other))
    assert found.redeployed
    assert found.errors[1] < found.errors[0]
    for one in found.differences:
        first, second = (ladder[one.rung][one.metric].proved.value for ladder in ladders)
        assert (one.before.proved.value, one.after.proved.value) == (first, second)
        assert one.better is False
    changed = {(one.rung, one.metric) for one in found.differences}
    same = {(step.rung, metric) for step in ladders[0] for metric in step.cells} - changed
    assert same == {(rung, "reidentification") for rung in ("estimate", "shuffler", "collusion")}


def test_the_other_way_round_worse_is_better():
    other = PLAN.replace(protections__minimum_batch=300)
    there, back = compare(PLAN, other), compare(other, PLAN)
    assert len(there.differences) == len(back.differences) > 20
    assert all(one.better for one in there.differences)
    assert not any(one.better for one in back.differences)


@pytest.mark.parametrize("better", [True, False])
def test_a_promise_is_more_than_none(better):
    reused = PLAN.replace(collection__rounds=3, participation__noise="reused")
    fresh = PLAN.replace(collection__rounds=3)
    found = compare(reused, fresh) if better else compare(fresh, reused)
    links = [
        one for one in found.differences if (one.rung, one.metric) == ("batch", "reidentification")
    ]
    assert [one.better for one in links] == [better]


GROUPS = {"sha256": "0" * 64, "sensitivity": 3}
MALLOWS = {"order": "mallows", "alpha": 4.0, "groups": GROUPS}


@pytest.mark.parametrize("back", [False, True])
def test_an_order_that_betrays_something_is_worse_than_one_that_betrays_nothing(back):
    """A uniform order of everybody has no groups and betrays nothing of any."""
    plans = PLAN, PLAN.replace(shuffling=MALLOWS)
    found = compare(*(reversed(plans) if back else plans))
    changed = [one for one in found.differences if one.metric == "alpha"]
    assert {one.rung for one in changed} == {"batch", "network", "clients"}
    for one in changed:
        values = [one.before.proved.value, one.after.proved.value]
        assert values == ([4.0, 0.0] if back else [0.0, 4.0])
        assert one.better is back


LIMITED = PLAN.replace(
    policy={
        "batch": {"max_epsilon": 1.5, "min_bayes_security": 0.5},
        "clients": {"max_epsilon": 1.4},
    }
)


@pytest.mark.parametrize(
    ("changes", "words", "passed"),
    [
        ({}, [], True),
        ({"policy__batch__max_epsilon": 1.4}, ["tightened"], True),
        ({"policy__network": {"max_epsilon": 1.9}}, ["added"], True),
        ({"policy__batch__max_epsilon": 1.6}, ["loosened"], False),
        ({"policy__batch__min_bayes_security": 0.4}, ["loosened"], False),
        ({"policy__batch__min_bayes_security": 0.6}, ["tightened"], True),
        ({"policy__batch": {"max_epsilon": 1.5}}, ["removed"], False),
        ({"policy": {}}, ["removed"] * 3, False),
        ({"randomizer__max_epsilon_local": 1.5}, ["limits nothing now"], False),
        ({"policy__batch__max_epsilon": 0.01}, ["tightened"], False),
        ({"policy__batch__max_epsilon": 100.0}, ["loosened"], False),
    ],
)
def test_a_weaker_policy_does_not_pass(changes, words, passed):
    found = compare(LIMITED, LIMITED.replace(**changes))
    assert [change.word for change in found.limits] == words
    assert found.passed is passed
    assert bool(found.weakened) == any(
        word in ("removed", "loosened", "limits nothing now") for word in words
    )


def test_a_limit_that_begins_to_limit_takes_effect():
    found = compare(LIMITED.replace(randomizer__max_epsilon_local=1.5), LIMITED)
    assert [change.word for change in found.limits] == ["takes effect"]
    assert not found.weakened


def test_two_plans_without_limits_pass_nothing():
    found = compare(PLAN, PLAN)
    assert found.judgement == "no limit set"
    assert not found.passed
    assert not found.weakened
