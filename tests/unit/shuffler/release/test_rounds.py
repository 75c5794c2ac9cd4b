import asyncio
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.errors import ParameterError, UntrustedError
from croupier.protocol.key_list import OldRoundError, ShufflerKey
from croupier.protocol.keys import KeyDirectory
from croupier.protocol.query import Query
from croupier.shuffler.database.store import Store
from croupier.shuffler.release.rounds import SHUFFLER, open_round

ANALYZER = X25519PrivateKey.generate().public_key().public_bytes_raw()


@pytest.fixture
def keys(tmp_path):
    return KeyDirectory(tmp_path / "keys", b"a passphrase")


@pytest.fixture
def plan(keys, make_parties):
    public = keys.create_signing_key(SHUFFLER).public_key().public_bytes_raw().hex()
    return make_parties().plan.replace(shufflers__key=public)


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
    batch = run(database, lambda store: open_round(plan, store=store, keys=keys, analyzer=ANALYZER))
    announced = ShufflerKey.verified(batch.keys.encode(), plan)
    assert (announced.round, announced.batch) == (0, batch.batch.hex())
    public = keys.outer_key(batch.batch).public_key()
    assert announced.key == public.public_bytes_raw().hex()
    assert len(keys.tag_key(batch.batch)) == 32
    assert bytes.fromhex(announced.analyzer) == ANALYZER


def test_a_round_has_one_key_of_the_analyzer_and_the_next_keeps_it(database, plan, keys):
    other = X25519PrivateKey.generate().public_key().public_bytes_raw()

    async def work(store):
        with pytest.raises(ParameterError, match="--analyzer"):
            await open_round(plan, store=store, keys=keys)
        first = await open_round(plan, store=store, keys=keys, analyzer=ANALYZER)
        assert await open_round(plan, store=store, keys=keys) == first
        with pytest.raises(UntrustedError, match="not that of round 0, which is open"):
            await open_round(plan, store=store, keys=keys, analyzer=other)
        await store._connection.execute(b"UPDATE croupier.batches SET state = 'released'")  # noqa: SLF001
        second = await open_round(plan, store=store, keys=keys)
        assert ShufflerKey.verified(second.keys.encode(), plan).analyzer == ANALYZER.hex()

    run(database, work)


def test_a_round_that_version_0_1_opened_is_not_gone_on_with(database, plan, keys):
    async def work(store):
        first = await open_round(plan, store=store, keys=keys, analyzer=ANALYZER)
        old = json.dumps({k: v for k, v in json.loads(first.keys).items() if k != "analyzer"})
        change = b"UPDATE croupier.batches SET keys = %s"
        await store._connection.execute(change, [old])  # noqa: SLF001
        with pytest.raises(OldRoundError, match=r"Round 0 was opened by croupier 0\.1"):
            await open_round(plan, store=store, keys=keys, analyzer=ANALYZER)

    run(database, work)


def test_a_round_is_followed_once_it_cannot_open_again(database, plan, keys):
    async def work(store):
        first = await open_round(plan, store=store, keys=keys, analyzer=ANALYZER)
        for state in ("open", "sealed", "released"):
            move = f"UPDATE croupier.batches SET state = '{state}'"  # noqa: S608 - of this list
            await store._connection.execute(move.encode())  # noqa: SLF001 - nothing public does it
            if state != "released":
                found = await open_round(plan, store=store, keys=keys, analyzer=ANALYZER)
                assert (found.batch, found.state) == (first.batch, state)
        second = await open_round(plan, store=store, keys=keys, analyzer=ANALYZER)
        assert (second.round, second.query) == (1, None)
        assert (
            await open_round(plan, store=store, keys=keys, analyzer=ANALYZER, round_number=1)
            == second
        )

    run(database, work)


def test_an_adaptive_round_is_opened_with_its_query_and_no_other(database, keys, make_parties):
    parties = make_parties(participation={"model": "divide", "groups": 3})
    stranger = make_parties(participation={"model": "divide", "groups": 3})
    public = keys.create_signing_key(SHUFFLER).public_key().public_bytes_raw().hex()
    parties.plan = parties.plan.replace(shufflers__key=public)

    async def work(store):
        async def opened(query):
            return await open_round(
                parties.plan, store=store, keys=keys, analyzer=ANALYZER, query=query
            )

        with pytest.raises(ParameterError, match="`query` must be given"):
            await opened(None)
        with pytest.raises(UntrustedError, match="another plan"):
            await opened(stranger.query(0))
        forged = parties.query(0).model_copy(update={"question": "another"})
        with pytest.raises(UntrustedError, match="not signed"):
            await opened(forged)
        with pytest.raises(UntrustedError, match="is for round 1, and the next is 0"):
            await opened(parties.query(1))
        assert keys.batches() == []
        first = await opened(parties.query(0))
        assert Query.verified(first.query.encode(), parties.plan) == parties.query(0)
        assert await opened(None) == first
        assert await opened(parties.query(0)) == first
        with pytest.raises(UntrustedError, match="round 0, which is open"):
            await opened(parties.query(0, "a second question"))

    run(database, work)


def test_a_query_for_a_plan_that_says_what_it_asks_is_refused(database, plan, keys, make_parties):
    query = make_parties(participation={"model": "divide", "groups": 3}).query(0)
    with pytest.raises(ParameterError, match="`query` must be left out"):
        run(
            database,
            lambda store: open_round(plan, store=store, keys=keys, analyzer=ANALYZER, query=query),
        )
    with pytest.raises(ParameterError, match="ask by query"):
        Query.make(plan, round_number=0, question="?", signing_key=None)


def test_two_who_open_at_once_open_one_round_and_keep_no_other_secrets(database, plan, keys):
    async def work(store):
        other = await Store.connect(database)
        opened = await asyncio.gather(
            open_round(plan, store=store, keys=keys, analyzer=ANALYZER),
            open_round(plan, store=other, keys=keys, analyzer=ANALYZER),
        )
        await other.close()
        return {batch.batch for batch in opened}

    opened = run(database, work)
    assert len(opened) == 1
    assert set(keys.batches()) == opened


def test_a_key_that_the_plan_does_not_name_opens_nothing(database, keys, make_parties):
    keys.create_signing_key(SHUFFLER)
    stranger = make_parties().plan
    with pytest.raises(ParameterError, match=r"shufflers\.key"):
        run(database, lambda store: open_round(stranger, store=store, keys=keys, analyzer=ANALYZER))
