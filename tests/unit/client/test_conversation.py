"""A client's side of the network: the same bytes, the same headers, patience, then silence (C2)."""

import asyncio
import logging
import socket
import sys
import threading

import httpx
import pytest

from croupier.client.client import Client
from croupier.client.conversation import (
    Get,
    Outcome,
    Post,
    Response,
    Server,
    Wait,
    converse,
    submit,
    submit_async,
)
from croupier.client.memory import MemoryState
from croupier.errors import MissingExtraError, ParameterError, UntrustedError

SERVER = Server(url="https://reports.example", credential="letmein")
PRIVATE = "zebra-crossing"
LABELS = {"mechanism": "k-rr", "labels": ["no", PRIVATE], "max_epsilon_local": 2.0}


def talk(parties, value=1, server=SERVER, **given):
    given = {"attribute": "emoji", "budget": 9.0, "memory": MemoryState()} | given
    return converse(Client(parties.plan, **given), value, server=server)


class Script:
    """Carries out a conversation with answers that a function gives, and notes every step."""

    def __init__(self, steps, answers):
        self.steps, self.outcome = [], None
        answer = None
        try:
            while True:
                step = steps.send(answer)
                self.steps.append(step)
                answer = None if isinstance(step, Wait) else answers(step, len(self.posts))
        except StopIteration as end:
            self.outcome = end.value

    @property
    def posts(self):
        return [step for step in self.steps if isinstance(step, Post)]

    @property
    def waits(self):
        return [step.seconds for step in self.steps if isinstance(step, Wait)]


def answering(key_list, *posts):
    """The key list for every Get; one answer after the other, the last for ever, for a Post."""

    def answer(step, number):
        if isinstance(step, Get):
            return Response(200, key_list)
        return posts[min(number, len(posts)) - 1]

    return answer


@pytest.fixture
def key(parties):
    return parties.open()


@pytest.fixture
def keys(parties, key):
    return parties.key_list(key).to_bytes()


def test_keys_then_a_random_time_then_one_request(parties, key, keys):
    done = Script(talk(parties), answering(keys, Response(202, b"")))
    assert done.outcome is Outcome.ACCEPTED
    get, wait, post = done.steps
    assert get == Get(f"https://reports.example/v1/plans/{parties.plan.digest}")
    assert 0 <= wait.seconds < 43_200
    assert post.url == f"https://reports.example/v1/plans/{parties.plan.digest}/reports"
    assert post.headers == {
        "User-Agent": "croupier",
        "Accept-Encoding": "identity",
        "Content-Type": "application/octet-stream",
        "Croupier-Batch": key.batch,
        "Authorization": "Bearer letmein",
    }
    assert len(post.body) == 128


def test_silence_and_busyness_are_answered_with_the_same_bytes(parties, keys):
    answers = [
        None,
        Response(503, b"", "7"),
        Response(429, b""),
        Response(502, b""),
        Response(202, b""),
    ]
    done = Script(talk(parties), answering(keys, *answers))
    assert done.outcome is Outcome.ACCEPTED
    assert len(done.posts) == 5
    assert len(set(map(repr, done.posts))) == 1
    pauses = done.waits[1:]
    assert pauses[1] >= 7
    assert all(least / 2 <= pause for least, pause in zip((1, 2, 4, 8), pauses, strict=True))


def test_a_silent_server_is_given_up_after_the_round(parties, keys):
    done = Script(talk(parties), answering(keys, None))
    assert done.outcome is Outcome.EXPIRED
    assert 80_000 < sum(done.waits[1:]) <= 86_400
    assert len({post.body for post in done.posts}) == 1
    assert len({post.headers["Croupier-Batch"] for post in done.posts}) == 1


def test_pauses_differ_from_client_to_client(parties, keys):
    runs = [Script(talk(parties), answering(keys, None)).waits[1:] for _ in range(2)]
    assert runs[0] != runs[1]


@pytest.mark.parametrize("text", ["-1", "soon", "9" * 400, "٣", "", None])
def test_a_strange_retry_after_is_ignored(parties, keys, text):
    done = Script(talk(parties), answering(keys, Response(503, b"", text), Response(202, b"")))
    assert done.outcome is Outcome.ACCEPTED
    assert done.waits[1] <= 1


