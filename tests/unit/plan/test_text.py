# ruff: noqa: E501 - one case a line
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from croupier.numerics.validate import is_one_line
from croupier.plan.plan import Plan
from croupier.plan.text import plan_text

BASE = {
    "schema": 2,
    "population": {"enrolled": 10**18},
    "protections": {"minimum_batch": 50, "report_size": 64},
}
K_RR = {"mechanism": "k-rr", "k": 50, "max_epsilon_local": 4}
GROUPS = {"sha256": "ab" * 32, "sensitivity": 16}


@pytest.mark.parametrize(
    "tables",
    [
        {"randomizer": K_RR},
        {"randomizer": K_RR | {"denominator": 2**63}},
        {"randomizer": {"mechanism": "laplace", "max_epsilon_local": 1, "grid": {"low": -1, "high": 1, "step": 0.5}}},
        {"randomizer": {"mechanism": "matrix", "matrix": [[3, 1], [1, 3]]}},
        {"questions": [K_RR, {"mechanism": "one-bit-mean", "max_epsilon_local": 1, "grid": {"low": 0, "high": 1, "step": 1}}]},
        {"randomizer": K_RR, "participation": {"model": "bins", "bins": [3, [1, 2]]}},
        {"randomizer": K_RR, "shuffling": {"order": "mallows", "alpha": 4, "groups": GROUPS}},
        {"randomizer": K_RR, "policy": {"batch": {"max_epsilon": 1e-7}, "clients": {"min_bayes_security": 0.5}}},
        {"randomizer": K_RR | {"name": "shoes", "text": "Which size? # none"}, "analyzer": {"operator": "us"}},
        {"questions": [K_RR | {"name": "one"}, K_RR], "shufflers": [{"operator": "us", "key": "ab" * 32}]},
        {"randomizer": K_RR, "guarantee": {"delta": 1e-300}},
    ],
)  # fmt: skip
def test_a_commented_plan_is_read_again(tables):
    plan = Plan.from_document(BASE | tables)
    assert Plan.from_toml(plan_text(plan)) == plan


@settings(deadline=None)
@given(st.lists(st.text(max_size=9).filter(is_one_line), min_size=2, max_size=4, unique=True))
def test_any_labels_are_read_again(labels):
    plan = Plan.from_document(
        BASE | {"randomizer": {"mechanism": "k-rr", "labels": labels, "max_epsilon_local": 1}}
    )
    assert Plan.from_toml(plan_text(plan)).randomizer.domain.labels == tuple(labels)


def test_notes_replace_comments_and_numbers_are_readable():
    plan = Plan.from_document(BASE | {"randomizer": K_RR, "policy": {"batch": {"max_epsilon": 1}}})
    lines = plan_text(plan, notes={"randomizer.mechanism": "mine", "policy.batch": "yours"}).split(
        "\n"
    )
    assert 'mechanism = "k-rr"  # mine' in lines
    assert "[policy]  # only proved bounds count" in lines
    assert "batch = {max_epsilon = 1.0}  # yours" in lines
    assert any(line.startswith("enrolled = 1_000_000_000_000_000_000  # people") for line in lines)
