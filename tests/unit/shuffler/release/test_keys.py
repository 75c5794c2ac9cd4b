"""The keys of release: secrets of a batch are whole, or gone when they are destroyed."""

import os
import stat
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
)

from croupier.errors import ParameterError
from croupier.protocol import encrypted_key
from croupier.protocol import key_directory as module
from croupier.protocol.encrypted_key import Derivation
from croupier.protocol.key_directory import DamagedKeyError, KeyFileError
from croupier.protocol.public_keys import PublicKeys
from croupier.shuffler.release.keys import ReleaseKeys
from tests.unit.protocol.test_key_directory import files, flipped

SECRET = b"correct horse"
BATCH = bytes(range(16))
PLAN = "5e" * 32


@pytest.fixture
def keys(tmp_path):
    return ReleaseKeys(tmp_path / "keys", SECRET)


def test_secrets_of_a_batch_are_read_again(keys):
    secrets = keys.create_batch(BATCH, plan=PLAN, tags=True)
    assert keys.outer_key(BATCH).private_bytes_raw() == secrets.outer.private_bytes_raw()
    assert keys.tag_key(BATCH) == secrets.tag_key
    assert len(secrets.tag_key) == 32
    assert keys.batches() == [BATCH]


def test_a_tag_key_that_is_another_is_noticed(keys):
    """The encryption has no checksum: one bit on the disk, and another key comes out."""
    secrets = keys.create_batch(BATCH, plan=PLAN, tags=True)
    file = keys.path / "batches" / BATCH.hex() / "tag.key"
    whole = file.read_bytes()
    file.write_bytes(flipped(whole, -40))
    with pytest.raises(DamagedKeyError, match=r"tag\.key is damaged\. Put back a copy"):
        keys.tag_key(BATCH)
    file.write_bytes(whole)
    assert keys.tag_key(BATCH) == secrets.tag_key
    file.with_name("tag.check").unlink()  # as version 0.1 made it
    assert keys.tag_key(BATCH) == secrets.tag_key


def test_destroyed_secrets_are_overwritten_before_they_are_removed(keys, monkeypatch):
    keys.create_batch(BATCH, plan=PLAN, tags=True)
    folder = keys.path / "batches" / BATCH.hex()
    before = {path.name: path.read_bytes() for path in files(folder)}
    left = {}

    def watched(path):
        left[path.name] = path.read_bytes()
        os.unlink(path)  # noqa: PTH108 - the method is replaced here

    monkeypatch.setattr(module.Path, "unlink", watched)
    keys.destroy(BATCH)
    assert not folder.exists()
    assert [*left][3] == "plan"
    assert set(left) == {"outer.pem", "plan", "tag.check", "tag.key"}
    for name, data in left.items():
        assert len(data) == len(before[name])
        assert b"PRIVATE" not in data
        assert data[:64] != before[name][:64]
    assert keys.batches() == []


def test_destroying_twice_is_no_error_and_nothing_is_read_after(keys):
    keys.create_batch(BATCH, plan=PLAN, tags=True)
    for _ in range(2):
        keys.destroy(BATCH)
    with pytest.raises(KeyFileError, match="not there"):
        keys.outer_key(BATCH)
    with pytest.raises(KeyFileError, match="not there"):
        keys.tag_key(BATCH)


def test_a_crash_leaves_all_secrets_or_none(keys, monkeypatch):
    write, written = ReleaseKeys.write, []

    def crashing(self, path, key):
        if written:
            raise KeyboardInterrupt
        written.append(path)
        write(self, path, key)

    monkeypatch.setattr(ReleaseKeys, "write", crashing)
    with pytest.raises(KeyboardInterrupt):
        keys.create_batch(BATCH, plan=PLAN, tags=True)
    assert keys.batches() == []
    assert files(keys.path)
    keys.sweep(datetime.now(UTC) - timedelta(hours=1))
    assert files(keys.path), "somebody may be making them"
    keys.sweep(datetime.now(UTC) + timedelta(hours=1))
    assert not files(keys.path)
    monkeypatch.undo()
    keys.create_batch(BATCH, plan=PLAN, tags=True)
    keys.sweep(datetime.now(UTC) + timedelta(hours=1))
    assert keys.batches() == [BATCH]


def test_old_secrets_are_found_by_their_plan(keys):
    keys.create_batch(BATCH, plan=PLAN, tags=True)
    soon, before = (datetime.now(UTC) + timedelta(hours=hours) for hours in (1, -1))
    assert keys.made_before(soon, plan=PLAN) == [BATCH]
    assert keys.made_before(before, plan=PLAN) == []
    assert keys.made_before(soon, plan="00" * 32) == []
    (keys.path / "batches" / BATCH.hex() / "plan").unlink()
    assert keys.made_before(soon, plan=PLAN) == []


def test_a_batch_has_sixteen_bytes(keys):
    with pytest.raises(ParameterError, match="16 bytes"):
        keys.create_batch(b"../..", plan=PLAN)