@pytest.mark.parametrize("status", [200, 301, 400, 401, 404, 413])
def test_any_other_answer_ends_it(parties, keys, status):
    done = Script(talk(parties), answering(keys, Response(status, b"")))
    assert done.outcome is Outcome.REFUSED
    assert len(done.posts) == 1


def test_a_signed_refusal_leads_to_the_next_batch_once(make_parties):
    parties = make_parties(collection={"rounds": 5})
    offered = [parties.open(number) for number in range(3)]
    lists = iter([parties.key_list(key).to_bytes() for key in offered])

    def answer(step, _):
        if isinstance(step, Get):
            return Response(200, next(lists))
        return Response(409, parties.refusal(step.headers["Croupier-Batch"], step.body).to_bytes())

    done = Script(talk(parties), answer)
    assert done.outcome is Outcome.CLOSED
    assert [post.headers["Croupier-Batch"] for post in done.posts] == [
        key.batch for key in offered[:2]
    ]


def test_the_refusal_of_another_request_is_an_alarm(parties, keys, key):
    other = parties.refusal(key.batch, b"what somebody else sent").to_bytes()
    with pytest.raises(UntrustedError, match="not about the request that was sent"):
        Script(talk(parties), answering(keys, Response(409, other)))


def test_an_unsigned_refusal_is_an_alarm_and_nothing_is_sealed_again(parties, keys):
    with pytest.raises(UntrustedError, match="refusal"):
        Script(talk(parties), answering(keys, Response(409, b"{}")))


def test_mirrors_are_asked_and_must_agree(parties, keys):
    server = Server(
        url="https://reports.example", credential="x", mirrors=("https://mirror.example/",)
    )
    done = Script(talk(parties, server=server), answering(keys, Response(202, b"")))
    assert [step.url.partition("/v1")[0] for step in done.steps[:2]] == [
        "https://reports.example",
        "https://mirror.example",
    ]
    other = parties.key_list(parties.open()).to_bytes()

    def answer(step, _):
        return Response(200, other if "mirror" in step.url else keys)

    with pytest.raises(UntrustedError, match="every mirror"):
        Script(talk(parties, server=server), answer)


def test_without_keys_nothing_is_randomised_or_sent(parties):
    memory = MemoryState()
    done = Script(talk(parties, memory=memory), lambda *_: Response(404, b""))
    assert done.outcome is Outcome.EXPIRED
    assert not done.posts
    with memory.update() as state:
        assert not state.spent


def test_not_this_persons_turn(make_parties):
    parties = make_parties(participation={"model": "divide", "groups": 2})
    done = Script(talk(parties, group=1), asking(parties, parties.open(0)))
    assert done.outcome is Outcome.ABSENT
    assert not done.posts


def asking(parties, key):
    """A server, and mirrors, of a plan whose rounds ask by query."""

    def answer(step, _):
        if isinstance(step, Post):
            return Response(202, b"")
        if step.url.endswith(f"/rounds/{key.round}"):
            return Response(200, parties.rounds(key)[0])
        return Response(200, parties.key_list(key).to_bytes())

    return answer


def test_the_query_of_a_round_is_fetched_from_everywhere(make_parties):
    parties = make_parties(participation={"model": "divide", "groups": 2})
    key = parties.open(1)
    mirrored = Server(
        url="https://reports.example", credential="x", mirrors=("https://mirror.example",)
    )
    asked = []
    steps = talk(parties, lambda question: asked.append(question) or 3, mirrored, group=1)
    done = Script(steps, asking(parties, key))
    assert done.outcome is Outcome.ACCEPTED
    assert asked == ["crashed since build 4711?"]
    paths = [step.url.partition(parties.plan.digest) for step in done.steps[:4]]
    assert [(start[:16], end) for start, _, end in paths] == [
        ("https://reports.", ""),
        ("https://mirror.e", ""),
        ("https://reports.", "/rounds/1"),
        ("https://mirror.e", "/rounds/1"),
    ]


