"""`croupier keys migrate`: a directory of everybody's keys becomes one per role; rounds go on."""

import asyncio
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.analyzer.keys import AnalyzerKeys
from croupier.plan.plan import Plan
from croupier.protocol import encrypted_key
from croupier.protocol.key_list import ShufflerKey
from croupier.protocol.party_keys import ShufflerKeys, Signers
from croupier.protocol.receipt import require_chain
from croupier.protocol.wire import Epoch, seal_outer
from croupier.shuffler.database.store import Store
from croupier.shuffler.handover import Handover
from croupier.shuffler.intake.keys import IntakeKeys
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.release.release import Releaser
from croupier.shuffler.release.storage import DirectoryStorage
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
        signers = Signers.of(self.plan)
        await witness.follow(store, signers)
        await store.open_batch(epoch.batch, plan=self.plan.digest, round_number=0, opening=text)
        await witness.follow(store, signers)
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


def migrate(croupier, old="old", *options):
    phrases = [part for role in ROLES for part in (f"--{role}-passphrase-file", f"{role}.txt")]
    return croupier("keys", "migrate", old, "plan.toml", *phrases, *options)


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
            storage=DirectoryStorage(out),
            now=lambda: tomorrow,
            host_now=lambda: tomorrow,
        )
        (settled,) = releaser.run()
    return settled.receipt, Signers.of(old.plan, listed)


def test_a_round_that_was_opened_before_is_released_after(old, croupier):
    done = migrate(croupier)
    assert done.code == 0, done.err
    assert "open batches that continue: 1" in done.out
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


class Whole:
    """An old directory with two batches, of which one has no tag key, and no database."""

    def __init__(self, folder):
        self.keys = ReleaseKeys(folder / "old", OLD)
        self.root = self.keys.create_signing_key("shuffler")
        self.analyzer = self.keys.create_signing_key("analyzer")
        self.sealing = self.keys.create_sealing_key("analyzer")
        public = [key.public_key().public_bytes_raw().hex() for key in (self.root, self.analyzer)]
        (folder / "plan.toml").write_text(PLAN.format(shuffler=public[0], analyzer=public[1]))
        self.plan = Plan.load(folder / "plan.toml")
        self.batches = {
            bytes([place]) * 16: self.keys.create_batch(
                bytes([place]) * 16, plan=self.plan.digest, tags=place == 1
            )
            for place in (1, 2)
        }
        witness = folder / "old" / "witness"
        witness.mkdir(mode=0o700)
        (witness / f"{self.plan.digest}.json").write_text("{}")
        for role in ROLES:
            file = folder / f"{role}.txt"
            file.write_text(f"the passphrase of {role}")
            file.chmod(0o600)

    def require_moved(self, folder):
        """Every secret is in its new place, and none in the old one."""
        keys = {
            role: kind(folder / "keys" / role, f"the passphrase of {role}".encode())
            for role, kind in (("release", ReleaseKeys), ("intake", IntakeKeys))
        }
        root = RootKeys(folder / "keys" / "shuffler", b"the passphrase of shuffler")
        analyzer = AnalyzerKeys(folder / "keys" / "analyzer", OLD)
        moved = [root.signer(), analyzer.signing_key("analyzer"), analyzer.sealing_key("analyzer")]
        moved += [keys["release"].outer_key(batch) for batch in self.batches]
        whole = [self.root, self.analyzer, self.sealing]
        whole += [secrets.outer for secrets in self.batches.values()]
        assert [k.private_bytes_raw() for k in moved] == [k.private_bytes_raw() for k in whole]
        listed = ShufflerKeys.verified((folder / "shuffler.json").read_bytes(), self.plan)
        handover, first = Handover(folder / "keys" / "handover"), bytes([1]) * 16
        opener = keys["intake"].opener(listed.intake_key(0).seal)
        signers = Signers.of(self.plan, listed)
        taken = handover.take(first, round_number=0, key=opener, signers=signers)
        assert taken == self.batches[first].tag_key
        assert keys["release"].signer(listed.release_key(0))
        for role in keys:
            assert (folder / "keys" / role / "witness" / f"{self.plan.digest}.json").is_file()
        assert {path.name for path in (folder / "old").iterdir()} == {"witness", ".migrated"}
        assert not [*(folder / "old" / ".migrated").iterdir()]
        for left in folder.rglob(".partial-*"):  # at most a second name of what is whole
            assert left.samefile(left.with_name(left.name.removeprefix(".partial-")))


@pytest.fixture
def whole(tmp_path, monkeypatch):
    monkeypatch.setattr(encrypted_key, "WORK", (1 << 8, 8, 1))
    monkeypatch.setenv("CROUPIER_PASSPHRASE", OLD.decode())
    (tmp_path / "whole").mkdir()
    monkeypatch.chdir(tmp_path / "whole")
    return Whole(tmp_path / "whole")


