"""Tokens: the bytes of RFC 9578, headers of one spelling, proofs that bind the request."""

import json
import os
from hashlib import sha256
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from croupier.protocol.admission.blind_rsa import BlindKey
from croupier.protocol.admission.token import (
    PROOF_LENGTH,
    REQUEST_LENGTH,
    TOKEN_LENGTH,
    Spender,
    Token,
    TokenInput,
    challenge,
    is_spent_by_its_owner,
    read_request,
    request_of,
)
from croupier.protocol.admission.token_keys import key_id, spki

VECTORS = json.loads((Path(__file__).parents[3] / "vectors/rfc9578.json").read_text())["vectors"]
PLAN, BATCH = "ab" * 32, bytes(16)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["nonce"][:8])
def test_the_bytes_of_the_rfc(vector):
    given = {name: bytes.fromhex(text) for name, text in vector.items()}
    private = load_pem_private_key(given["skS"], password=None).private_numbers()
    key = BlindKey(private.public_numbers.n)
    assert spki(key) == given["pkS"]
    entry = TokenInput(given["nonce"], sha256(given["token_challenge"]).digest(), key_id(key))
    factor = int.from_bytes(given["blind"])
    blinded = key.blind(entry.to_bytes(), salt=given["salt"], factor=factor)
    assert request_of(blinded, key_id(key)) == given["token_request"]
    assert read_request(given["token_request"], key_id(key)) == blinded.message
    signature = key.finalize(entry.to_bytes(), given["token_response"], inverse=blinded.inverse)
    token = Token(entry, signature)
    assert token.to_bytes() == given["token"]
    assert Token.read(given["token"]) == token
    assert Token.of_header(token.authorization.encode()) == token
    assert token.is_valid(key, key_id=key_id(key), challenge=entry.challenge)
    assert not token.is_valid(key, key_id=bytes(32), challenge=entry.challenge)
    assert not token.is_valid(key, key_id=key_id(key), challenge=bytes(32))


def test_a_token_has_one_spelling():
    token = Token(TokenInput(os.urandom(32), os.urandom(32), os.urandom(32)), os.urandom(256))
    header = token.authorization.encode()
    assert len(token.to_bytes()) == TOKEN_LENGTH == 354
    assert Token.of_header(header) == token
    for other in (
        header.replace(b"PrivateToken", b"privatetoken"),
        header[:-1],
        header + b" ",
        header.replace(b'"', b""),
        header.replace(b"=", b" =", 1),
        header[:30] + b"\n" + header[30:],
        header[:-2] + b'="',
        b"Bearer " + header,
        b"",
    ):
        assert Token.of_header(other) is None
    assert Token.read(token.to_bytes()[:-1]) is None
    assert Token.read(b"\x00\x01" + token.to_bytes()[2:]) is None


def test_a_challenge_names_plan_round_and_issuer():
    key = "cd" * 32
    found = {
        challenge(PLAN, 0, issuer=key),
        challenge(PLAN, 1, issuer=key),
        challenge("ac" * 32, 0, issuer=key),
        challenge(PLAN, 0, issuer="ce" * 32),
    }
    assert len(found) == 4


def test_only_the_owner_spends_a_token_and_on_one_body():
    spender = Spender(os.urandom(32))
    token = Token(TokenInput(spender.nonce, bytes(32), bytes(32)), bytes(256))
    proof = spender.proof(plan=PLAN, batch=BATCH, body=b"sealed")
    assert len(proof) == PROOF_LENGTH
    assert is_spent_by_its_owner(token, proof, plan=PLAN, batch=BATCH, body=b"sealed")
    thief = Spender(os.urandom(32)).proof(plan=PLAN, batch=BATCH, body=b"other")
    wrong = [
        (proof, PLAN, BATCH, b"other"),
        (proof, PLAN, bytes([1]) * 16, b"sealed"),
        (proof, "ac" * 32, BATCH, b"sealed"),
        (proof[:-1], PLAN, BATCH, b"sealed"),
        (proof[:32] + bytes(64), PLAN, BATCH, b"sealed"),
        (thief, PLAN, BATCH, b"other"),
        (proof[:32] + thief[32:], PLAN, BATCH, b"other"),
    ]
    for found, plan, batch, body in wrong:
        assert not is_spent_by_its_owner(token, found, plan=plan, batch=batch, body=body)


def test_a_request_for_another_key_is_not_read():
    data = bytes.fromhex("000207") + bytes(256)
    assert len(data) == REQUEST_LENGTH
    assert read_request(data, bytes(31) + b"\x07") == bytes(256)
    assert read_request(data, bytes(32)) is None
    assert read_request(data + b"\0", bytes(31) + b"\x07") is None
