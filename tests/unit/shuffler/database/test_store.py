import asyncio
import os
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar

import psycopg
import pytest

from croupier.shuffler.database.batch import Batch
from croupier.shuffler.database.store import Store, StoreError
from croupier.shuffler.tags import TAG_BYTES

T = TypeVar("T")
PLAN = "00" * 32
ENVELOPE_BYTES = 128


async def open_batch(store: Store, identity: bytes) -> Batch | None:
    return await store.open_batch(identity, plan=PLAN, round_number=0, opening="{}")


def rows(count: int) -> list[bytes]:
    return [os.urandom(TAG_BYTES + ENVELOPE_BYTES) for _ in range(count)]


def run(database: str, work: Callable[[Store], Awaitable[T]]) -> T:
    async def connected() -> T:
        store = await Store.connect(database)
        try:
            await store.migrate()
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(connected())


def table(database: str, of: bytes) -> list[bytes]:
    with psycopg.connect(database) as connection:
        query = f"SELECT coalesce(tag, '') || envelope FROM croupier.env_{of.hex()}"  # noqa: S608
        return [row for (row,) in connection.execute(query.encode())]


def set_state(database: str, of: bytes, state: str) -> None:
    with psycopg.connect(database) as connection:
        query = "UPDATE croupier.batches SET state = %s WHERE batch = %s"
        connection.execute(query, (state, of))


async def size(store: Store, batch: bytes) -> int:
    return (await store.look({PLAN: (0, 0)}))[PLAN].sizes[batch]


def test_statistics_keep_no_row(database):
    """PostgreSQL samples columns into a table of its own, which outlives theirs."""
    opened = os.urandom(16)

    async def work(store):
        assert await open_batch(store, opened)
        assert await store.accept(opened, rows(500)) == "open"

    run(database, work)
    with psycopg.connect(database) as connection:
        connection.execute("ANALYZE")
        query = "SELECT count(*) FROM pg_stats WHERE tablename = %s"
        assert connection.execute(query, [f"env_{opened.hex()}"]).fetchone() == (0,)


def test_rows_are_stored_in_the_order_of_their_tags(database):
    opened, sent = os.urandom(16), rows(500)

    async def work(store):
        assert await open_batch(store, opened)
        assert await store.accept(opened, sent) == "open"

    run(database, work)
    assert table(database, opened) == sorted(sent)
    assert sent != sorted(sent)


def test_what_is_repeated_does_not_fill_the_table(database):
    opened, (repeated, *others) = os.urandom(16), rows(201)

    async def work(store):
        assert await open_batch(store, opened)
        assert await store.accept(opened, [repeated]) == "open"
        before = await size(store, opened)
        for _ in range(200):
            assert await store.accept(opened, [repeated]) == "open"
        alone = await size(store, opened) - before
        for other in others:
            assert await store.accept(opened, [repeated, other]) == "open"
        return alone

    assert run(database, work) == 0
    assert sorted(table(database, opened)) == sorted([repeated, *others])


def test_the_first_of_a_tag_stays(database):
    opened, first = os.urandom(16), rows(100)
    second = [row[:TAG_BYTES] + os.urandom(ENVELOPE_BYTES) for row in first[:60]] + rows(40)

    async def work(store):
        await open_batch(store, opened)
        await store.accept(opened, first)
        assert await store.accept(opened, second) == "open"
        assert await store.accept(opened, first) == "open"

    run(database, work)
    assert table(database, opened) == [*sorted(first), *sorted(second[60:])]


def test_rows_without_tags_are_all_kept(database):
    opened, sent = os.urandom(16), rows(50)

    async def work(store):
        await open_batch(store, opened)
        for _ in range(2):
            assert await store.accept(opened, sent, tagged=False) == "open"

    run(database, work)
    assert table(database, opened) == 2 * sorted(sent)


