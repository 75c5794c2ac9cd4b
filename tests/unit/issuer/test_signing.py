"""Blind signing in memory and in a security module: the RFC's bytes, refusals, faults."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import gmpy2
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from croupier.issuer.hardware import HardwareError, HardwareKeys
from croupier.issuer.keys import TokenKeyFiles
from croupier.issuer.signing import MemorySigner, SigningFaultError
from croupier.protocol.key_directory import ClosedKeyError, KeyFileError

VECTORS = json.loads((Path(__file__).parents[2] / "vectors/rfc9474.json").read_text())["vectors"]
PLAN = "ab" * 32
MODULE = "/usr/lib/softhsm/libsofthsm2.so"
softhsm = pytest.mark.skipif(
    shutil.which("softhsm2-util") is None, reason="SoftHSM2 is missing (Debian: softhsm2)"
)


def private_of(vector):
    n, e, d, p, q = (int(vector[name], 16) for name in "nedpq")
    dp, dq, inverse = rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q)
    return rsa.RSAPrivateNumbers(p, q, d, dp, dq, inverse, rsa.RSAPublicNumbers(e, n)).private_key()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_bytes_of_the_rfc(vector):
    signer = MemorySigner(private_of(vector))
    for _ in range(3):  # blinded anew each time, and always the same
        assert signer.sign(bytes.fromhex(vector["blinded_msg"])).hex() == vector["blind_sig"]


def signs(signer):
    """Let a signer sign, and refuse what is no number below its modulus."""
    blinded = signer.key.blind(b"message")
    signature = signer.key.finalize(
        b"message", signer.sign(blinded.message), inverse=blinded.inverse
    )
    assert signer.key.is_signed(b"message", signature)
    size, modulus = signer.key.size, signer.key.modulus
    for wrong in (
        bytes(size),
        modulus.to_bytes(size),
        (modulus + 1).to_bytes(size),
        b"\xff" * size,
        blinded.message[1:],
        b"",
    ):
        assert signer.sign(wrong) is None


def test_a_key_in_a_file(tmp_path):
    keys = TokenKeyFiles(tmp_path / "tokens", b"a long passphrase")
    assert keys.signer(PLAN, 3) is None
    made = keys.create(PLAN, 3)
    assert keys.create(PLAN, 3) == made != keys.create(PLAN, 4)
    assert keys.signer(PLAN, 3).key == made
    signs(keys.signer(PLAN, 3))
    file = tmp_path / "tokens" / PLAN / "3.rsa.pem"
    assert file.stat().st_mode & 0o077 == 0
    with pytest.raises(ClosedKeyError):
        TokenKeyFiles(tmp_path / "tokens", b"another passphrase").signer(PLAN, 3)
    assert keys.rounds(PLAN) == [3, 4]
    keys.destroy(PLAN, 3)
    keys.destroy(PLAN, 3)
    assert keys.signer(PLAN, 3) is None
    assert keys.rounds(PLAN) == [4]
    keys.create_signing_key("other")
    (tmp_path / "tokens" / "other.pem").rename(tmp_path / "tokens" / PLAN / "5.rsa.pem")
    with pytest.raises(KeyFileError, match="is no token key"):
        keys.signer(PLAN, 5)


def test_nobody_gets_a_wrong_signature(monkeypatch):
    """A signature that is wrong modulo one prime would give the key away."""
    right = gmpy2.powmod_sec
    monkeypatch.setattr(gmpy2, "powmod_sec", lambda *numbers: (right(*numbers) + 1) % numbers[2])
    signer = MemorySigner(private_of(VECTORS[0]))
    with pytest.raises(SigningFaultError):
        signer.sign(bytes.fromhex(VECTORS[0]["blinded_msg"]))


@pytest.fixture
def token(tmp_path, monkeypatch):
    """A token of SoftHSM2, in a folder of its own."""
    (tmp_path / "objects").mkdir()
    settings = tmp_path / "softhsm2.conf"
    settings.write_text(f"directories.tokendir = {tmp_path}/objects\nlog.level = ERROR\n")
    monkeypatch.setenv("SOFTHSM2_CONF", str(settings))
    options = ["--init-token", "--free", "--label", "croupier", "--so-pin", "1234", "--pin", "5678"]
    subprocess.run([shutil.which("softhsm2-util"), *options], check=True, capture_output=True)
    return {"module": MODULE, "token": "croupier", "pin": "5678"}


_IN_A_PROCESS = """
import os, sys
from croupier.issuer.hardware import HardwareError, HardwareKeys
from tests.unit.issuer.test_signing import PLAN, signs
keys = HardwareKeys({module!r}, token={token!r}, pin={pin!r})
assert keys.signer(PLAN, 3) is None
made = keys.create(PLAN, 3)
assert keys.create(PLAN, 3) == made != keys.create(PLAN, 4)
signs(keys.signer(PLAN, 3))
keys.destroy(PLAN, 3)
assert keys.signer(PLAN, 3) is None
assert keys.rounds(PLAN) == [4]
assert keys.rounds("cd" * 32) == []
keys._session.close()  # as a module that was restarted
assert keys.signer(PLAN, 4) is not None
signs(keys.signer(PLAN, 4))
try:
    HardwareKeys({module!r}, token="no such token", pin={pin!r})
except HardwareError as error:
    assert "Check --pkcs11-module" in str(error)
else:
    raise SystemExit("a token that is not there was opened")
"""


@softhsm
def test_a_key_in_a_security_module(token):
    """In a process of its own: a module is loaded once per process, with its settings."""
    root = Path(__file__).parents[3]
    environment = os.environ | {"PYTHONPATH": f"{root / 'src'}:{root}"}
    command = ["python", "-c", _IN_A_PROCESS.format(**token)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_module_that_is_not_there_is_named(tmp_path):
    with pytest.raises(HardwareError, match="failed"):
        HardwareKeys(str(tmp_path / "none.so"), token=PLAN, pin="1")
