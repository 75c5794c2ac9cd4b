"""Private keys are encrypted, private, and gone when they are destroyed."""

import os
import stat
from datetime import UTC, datetime, timedelta

import pytest

from croupier.errors import ParameterError
from croupier.pipeline import keys as module
from croupier.pipeline.keys import VARIABLE, KeyDirectory, KeyFileError, passphrase

SECRET = b"correct horse"
BATCH = bytes(range(16))
PLAN = "5e" * 32


@pytest.fixture
def keys(tmp_path):
    return KeyDirectory(tmp_path / "keys", SECRET)


def files(path):
    return sorted(entry for entry in path.rglob("*") if entry.is_file())


def test_keys_are_read_again(keys):
    signing, sealing = keys.create_signing_key("analyzer"), keys.create_sealing_key("analyzer")
    assert keys.signing_key("analyzer").private_bytes_raw() == signing.private_bytes_raw()
    assert keys.sealing_key("analyzer").private_bytes_raw() == sealing.private_bytes_raw()
    assert [path.name for path in files(keys.path)] == ["analyzer.hpke.pem", "analyzer.pem"]


def test_secrets_of_a_batch_are_read_again(keys):
    secrets = keys.create_batch(BATCH, plan=PLAN)
    assert keys.outer_key(BATCH).private_bytes_raw() == secrets.outer.private_bytes_raw()
    assert keys.tag_key(BATCH) == secrets.tag_key
    assert len(secrets.tag_key) == 32
    assert keys.batches() == [BATCH]


def test_files_are_private_and_encrypted(keys):
    keys.create_signing_key("shuffler")
    keys.create_batch(BATCH, plan=PLAN)
    names = [path.name for path in files(keys.path)]
    assert names == ["outer.pem", "plan", "tag.key", "shuffler.pem"]
    for path in files(keys.path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        if path.name != "plan":
            assert path.read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o700


def test_a_key_is_never_replaced(keys):
    key = keys.create_signing_key("shuffler")
    with pytest.raises(KeyFileError, match="already"):
        keys.create_signing_key("shuffler")
    assert keys.signing_key("shuffler").private_bytes_raw() == key.private_bytes_raw()


def test_what_others_can_read_is_refused(keys):
    keys.create_signing_key("shuffler")
    (keys.path / "shuffler.pem").chmod(0o640)
    with pytest.raises(KeyFileError, match="chmod 600"):
        keys.signing_key("shuffler")


def test_another_passphrase_does_not_open_it(keys):
    keys.create_signing_key("shuffler")
    with pytest.raises(KeyFileError, match="passphrase") as refused:
        KeyDirectory(keys.path, b"wrong").signing_key("shuffler")
    assert "wrong" not in str(refused.value)
    assert SECRET.decode() not in repr(keys)


def test_a_key_of_another_kind_a_damaged_one_and_none(keys):
    keys.create_signing_key("analyzer")
    (keys.path / "analyzer.pem").rename(keys.path / "analyzer.hpke.pem")
    with pytest.raises(KeyFileError, match="X25519"):
        keys.sealing_key("analyzer")
    (keys.path / "analyzer.hpke.pem").write_bytes(b"damaged")
    with pytest.raises(KeyFileError, match="does not open"):
        keys.sealing_key("analyzer")
    with pytest.raises(KeyFileError, match="not there"):
        keys.signing_key("shuffler")


def test_destroyed_secrets_are_overwritten_before_they_are_removed(keys, monkeypatch):
    keys.create_batch(BATCH, plan=PLAN)
    folder = keys.path / "batches" / BATCH.hex()
    before = {path.name: path.read_bytes() for path in files(folder)}
    left = {}

    def watched(path):
        left[path.name] = path.read_bytes()
        os.unlink(path)  # noqa: PTH108 - the method is replaced here

    monkeypatch.setattr(module.Path, "unlink", watched)
    keys.destroy(BATCH)
    assert not folder.exists()
    assert [*left][2] == "plan"
    assert set(left) == {"outer.pem", "plan", "tag.key"}
    for name, data in left.items():
        assert len(data) == len(before[name])
        assert b"PRIVATE" not in data
        assert data[:64] != before[name][:64]
    assert keys.batches() == []


def test_destroying_twice_is_no_error_and_nothing_is_read_after(keys):
    keys.create_batch(BATCH, plan=PLAN)
    for _ in range(2):
        keys.destroy(BATCH)
    with pytest.raises(KeyFileError, match="not there"):
        keys.outer_key(BATCH)
    with pytest.raises(KeyFileError, match="not there"):
        keys.tag_key(BATCH)


def test_a_crash_leaves_all_secrets_or_none(keys, monkeypatch):
    write, written = KeyDirectory._write, []  # noqa: SLF001 - where the crash is injected

    def crashing(self, path, key):
        if written:
            raise KeyboardInterrupt
        written.append(path)
        write(self, path, key)

    monkeypatch.setattr(KeyDirectory, "_write", crashing)
    with pytest.raises(KeyboardInterrupt):
        keys.create_batch(BATCH, plan=PLAN)
    assert keys.batches() == []
    assert files(keys.path)
    keys.sweep(datetime.now(UTC) - timedelta(hours=1))
    assert files(keys.path), "somebody may be making them"
    keys.sweep(datetime.now(UTC) + timedelta(hours=1))
    assert not files(keys.path)
    monkeypatch.undo()
    keys.create_batch(BATCH, plan=PLAN)
    keys.sweep(datetime.now(UTC) + timedelta(hours=1))
    assert keys.batches() == [BATCH]


def test_old_secrets_are_found_by_their_plan(keys):
    keys.create_batch(BATCH, plan=PLAN)
    soon, before = (datetime.now(UTC) + timedelta(hours=hours) for hours in (1, -1))
    assert keys.made_before(soon, plan=PLAN) == [BATCH]
    assert keys.made_before(before, plan=PLAN) == []
    assert keys.made_before(soon, plan="00" * 32) == []
    (keys.path / "batches" / BATCH.hex() / "plan").unlink()
    assert keys.made_before(soon, plan=PLAN) == []


def test_a_batch_has_sixteen_bytes(keys):
    with pytest.raises(ParameterError, match="16 bytes"):
        keys.create_batch(b"../..", plan=PLAN)


def test_passphrases(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "from the environment")
    assert passphrase() == b"from the environment"
    file = tmp_path / "passphrase"
    file.write_text("from a file\n")
    assert passphrase(file) == b"from a file"
    file.write_text("")
    with pytest.raises(ParameterError, match=VARIABLE):
        passphrase(file)
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(ParameterError, match="passphrase-file"):
        passphrase()
