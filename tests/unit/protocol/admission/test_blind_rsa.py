"""Blind signatures: the RFC's bytes, hostile keys, and a library's verdict."""

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from croupier.errors import UntrustedError
from croupier.protocol.admission.blind_rsa import BlindKey, encode_pss

VECTORS = json.loads((Path(__file__).parents[3] / "vectors/rfc9474.json").read_text())["vectors"]


def number(text):
    return int(text, 16)


@pytest.fixture(scope="module")
def private():
    return rsa.generate_private_key(public_exponent=65537, key_size=2048).private_numbers()


@pytest.fixture(scope="module")
def key(private):
    return BlindKey(private.public_numbers.n)


def signed(private, blinded):
    """The textbook private operation: enough for tests, never for a service."""
    result = pow(int.from_bytes(blinded), private.d, private.public_numbers.n)
    return result.to_bytes(len(blinded))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_bytes_of_the_rfc(vector):
    key = BlindKey(number(vector["n"]), number(vector["e"]))
    message, salt = bytes.fromhex(vector["msg"]), bytes.fromhex(vector["salt"])
    inverse = number(vector["inv"])
    factor = pow(inverse, -1, key.modulus)
    blinded = key.blind(message, salt=salt, factor=factor)
    assert blinded.message.hex() == vector["blinded_msg"]
    assert blinded.inverse == inverse
    signature = key.finalize(message, bytes.fromhex(vector["blind_sig"]), inverse=inverse)
    assert signature.hex() == vector["sig"]
    assert key.is_signed(message, signature)


def test_a_signature_of_another_message_or_key_is_refused(private, key):
    blinded = key.blind(b"one")
    signature = signed(private, blinded.message)
    assert key.is_signed(b"one", key.finalize(b"one", signature, inverse=blinded.inverse))
    other = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_numbers()
    for message, found in (
        (b"two", signature),
        (b"one", signed(other, blinded.message)),
        (b"one", signature[:-1]),
        (b"one", bytes(256)),
    ):
        with pytest.raises(UntrustedError):
            key.finalize(message, found, inverse=blinded.inverse)


def test_blinding_is_fresh_and_uniform_over_signed_messages(private, key):
    """Any blinded message is explained by any signature: views cannot link the two."""
    first, second = (key.blind(b"one") for _ in range(2))
    assert first.message != second.message
    signature = int.from_bytes(
        key.finalize(b"one", signed(private, first.message), inverse=first.inverse)
    )
    hidden = int.from_bytes(second.message)
    # The factor under which this signature would have been the other request's answer exists.
    factor = pow(hidden, private.d, key.modulus) * pow(signature, -1, key.modulus) % key.modulus
    explained = pow(factor, key.exponent, key.modulus) * pow(signature, key.exponent, key.modulus)
    assert explained % key.modulus == hidden


def test_a_modulus_of_small_factors_is_noticed():
    key = BlindKey(3 * (2**2047 + 9))
    with pytest.raises(UntrustedError, match="small factors"):
        key.blind(b"one", factor=6)


@pytest.mark.parametrize("bits", [2047, 4095, 1023])
def test_an_encoding_is_never_longer_than_its_modulus(bits):
    for _ in range(50):
        assert int.from_bytes(encode_pss(b"", bits=bits)).bit_length() <= bits
