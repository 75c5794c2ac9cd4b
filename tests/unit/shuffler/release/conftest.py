"""Two shufflers in a row, each with a database of its own."""

import pytest

from tests.conftest import fresh_database
from tests.unit.chain import Chain


@pytest.fixture
def make_chain(database, tmp_path):
    with fresh_database() as other:
        yield lambda **tables: Chain(database, other, tmp_path, **tables)


@pytest.fixture
def chain(make_chain):
    return make_chain()