def test_a_closed_or_unknown_batch_takes_nothing(database):
    opened = os.urandom(16)

    async def work(store):
        await open_batch(store, opened)
        await store.accept(opened, rows(1))
        for state in ("sealed", "released", "shredded", "disposed"):
            set_state(database, opened, state)
            assert await store.accept(opened, rows(1)) == state
        assert await store.accept(os.urandom(16), rows(1)) is None

    run(database, work)
    assert len(table(database, opened)) == 1


def test_a_round_is_opened_once_and_leaves_no_second_table(database):
    first = os.urandom(16)
    second = os.urandom(16)

    async def work(store):
        assert await open_batch(store, first)
        assert not await open_batch(store, second)
        assert [b.identity for b in await store.batches(PLAN)] == [first]
        assert await store.has_batch(first, plan=PLAN)
        assert not await store.has_batch(first, plan="01" * 32), "of another plan"

    run(database, work)
    with pytest.raises(psycopg.errors.UndefinedTable):
        table(database, second)


def test_one_look_tells_plans_apart(database):
    """Batches of every state, the sizes of open ones, receipts from a number on, and last runs."""
    plans = [f"{number:02}" * 32 for number in range(3)]
    batches = [os.urandom(16) for _ in range(3)]

    async def work(store):
        for identity, plan, number in zip(batches, [0, 0, 1], [0, 1, 0], strict=True):
            await store.open_batch(
                identity, plan=plans[plan], round_number=number, opening=f"{plan} {number}"
            )
        set_state(database, batches[0], "shredded")
        with psycopg.connect(database) as connection:
            for plan, number in ((0, 0), (0, 1), (1, 0)):
                row = (bytes.fromhex(plans[plan]), number, f"receipt {plan} {number}")
                connection.execute("INSERT INTO croupier.receipts VALUES (%s, %s, %s)", row)
            ran = "INSERT INTO croupier.release_runs VALUES (%s, '2026-01-01 00:00Z')"
            connection.execute(ran, [bytes.fromhex(plans[1])])
        return await store.look({plans[0]: (0, 1), plans[1]: (0, 0), plans[2]: (0, 0)})

    seen = run(database, work)
    first, second, third = (seen[plan] for plan in plans)
    assert [(b.opening, b.state) for b in first.batches] == [("0 1", "open"), ("0 0", "shredded")]
    assert [b.opening for b in second.batches] == ["1 0"]
    assert (first.sizes.keys(), second.sizes.keys()) == ({batches[1]}, {batches[2]})
    assert (first.receipts, second.receipts) == (["receipt 0 1"], ["receipt 1 0"])
    assert third[:3] == ([], {}, [])
    assert [each.signs.ran is None for each in (first, second, third)] == [True, False, True]
    assert first.signs.now == second.signs.now


def test_what_is_stored_before_a_seal_is_counted_by_it_and_what_comes_after_is_refused(database):
    opened, stored = os.urandom(16), asyncio.Event()

    async def writer(answers):
        store = await Store.connect(database)
        while "sealed" not in answers:
            sent = rows(50)
            state = await store.accept(opened, sent)
            answers[state] += len(sent)
            stored.set()
        await store.close()

    async def sealer():
        await asyncio.wait_for(stored.wait(), 60)
        await asyncio.sleep(0.2)
        async with await psycopg.AsyncConnection.connect(database) as connection:
            query = "UPDATE croupier.batches SET state = 'sealed' WHERE batch = %s"
            await connection.execute(query, (opened,))
            count = f"SELECT count(*) FROM croupier.env_{opened.hex()}".encode()  # noqa: S608
            ((found,),) = await (await connection.execute(count)).fetchall()
        return found

    async def work(store):
        await open_batch(store, opened)
        answers = [Counter() for _ in range(4)]
        found, *_ = await asyncio.gather(sealer(), *map(writer, answers))
        return found, sum(answers, Counter())

    found, answers = run(database, work)
    assert answers["open"] == found > 0
    assert len(table(database, opened)) == found