def test_files_are_private_and_encrypted(keys):
    keys.create_signing_key("shuffler")
    keys.create_batch(BATCH, plan=PLAN, tags=True)
    names = [path.name for path in files(keys.path)]
    assert names == ["outer.pem", "plan", "tag.check", "tag.key", "shuffler.pem"]
    for path in files(keys.path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        if path.name not in {"plan", "tag.check"}:
            assert path.read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o700


def test_directories_are_closed_to_others_whatever_the_umask(keys):
    masked = os.umask(0)
    try:
        keys.create_signing_key("shuffler")
        keys.create_batch(BATCH, plan=PLAN, tags=True)
    finally:
        os.umask(masked)
    for folder in (keys.path, keys.path / "batches", keys.path / "batches" / BATCH.hex()):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (keys.path / "batches").chmod(0o755)  # as version 0.1 made it
    keys.create_batch(bytes(16), plan=PLAN, tags=True)
    assert stat.S_IMODE((keys.path / "batches").stat().st_mode) == 0o700
    keys.path.chmod(0o750)
    with pytest.raises(KeyFileError, match=r"entered by others\. Run: chmod 700"):
        keys.create_signing_key("analyzer")


@pytest.mark.parametrize("short", [b"x", b"eleven char", "\u00e4\u00f6\u00fc".encode() * 3])
def test_a_short_passphrase_encrypts_nothing_new_and_opens_what_there_is(tmp_path, short):
    keys = ReleaseKeys(tmp_path / "keys", short)
    with pytest.raises(ParameterError, match="at least 12 characters"):
        keys.create_signing_key("shuffler")
    assert not keys.path.exists()
    key, file = Ed25519PrivateKey.generate(), keys.path / "shuffler.pem"
    keys.path.mkdir(mode=0o700)
    # As version 0.1 wrote it.
    encryption = BestAvailableEncryption(short)
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
    file.chmod(0o600)
    assert keys.signing_key("shuffler").private_bytes_raw() == key.private_bytes_raw()
    with pytest.raises(ParameterError, match="at least 12 characters"):
        keys.create_batch(BATCH, plan=PLAN, tags=True)


def test_one_derivation_opens_all_files_of_a_directory(keys, monkeypatch):
    keys.create_signing_key("shuffler")
    keys.create_batch(BATCH, plan=PLAN, tags=True)
    derived, scrypt = [], encrypted_key.Scrypt
    monkeypatch.setattr(
        encrypted_key, "Scrypt", lambda **given: derived.append(given) or scrypt(**given)
    )
    encrypted_key._derived.cache_clear()  # noqa: SLF001 - as in another process
    keys.signing_key("shuffler")
    keys.outer_key(BATCH)
    keys.tag_key(BATCH)
    keys.create_batch(bytes(16), plan=PLAN, tags=True)
    assert len(derived) == 1


@pytest.mark.parametrize(
    "weak", [(8, 1 << 14, 8, 5), (16, 2, 8, 5), (16, 1 << 14, 1, 5), (16, 1 << 14, 8, 1)]
)
def test_new_files_do_not_inherit_a_short_salt_or_little_work(keys, weak, monkeypatch):
    """As of a file that openssl pkcs8 wrote with its own defaults."""
    monkeypatch.setattr(encrypted_key, "WORK", (1 << 14, 8, 5))
    key = keys.create_signing_key("shuffler")
    file = keys.path / "shuffler.pem"
    size, *work = weak
    how = Derivation(os.urandom(size), *work)
    file.write_bytes(encrypted_key.encrypt(key, SECRET, how))
    assert keys.signing_key("shuffler").private_bytes_raw() == key.private_bytes_raw()
    keys.create_batch(BATCH, plan=PLAN, tags=True)
    folder = keys.path / "batches" / BATCH.hex()
    outer, tags = (Derivation.of((folder / name).read_bytes()) for name in ("outer.pem", "tag.key"))
    assert outer == tags
    assert (len(outer.salt), outer.n, outer.r, outer.p) == (16, 1 << 14, 8, 5)


def test_a_missing_key_says_what_can_be_done(keys):
    with pytest.raises(
        KeyFileError, match=r"Mount the directory, or check --keys\..*croupier keys create"
    ):
        keys.signing_key("shuffler")
    keys.create_batch(BATCH, plan=PLAN, tags=True)
    keys.destroy(BATCH)
    with pytest.raises(KeyFileError, match="Put the key of the batch back") as lost:
        keys.outer_key(BATCH)
    assert "disposal_age" in str(lost.value)
    assert "keys create" not in str(lost.value)


def test_the_tag_key_stays_here_only_if_senders_are_held_to_places(keys):
    keys.create_batch(BATCH, plan=PLAN)
    names = [path.name for path in files(keys.path)]
    assert names == ["outer.pem", "plan"]
    assert keys.has_batch(BATCH)
    assert not keys.has_batch(BATCH, tags=True)


def test_what_is_public_is_written_beside(keys):
    first = keys.create()
    assert PublicKeys.load(keys.path, role="release", option="x") == first
    second = keys.rotate()
    assert second != first
    assert PublicKeys.load(keys.path / "public.json", role="release", option="x") == second
    for public in (first, second):
        assert keys.signer(public.key).public_key().public_bytes_raw().hex() == public.key
