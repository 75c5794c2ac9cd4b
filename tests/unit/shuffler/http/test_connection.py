"""Bytes of strangers, sent over sockets: to the protocol alone, and to the whole service."""

import asyncio
import json
import os
import socket
import time
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import pytest
import uvloop
from uvicorn import Config
from uvicorn.server import ServerState

from croupier.hosting.http.connection import PromptProtocol

GET = b"GET /v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n"
EMPTY = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"


async def nothing(_scope, receive, send):
    """Read a request and answer without a body."""
    while (await receive()).get("more_body"):
        pass
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]}
    )
    await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def listening(app, **changed):
    """The protocol of the service, with other limits, before another application.

    Whoever is cut off is not cut off for being slow, unless the test sets `seconds`.
    """
    config = Config(
        app,
        lifespan="off",
        ws="none",
        log_config=None,
        server_header=False,
        date_header=False,
        timeout_keep_alive=300,
    )
    config.load()
    state = ServerState()
    kind = type("Changed", (PromptProtocol,), {"seconds": 300.0} | changed)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: kind(config, state, {}), "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for connection in list(state.connections):
            connection.transport.abort()


async def exchange(port, *chunks, wait=30.0, expected=0):
    """What comes back for pieces of bytes until the server closes, or for a while.

    The while begins when as many bytes as expected have come, however busy the machine is.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answer, closed = b"", False
    try:
        for chunk in chunks:
            writer.write(chunk)
            await writer.drain()
            await asyncio.sleep(0.02)
        async with asyncio.timeout(30):
            while len(answer) < expected and (data := await reader.read(65536)):
                answer += data
        async with asyncio.timeout(wait):
            while data := await reader.read(65536):
                answer += data
            closed = True
    except (ConnectionError, RuntimeError):  # what uvloop says of a connection that was cut off
        closed = True
    except TimeoutError:
        pass
    finally:
        writer.transport.abort()
    return answer, closed


def run(work):
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(asyncio.wait_for(work, 60))


def sent_to(app, *chunks, wait=30.0, expected=0, **changed):
    async def work():
        async with listening(app, **changed) as port:
            return await exchange(port, *chunks, wait=wait, expected=expected)

    return run(work())


def setting(lost):
    """How a protocol loses a connection and sets an event."""

    def connection_lost(self, error):
        lost.set()
        PromptProtocol.connection_lost(self, error)

    return connection_lost


def post(*lines, body=b""):
    return b"\r\n".join([b"POST /x HTTP/1.1", b"Host: x", *lines, b"", body])


def test_some_requests_may_follow_each_other_without_waiting():
    answer, closed = sent_to(nothing, GET * 8, wait=0.5, expected=8 * len(EMPTY))
    assert (answer, closed) == (EMPTY * 8, False)


@pytest.mark.parametrize("pieces", [1, 40])
def test_who_sends_many_requests_without_waiting_is_cut_off(pieces):
    async def slow(scope, receive, send):
        await asyncio.sleep(0.3)
        await nothing(scope, receive, send)

    answer, closed = sent_to(slow, *[GET * (400 // pieces)] * pieces)
    assert closed
    assert len(answer) < 10 * len(EMPTY)


def test_who_does_not_read_the_answers_is_cut_off():
    """Whatever the system's buffers hold: the rest waits in the worker, and not for ever."""
    large = bytes(8 << 20)

    async def answering(_scope, _receive, send):
        length = (b"content-length", b"%d" % len(large))
        await send({"type": "http.response.start", "status": 200, "headers": [length]})
        await send({"type": "http.response.body", "body": large})

    async def work():
        lost = asyncio.Event()
        async with listening(answering, seconds=0.5, connection_lost=setting(lost)) as port:
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(GET)
                await asyncio.wait_for(lost.wait(), 30)
                client.settimeout(30)
                received = 0
                with suppress(ConnectionError):
                    while data := await asyncio.to_thread(client.recv, 1 << 20):
                        received += len(data)
                return received

    assert run(work()) < len(large)