def test_writers_who_bring_the_same_tags_do_not_block_each_other(database):
    opened, shared = os.urandom(16), rows(400)

    async def writer(sent):
        store = await Store.connect(database)
        for start in range(0, 400, 100):
            assert await store.accept(opened, sent[start : start + 100]) == "open"
        await store.close()

    async def work(store):
        await open_batch(store, opened)
        await asyncio.gather(*(writer(sent) for sent in (shared, shared[::-1], shared)))

    run(database, work)
    assert sorted(table(database, opened)) == sorted(shared)


def test_stored_tags_and_envelopes_are_found_until_the_table_is_gone(database):
    opened, sent = os.urandom(16), rows(3)
    tags, envelopes = [row[:TAG_BYTES] for row in sent], [row[TAG_BYTES:] for row in sent]

    async def work(store):
        await open_batch(store, opened)
        await store.accept(opened, sent)
        some = [os.urandom(TAG_BYTES), tags[0]]
        assert await store.count_stored(opened, tags, column="tag") == 3
        assert await store.count_stored(opened, some, column="tag") == 1
        assert await store.count_stored(opened, envelopes, column="envelope") == 3
        assert await store.count_stored(opened, tags, column="envelope") == 0
        assert await size(store, opened) >= 8192
        with psycopg.connect(database) as connection:
            connection.execute(f"DROP TABLE croupier.env_{opened.hex()}".encode())
        assert await store.count_stored(opened, tags, column="tag") is None
        assert await size(store, opened) == 0

    run(database, work)


def test_migrations_may_be_repeated_and_run_at_once(database):
    async def work(store):
        others = [await Store.connect(database) for _ in range(3)]
        await asyncio.gather(store.migrate(), *(other.migrate() for other in others))
        for other in others:
            await other.close()

    run(database, work)


def test_no_column_tells_when_or_in_which_order(database):
    async def work(store):
        await open_batch(store, os.urandom(16))

    run(database, work)
    with psycopg.connect(database) as connection:
        columns = connection.execute(
            "SELECT column_name, data_type, column_default FROM information_schema.columns "
            "WHERE table_schema = 'croupier' AND table_name LIKE 'env%'"
        ).fetchall()
        times = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns "
            "WHERE table_schema = 'croupier' AND data_type LIKE ANY ('{%time%,date}')"
        ).fetchall()
        sequences = connection.execute(
            "SELECT count(*) FROM pg_class WHERE relkind = 'S'"
        ).fetchall()
    assert columns == [("tag", "bytea", None), ("envelope", "bytea", None)]
    # When a round began, and when a job of the operator last ran, is no report's time.
    assert sorted(times) == [("batches", "opened"), ("release_runs", "ran")]
    assert sequences == [(0,)]


def test_calls_that_wait_for_each_other_do_not_run_out_of_patience(database):
    """Each has its own time: eight of 0.4 seconds may take longer than the 3 that one may take."""

    async def work(_):
        store = await Store.connect(database, patience=3)
        calls = [store._execute("SELECT pg_sleep(0.4)") for _ in range(8)]  # noqa: SLF001
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert not store.closed
        await store.close()
        return [error for error in ended if isinstance(error, Exception)]

    assert run(database, work) == []


def test_nobody_s_statement_gets_into_another_s_transaction(database):
    """Else it would be taken back with it."""
    opened, kept = os.urandom(16), rows(1)

    async def work(store):
        await open_batch(store, opened)
        trials = [store.try_to_write(opened, TAG_BYTES + ENVELOPE_BYTES) for _ in range(5)]
        await asyncio.gather(*trials[:3], store.accept(opened, kept), *trials[3:])

    run(database, work)
    assert table(database, opened) == kept


def test_an_unreachable_database_is_named_without_its_password():
    with pytest.raises(StoreError, match="in --database") as caught:
        asyncio.run(Store.connect("host=127.0.0.1 port=1 password=hunter2"))
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None
