"""A plan with its keys, as an operator would make them."""

import asyncio
import os
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.plan.plan import Plan
from croupier.protocol.key_list import (
    AnalyzerKey,
    KeyList,
    NotAccepted,
    ShufflerKey,
    sent_digest,
)
from croupier.protocol.party_keys import IntakeKey, ReleaseKey, ShufflerKeys, Signers
from croupier.protocol.query import Query, Round
from croupier.protocol.receipt import Receipt
from croupier.protocol.signed_document import public_half
from croupier.protocol.unsealing import open_inner, open_outer
from croupier.protocol.wire import Epoch, asks_by_query, decode_report
from croupier.shuffler.database.store import Store
from croupier.shuffler.handover import Handover
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.release.recovery import Recoverer
from croupier.shuffler.release.release import Releaser
from croupier.shuffler.release.rounds import open_round
from croupier.shuffler.release.storage import DirectoryStorage
from croupier.shuffler.root import RootKeys
from croupier.shuffler.tags import TAG_BYTES

TABLES = {
    "schema": 2,
    "randomizer": {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 2.0},
    "population": {"enrolled": 100},
    "protections": {"minimum_batch": 50},
    "guarantee": {"delta": 1e-4},
}


AUTHORIZATION = "Bearer letmein"


class House:
    """The key directories of every role of the shuffler; release may have its own passphrase."""

    def __init__(self, path: Path, passphrase: bytes, release: bytes | None = None) -> None:
        self.path = path
        self.root = RootKeys(path / "shuffler", passphrase)
        self.release = ReleaseKeys(path / "release", release or passphrase)
        self.intake = IntakeKeys(path / "intake", passphrase)
        self.handover = Handover(path / "handover")
        self.public = self.root.create().key
        self.keys = {"release": self.release.create(), "intake": self.intake.create()}

    def listed(self, plan):
        """The first list of a plan."""
        return ShufflerKeys.first(plan, **self.keys, signing_key=self.root.signer())


class Opened(NamedTuple):
    report: object
    owner: int | None
    inner: bytes


class Parties:
    """The shuffler and the analyzer of one plan."""

    def __init__(self, **tables):
        self.shuffler, self.analyzer = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
        keys = {
            "shufflers": [{"key": self.shuffler.public_key().public_bytes_raw().hex()}],
            "analyzer": {"key": self.analyzer.public_key().public_bytes_raw().hex()},
        }
        self.plan = Plan.from_document(TABLES | tables | keys)
        self.release, self.intake = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
        self.seal = X25519PrivateKey.generate()
        self.keys = self.list_of_keys()
        self.inner = X25519PrivateKey.generate()
        self.outer = {}

    @property
    def signers(self):
        return Signers.of(self.plan, self.keys)

    def list_of_keys(self, version=1, *, plan=None, release=(), intake=(), signing_key=None):
        """The root's list; `release` and `intake` are further keys with the rounds they begin."""
        seal = self.seal.public_key().public_bytes_raw().hex()
        return ShufflerKeys.make(
            plan or self.plan,
            version=version,
            release=[
                ReleaseKey(from_round=number, key=public_half(key))
                for number, key in [(0, self.release), *release]
            ],
            intake=[
                IntakeKey(from_round=number, key=public_half(key), seal=seal)
                for number, key in [(0, self.intake), *intake]
            ],
            signing_key=signing_key or self.shuffler,
        )

    def open(self, round_number=0, signing_key=None):
        """Open a round; its key, signed."""
        query = self.query(round_number)
        epoch = Epoch.of(
            self.plan,
            round_number=round_number,
            batch=os.urandom(16),
            analyzer=self.inner.public_key().public_bytes_raw(),
            query=b"" if query is None else query.digest,
        )
        self.outer[epoch.batch.hex()] = key = X25519PrivateKey.generate()
        return ShufflerKey.make(epoch, self.plan, key=key, signing_key=signing_key or self.release)

    def analyzer_key(self):
        return AnalyzerKey.make(self.plan, key=self.inner, signing_key=self.analyzer)

    def key_list(self, *rounds):
        return KeyList.of(self.plan, analyzer=self.analyzer_key(), keys=self.keys, shuffler=rounds)

    def query(self, number, question="crashed since build 4711?"):
        """What a round asks, signed; None where the plan says it."""
        if not asks_by_query(self.plan):
            return None
        return Query.make(
            self.plan, round_number=number, question=question, signing_key=self.analyzer
        )

    def rounds(self, key):
        """What is served about a round."""
        return [Round.of(shuffler=key, query=self.query(key.round)).to_bytes()]

    def refusal(self, batch, body, authorization=AUTHORIZATION):
        batch = bytes.fromhex(batch)
        sent = sent_digest(authorization.encode(), body)
        return NotAccepted.make(self.plan, batch=batch, sent=sent, signing_key=self.intake)

    def read(self, envelope, key):
        """What shuffler and analyzer together find in an envelope."""
        query = self.query(key.round)
        epoch = key.epoch(self.plan, query=b"" if query is None else query.digest)
        outer = open_outer(envelope, key=self.outer[key.batch], epoch=epoch)
        data = open_inner(outer.inner, key=self.inner, epoch=epoch)
        report = decode_report(self.plan, data, round_number=key.round)
        return Opened(report, outer.owner, outer.inner)


