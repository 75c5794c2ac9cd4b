"""A suite-wide budget for false alarms, and databases for tests that need one."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import psycopg
import pytest
from hypothesis import settings

# Machines are noisy: how long an example takes says nothing.
settings.register_profile("croupier", deadline=None)
settings.load_profile("croupier")

SERVER = os.environ.get("CROUPIER_TEST_DATABASE", "host=127.0.0.1 user=postgres dbname=test")
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


@contextmanager
def fresh_database() -> Iterator[str]:
    try:
        server = psycopg.connect(SERVER, autocommit=True)
    except psycopg.OperationalError:
        pytest.skip("needs PostgreSQL: set CROUPIER_TEST_DATABASE")
    name = f"croupier_{secrets.token_hex(8)}"
    with server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
        try:
            yield psycopg.conninfo.make_conninfo(SERVER, dbname=name)
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@pytest.fixture(scope="session")
def make_database() -> Callable[[], AbstractContextManager[str]]:
    """Makes empty databases, each dropped at the end of its context."""
    return fresh_database


@pytest.fixture
def database() -> Iterator[str]:
    """The connection string of an empty database, dropped afterwards."""
    with fresh_database() as made:
        yield made
