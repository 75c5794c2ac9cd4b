"""A suite-wide budget for false alarms."""

import pytest
from hypothesis import settings

# Machines are noisy: how long an example takes says nothing.
settings.register_profile("croupier", deadline=None)
settings.load_profile("croupier")

SUITE_BUDGET = 1e-6
SHARE = 1e-9


class AlarmBudget:
    """Statistical tests draw their false-alarm probability from here; together at most 1e-6."""

    def __init__(self) -> None:
        self.spent = 0.0

    def spend(self) -> float:
        self.spent += SHARE
        assert self.spent <= SUITE_BUDGET, "the suite's false-alarm budget is used up"
        return SHARE


@pytest.fixture(scope="session")
def alarm_budget() -> AlarmBudget:
    return AlarmBudget()


@pytest.fixture
def alarm(alarm_budget: AlarmBudget) -> float:
    """One statistical test's false-alarm probability."""
    return alarm_budget.spend()
