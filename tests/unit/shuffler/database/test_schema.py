"""Migrations go forward, only add, and are refused by versions that do not know them."""

import asyncio
import re

import psycopg
import pytest

from croupier.hosting.database.migrations import NewerSchemaError, OlderSchemaError
from croupier.shuffler.database import batch_states
from croupier.shuffler.database.schema import MIGRATIONS
from croupier.shuffler.database.store import Store
from croupier.shuffler.tags import TAG_BYTES

LATER = "9999_later.sql"


def connected(database, work):
    async def run():
        store = await Store.connect(database)
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


def migrate(database, **settings):
    connected(database, lambda store: store.migrate(**settings))


def run(database, *statements):
    with psycopg.connect(database) as connection:
        for statement in statements:
            connection.execute(statement)


def mark(database, name):
    """Note a migration as done."""
    with psycopg.connect(database) as connection:
        connection.execute("INSERT INTO croupier.migrations VALUES (%s)", [name])


def names(database):
    with psycopg.connect(database) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM croupier.migrations")]


def test_a_database_of_a_newer_version_is_refused(database):
    migrate(database)
    mark(database, LATER)
    with pytest.raises(NewerSchemaError, match=rf"newer version .*\({LATER}\)\. Install"):
        migrate(database)
    with (
        psycopg.connect(database) as connection,
        pytest.raises(NewerSchemaError, match="nothing was changed"),
    ):
        batch_states.require_schema(connection)


def test_a_database_of_an_older_version_is_migrated_or_named(database):
    migrate(database)
    *_, last = MIGRATIONS.pending([])
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM croupier.migrations WHERE name = %s", [last])
    with (
        psycopg.connect(database) as connection,
        pytest.raises(OlderSchemaError, match=rf"without {last}\. Run croupier release"),
    ):
        batch_states.require_schema(connection)


def test_the_first_schema_is_migrated_with_its_batches(database):
    first, *later = MIGRATIONS.pending([])
    run(
        database,
        "CREATE SCHEMA croupier",
        "CREATE TABLE croupier.migrations (name text PRIMARY KEY)",
        MIGRATIONS.script(first),
        "INSERT INTO croupier.batches VALUES (decode(repeat('00', 16), 'hex'), "
        "decode(repeat('00', 32), 'hex'), 0, 'open', now(), '{}')",
    )
    mark(database, first)
    migrate(database, create=False)
    assert sorted(names(database)) == [first, *later]
    (batch,) = connected(database, lambda store: store.batches("00" * 32))
    assert (batch.round_number, batch.state) == (0, "open")


def test_a_database_without_tables_is_left_alone_unless_they_are_wanted(database):
    migrate(database, create=False)
    with psycopg.connect(database) as connection:
        assert not batch_states.prepared(connection)


def test_migrations_only_add():
    """What an older worker uses stays as it is, so that it works on while hosts are replaced."""
    _, *later = MIGRATIONS.pending([])
    assert later
    taken = re.compile(
        r"\b(drop|rename|truncate|delete|update|alter\s+column|set\s+not\s+null)\b", re.IGNORECASE
    )
    for name in later:
        text = MIGRATIONS.script(name).decode()
        statements = re.sub(r"\$\$.*?\$\$|--[^\n]*", "", text, flags=re.DOTALL)
        assert not taken.search(statements), name
        assert re.search(r"\bcreate\b|\badd\b", statements, re.IGNORECASE), name


def test_a_worker_of_before_works_on_while_a_newer_version_migrates(database):
    identity, plan = bytes(16), "00" * 32

    async def work(store):
        await store.migrate()
        await store.open_batch(identity, plan=plan, round_number=0, opening='{"analyzer": ""}')
        run(
            database,
            "CREATE TABLE croupier.later (plan bytea)",
            "ALTER TABLE croupier.batches ADD COLUMN later text",
            "ALTER TABLE croupier.receipts ADD COLUMN later text",
        )
        mark(database, LATER)
        assert await store.accept(identity, [bytes(TAG_BYTES) + b"envelope"]) == "open"
        assert [batch.identity for batch in await store.batches(plan)] == [identity]
        found = await store.progress(plan, round_number=0, receipt_number=0)
        assert [number for number, *_ in found.rounds] == [0]
        other = bytes(15) + b"1"
        opened = await store.open_batch(other, plan=plan, round_number=1, opening="{}")
        assert opened.round_number == 1

    connected(database, work)
