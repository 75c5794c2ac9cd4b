from functools import cache

import pytest

from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.plan.plan import Plan

BASE = """
schema = 2
name = "small"
randomizer = {mechanism = "k-rr", k = 2, max_epsilon_local = 1.5}
population = {enrolled = 5_000, corrupt_fraction = 0.1}
protections.minimum_batch = 2_000
guarantee.delta = 1e-6
"""
GROUPS = {"sha256": "0f" * 32, "sensitivity": 900}
MALLOWS = {"shuffling": {"order": "mallows", "alpha": 4.0, "groups": GROUPS}}
ADDS = {"operator": "first", "dummies": {"epsilon": 1.0, "delta": 1e-8}}
ADDS_MORE = {"operator": "second", "keep": 0.5, "dummies": {"epsilon": 0.5, "delta": 1e-8}}
PLAIN = {"mechanism": "plain", "k": 5}
TEXTS = {"mechanism": "text", "longest": 6, "alphabet": "abc", "max_epsilon_local": 1.5}
PLANS = {
    "uniform": {},
    "nobody-corrupt": {"population__corrupt_fraction": 0.0},
    "mallows": MALLOWS,
    "reused": {"collection__rounds": 4, "participation__noise": "reused"},
    "rounds": {"collection__rounds": 4},
    "none": {"analyzer__publication": "none"},
    "histogram": {"analyzer__publication": "histogram"},
    "sorted": {"analyzer__publication": "sorted"},
    "released-order": {"analyzer__publication": "released-order"},
    "mallows-released": MALLOWS | {"analyzer__publication": "released-order"},
    "same-operators": {"shufflers__operator": "us", "analyzer__operator": "us"},
    "dummies": {"shufflers": [ADDS]},
    "plain": {"shufflers": [ADDS], "randomizer": PLAIN},
    "two-plain": {"shufflers": [ADDS, ADDS_MORE], "randomizer": PLAIN},
    "two-rounds": {"shufflers": [ADDS, ADDS_MORE], "collection__rounds": 2},
    "two-sorted": {"shufflers": [ADDS, ADDS_MORE], "analyzer__publication": "sorted"},
    "two-half": {"shufflers": [ADDS, {"operator": "second"}]},
    "two-bare": {"shufflers": [{"operator": "first"}, {"operator": "second"}]},
    "two-silent": {"shufflers": [ADDS, ADDS_MORE], "analyzer__publication": "none"},
    "texts": {"randomizer": TEXTS},
    "two-joined": {"shufflers": [ADDS, ADDS_MORE], "analyzer__operator": "first"},
}


@cache
def _ladder(name: str) -> Ladder:
    return assess(Plan.from_toml(BASE).replace(**PLANS[name]))


@pytest.fixture(params=PLANS)
def ladder(request: pytest.FixtureRequest) -> Ladder:
    """Each of several plans."""
    return _ladder(request.param)


@pytest.fixture
def ladder_of():
    """The ladder of a plan by its name above."""
    return _ladder
