"""Every session keeps what reports depend on, whatever the server's defaults are."""

import asyncio
import os
import re
import socket
import struct
import time
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

import croupier
from croupier.hosting.database.connection import connect, connect_async
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.database.store import Store, StoreError
from croupier.shuffler.tags import TAG_BYTES
from tests.network import proxied

PLAN = "00" * 32


@pytest.fixture
def set_default(database):
    """Sets what new sessions of the database begin with."""

    def change(**settings):
        with psycopg.connect(database, autocommit=True) as connection:
            own = connection.info.dbname
            for name, value in settings.items():
                connection.execute(f"ALTER DATABASE {own} SET {name} = '{value}'".encode())

    return change


async def open_batch(store: Store, identity: bytes) -> Batch | None:
    return await store.open_batch(identity, plan=PLAN, round_number=0, opening="{}")


def rows(count):
    return [os.urandom(TAG_BYTES + 128) for _ in range(count)]


async def prepared(database, opened):
    store = await Store.connect(database)
    await store.migrate()
    await open_batch(store, opened)
    return store


async def until_it_waits(connection):
    """Wait until another session waits for a lock of this one."""
    query = """
        SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database
        WHERE NOT granted AND datname = current_database()
    """
    while (await (await connection.execute(query)).fetchone())[0] == 0:  # noqa: ASYNC110
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("isolation", ["repeatable read", "serializable"])
def test_no_report_is_acknowledged_after_its_batch_was_sealed(database, set_default, isolation):
    """A writer whose transaction begins before the seal and writes after it."""
    set_default(default_transaction_isolation=isolation)
    opened = os.urandom(16)

    async def work():
        writer = await prepared(database, opened)
        async with await psycopg.AsyncConnection.connect(database) as sealer:
            table = f"croupier.env_{opened.hex()}"
            await sealer.execute(f"LOCK TABLE {table} IN SHARE MODE".encode())
            writing = asyncio.create_task(writer.accept(opened, rows(1)))
            await until_it_waits(sealer)
            query = "UPDATE croupier.batches SET state = 'sealed' WHERE batch = %s"
            await sealer.execute(query, (opened,))
            await sealer.commit()
            state = await writing
            count = await sealer.execute(f"SELECT count(*) FROM {table}".encode())  # noqa: S608
            ((stored,),) = await count.fetchall()
        await writer.close()
        return state, stored

    assert asyncio.run(work()) == ("sealed", 0)


OTHERWISE = {
    "default_transaction_isolation": "serializable",
    "default_transaction_read_only": "on",
    "synchronous_commit": "off",
    "statement_timeout": "1ms",
}
PINNED = {
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "synchronous_commit": "on",
}


def test_defaults_of_the_server_and_of_the_operator_change_no_session(database, set_default):
    set_default(**OTHERWISE)
    own = "-c search_path=elsewhere -c synchronous_commit=off"
    given = make_conninfo(database, options=own, application_name="mine", keepalives_idle=7)

    def settings(connection):
        names = [*PINNED, "search_path", "application_name"]
        return [connection.execute(f"SHOW {name}".encode()).fetchone()[0] for name in names]

    expected = [*PINNED.values(), "elsewhere", "mine"]
    with connect(given) as connection:
        assert settings(connection) == expected
        parameters = connection.info.get_parameters()
        assert (parameters["keepalives_idle"], parameters["keepalives_count"]) == ("7", "3")

    async def work():
        made = await connect_async(given, patience=5)
        found = []
        for name in [*PINNED, "search_path", "application_name", "statement_timeout"]:
            found += await (await made.execute(f"SHOW {name}".encode())).fetchone()
        await made.close()
        return found

    assert asyncio.run(work()) == [*expected, "4s"]


def test_all_connections_of_the_running_system_are_made_in_one_place():
    """So that none forgets a setting."""
    root = Path(croupier.__file__).parent
    made = [
        file.name
        for file in root.rglob("*.py")
        if file.parent.name != "demo"  # makes a cluster of its own
        and re.search(r"psycopg\.connect|Connection\.connect\(", file.read_text())
    ]
    assert made == ["connection.py"]


