"""Admission checks: each admits what it should, and nothing else."""

import asyncio

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from croupier.errors import ParameterError
from croupier.issuer.admission import (
    Admitted,
    CallbackCheck,
    InvitationCheck,
    InviterKeys,
    OpenCheck,
    SharedSecretCheck,
    invitation,
)


def admit(check, proof):
    return asyncio.run(check.admit(proof))


def account(proof):
    """Admit accounts that end in a known sign."""
    return proof.removesuffix("!") if proof.endswith("!") else None


async def slow_account(proof):
    return account(proof)


def test_open_admits_devices_without_a_proof():
    assert admit(OpenCheck(), "") == Admitted(None)
    assert admit(OpenCheck(), "x") is None


def test_a_shared_secret_admits_whoever_knows_it():
    check = SharedSecretCheck(b"correct horse")
    assert admit(check, "correct horse") == Admitted(None)
    for wrong in ("", "correct hors", "correct horse ", "correct hörse"):
        assert admit(check, wrong) is None


def test_an_invitation_is_one_text_under_one_key():
    key = Ed25519PrivateKey.generate()
    check = InvitationCheck(key.public_key().public_bytes_raw().hex())
    text = invitation(key)
    assert admit(check, text) == Admitted(bytes.fromhex(text)[:16])
    other = invitation(Ed25519PrivateKey.generate())
    for wrong in (other, text.upper(), text[:-2], text + "00", text[:32] + other[32:], "", "zz"):
        assert admit(check, wrong) is None
    assert admit(check, f"{text[:2]} {text[2:]}") is None


def test_an_inviter_has_a_key_directory(tmp_path):
    keys = InviterKeys(tmp_path / "inviter", b"a long passphrase")
    check = InvitationCheck(keys.create().key)
    assert admit(check, keys.invite())
    assert keys.invite() != keys.invite()


@pytest.mark.parametrize("function", [account, slow_account])
def test_a_callback_names_the_person(function):
    check = CallbackCheck(function)
    assert admit(check, "ann!") == Admitted(b"ann")
    assert admit(check, "ann") is None


def test_a_callback_that_returns_something_else_admits_nobody():
    for wrong in (True, "", b"ann", 1):
        with pytest.raises(TypeError):
            admit(CallbackCheck(lambda _proof, wrong=wrong: wrong), "x")


def test_a_callback_is_imported_by_its_name():
    assert CallbackCheck.of("croupier.issuer.admission:invitation").function is invitation
    for wrong in ("croupier.issuer.admission", "no.such:thing", "math:pi", "", ":"):
        with pytest.raises(ParameterError, match=r"package\.module:function"):
            CallbackCheck.of(wrong)
    with pytest.raises(ParameterError, match="64 hexadecimal digits"):
        InvitationCheck("ab")
