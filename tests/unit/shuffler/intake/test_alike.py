"""A second report of one credential costs the database what a first one costs."""

import asyncio
import os

import psycopg
import pytest

from croupier.shuffler.database.store import Store
from croupier.shuffler.tags import TAG_BYTES

BATCH = os.urandom(16)
WIDTH = TAG_BYTES + 128


@pytest.fixture
def opened(database):
    async def work():
        store = await Store.connect(database)
        await store.migrate()
        assert await store.open_batch(BATCH, plan="00" * 32, round_number=0, opening="{}")
        await store.close()

    asyncio.run(work())
    return database


def logged(database, rows):
    """Whether the commit of these rows waits for the disk: if its transaction has a number."""
    with psycopg.connect(database) as connection:
        sent = (BATCH, b"".join(sorted(rows)), WIDTH, TAG_BYTES)
        ((state,),) = connection.execute("SELECT croupier.accept(%b, %b, %s, %s)", sent)
        ((number,),) = connection.execute("SELECT pg_current_xact_id_if_assigned()::text")
    assert state == "open"
    return number is not None


@pytest.mark.parametrize("count", [1, 3, 100])
def test_first_repeated_and_second_reports_wait_for_the_disk(opened, count):
    first = [os.urandom(WIDTH) for _ in range(count)]
    second = [row[:TAG_BYTES] + os.urandom(128) for row in first]
    assert [logged(opened, rows) for rows in (first, first, second)] == [True] * 3
    with psycopg.connect(opened) as connection:
        query = f"SELECT tag || envelope FROM croupier.env_{BATCH.hex()}"  # noqa: S608
        stored = sorted(row for (row,) in connection.execute(query.encode()))
    assert stored == sorted(first)
