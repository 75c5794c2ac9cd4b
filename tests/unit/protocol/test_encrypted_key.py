"""Key files are standard ones: what OpenSSL writes is read here, and the other way round."""

import shutil
import subprocess

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from croupier.protocol import encrypted_key
from croupier.protocol.encrypted_key import Derivation, decrypt, encrypt

PASSPHRASE = b"four dice, no cards"
FULL = (1 << 14, 8, 5)

# RFC 7914, section 13: scrypt in PKCS#8, of the passphrase "Rabbit".
PUBLISHED = b"""-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHiME0GCSqGSIb3DQEFDTBAMB8GCSsGAQQB2kcECzASBAVNb3VzZQIDEAAAAgEI
AgEBMB0GCWCGSAFlAwQBKgQQyYmguHMsOwzGMPoyObk/JgSBkJb47EWd5iAqJlyy
+ni5ftd6gZgOPaLQClL7mEZc2KQay0VhjZm/7MbBUNbqOAXNM6OGebXxVp6sHUAL
iBGY/Dls7B1TsWeGObE0sS1MXEpuREuloZjcsNVcNXWPlLdZtkSH6uwWzR0PyG/Z
+ZXfNodZtd/voKlvLOw5B3opGIFaLkbtLZQwMiGtl42AS89lZg==
-----END ENCRYPTED PRIVATE KEY-----
"""


def openssl(*arguments, given):
    if shutil.which("openssl") is None:
        pytest.skip("needs the program openssl")
    command = ["openssl", *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def plain(key):
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@pytest.fixture
def derivation(monkeypatch):
    """With the work that operators' files take."""
    monkeypatch.setattr(encrypted_key, "WORK", FULL)
    return Derivation.new()


@pytest.mark.parametrize("kind", [Ed25519PrivateKey, X25519PrivateKey])
def test_openssl_and_cryptography_read_what_is_written(kind, derivation):
    key = kind.generate()
    pem = encrypt(key, PASSPHRASE, derivation)
    assert load_pem_private_key(pem, PASSPHRASE).private_bytes_raw() == key.private_bytes_raw()
    assert openssl("pkey", "-passin", f"pass:{PASSPHRASE.decode()}", given=pem) == plain(key)
    assert all(len(line) <= 76 for line in pem.splitlines())


def test_what_openssl_writes_is_read():
    key = Ed25519PrivateKey.generate()
    options = ["-topk8", "-scrypt", "-passout", f"pass:{PASSPHRASE.decode()}"]
    pem = openssl("pkcs8", *options, given=plain(key))
    found = Derivation.of(pem)
    assert (found.n, found.r, found.p) == (1 << 14, 8, 1)
    assert decrypt(pem, PASSPHRASE).private_bytes_raw() == key.private_bytes_raw()


def test_other_encryptions_and_damaged_texts_are_left_to_the_library():
    key = Ed25519PrivateKey.generate()
    options = ["-topk8", "-v2", "aes-256-cbc", "-passout", f"pass:{PASSPHRASE.decode()}"]
    pem = openssl("pkcs8", *options, given=plain(key))
    assert Derivation.of(pem) is None
    assert decrypt(pem, PASSPHRASE).private_bytes_raw() == key.private_bytes_raw()
    for spoiled in (pem[:-60], pem.replace(b"\n", b"\n!", 1), b"", b"-----BEGIN"):
        with pytest.raises(ValueError, match=r".+"):
            decrypt(spoiled, PASSPHRASE)


def test_another_passphrase_and_a_flipped_bit_do_not_open():
    pem = encrypt(Ed25519PrivateKey.generate(), PASSPHRASE, Derivation.new())
    with pytest.raises(ValueError, match=r".+"):
        decrypt(pem, b"another one, as long")


def test_the_published_file_is_understood():
    """Its gigabyte of memory is not spent here: the numbers in it are read."""
    assert Derivation.of(PUBLISHED) == Derivation(b"Mouse", 1 << 20, 8, 1)


def test_keys_are_derived_as_published():
    """RFC 7914, section 12, the third vector: the first 32 of its 64 bytes."""
    derived = Derivation(b"SodiumChloride", 1 << 14, 8, 1).key(b"pleaseletmein")
    assert derived.hex() == "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2"
