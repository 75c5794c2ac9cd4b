"""Private keys are encrypted, private, and gone when they are destroyed."""

import os
from base64 import b64decode, encodebytes
from contextlib import suppress

import pytest

from croupier.errors import ParameterError
from croupier.protocol.key_directory import (
    VARIABLE,
    AbsentKeyError,
    KeyDirectory,
    KeyFileError,
    passphrase,
)

SECRET = b"correct horse"


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
    with pytest.raises(ParameterError, match="`--passphrase-file` must have the passphrase in"):
        passphrase(file)
    monkeypatch.setenv(VARIABLE, os.fsdecode(b"not \xff in UTF-8"))
    assert passphrase() == b"not \xff in UTF-8"
    file.write_text("from a file\n")
    assert passphrase(file) == b"from a file"
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(ParameterError, match=f"`{VARIABLE}` must hold .* if --passphrase-file"):
        passphrase()
    with pytest.raises(ParameterError, match="must be a file"):
        passphrase(tmp_path / "none")


def test_a_key_takes_the_place_of_another_that_stays(keys):
    first = keys.create_signing_key("release")
    second, third = keys.add_signing_key("release"), keys.add_signing_key("release")
    assert [path.name for path in files(keys.path)] == [
        "release-2.pem",
        "release-3.pem",
        "release.pem",
    ]
    assert raw(keys.signing_key("release")) == raw(third)
    for key in (first, second, third):
        public = key.public_key().public_bytes_raw().hex()
        assert raw(keys.signing_key("release", public)) == raw(key)
    with pytest.raises(AbsentKeyError, match="has no release key whose public half is 0000"):
        keys.signing_key("release", "00" * 32)
    sealing = keys.add_sealing_key("release")
    assert raw(keys.sealing_key("release")) == raw(sealing)
    with pytest.raises(AbsentKeyError, match=r"has no release\.hpke key"):
        keys.sealing_key("release", "00" * 32)


def test_the_tenth_key_is_newer_than_the_ninth(keys):
    made = [keys.add_signing_key("intake") for _ in range(11)]
    assert raw(keys.signing_key("intake")) == raw(made[-1])


def raw(key):
    return key.private_bytes_raw()


def test_beside_a_key_that_is_asked_for_others_need_not_open(keys):
    first, second = keys.add_signing_key("release"), keys.add_signing_key("release")
    sealing = keys.add_sealing_key("release")
    keys.add_sealing_key("release")
    for name in ("release-2.pem", "release-2.hpke.pem"):
        (keys.path / name).write_bytes(b"-----BEGIN ENC")
    public = first.public_key().public_bytes_raw().hex()
    assert keys.signing_key("release", public).private_bytes_raw() == first.private_bytes_raw()
    public = sealing.public_key().public_bytes_raw().hex()
    assert keys.sealing_key("release", public).private_bytes_raw() == sealing.private_bytes_raw()
    gone = second.public_key().public_bytes_raw().hex()
    for asked in (gone, None):
        with pytest.raises(KeyFileError, match=r"release-2\.pem does not open"):
            keys.signing_key("release", asked)
