"""Servers that do not mean well: an answer is bounded in bytes, in time and in memory (N35)."""

import asyncio
import socket
import threading
import time
import zlib
from pathlib import Path

import httpx
import pytest

from croupier.client.client import Client
from croupier.client.conversation import Outcome, Server, converse, submit, submit_async
from croupier.client.exchange import LARGEST_ANSWER, Exchange, Get, Response
from croupier.client.memory import MemoryState

MEGABYTE = 1 << 20
LARGE = 256
"""Megabytes that a hostile server has to send, or to unpack to."""
SHORT = {
    "collection": {"every": "5s"},
    "protections": {"minimum_batch": 50, "disposal_age": "1h"},
}


def packed():
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    return b"".join(packer.compress(bytes(MEGABYTE)) for _ in range(LARGE)) + packer.flush()


def endless(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(LARGE):
        connection.sendall(bytes(MEGABYTE))


def bomb(connection, data=packed()):  # noqa: B008 - packed once
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    connection.sendall(head % len(data) + data)


def slow_body(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(200):
        connection.sendall(b" ")
        time.sleep(0.1)


def slow_head(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nA: ")
    for _ in range(200):
        connection.sendall(b"x")
        time.sleep(0.1)


class Hostile(threading.Thread):
    """Answers every request in its way."""

    def __init__(self, way):
        super().__init__(daemon=True)
        self.way, self.requests = way, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.start()

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=[connection], daemon=True).start()

    def answer(self, connection):
        with connection:
            try:
                connection.recv(65536)
                self.requests += 1
                self.way(connection)
            except OSError:
                return


class Resident(threading.Thread):
    """Megabytes by which this process grows at most."""

    def __init__(self):
        super().__init__(daemon=True)
        self.before, self.most, self.over = self.now(), 0, threading.Event()

    @staticmethod
    def now():
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / MEGABYTE

    def run(self):
        while not self.over.wait(0.005):
            self.most = max(self.most, self.now() - self.before)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


@pytest.fixture
def hostile(request):
    server = Hostile(request.param)
    yield server
    server.socket.close()


async def no_pause(_):
    pass


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("hostile", [endless, bomb, slow_body, slow_head], indirect=True)
def test_an_answer_without_end_counts_as_none(make_parties, hostile, is_async):
    parties, memory = make_parties(**SHORT), MemoryState()
    client = Client(parties.plan, attribute="emoji", budget=9.0, memory=memory)
    steps = converse(client, 1, server=Server(url=hostile.url, credential="letmein"))
    began = time.monotonic()
    with Resident() as grown:
        if is_async:
            outcome = asyncio.run(submit_async(steps, sleep=no_pause, deadline=0.5))
        else:
            outcome = submit(steps, sleep=lambda _: None, deadline=0.5)
    assert outcome is Outcome.EXPIRED
    assert time.monotonic() - began < 10
    assert grown.most < 32
    assert hostile.requests > 1, "an answer that counts as none is asked for again"


def test_a_mirror_without_end_neither(make_parties):
    parties = make_parties(**SHORT)
    keys, mirror = parties.key_list(parties.open()).to_bytes(), Hostile(endless)
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(keys)
    server = Hostile(lambda connection: connection.sendall(head + keys))
    client = Client(parties.plan, attribute="emoji", budget=9.0, memory=MemoryState())
    both = Server(url=server.url, credential="letmein", mirrors=(mirror.url,))
    with Resident() as grown:
        outcome = submit(converse(client, 1, server=both), sleep=lambda _: None)
    assert outcome is Outcome.EXPIRED
    assert grown.most < 32
    server.socket.close()
    mirror.socket.close()


def asked(handle):
    async def ask():
        exchange = Exchange(transport=httpx.MockTransport(handle))
        try:
            return await exchange.ask(Get("https://reports.example/"))
        finally:
            await exchange.close()

    return asyncio.run(ask())


def test_cookies_are_neither_stored_nor_sent():
    sent = []

    def handle(request):
        sent.append(request.headers.get("Cookie"))
        cookies = [("Set-Cookie", f"id{len(sent)}-{i}=1; Max-Age=9999") for i in range(9)]
        return httpx.Response(503, headers=cookies)

    async def ask():
        exchange = Exchange(transport=httpx.MockTransport(handle))
        try:
            for _ in range(3):
                assert (await exchange.ask(Get("https://reports.example/"))).status == 503
            return len(exchange._http.cookies.jar)  # noqa: SLF001 - where httpx keeps them
        finally:
            await exchange.close()

    assert asyncio.run(ask()) == 0
    assert sent == [None] * 3


@pytest.mark.parametrize(("size", "whole"), [(LARGEST_ANSWER, True), (LARGEST_ANSWER + 1, False)])
def test_the_largest_answer(size, whole):
    answer = asked(lambda _: httpx.Response(200, content=bytes(size)))
    assert answer == (Response(200, bytes(size)) if whole else None)


@pytest.mark.parametrize("coding", ["gzip", "br", "x", "identity, gzip"])
def test_nothing_is_unpacked(coding):
    headers = {"Content-Encoding": coding}
    stream = httpx.ByteStream(b"{}")
    assert asked(lambda _: httpx.Response(200, headers=headers, stream=stream)) is None


def test_identity_is_no_packing():
    headers = {"Content-Encoding": "Identity"}
    assert asked(lambda _: httpx.Response(200, headers=headers, content=b"{}")) == Response(
        200, b"{}"
    )


def test_a_running_event_loop_is_not_in_the_way(make_parties):
    """As in a notebook, where `submit` is called from one."""
    parties = make_parties()
    keys = parties.key_list(parties.open()).to_bytes()

    def handle(request):
        return httpx.Response(200, content=keys) if request.method == "GET" else httpx.Response(202)

    async def cell():
        client = Client(parties.plan, attribute="emoji", budget=9.0, memory=MemoryState())
        server = Server(url="https://reports.example", credential="letmein")
        steps = converse(client, 1, server=server)
        return submit(steps, transport=httpx.MockTransport(handle), sleep=lambda _: None)

    assert asyncio.run(cell()) is Outcome.ACCEPTED
