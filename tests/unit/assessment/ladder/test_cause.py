"""The causes of cells without an epsilon: true for the row and the plan, and curable."""

import itertools

import pytest

from croupier.assessment.ladder.cause import cause
from croupier.assessment.ladder.ladder import assess
from croupier.assessment.ladder.table import ladder_reasons
from croupier.model.metric import Metric
from croupier.plan.plan import Plan

ADDS = {"dummies": {"epsilon": 1.0, "delta": 1e-8}}
CHAINS = {
    "one": [{}],
    "one-adds": [ADDS],
    "none-of-two": [{}, {}],
    "first": [ADDS, {}],
    "second": [{}, ADDS],
    "both": [ADDS, ADDS],
}
PLAIN = {"mechanism": "plain", "k": 3}
KARY = {"mechanism": "k-rr", "k": 3, "max_epsilon_local": 2.0}
PUBLISHED = ["estimate", "histogram", "sorted", "released-order", "none"]
CASES = [
    pytest.param(
        randomizer, shufflers, published, id=f"{randomizer['mechanism']}-{name}-{published}"
    )
    for randomizer, (name, shufflers), published in itertools.product(
        (PLAIN, KARY), CHAINS.items(), PUBLISHED
    )
    if randomizer is KARY or any(shufflers)  # plain without dummies is refused
]
NOISE = {"randomizer": KARY}
SILENT = {"analyzer": {"publication": "none"}}
REMEDIES = {
    "add a second shuffler with dummies": {"shufflers": [ADDS, ADDS]},
    "let the first shuffler add dummies": {"shufflers": [ADDS, ADDS]},
    "let the second shuffler add dummies": {"shufflers": [ADDS, ADDS]},
    "let both shufflers add dummies": {"shufflers": [ADDS, ADDS]},
    "add noise on the device": NOISE,
    "publish nothing": SILENT,
}


def make(randomizer, shufflers, published="estimate", **more):
    document = {
        "schema": 2,
        "randomizer": randomizer,
        "population": {"enrolled": 60},
        "protections": {"minimum_batch": 30},
        "shufflers": shufflers,
        "analyzer": {"publication": published},
        "guarantee": {"delta": 1e-8},
    }
    return Plan.from_document(document | more)


def unbounded(plan):
    return [row for row in assess(plan) if row["epsilon"].proved is None]


def is_true(clause, plan, rung):
    """Check one clause of a reason against the plan and the row, by the plan's own tables."""
    adds = [each.dummies is not None for each in plan.shufflers]
    return {
        "the device sends the answer itself": plan.randomizer.mechanism == "plain",
        "every report is seen with its sender": rung in ("collusion", "everybody"),
        "whoever runs the shuffler knows its dummies": rung == "shuffler" and adds == [True],
        "the first shuffler adds no dummies": rung == "shuffler_2" and not adds[0],
        "the second shuffler adds no dummies": rung == "shuffler_1" and not adds[-1],
        "the first shuffler adds no dummies if it is the honest one": rung == "all_but_one"
        and not adds[0],
        "the second shuffler adds no dummies if it is the honest one": rung == "all_but_one"
        and not adds[-1],
    }[clause]


@pytest.mark.parametrize(("randomizer", "shufflers", "published"), CASES)
def test_every_reason_is_true_and_every_remedy_helps(randomizer, shufflers, published):
    plan = make(randomizer, shufflers, published)
    rows = unbounded(plan)
    assert bool(rows) is (randomizer is PLAIN)
    for row in rows:
        reason = row["epsilon"].reason
        assert all(is_true(clause, plan, row.rung) for clause in reason.split(", and "))
        named = [
            change for words, change in REMEDIES.items() if words in cause(plan, row.rung).remedy
        ]
        assert named
        for change in named:
            mended = plan.document() | change
            assert assess(Plan.from_document(mended))[row.rung].epsilon is not None


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("shufflers", [[ADDS], [ADDS, ADDS]], ids=["one", "two"])
def test_dummies_that_fail_more_often_than_delta(shufflers, rounds):
    strict = {"guarantee": {"delta": 1e-9}, "collection": {"rounds": rounds}}
    plan = make(PLAIN, shufflers, **strict)
    (row,) = (row for row in unbounded(plan) if row.rung == "batch")
    said = " in 3 rounds" if rounds > 1 else ""
    assert row["epsilon"].reason == f"dummies fail{said} with a larger chance than delta 1e-09"
    lower = [{"dummies": {"epsilon": 1.0, "delta": 1e-9 / rounds}}] * len(shufflers)
    for change in ({"shufflers": lower}, {"guarantee": {"delta": 1e-8 * rounds}}):
        mended = Plan.from_document(plan.document() | change)
        assert assess(mended)["batch"].epsilon is not None


def test_a_reason_names_its_rows():
    said = ladder_reasons(assess(make(PLAIN, [ADDS])), [Metric.EPSILON])
    assert [line.split(":")[0] for line in said] == [
        "epsilon, not bounded (collusion)",
        "epsilon, not bounded (shuffler)",
    ]
