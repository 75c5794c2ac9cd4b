"""A suite-wide budget for false alarms, and databases for tests that need one."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import psycopg
import pytest
from hypothesis import settings

from croupier.protocol import encrypted_key

# Machines are noisy: how long an example takes says nothing.
settings.register_profile("croupier", deadline=None)
settings.load_profile("croupier")

SERVER = os.environ.get("CROUPIER_TEST_DATABASE", "host=127.0.0.1 user=postgres dbname=test")
SUITE_BUDGET = 1e-6
SHARE = 1e-9


ALARMS = pytest.StashKey[int]()
"""How many of the collected tests draw a false-alarm probability."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Count the statistical tests of the whole suite: every worker collects all of them."""
    names = (getattr(item, "fixturenames", ()) for item in items)
    config.stash[ALARMS] = sum("alarm" in own for own in names)


@pytest.fixture
def alarm(pytestconfig: pytest.Config) -> float:
    """One statistical test's false-alarm probability; all tests together have 1e-6.

    A test draws it once, and divides it if it compares several things.
    """
    tests = pytestconfig.stash[ALARMS]
    assert tests <= round(SUITE_BUDGET / SHARE), (
        f"{tests:,} tests draw a false-alarm probability of {SHARE:g} each, and the suite has "
        f"{SUITE_BUDGET:g}: lower SHARE in tests/conftest.py"
    )
    return SHARE


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


@pytest.fixture(scope="session", autouse=True)
def _cheap_passphrases() -> Iterator[None]:
    """Derive keys from passphrases with little work: tests make many key directories."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encrypted_key, "WORK", (1 << 4, 8, 1))
        yield
