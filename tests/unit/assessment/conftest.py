"""Plans for the ladder, from a few facts."""

import pytest

from croupier.model.plan import Plan


@pytest.fixture(scope="session")
def make_plan():
    """A plan from the facts that differ; everything else stays small and plain."""

    def make(randomizer=None, *, enrolled=1000, batch=1000, corrupt=0.0, delta=1e-6, **tables):
        document = {
            "schema": 1,
            "randomizer": randomizer or {"mechanism": "k-rr", "k": 4, "epsilon_local": 2.0},
            "population": {"enrolled": enrolled, "corrupt_fraction": corrupt},
            "protections": {"minimum_batch": batch, "report_size": 64},
            "guarantee": {"delta": delta},
        } | tables
        if "queries" in tables:
            del document["randomizer"]
        return Plan.model_validate(document)

    return make
