"""Binary HTTP: the bytes of RFC 9292, and everything that is not a message."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from croupier.protocol.oblivious.binary_http import (
    BinaryRequest,
    BinaryResponse,
    InvalidMessageError,
)

VECTORS = json.loads((Path(__file__).parents[3] / "vectors/oblivious.json").read_text())["rfc9292"]
BYTES = {name: bytes.fromhex(text) for name, text in VECTORS.items()}
HELLO = BinaryRequest(
    b"GET",
    b"https",
    b"",
    b"/hello.txt",
    (
        (b"user-agent", b"curl/7.16.3 libcurl/7.16.3 OpenSSL/0.9.7l zlib/1.2.3"),
        (b"host", b"www.example.com"),
        (b"accept-language", b"en, mi"),
    ),
)


def test_the_requests_of_the_rfc():
    known, opened = BYTES["request of known length"], BYTES["request of open length"]
    assert HELLO.to_bytes() == known
    for data in (known, known[:-1], known[:-2], known + bytes(9), opened, opened[:-12]):
        assert BinaryRequest.read(data) == HELLO
    for data in (known[:-3], known + b"\0\1", opened[:-13]):
        with pytest.raises(InvalidMessageError):
            BinaryRequest.read(data)


def test_the_responses_of_the_rfc():
    found = BinaryResponse.read(BYTES["response of open length, with interim ones"])
    assert found.status == 200
    assert dict(found.fields)[b"etag"] == b'"34aa387-d-1568eb00"'
    assert found.content == b"Hello World! My content includes a trailing CRLF.\r\n"
    chunked = BYTES["response of known length, with a trailer"]
    assert BinaryResponse.read(chunked) == (200, (), b"This content contains CRLF.\r\n")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00",
        b"\x01\x40\xc8",
        b"\x04\x03GET\x05https\x00\x01/",
        b"\x00\x00\x05https\x00\x01/",
        b"\x00\x03GET\x05https\x00\x01/\x03\x01A\x00",
        b"\x00\x03GET\x05https\x00\x01/\x09\x05:path\x02/x",
        b"\x00\x03GET\x05https\x00\x01/\x04\x01a\x01\n",
        b"\x00\x03GET\x05https\x00\x01/\x05\x01a\x02 b",
        b"\x00\x03GET\x05https\x00\x01/\xff",
        b"\x00\x03GET\x05https\x00\x01/\x00\x09abc",
    ],
)
def test_what_is_no_request(data):
    with pytest.raises(InvalidMessageError):
        BinaryRequest.read(data)


@pytest.mark.parametrize("status", [0, 99, 600, 100])
def test_a_response_has_a_final_status(status):
    with pytest.raises(InvalidMessageError):
        BinaryResponse.read(BinaryResponse(status).to_bytes())


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(data):
    for kind in (BinaryRequest, BinaryResponse):
        try:
            found = kind.read(data)
        except InvalidMessageError:
            continue
        assert kind.read(found.to_bytes()) == found


@given(st.binary(max_size=20_000), st.integers(0, 70_000))
def test_padding_hides_a_length(content, length):
    response = BinaryResponse(202, ((b"retry-after", b"1"),), content)
    written = response.to_bytes(length=length)
    assert len(written) >= length
    assert BinaryResponse.read(written) == response