def test_a_connection_that_closes_does_not_wait_for_ever_for_its_reader():
    large = bytes(8 << 20)

    async def closing(_scope, _receive, send):
        headers = [(b"content-length", b"%d" % len(large)), (b"connection", b"close")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": large})

    async def work():
        lost = asyncio.Event()
        async with listening(closing, seconds=0.5, connection_lost=setting(lost)) as port:
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(GET)
                return await asyncio.wait_for(lost.wait(), 30)

    assert run(work())


def test_a_worker_has_so_many_connections_and_no_more():
    async def work():
        async with listening(nothing, most_connections=2) as port:
            kept = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            answer, closed = await exchange(port, GET)
            for _, writer in kept:
                writer.close()
                await writer.wait_closed()
            await asyncio.sleep(0.1)
            later, _ = await exchange(port, GET, wait=0.5, expected=len(EMPTY))
            return answer, closed, later

    answer, closed, later = run(work())
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"retry-after: 1\r\n" in answer
    assert closed
    assert later == EMPTY


@pytest.mark.parametrize(
    "lines",
    [
        (b"Upgrade: h2c", b"Connection: Upgrade"),
        (b"Connection: keep-alive, Upgrade",),
        (b"Upgrade: websocket",),
    ],
)
def test_no_other_protocol_is_spoken(lines):
    answer, closed = sent_to(nothing, post(*lines, b"Content-Length: 3", body=b"abc"))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2]).keys() == {"error", "schema_version"}
    assert closed


@pytest.mark.parametrize(
    "name",
    [b"Authorization", b"Content-Type", b"Croupier-Batch", b"Content-Length", b"Expect", b"Origin"],
)
def test_a_header_that_is_read_is_given_once(name):
    value = b"3" if name == b"Content-Length" else b"100-continue"
    twice = (name + b": " + value,) * 2
    length = () if name == b"Content-Length" else (b"Content-Length: 3",)
    answer, closed = sent_to(nothing, post(*twice, *length, body=b"abc"))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert closed


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        ((b"Transfer-Encoding: chunked",), 411),
        ((b"Transfer-Encoding: gzip, chunked",), 411),
        ((b"Transfer-Encoding: chunked", b"Content-Length: 3"), 400),
        ((b"Content-Length: 3", b"Transfer-Encoding: chunked"), 400),
    ],
)
def test_a_body_comes_with_its_length_and_in_no_encoding(lines, status):
    answer, closed = sent_to(nothing, post(*lines, body=b"3\r\nabc\r\n0\r\n\r\n"))
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    assert answer.count(b"HTTP/1.1 ") == 1
    assert closed


