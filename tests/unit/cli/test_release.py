import asyncio
import os

import pytest

from croupier.model.plan import Plan
from croupier.pipeline.keys import KeyDirectory
from croupier.pipeline.rounds import open_round
from croupier.pipeline.store import TAG_BYTES, Store
from croupier.pipeline.wire import Epoch, seal_outer

PASSPHRASE = "a passphrase"  # noqa: S105 - of a directory that lives for one test
PLAN = """
schema = 1
randomizer = {{mechanism = "k-rr", k = 2, epsilon_local = 1}}
population.enrolled = 100
protections = {{minimum_batch = 5, round_length = "1s", disposal_age = "{disposal_age}"}}
trust.shuffler_key = "{key}"
"""


class Site:
    """Everything that an operator has."""

    def __init__(self, croupier, folder, disposal_age):
        self.croupier, self.folder = croupier, folder
        self.keys = KeyDirectory(folder / "keys", PASSPHRASE.encode())
        public = self.keys.create_signing_key("shuffler").public_key().public_bytes_raw().hex()
        self.file = folder / "plan.toml"
        self.file.write_text(PLAN.format(key=public, disposal_age=disposal_age))
        self.plan = Plan.load(self.file)

    def receive(self, count):
        asyncio.run(self._receive(count))

    async def _receive(self, count):
        store = await Store.connect(os.environ["CROUPIER_DATABASE"])
        await store.migrate()
        batch = await open_round(self.plan, store=store, keys=self.keys)
        epoch = Epoch.of(self.plan, round_number=batch.round, batch=batch.batch)
        key = self.keys.outer_key(batch.batch).public_key()
        rows = [
            os.urandom(TAG_BYTES) + seal_outer(os.urandom(80), key=key, epoch=epoch)
            for _ in range(count)
        ]
        await store.accept(batch.batch, rows)
        await store.close()

    def release(self, *more):
        keys, output = self.folder / "keys", self.folder / "out"
        return self.croupier(
            "release", "--plan", self.file, "--keys", keys, "-o", output, "--processes", "1", *more
        )

    def verify(self, *more):
        receipts = sorted((self.folder / "out").glob("*.receipt.json"))
        return self.croupier("receipt", "verify", *receipts, "--plan", self.file, *more)


@pytest.fixture
def make_site(croupier, database, tmp_path, monkeypatch):
    monkeypatch.setenv("CROUPIER_DATABASE", database)
    monkeypatch.setenv("CROUPIER_PASSPHRASE", PASSPHRASE)
    return lambda disposal_age="72h": Site(croupier, tmp_path, disposal_age)


@pytest.fixture
def site(make_site):
    return make_site()


def test_a_small_batch_is_held_and_a_full_one_released(site):
    site.receive(3)
    held = site.release()
    assert held.code == 4
    assert "at most 3 people, minimum 5; nothing left." in held.out
    assert "00:00 UTC unless reached" in held.out
    site.receive(4)
    released = site.release("--next-round")
    assert released.code == 0, released.out
    assert released.out.startswith("RELEASED  7 reports: ")
    assert "received 7 = 7 released\n" in released.out
    assert released.out.endswith("OPEN  round 1\n")


def test_the_chain_of_two_releases_is_verified_with_its_files(site):
    for _ in range(2):
        site.receive(5)
        assert site.release().code == 0
    checked = site.verify()
    assert checked.code == 0, checked.out
    assert checked.out.startswith("VALID  2 signed, chained receipts, numbers 0 to 1\n")
    document = site.verify("--json").document
    assert [receipt["file_checked"] for receipt in document["receipts"]] == [True, True]

    first, second = sorted((site.folder / "out").glob("*.parquet"))
    first.write_bytes(second.read_bytes())
    spoiled = site.verify()
    assert spoiled.code == 1
    assert "is not about" in spoiled.err
    first.unlink()
    assert "not here, not checked" in site.verify().out


def test_disposal_is_an_event_with_a_receipt(make_site):
    site = make_site(disposal_age="1s")
    site.receive(4)
    disposed = site.release("--json")
    assert disposed.code == 0
    (batch,) = disposed.document["batches"]
    assert (batch["outcome"], batch["receipt"]["counts"]["disposed"]) == ("disposed", 4)
    assert "round 0 disposed: received 4 = 4 disposed" in site.verify().out


def test_json_says_what_is_held(site):
    site.receive(1)
    held = site.release("--json")
    assert held.code == 4
    (batch,) = held.document["batches"]
    assert (batch["outcome"], batch["people_at_most"], batch["receipt"]) == ("held", 1, None)


def test_an_unreachable_database_is_named(site, monkeypatch):
    monkeypatch.setenv("CROUPIER_DATABASE", "host=127.0.0.1 port=1")
    refused = site.release()
    assert refused.code == 1
    assert "Check --database" in refused.err
