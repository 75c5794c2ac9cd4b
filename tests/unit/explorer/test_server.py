"""The page is served to this machine alone, and only to whoever knows its address."""

import http.client
import json
import socket
import struct
import threading
import time
from urllib.parse import urlsplit

import pytest

from croupier.explorer.explorer import Explorer
from croupier.explorer.server import exploring
from croupier.plan.plan import Plan

PLAN = Plan.from_toml("""
schema = 2
randomizer = {mechanism = "k-rr", k = 4, max_epsilon_local = 2.0}
population.enrolled = 9_000
protections.minimum_batch = 1_000
""")
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def address():
    with exploring(Explorer(PLAN)) as found:
        yield urlsplit(found)


def ask(address, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    return answer.status, dict(answer.getheaders()), answer.read()


def test_page_and_answers(address):
    status, headers, body = ask(address, "GET", address.path)
    assert status == 200
    assert b"<html" in body
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "http" not in headers["Content-Security-Policy"]
    for name in ("explorer.js", "explorer.css"):
        assert ask(address, "GET", address.path + name)[0] == 200
    status, _, body = ask(address, "POST", address.path + "state", b"{}", JSON)
    parts = [json.loads(line) for line in body.splitlines()]
    assert status == 200
    assert (parts[0]["part"], parts[-1]["part"]) == ("plan", "end")


def test_the_path_is_a_secret(address):
    for path in ("/", "/state", "/explorer.js", address.path[:-2] + "x/", address.path[:5]):
        assert ask(address, "GET", path)[0] == 404
        assert ask(address, "POST", path, b"{}", JSON)[0] == 404
    with exploring(Explorer(PLAN)) as other:
        assert urlsplit(other).path != address.path


def test_other_names_and_other_pages_are_refused(address):
    assert ask(address, "GET", address.path, headers={"Host": "evil.example"})[0] == 421
    state = address.path + "state"
    assert ask(address, "POST", state, b"{}", {"Content-Type": "text/plain"})[0] == 400
    assert ask(address, "OPTIONS", state)[0] == 501
    _, headers, _ = ask(address, "POST", state, b"{}", JSON | {"Origin": "https://evil.example"})
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"changes": NaN}', b'{"xs": [1e400]}', b"[" * 100_000]
)
def test_what_is_no_question_is_refused(address, body):
    assert ask(address, "POST", address.path + "state", body, JSON)[0] == 400


def test_a_question_that_is_too_long_is_refused(address):
    for length in ("999999999999", "9" * 5000, "-1", "²"):
        headers = JSON | {"Content-Length": length.encode("latin-1")}
        assert ask(address, "POST", address.path + "state", b"", headers)[0] == 400


def test_an_answer_that_nobody_waits_for_ends():
    began = threading.Event()
    ended = []

    class Endless(Explorer):
        def answer(self, verb, body):
            del body
            if verb != "curve":
                yield {"part": "end"}
                return
            began.set()
            try:
                while True:
                    time.sleep(0.01)
                    yield None
            finally:
                ended.append(True)

    with exploring(Endless(PLAN)) as found:
        there = urlsplit(found)
        connection = http.client.HTTPConnection(there.hostname, there.port)
        connection.request("POST", there.path + "curve", b"{}", JSON)
        assert began.wait(10)
        connection.close()
        assert ask(there, "POST", there.path + "state", b"{}", JSON)[0] == 200
    assert ended


def test_connections_that_break_leave_no_trace(address, capfd):
    for sent in (b"", b"GET / HT", b"POST " + address.path.encode() + b"state HTTP/1.1\r\n"):
        with socket.create_connection((address.hostname, address.port)) as connection:
            linger = struct.pack("ii", 1, 0)  # a reset instead of an end
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            connection.sendall(sent)
    assert ask(address, "GET", address.path)[0] == 200
    assert capfd.readouterr() == ("", "")


def test_a_page_that_does_not_read_is_given_up(monkeypatch):
    class Endless(Explorer):
        def answer(self, verb, body):
            del body
            while verb == "curve":
                yield {"part": "point", "words": "x" * 100_000}
            yield {"part": "end"}

    monkeypatch.setattr("croupier.explorer.server._Page.timeout", 0.5)
    with exploring(Endless(PLAN)) as found:
        there = urlsplit(found)
        stuck = http.client.HTTPConnection(there.hostname, there.port)
        stuck.request("POST", there.path + "curve", b"{}", JSON)
        assert ask(there, "POST", there.path + "state", b"{}", JSON)[0] == 200
        stuck.close()
