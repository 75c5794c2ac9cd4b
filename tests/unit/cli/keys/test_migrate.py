"""`croupier keys migrate`: a directory of everybody's keys becomes one per role; rounds go on."""

import asyncio
import os
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.analyzer.keys import AnalyzerKeys
from croupier.plan.plan import Plan
from croupier.protocol.key_list import ShufflerKey
from croupier.protocol.party_keys import ShufflerKeys, Signers
from croupier.protocol.receipt import require_chain
from croupier.protocol.wire import Epoch, seal_outer
from croupier.shuffler.database.store import Store
from croupier.shuffler.handover import Handover
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.release.release import Releaser
from croupier.shuffler.root import RootKeys
from croupier.shuffler.tags import TAG_BYTES
from croupier.shuffler.witness import Witness

PLAN = """
schema = 2
randomizer = {{mechanism = "k-rr", k = 2, max_epsilon_local = 1}}
population.enrolled = 100
protections.minimum_batch = 5
shufflers = [{{key = "{shuffler}"}}]
analyzer.key = "{analyzer}"
"""
OLD = b"the old passphrase"
ROLES = ("shuffler", "release", "intake")


class Old:
    """A deployment with one key directory, as version 0.1 and its successor before this had it."""

    def __init__(self, folder, database):
        self.folder, self.database = folder, database
        self.keys = ReleaseKeys(folder / "old", OLD)
        self.root = self.keys.create_signing_key("shuffler")
        analyzer = self.keys.create_signing_key("analyzer")
        self.sealing = self.keys.create_sealing_key("analyzer")
        public = {
            name: key.public_key().public_bytes_raw().hex()
            for name, key in (("shuffler", self.root), ("analyzer", analyzer))
        }
        (folder / "plan.toml").write_text(PLAN.format(**public))
        self.plan = Plan.load(folder / "plan.toml")
        for role in ROLES:
            file = folder / f"{role}.txt"
            file.write_text(f"the passphrase of {role}")
            file.chmod(0o600)
        self.epoch, self.secrets = asyncio.run(self._open())

    async def _open(self):
        """A round that the old signing key opened, with five reports."""
        analyzer = self.sealing.public_key().public_bytes_raw()
        epoch = Epoch.of(self.plan, round_number=0, batch=os.urandom(16), analyzer=analyzer)
        secrets = self.keys.create_batch(epoch.batch, plan=self.plan.digest, tags=True)
        key = secrets.outer
        opening = ShufflerKey.make(epoch, self.plan, key=key, signing_key=self.root)
        text = opening.to_bytes().decode()
        store = await Store.connect(self.database)
        await store.migrate()
        witness = Witness(self.keys, plan=self.plan.digest)
        await witness.follow(store)
        await store.open_batch(epoch.batch, plan=self.plan.digest, round_number=0, opening=text)
        await witness.follow(store)
        inner = [os.urandom(epoch.inner_length) for _ in range(5)]
        sealed = [seal_outer(one, key=key.public_key(), epoch=epoch) for one in inner]
        await store.accept(epoch.batch, [os.urandom(TAG_BYTES) + one for one in sealed])
        await store.close()
        return epoch, secrets

    def directory(self, role, kind):
        return kind(self.folder / "keys" / role, (self.folder / f"{role}.txt").read_bytes())