def test_what_is_not_http_is_refused_in_our_words():
    answer, closed = sent_to(nothing, b"\x16\x03\x01\x02\x00\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/json\r\n" in answer
    assert closed


@pytest.mark.parametrize("size", [17_000, 40_000, 300_000])
@pytest.mark.parametrize("ahead", [b"", GET])
@pytest.mark.parametrize("end", [b"", b"\r\n\r\n"])
def test_a_long_head_is_cut_off_also_in_one_piece(size, ahead, end):
    sent = ahead + b"GET / HTTP/1.1\r\nX: " + b"a" * size + end
    answer, closed = sent_to(nothing, sent, GET)
    assert closed
    assert answer in {b"", EMPTY} if ahead else answer == b""


def test_a_head_of_the_usual_length_is_read_in_any_pieces():
    head = b"GET / HTTP/1.1\r\nX: " + b"a" * 15_000 + b"\r\n\r\n"
    pieces = [head[start : start + 4_000] for start in range(0, len(head), 4_000)]
    expected = EMPTY * 2
    found = sent_to(nothing, *pieces, GET, wait=0.5, expected=len(expected))
    assert found == (expected, False)


@pytest.mark.parametrize("url", [b"http://a", b"http://:x", b"*", b"/\\x00"])
def test_a_refusal_is_not_taken_for_the_answer_to_an_earlier_request(url):
    """The earlier one may have stored a report: whoever is told 400 would give it up."""

    async def slow(scope, receive, send):
        await asyncio.sleep(0.5)
        await nothing(scope, receive, send)

    answer, _ = sent_to(slow, GET + b"GET " + url + b" HTTP/1.1\r\nHost: x\r\n\r\n", wait=2)
    assert answer == b"" or answer.startswith(EMPTY)


def test_the_next_request_must_arrive_as_soon_as_the_first():
    """Also if its first bytes come in one piece with the last ones of the request before."""
    answer, closed = sent_to(nothing, GET + GET[:10], seconds=0.5)
    assert (answer, closed) == (EMPTY, True)


def test_who_waits_for_a_word_before_the_body_is_never_kept_out_of_step():
    """Told no, such a client may leave the body out: what follows must not be read as it."""

    async def refusing(_scope, _receive, send):
        headers = [(b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 503, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    asked = post(b"Expect: 100-continue", b"Content-Length: 100")
    answer, closed = sent_to(refusing, asked)
    assert b"connection: close\r\n" in answer
    assert closed


def worker_memory(service):
    """The largest resident memory so far of the one worker, in bytes."""
    children = Path(f"/proc/{service.process.pid}/task/{service.process.pid}/children").read_text()
    peaks = []
    for pid in children.split():
        if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
            status = Path(f"/proc/{pid}/status").read_text()
            peaks.append(int(status.split("VmHWM:")[1].split()[0]) << 10)
    (peak,) = peaks
    return peak


def test_unread_answers_take_little_memory(service):
    """200 connections with 2,750 requests each took 2 GB."""
    service.start("--workers", "1")
    assert service.send(service.envelopes()).status == 202
    before = worker_memory(service)
    flood = f"GET {service.path} HTTP/1.1\r\n\r\n".encode() * 2_750
    with ExitStack() as stack:
        for _ in range(200):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.connect(("127.0.0.1", service.port))
            client.settimeout(0)
            with suppress(OSError):
                client.send(flood)
        assert service.send(service.envelopes()).status == 202
        time.sleep(1)
    assert worker_memory(service) - before < 64 << 20


def raw_post(service, *lines, body, length=None):
    token = service.credentials.issue()
    head = [
        f"POST {service.path}/reports HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {token}",
        "Content-Type: application/octet-stream",
        f"Croupier-Batch: {service.batch}",
        f"Content-Length: {len(body) if length is None else length}",
        *lines,
    ]
    sent = "\r\n".join([*head, "", ""]).encode() + body
    return run(exchange(service.port, sent, wait=30))


def test_one_credential_cannot_stop_intake(serving):
    """An upgrade made the server hand over an empty body, which ended the task that commits."""
    for _ in range(10):
        answer, closed = raw_post(
            serving, "Connection: Upgrade", "Upgrade: x", body=serving.envelopes()
        )
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert closed
    for _ in range(6):
        assert serving.send(serving.envelopes()).status == 202
    assert serving.get("/readyz").status == 200


def test_a_length_of_thousands_of_digits_is_refused(serving):
    body = serving.envelopes()
    for digits in ("0" * 5_000 + str(len(body)), "9" * 5_000, "1" + "0" * 17):
        answer, closed = raw_post(serving, body=body, length=digits)
        assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 413 "))
        assert closed


def test_two_credentials_are_none(serving):
    body = serving.envelopes()
    answer, closed = raw_post(serving, "Authorization: Bearer " + "0" * 66, body=body)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert closed
    assert body not in serving.stored()


def test_garbage_of_every_length_is_survived(serving):
    for length in (1, 50, 5_000):
        run(exchange(serving.port, os.urandom(length), wait=0.05))
    assert serving.send(serving.envelopes()).status == 202
