import asyncio
import json

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.errors import ParameterError, UntrustedError
from croupier.protocol.key_directory import AbsentKeyError
from croupier.protocol.key_list import OldRoundError, ShufflerKey
from croupier.protocol.party_keys import Signers
from croupier.protocol.query import Query
from croupier.protocol.signed_document import LAST_ROUND
from croupier.shuffler.database.store import Store
from croupier.shuffler.handover import Handover
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.release.rounds import open_round
from tests.unit.parties import House

ANALYZER = X25519PrivateKey.generate().public_key().public_bytes_raw()


@pytest.fixture
def house(tmp_path):
    return House(tmp_path / "keys", b"a passphrase")


@pytest.fixture
def plan(house, make_parties):
    return make_parties().plan.replace(shufflers__key=house.public)


@pytest.fixture
def own(house, plan):
    """What release has, as settings of `open_round`."""
    listed = house.listed(plan)
    return {"keys": house.release, "handover": house.handover, "shuffler": listed}


@pytest.fixture
def signers(plan, own):
    return Signers.of(plan, own["shuffler"])


def run(database, work):
    async def connected():
        store = await Store.connect(database)
        await store.migrate()
        try:
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(connected())


def test_an_opened_round_is_announced_signed_and_has_its_secrets(
    database, plan, own, house, signers
):
    batch = run(database, lambda store: open_round(plan, store=store, **own, analyzer=ANALYZER))
    announced = ShufflerKey.verified(batch.opening.encode(), signers)
    keys = house.release
    assert (announced.round, announced.batch) == (0, batch.identity.hex())
    public = keys.outer_key(batch.identity).public_key()
    assert announced.key == public.public_bytes_raw().hex()
    assert bytes.fromhex(announced.analyzer) == ANALYZER
    assert not keys.has_batch(batch.identity, tags=True), "no groups: only intake needs its tags"
    opener = house.intake.sealing_key("intake")
    taken = house.handover.take(batch.identity, round_number=0, key=opener, signers=signers)
    assert len(taken) == 32


def test_a_round_has_one_key_of_the_analyzer_and_the_next_keeps_it(database, plan, own, signers):
    other = X25519PrivateKey.generate().public_key().public_bytes_raw()

    async def work(store):
        with pytest.raises(ParameterError, match="--analyzer"):
            await open_round(plan, store=store, **own)
        first = await open_round(plan, store=store, **own, analyzer=ANALYZER)
        assert await open_round(plan, store=store, **own) == first
        assert await open_round(plan, store=store, **own, analyzer=other) == first, "keeps its own"
        await store._connection.execute(b"UPDATE croupier.batches SET state = 'released'")  # noqa: SLF001
        second = await open_round(plan, store=store, **own)
        assert ShufflerKey.verified(second.opening.encode(), signers).analyzer == ANALYZER.hex()
        await store._connection.execute(b"UPDATE croupier.batches SET state = 'released'")  # noqa: SLF001
        third = await open_round(plan, store=store, **own, analyzer=other)
        assert ShufflerKey.verified(third.opening.encode(), signers).analyzer == other.hex()

    run(database, work)


def test_a_round_that_version_0_1_opened_is_not_gone_on_with(database, plan, own):
    async def work(store):
        first = await open_round(plan, store=store, **own, analyzer=ANALYZER)
        old = json.dumps({k: v for k, v in json.loads(first.opening).items() if k != "analyzer"})
        change = b"UPDATE croupier.batches SET keys = %s"
        await store._connection.execute(change, [old])  # noqa: SLF001
        with pytest.raises(OldRoundError, match=r"Round 0 was opened by croupier 0\.1"):
            await open_round(plan, store=store, **own, analyzer=ANALYZER)

    run(database, work)


def test_a_round_is_followed_once_it_cannot_open_again(database, plan, own):
    async def work(store):
        first = await open_round(plan, store=store, **own, analyzer=ANALYZER)
        for state in ("open", "sealed", "released"):
            move = f"UPDATE croupier.batches SET state = '{state}'"  # noqa: S608 - of this list
            await store._connection.execute(move.encode())  # noqa: SLF001 - nothing public does it
            if state != "released":
                found = await open_round(plan, store=store, **own, analyzer=ANALYZER)
                assert (found.identity, found.state) == (first.identity, state)
        second = await open_round(plan, store=store, **own, analyzer=ANALYZER)
        assert (second.round_number, second.query) == (1, None)
        assert (
            await open_round(plan, store=store, **own, analyzer=ANALYZER, round_number=1) == second
        )

    run(database, work)


