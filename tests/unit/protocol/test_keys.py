"""Private keys are encrypted, private, and gone when they are destroyed."""

import os
import stat
from base64 import b64decode, encodebytes
from contextlib import suppress
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
from croupier.protocol import keys as module
from croupier.protocol.encrypted_key import Derivation
from croupier.protocol.keys import (
    VARIABLE,
    DamagedKeyError,
    KeyDirectory,
    KeyFileError,
    passphrase,
)

SECRET = b"correct horse"
BATCH = bytes(range(16))
PLAN = "5e" * 32


@pytest.fixture
def keys(tmp_path):
    return KeyDirectory(tmp_path / "keys", SECRET)


def files(path):
    return sorted(entry for entry in path.rglob("*") if entry.is_file())


def flipped(pem, place):
    """A PEM text with one bit of what it holds turned over."""
    begin, text, end = pem.partition(b"-----\n")[0], *pem.split(b"-----\n")[1].split(b"\n-----")
    data = bytearray(b64decode(text))
    data[place] ^= 1
    return begin + b"-----\n" + encodebytes(bytes(data)) + b"-----" + end + b"-----\n"


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
    assert names == ["outer.pem", "plan", "tag.check", "tag.key", "shuffler.pem"]
    for path in files(keys.path):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        if path.name not in {"plan", "tag.check"}:
            assert path.read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert stat.S_IMODE(keys.path.stat().st_mode) == 0o700


def test_a_key_is_never_replaced(keys):
    key = keys.create_signing_key("shuffler")
    with pytest.raises(KeyFileError, match="already"):
        keys.create_signing_key("shuffler")
    assert keys.signing_key("shuffler").private_bytes_raw() == key.private_bytes_raw()


def test_directories_are_closed_to_others_whatever_the_umask(keys):
    masked = os.umask(0)
    try:
        keys.create_signing_key("shuffler")
        keys.create_batch(BATCH, plan=PLAN)
    finally:
        os.umask(masked)
    for folder in (keys.path, keys.path / "batches", keys.path / "batches" / BATCH.hex()):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (keys.path / "batches").chmod(0o755)  # as version 0.1 made it
    keys.create_batch(bytes(16), plan=PLAN)
    assert stat.S_IMODE((keys.path / "batches").stat().st_mode) == 0o700
    keys.path.chmod(0o750)
    with pytest.raises(KeyFileError, match=r"entered by others\. Run: chmod 700"):
        keys.create_signing_key("analyzer")


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


@pytest.mark.parametrize("short", [b"x", b"eleven char", "\u00e4\u00f6\u00fc".encode() * 3])
def test_a_short_passphrase_encrypts_nothing_new_and_opens_what_there_is(tmp_path, short):
    keys = KeyDirectory(tmp_path / "keys", short)
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
        keys.create_batch(BATCH, plan=PLAN)


def test_one_derivation_opens_all_files_of_a_directory(keys, monkeypatch):
    keys.create_signing_key("shuffler")
    keys.create_batch(BATCH, plan=PLAN)
    derived, scrypt = [], encrypted_key.Scrypt
    monkeypatch.setattr(
        encrypted_key, "Scrypt", lambda **given: derived.append(given) or scrypt(**given)
    )
    encrypted_key._derived.cache_clear()  # noqa: SLF001 - as in another process
    keys.signing_key("shuffler")
    keys.outer_key(BATCH)
    keys.tag_key(BATCH)
    keys.create_batch(bytes(16), plan=PLAN)
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
    keys.create_batch(BATCH, plan=PLAN)
    folder = keys.path / "batches" / BATCH.hex()
    outer, tags = (Derivation.of((folder / name).read_bytes()) for name in ("outer.pem", "tag.key"))
    assert outer == tags
    assert (len(outer.salt), outer.n, outer.r, outer.p) == (16, 1 << 14, 8, 5)


def test_a_missing_key_says_what_can_be_done(keys):
    with pytest.raises(KeyFileError, match=r"Make it with croupier keys create"):
        keys.signing_key("shuffler")
    keys.create_batch(BATCH, plan=PLAN)
    keys.destroy(BATCH)
    with pytest.raises(KeyFileError, match="Put the key of the batch back") as lost:
        keys.outer_key(BATCH)
    assert "disposal_age" in str(lost.value)
    assert "keys create" not in str(lost.value)


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


def test_a_tag_key_that_is_another_is_noticed(keys):
    """The encryption has no checksum: one bit on the disk, and another key comes out."""
    secrets = keys.create_batch(BATCH, plan=PLAN)
    file = keys.path / "batches" / BATCH.hex() / "tag.key"
    whole = file.read_bytes()
    file.write_bytes(flipped(whole, -40))
    with pytest.raises(DamagedKeyError, match=r"tag\.key is damaged\. Put back a copy"):
        keys.tag_key(BATCH)
    file.write_bytes(whole)
    assert keys.tag_key(BATCH) == secrets.tag_key
    file.with_name("tag.check").unlink()  # as version 0.1 made it
    assert keys.tag_key(BATCH) == secrets.tag_key


def test_a_damaged_start_is_no_strange_error(keys):
    """The first block names the kind of key; one that nobody knows comes out of it."""
    keys.create_signing_key("shuffler")
    file = keys.path / "shuffler.pem"
    whole = file.read_bytes()
    for place in range(-82, -66):
        file.write_bytes(flipped(whole, place))
        with suppress(KeyFileError):
            keys.signing_key("shuffler")
    file.write_bytes(flipped(whole, -72))
    with pytest.raises(KeyFileError, match="does not open"):
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
    assert [*left][3] == "plan"
    assert set(left) == {"outer.pem", "plan", "tag.check", "tag.key"}
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
    file.chmod(0o640)
    with pytest.raises(ParameterError, match=r"by its owner only; got .* chmod 600"):
        passphrase(file)
    file.chmod(0o600)
    assert passphrase(file) == b"from a file"
    file.write_text("")
    with pytest.raises(ParameterError, match=VARIABLE):
        passphrase(file)
    monkeypatch.setenv(VARIABLE, os.fsdecode(b"not \xff in UTF-8"))
    assert passphrase() == b"not \xff in UTF-8"
    file.write_text("from a file\n")
    assert passphrase(file) == b"from a file"
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(ParameterError, match="passphrase-file"):
        passphrase()
    with pytest.raises(ParameterError, match="must be a file"):
        passphrase(tmp_path / "none")