@pytest.fixture
def old(tmp_path, database, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROUPIER_PASSPHRASE", OLD.decode())
    return Old(tmp_path, database)


def migrate(croupier):
    phrases = [part for role in ROLES for part in (f"--{role}-passphrase-file", f"{role}.txt")]
    return croupier("keys", "migrate", "old", "plan.toml", *phrases)


def release(old):
    keys = old.directory("release", ReleaseKeys)
    listed = ShufflerKeys.verified((old.folder / "shuffler.json").read_bytes(), old.plan)
    out = old.folder / "out"
    out.mkdir(exist_ok=True)
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    with psycopg.connect(old.database, autocommit=True) as connection:
        releaser = Releaser(
            plan=old.plan,
            connection=connection,
            keys=keys,
            handover=Handover(old.folder / "keys" / "handover"),
            shuffler=listed,
            directory=out,
            now=lambda: tomorrow,
            host_now=lambda: tomorrow,
        )
        (settled,) = releaser.run()
    return settled.receipt, Signers.of(old.plan, listed)


def test_a_round_that_was_opened_before_is_released_after(old, croupier):
    done = migrate(croupier)
    assert done.code == 0, done.err
    assert "open batches that go on: 1" in done.out
    listed = ShufflerKeys.verified((old.folder / "shuffler.json").read_bytes(), old.plan)
    intake = old.directory("intake", IntakeKeys)
    opener = intake.opener(listed.intake_key(0).seal)
    handover = Handover(old.folder / "keys" / "handover")
    signers = Signers.of(old.plan, listed)
    taken = handover.take(old.epoch.batch, round_number=0, key=opener, signers=signers)
    assert taken == old.secrets.tag_key, "reports go on to be tagged alike"
    receipt, signers = release(old)
    assert receipt.counts.released == 5
    require_chain([receipt], signers)
    assert listed.release_key(0) != old.plan.shuffler_key, "the root signed no receipt"
    assert not handover.has(old.epoch.batch)


def test_every_role_gets_its_own_and_the_old_directory_opens_nothing(old, croupier):
    assert migrate(croupier).code == 0
    keys = old.folder / "keys"
    root = old.directory("shuffler", RootKeys)
    assert root.publish().key == old.plan.shuffler_key
    assert sorted(path.name for path in root.path.iterdir()) == ["public.json", "shuffler.pem"]
    names = {path.name for path in (keys / "intake").rglob("*") if path.is_file()}
    assert names == {"public.json", "intake.pem", "intake.hpke.pem", f"{old.plan.digest}.json"}
    analyzer = AnalyzerKeys(keys / "analyzer", OLD)
    assert analyzer.sealing_key("analyzer").private_bytes_raw() == old.sealing.private_bytes_raw()
    assert not [path for path in (old.folder / "old").rglob("*") if path.suffix in {".pem", ".key"}]
    for role, kind in (("shuffler", RootKeys), ("release", ReleaseKeys), ("intake", IntakeKeys)):
        phrases = [(old.folder / f"{one}.txt").read_bytes() for one in ROLES if one != role]
        for phrase in (*phrases, OLD):
            with pytest.raises(Exception, match="does not open"):
                kind(keys / role, phrase).signing_key(role)


@pytest.mark.parametrize("at", range(1, 16, 2))
def test_a_migration_that_was_interrupted_is_repeated(old, croupier, monkeypatch, at):
    """Killed before one of the changes of a file; the second run ends what the first began."""
    import croupier.cli.keys.migrate as module  # noqa: PLC0415 - where the crash is injected

    left = [at]

    def dying(function):
        def call(*arguments, **settings):
            left[0] -= 1
            if not left[0]:
                raise KeyboardInterrupt
            return function(*arguments, **settings)

        return call

    with monkeypatch.context() as patch:
        for owner, name in (
            (module.durable, "create"),
            (module.durable, "publish"),
            (module, "destroy_file"),
            (ReleaseKeys, "destroy"),
        ):
            patch.setattr(owner, name, dying(getattr(owner, name)))
        first = migrate(croupier)
    if first.code:
        again = migrate(croupier)
        named = "is there already. Move it away" in again.err
        assert again.code == 0 or named, again.err
        if again.code:  # half of a directory, while the old one is whole
            assert old.keys.has_batch(old.epoch.batch, tags=True)
            return
    receipt, _ = release(old)
    assert receipt.counts.released == 5


def test_what_is_missing_is_named(old, croupier):
    done = croupier("keys", "migrate", "old", "plan.toml")
    assert done.code == 2
    assert "`--shuffler-passphrase-file` must be given" in done.err
    done = croupier("keys", "migrate", ".", "plan.toml")
    assert done.code == 2
    assert "hold shuffler.pem or analyzer.pem" in done.err
    old.keys.create_batch(os.urandom(16), plan="00" * 32)
    done = migrate(croupier)
    assert done.code == 2
    assert "open batches of one plan only" in done.err
    assert not (old.folder / "keys").exists()


def test_the_analyzers_host_needs_no_more_than_its_own_keys(tmp_path, croupier, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROUPIER_PASSPHRASE", OLD.decode())
    keys = AnalyzerKeys(tmp_path / "old", OLD)
    keys.create_signing_key("analyzer")
    sealing = keys.create_sealing_key("analyzer")
    public = keys.signing_key("analyzer").public_key().public_bytes_raw().hex()
    (tmp_path / "plan.toml").write_text(PLAN.format(shuffler=public, analyzer=public))
    assert croupier("keys", "migrate", "old", "plan.toml").code == 0
    moved = AnalyzerKeys(tmp_path / "keys" / "analyzer", OLD).sealing_key("analyzer")
    assert moved.private_bytes_raw() == sealing.private_bytes_raw()
    assert isinstance(moved, X25519PrivateKey)
    assert not (tmp_path / "keys" / "release").exists()