def test_the_database_keeps_the_last_round_and_none_follows_it(database, plan, own):
    async def work(store):
        opened = {"store": store, **own, "analyzer": ANALYZER}
        last = await open_round(plan, **opened, round_number=LAST_ROUND)
        (kept,) = await store.batches(plan.digest)
        assert (kept.identity, kept.round_number) == (last.identity, LAST_ROUND)
        await store._connection.execute(b"UPDATE croupier.batches SET state = 'released'")  # noqa: SLF001 - as above
        with pytest.raises(ParameterError, match="round_number"):
            await open_round(plan, **opened)
        assert len(await store.batches(plan.digest)) == 1

    run(database, work)


def test_an_adaptive_round_is_opened_with_its_query_and_no_other(database, house, make_parties):
    parties = make_parties(participation={"model": "divide", "groups": 3})
    stranger = make_parties(participation={"model": "divide", "groups": 3})
    parties.plan = parties.plan.replace(shufflers__key=house.public)
    own = {"keys": house.release, "handover": house.handover}
    own["shuffler"] = house.listed(parties.plan)

    async def work(store):
        async def opened(query):
            return await open_round(
                parties.plan, store=store, **own, analyzer=ANALYZER, query=query
            )

        with pytest.raises(ParameterError, match="`--query` must be given"):
            await opened(None)
        with pytest.raises(UntrustedError, match="another plan"):
            await opened(stranger.query(0))
        forged = parties.query(0).model_copy(update={"question": "another"})
        with pytest.raises(UntrustedError, match="not signed"):
            await opened(forged)
        with pytest.raises(UntrustedError, match="is for round 1, and the next is 0"):
            await opened(parties.query(1))
        assert house.release.batches() == []
        assert not house.handover.path.exists()
        first = await opened(parties.query(0))
        assert Query.verified(first.query.encode(), parties.plan) == parties.query(0)
        assert await opened(None) == first
        assert await opened(parties.query(0)) == first
        with pytest.raises(UntrustedError, match="round 0, which is open"):
            await opened(parties.query(0, "a second question"))

    run(database, work)


def test_a_query_for_a_plan_that_says_what_it_asks_is_refused(database, plan, own, make_parties):
    query = make_parties(participation={"model": "divide", "groups": 3}).query(0)
    with pytest.raises(ParameterError, match="`--query` must be left out"):
        run(
            database,
            lambda store: open_round(plan, store=store, **own, analyzer=ANALYZER, query=query),
        )
    with pytest.raises(ParameterError, match="ask by query"):
        Query.make(plan, round_number=0, question="?", signing_key=None)


def test_two_who_open_at_once_open_one_round_and_keep_no_other_secrets(database, plan, own, house):
    keys = house.release

    async def work(store):
        other = await Store.connect(database)
        opened = await asyncio.gather(
            open_round(plan, store=store, **own, analyzer=ANALYZER),
            open_round(plan, store=other, **own, analyzer=ANALYZER),
        )
        await other.close()
        return {batch.identity for batch in opened}

    opened = run(database, work)
    assert len(opened) == 1
    assert set(keys.batches()) == opened
    names = {path.name for path in house.handover.path.iterdir()}
    assert names == {f"{batch.hex()}.tag" for batch in opened}


def test_a_list_that_the_plans_root_did_not_sign_opens_nothing(database, house, own, make_parties):
    stranger = make_parties().plan
    with pytest.raises(UntrustedError, match="is of another plan"):
        run(database, lambda store: open_round(stranger, store=store, **own, analyzer=ANALYZER))
    assert house.release.batches() == []


def test_a_key_of_release_that_the_list_does_not_name_opens_nothing(
    database, plan, house, own, tmp_path
):
    other = ReleaseKeys(tmp_path / "other", b"a passphrase")
    other.create()
    with pytest.raises(AbsentKeyError, match="has no release key whose public half"):
        run(
            database,
            lambda store: open_round(plan, store=store, analyzer=ANALYZER, **own | {"keys": other}),
        )
    assert not house.handover.path.exists()


@pytest.mark.parametrize("fails", ["create_batch", "put", "open_batch"])
def test_whoever_dies_while_opening_leaves_nothing_announced(
    database, plan, own, house, fails, monkeypatch
):
    """What was made is named by no batch, and the next one opens a whole round."""

    def die(*_, **__):
        raise KeyboardInterrupt

    owner = {"create_batch": ReleaseKeys, "put": Handover, "open_batch": Store}[fails]
    monkeypatch.setattr(owner, fails, die)
    with pytest.raises(KeyboardInterrupt):
        run(database, lambda store: open_round(plan, store=store, **own, analyzer=ANALYZER))
    monkeypatch.undo()
    left = {batch.hex() for batch in house.release.batches()}
    assert {path.stem for path in house.handover.path.glob("*.tag")} <= left
    batch = run(database, lambda store: open_round(plan, store=store, **own, analyzer=ANALYZER))
    assert (batch.round_number, house.handover.has(batch.identity)) == (0, True)