def without_options(first):
    """A startup message without its options, as a pooler that was told to ignore them."""
    fields = first[8:].split(b"\0")
    place = fields.index(b"options")
    kept = b"\0".join(fields[:place] + fields[place + 2 :])
    return struct.pack("!I", len(kept) + 8) + first[4:8] + kept


def with_another_process(data):
    """The server's answer with a number of a process of the pooler's own."""
    return re.sub(rb"K\0\0\0\x0c.{4}", b"K\0\0\0\x0c\0\0\0\x07", data, count=1, flags=re.DOTALL)


@pytest.mark.parametrize(
    "change", [{"from_client": without_options}, {"from_server": with_another_process}]
)
def test_a_pooler_is_refused(database, change):
    with proxied(database, **change) as pooler:
        with pytest.raises(StoreError, match="pooler") as caught:
            asyncio.run(Store.connect(pooler.database))
        with pytest.raises(StoreError, match="pooler"):
            connect(pooler.database)
    assert "name PostgreSQL itself" in str(caught.value)


def test_a_job_whose_connection_falls_silent_ends(database, monkeypatch):
    monkeypatch.setattr("croupier.hosting.database.connection._RELEASE_SECONDS", 2)
    with proxied(database) as network:
        connection = connect(network.database)
        network.silence()
        began = time.monotonic()
        with pytest.raises(psycopg.Error) as caught:
            connection.execute("SELECT 1")
        with pytest.raises(psycopg.Error):
            connection.execute("SELECT 1")
        connection.close()
        assert 2 < time.monotonic() - began < 20
    assert StoreError(caught.value).cause == "the database did not answer in time"


def test_a_connection_that_falls_silent_is_given_up_and_closed(database):
    opened = os.urandom(16)

    async def work(network):
        store = await prepared(network.database, opened)
        await store.close()
        hasty = await Store.connect(network.database, patience=2)
        assert await hasty.accept(opened, rows(1)) == "open"
        network.silence()
        began = time.monotonic()
        with pytest.raises(StoreError) as caught:
            await hasty.accept(opened, rows(1))
        assert hasty.closed
        await hasty.close()
        took = time.monotonic() - began
        again = await Store.connect(network.database, patience=2)
        assert await again.accept(opened, rows(1)) == "open"
        network.silence()
        with pytest.raises(StoreError):
            await again.batches(PLAN)
        await again.close()
        return caught.value, took

    with proxied(database) as network:
        error, took = asyncio.run(asyncio.wait_for(work(network), 30))
    assert error.cause == "the database did not answer in time"
    assert 2 <= took < 15


def test_a_server_that_accepts_and_never_speaks_is_given_up(database):
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        given = make_conninfo(database, port=port, connect_timeout=2)
        began = time.monotonic()
        with pytest.raises(StoreError, match="did not answer in time"):
            asyncio.run(Store.connect(given))
        with pytest.raises(StoreError, match="did not answer in time"):
            connect(given)
        assert time.monotonic() - began < 20


def test_rows_that_are_only_tried_leave_nothing_and_find_what_a_commit_would_meet(database):
    opened = os.urandom(16)
    table = f"croupier.env_{opened.hex()}"

    async def work():
        store = await prepared(database, opened)
        await store.try_to_write(opened, 128)
        with psycopg.connect(database) as connection:
            assert connection.execute(f"SELECT * FROM {table}".encode()).fetchall() == []  # noqa: S608
            connection.execute(FULL_DISK.encode())
            trigger = f"CREATE TRIGGER full_disk BEFORE INSERT ON {table} EXECUTE FUNCTION fail()"
            connection.execute(trigger.encode())
        with pytest.raises(StoreError) as caught:
            await store.try_to_write(opened, 128)
        await store.close()
        return caught.value.cause

    assert asyncio.run(work()) == "the database's disk is full"


FULL_DISK = """
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'a row' USING ERRCODE = '53100'; END $$
"""