@pytest.mark.parametrize(
    "url", ["http://reports.example", "ftp://x", "reports.example", "https://"]
)
def test_a_credential_travels_under_tls_only(url):
    with pytest.raises(ParameterError, match="https"):
        Server(url=url, credential="x")


def test_plain_http_is_for_this_machine_or_by_request():
    Server(url="http://127.0.0.1:8080", credential="x")
    Server(url="http://shuffler:8080", credential="x", insecure_http=True)
    with pytest.raises(ParameterError, match="credential") as refused:
        Server(url="https://x", credential="a\nb")
    assert "a\nb" not in str(refused.value)
    assert "letmein" not in repr(SERVER)


class Recorder(threading.Thread):
    """A server that keeps every byte it is sent."""

    def __init__(self, key_list):
        super().__init__(daemon=True)
        self.key_list, self.requests = key_list, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        self.start()

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with connection:
                self.serve(connection)

    def serve(self, connection):
        data = b""
        while chunk := connection.recv(65536):
            data += chunk
            head, end, body = data.partition(b"\r\n\r\n")
            length = 0 if head.startswith(b"GET") else 128
            if end and len(body) >= length:
                self.requests.append(data)
                content = self.key_list if head.startswith(b"GET") else b""
                status = b"200 OK" if content else b"202 Accepted"
                head = b"HTTP/1.1 %s\r\nSet-Cookie: seen=1\r\nContent-Length: %d\r\n\r\n"
                connection.sendall(head % (status, len(content)) + content)
                data = b""


@pytest.mark.parametrize("is_async", [False, True])
def test_what_travels_is_the_same_for_every_value(make_parties, is_async, caplog, capfd):
    """Byte for byte but for the sealed bytes: no cookie, no fingerprint, one length."""
    caplog.set_level(logging.DEBUG)
    parties = make_parties(randomizer=LABELS)
    key = parties.open()
    recorder = Recorder(parties.key_list(key).to_bytes())
    server = Server(url=recorder.url, credential="letmein")
    for value in ("no", PRIVATE, "no", PRIVATE):
        steps = talk(parties, value, server, spread=0.0)
        outcome = asyncio.run(submit_async(steps)) if is_async else submit(steps)
        assert outcome is Outcome.ACCEPTED
    recorder.socket.close()
    gets = {data for data in recorder.requests if data.startswith(b"GET")}
    posts = [data for data in recorder.requests if data.startswith(b"POST")]
    assert len(gets) == 1
    assert len(posts) == 4
    assert len({data[:-128] for data in posts}) == 1
    head = posts[0][:-128].decode().split("\r\n")[1:-2]
    assert sorted(line.partition(":")[0].lower() for line in head) == [
        "accept-encoding",
        "authorization",
        "content-length",
        "content-type",
        "croupier-batch",
        "host",
        "user-agent",
    ]
    reports = {parties.read(data[-128:], key).report for data in posts}
    assert reports <= {0, 1}
    for text in (caplog.text, *capfd.readouterr()):
        assert PRIVATE not in text
        assert "letmein" not in text


def test_a_broken_connection_is_silence(parties, keys):
    tries = []

    def handle(request):
        if request.method == "GET":
            return httpx.Response(200, content=keys)
        tries.append(request.content)
        if len(tries) < 3:
            raise httpx.ConnectError("down")
        return httpx.Response(202)

    pauses = []
    outcome = submit(talk(parties), transport=httpx.MockTransport(handle), sleep=pauses.append)
    assert outcome is Outcome.ACCEPTED
    assert len(tries) == 3
    assert len(set(tries)) == 1
    assert len(pauses) == 3


def test_redirects_are_not_followed(parties, keys):
    asked = []

    def handle(request):
        asked.append(str(request.url))
        if request.method == "GET":
            return httpx.Response(200, content=keys)
        return httpx.Response(307, headers={"Location": "https://elsewhere.example"})

    transport = httpx.MockTransport(handle)
    assert submit(talk(parties), transport=transport, sleep=lambda _: None) is Outcome.REFUSED
    assert not any("elsewhere" in url for url in asked)


def test_without_httpx_the_extra_is_named(parties, monkeypatch):
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtraError, match=r"\.\[client\]"):
        submit(talk(parties))
