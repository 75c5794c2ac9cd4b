"""Encapsulation: the bytes of RFC 9458, wrong keys, flipped bits."""

import json
import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.protocol.oblivious.capsule import (
    REQUEST_OVERHEAD,
    RESPONSE_OVERHEAD,
    GatewayKey,
    KeyConfiguration,
    NotForUsError,
    read_configurations,
    write_configurations,
)

VECTORS = json.loads((Path(__file__).parents[3] / "vectors/oblivious.json").read_text())["rfc9458"]
GIVEN = {name: bytes.fromhex(text) for name, text in VECTORS.items()}
KEY = GatewayKey(1, X25519PrivateKey.from_private_bytes(GIVEN["private_key"]))


def test_the_bytes_of_the_rfc():
    configuration = KeyConfiguration.read(GIVEN["key_configuration"])
    assert configuration == KEY.configuration
    asked = configuration.ask(GIVEN["request"], ephemeral=GIVEN["ephemeral"])
    assert asked.body == GIVEN["encapsulated_request"]
    opened = KEY.open(GIVEN["encapsulated_request"])
    assert opened.request == GIVEN["request"]
    answered = opened.answered(GIVEN["response"], nonce=GIVEN["nonce"])
    assert answered == GIVEN["encapsulated_response"]
    assert asked.opened(answered) == GIVEN["response"]


def test_an_exchange_adds_the_same_to_every_message():
    for size in (0, 1, 1000):
        asked = KEY.configuration.ask(bytes(size))
        assert len(asked.body) == size + REQUEST_OVERHEAD
        answer = KEY.open(asked.body).answered(bytes(size))
        assert len(answer) == size + RESPONSE_OVERHEAD
        assert asked.opened(answer) == bytes(size)


def test_what_is_not_sealed_to_a_key_is_not_opened():
    asked = KEY.configuration.ask(b"request")
    other = GatewayKey(1, X25519PrivateKey.generate())
    numbered = GatewayKey(2, KEY.private)
    for key, body in [
        (other, asked.body),
        (numbered, asked.body),
        (KEY, asked.body[:-1]),
        (KEY, b""),
        (KEY, asked.body[:39]),
        (KEY, asked.body[:7] + bytes(32) + asked.body[39:]),
        *((KEY, flipped(asked.body, at)) for at in range(0, len(asked.body), 5)),
    ]:
        with pytest.raises(NotForUsError):
            key.open(body)


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def test_an_answer_of_another_exchange_or_with_a_flipped_bit_is_not_opened():
    asked, again = (KEY.configuration.ask(b"request") for _ in range(2))
    answer = KEY.open(asked.body).answered(b"response")
    assert again.opened(answer) is None
    assert asked.opened(b"") is None
    for at in range(len(answer)):
        assert asked.opened(flipped(answer, at)) is None


def test_configurations_are_read_in_order_and_unknown_ones_are_skipped():
    first, second = (KeyConfiguration(number, os.urandom(32)) for number in (7, 3))
    written = write_configurations([first, second])
    assert read_configurations(written) == [first, second]
    unknown = bytes([9]) + (0x0010).to_bytes(2) + bytes(65) + bytes.fromhex("000400010001")
    only_chacha = bytes([9, 0, 0x20]) + bytes(32) + bytes.fromhex("000400010003")
    for entry in (unknown, only_chacha):
        data = len(entry).to_bytes(2) + entry + written
        assert read_configurations(data) == [first, second]
    assert read_configurations(written[:-1]) == []
    assert read_configurations(b"\0") == []
    assert read_configurations(b"\0\0") == []
    assert read_configurations(b"") == []
