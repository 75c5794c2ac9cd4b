import asyncio

import pytest

from croupier.errors import ParameterError
from croupier.pipeline.key_list import ShufflerKey
from croupier.pipeline.keys import KeyDirectory
from croupier.pipeline.rounds import SHUFFLER, open_round
from croupier.pipeline.store import Store


@pytest.fixture
def keys(tmp_path):
    return KeyDirectory(tmp_path / "keys", b"passphrase")


@pytest.fixture
def plan(keys, make_parties):
    public = keys.create_signing_key(SHUFFLER).public_key().public_bytes_raw().hex()
    return make_parties().plan.having(trust__shuffler_key=public)


def run(database, work):
    async def connected():
        store = await Store.connect(database)
        await store.migrate()
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(connected())


def test_an_opened_round_is_announced_signed_and_has_its_secrets(database, plan, keys):
    batch = run(database, lambda store: open_round(plan, store=store, keys=keys))
    announced = ShufflerKey.verified(batch.keys.encode(), plan)
    assert (announced.round, announced.batch) == (0, batch.batch.hex())
    public = keys.outer_key(batch.batch).public_key()
    assert announced.key == public.public_bytes_raw().hex()
    assert len(keys.tag_key(batch.batch)) == 32


def test_an_open_round_is_returned_and_a_closed_one_is_followed(database, plan, keys):
    async def work(store):
        first = await open_round(plan, store=store, keys=keys)
        assert await open_round(plan, store=store, keys=keys) == first
        close = "UPDATE croupier.batches SET state = 'sealed'"
        await store._connection.execute(close)  # noqa: SLF001 - nothing public closes a batch here
        second = await open_round(plan, store=store, keys=keys, query='{"a":1}')
        assert (second.round, second.query) == (1, '{"a":1}')
        assert await open_round(plan, store=store, keys=keys, round_number=1) == second

    run(database, work)


def test_two_who_open_at_once_open_one_round_and_keep_no_other_secrets(database, plan, keys):
    async def work(store):
        other = await Store.connect(database)
        opened = await asyncio.gather(
            open_round(plan, store=store, keys=keys), open_round(plan, store=other, keys=keys)
        )
        await other.close()
        return {batch.batch for batch in opened}

    opened = run(database, work)
    assert len(opened) == 1
    assert set(keys.batches()) == opened


def test_a_key_that_the_plan_does_not_name_opens_nothing(database, keys, make_parties):
    keys.create_signing_key(SHUFFLER)
    stranger = make_parties().plan
    with pytest.raises(ParameterError, match="shuffler_key"):
        run(database, lambda store: open_round(stranger, store=store, keys=keys))