CHANGES = ("chmod", "link", "mkdir", "rename", "replace", "rmdir", "unlink")


class Killer:
    """Lets a number of changes of files happen, and none after them."""

    def __init__(self, patch, left):
        self.left = left
        for name in CHANGES:
            patch.setattr(os, name, self.mortal(getattr(os, name)))

    def mortal(self, change):
        def call(*arguments, **settings):
            if not self.left:
                raise KeyboardInterrupt
            self.left -= 1
            return change(*arguments, **settings)

        return call


def test_a_migration_is_repeated_wherever_it_was_killed(whole, croupier, monkeypatch, tmp_path):
    """Before every change of a file or folder; the second run ends what the first began."""
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the machine stays on
    survived = 0
    while True:
        folder = tmp_path / f"killed-{survived}"
        shutil.copytree(tmp_path / "whole", folder)
        monkeypatch.chdir(folder)
        with monkeypatch.context() as patch:
            Killer(patch, survived)
            first = migrate(croupier)
        if first.code == 0:
            break
        again = migrate(croupier)
        assert again.code == 0, (survived, again.err)
        whole.require_moved(folder)
        survived += 1
    assert survived > 60
    whole.require_moved(folder)
    assert "was split before" in migrate(croupier).out


@pytest.mark.parametrize(
    ("old", "into"), [("keys/analyzer", "keys"), ("shuffler", "."), ("away/handover", "away")]
)
def test_a_directory_is_not_split_into_itself(whole, croupier, tmp_path, old, into):
    place = tmp_path / "whole" / old
    place.parent.mkdir(exist_ok=True)
    whole.keys.path.rename(place)
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    refused = migrate(croupier, old, "--into", into)
    assert refused.code == 2
    assert "is the same directory" in refused.err
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before


def test_nothing_is_destroyed_without_a_copy(whole, croupier, tmp_path):
    """A key that is in its place already may be another, or the very file."""
    folder = tmp_path / "whole"
    place = folder / "keys" / "shuffler"
    other = RootKeys(place, b"the passphrase of shuffler")
    other.create()
    refused = migrate(croupier)
    assert refused.code == 1
    assert "shuffler.pem is no copy of old/shuffler.pem" in refused.err
    (place / "shuffler.pem").unlink()
    (place / "shuffler.pem").hardlink_to(folder / "old" / "shuffler.pem")
    (folder / "shuffler.txt").write_bytes(OLD)
    refused = migrate(croupier)
    assert refused.code == 1
    assert "is no copy of" in refused.err
    assert whole.keys.signing_key("shuffler").private_bytes_raw() == whole.root.private_bytes_raw()
    assert len(whole.keys.batches()) == 2


def test_a_list_that_is_there_already_must_be_the_one(whole, croupier, tmp_path):
    folder = tmp_path / "whole"
    for text in (b"{}", b"old"):
        (folder / "shuffler.json").write_bytes(text)
        refused = migrate(croupier)
        assert refused.code == 2
        assert "`--output` must be a list of this plan and of the keys in keys" in refused.err
        assert (folder / "shuffler.json").read_bytes() == text
    assert len(whole.keys.batches()) == 2
    (folder / "shuffler.json").unlink()
    assert migrate(croupier).code == 0
    whole.require_moved(folder)


@pytest.mark.usefixtures("whole")
def test_roles_do_not_share_a_passphrase(croupier):
    Path("intake.txt").write_bytes(Path("release.txt").read_bytes())
    refused = migrate(croupier)
    assert refused.code == 2
    assert "`--intake-passphrase-file` must hold a different passphrase" in refused.err


def test_open_rounds_of_version_0_1_do_not_go_on(tmp_path, croupier, monkeypatch):
    """Its plans have another digest once they are upgraded; its rounds belong to the old one."""
    kept = Path(__file__).parents[3] / "kept" / "0.1.0"
    shutil.copytree(kept / "uniform" / "shuffler", tmp_path / "old")
    shutil.copy(kept / "uniform" / "plan.toml", tmp_path)
    for path in (tmp_path / "old", *(tmp_path / "old").rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    for role in ROLES:
        (tmp_path / f"{role}.txt").write_text(f"the passphrase of {role}")
        (tmp_path / f"{role}.txt").chmod(0o600)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CROUPIER_PASSPHRASE", (kept / "passphrase.txt").read_text().strip())
    assert croupier("plan", "upgrade", "plan.toml").code == 0
    refused = migrate(croupier)
    assert refused.code == 2
    assert "Release those of other plans first, with the version that opened them" in refused.err
    assert not (tmp_path / "keys").exists()
    shutil.rmtree(tmp_path / "old" / "batches")  # as when all are released
    done = migrate(croupier)
    assert done.code == 0, done.err
    assert "open batches that continue: 0" in done.out


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