class Shuffler:
    """A database, a key directory of each role and an output directory.

    Two plans may share a house.
    """

    def __init__(self, database: str, root: Path, *, house: House | None = None, **tables) -> None:
        self.database = database
        self.house = house or House(root / "keys", b"a passphrase")
        self.keys, self.handover = self.house.release, self.house.handover
        self.public = self.house.public
        given = {
            "randomizer": {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1},
            "protections": {"minimum_batch": 5},
            "shufflers": [{"key": self.public}],
        }
        self.plan = Plan.from_document(TABLES | given | tables)
        self.listed = self.house.listed(self.plan)
        self.inner = X25519PrivateKey.generate().public_key().public_bytes_raw()
        self.out = root / "out"
        self.out.mkdir(parents=True)
        self.with_store(lambda store: store.migrate())

    @property
    def own(self):
        """What release has."""
        return {"keys": self.keys, "handover": self.handover, "shuffler": self.listed}

    @property
    def signers(self):
        return Signers.of(self.plan, self.listed)

    def with_store(self, work):
        async def connected():
            store = await Store.connect(self.database)
            try:
                return await work(store)
            finally:
                await store.close()

        return asyncio.run(connected())

    def open_round(self, number=0):
        """An open batch, as what its clients must know of it."""
        batch = self.with_store(
            lambda store: open_round(
                self.plan,
                store=store,
                analyzer=self.inner,
                **self.own,
                round_number=number,
            )
        )
        key = self.keys.outer_key(batch.identity).public_key()
        epoch = Epoch.of(self.plan, round_number=number, batch=batch.identity, analyzer=self.inner)
        return epoch, key

    def accept(self, epoch, envelopes, *, tagged=True, tags=None):
        """Store each envelope under a credential of its own; the state that intake answers."""
        tags = [os.urandom(TAG_BYTES * tagged) for _ in envelopes] if tags is None else tags
        rows = [tag + envelope for tag, envelope in zip(tags, envelopes, strict=True)]
        return self.with_store(lambda store: store.accept(epoch.batch, rows, tagged=tagged))

    @contextmanager
    def copied(self):
        """A copy of the database as it is now."""
        server = psycopg.conninfo.make_conninfo(self.database, dbname="postgres")
        name = psycopg.conninfo.conninfo_to_dict(self.database)["dbname"]
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}_copy TEMPLATE {name}".encode())
            try:
                yield psycopg.conninfo.make_conninfo(self.database, dbname=f"{name}_copy")
            finally:
                connection.execute(f"DROP DATABASE {name}_copy WITH (FORCE)".encode())

    def release(
        self,
        now=None,
        host=None,
        processes=1,
        groups=None,
        storage=None,
        *,
        job=Releaser,
        **settings,
    ):
        """Release by what the clocks of the database and of the host say, the same if not told."""
        now = datetime.now(UTC) + timedelta(days=1) if now is None else now
        with psycopg.connect(self.database, autocommit=True) as connection:
            releaser = job(
                plan=self.plan,
                connection=connection,
                **self.own,
                storage=storage or DirectoryStorage(self.out),
                groups=groups,
                processes=processes,
                now=lambda: now,
                host_now=lambda: host or now,
                **settings,
            )
            return list(releaser.run())

    def recover(self, agree=lambda _: True):
        """Continue from a database that was set back; the receipt."""
        with psycopg.connect(self.database, autocommit=True) as connection:
            job = Recoverer(
                plan=self.plan,
                connection=connection,
                **self.own,
                storage=DirectoryStorage(self.out),
            )
            return job.run(agree)

    def states(self):
        with psycopg.connect(self.database) as connection:
            rows = connection.execute("SELECT state FROM croupier.batches ORDER BY round")
            return [state for (state,) in rows]

    def tables(self):
        with psycopg.connect(self.database) as connection:
            rows = connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'env%'")
            return rows.fetchall()

    def receipts(self):
        with psycopg.connect(self.database) as connection:
            rows = connection.execute("SELECT document FROM croupier.receipts ORDER BY number")
            return [Receipt.read(document) for (document,) in rows]

    def require_shredded(self):
        assert set(self.states()) == {"shredded"}
        assert not self.tables()
        assert not self.keys.batches()
        assert not list(self.handover.path.glob("*"))
        assert not list(self.out.glob(".*"))


@pytest.fixture
def make_shuffler(database, tmp_path):
    return lambda **tables: Shuffler(database, tmp_path, **tables)


@pytest.fixture
def shuffler(make_shuffler):
    return make_shuffler()


@pytest.fixture(scope="session")
def make_parties():
    return Parties


@pytest.fixture
def parties():
    return Parties()
