"""A client's side of the network: the same bytes, the same headers, patience, then silence (C2)."""

import asyncio
import logging
import socket
import threading

import httpx
import numpy as np
import pytest

from croupier.client.client import Client
from croupier.client.conversation import (
    Get,
    Outcome,
    Post,
    Response,
    Server,
    converse,
    submit,
    submit_async,
)
from croupier.client.memory import MemoryState, State
from croupier.client.relay import send_all
from croupier.errors import (
    NotOfferedError,
    ParameterError,
    SupersededError,
    UntrustedError,
)
from croupier.protocol.key_list import kept_seconds
from croupier.protocol.signed_document import canonical
from croupier.protocol.superseded import Pointer, SupersededPlan
from tests.unit.client.script import SERVER, Script, answering

PRIVATE = "zebra-crossing"
LABELS = {"mechanism": "k-rr", "labels": ["no", PRIVATE], "max_epsilon_local": 2.0}


def talk(parties, value=1, server=SERVER, **given):
    given = {"attribute": "emoji", "budget": 9.0, "memory": MemoryState()} | given
    return converse(Client(parties.plan, **given), value, server=server)


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


@pytest.mark.parametrize("status", [200, 301, 400, 401, 410, 413])
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


MIRRORED = Server(
    url="https://reports.example", credential="letmein", mirrors=("https://mirror.example",)
)


def test_a_mirror_that_is_behind_is_waited_for(make_parties):
    """A cache may still serve the list of a minute ago, in which the newest round is not open."""
    parties = make_parties(collection={"rounds": 5})
    first, second = parties.open(0), parties.open(1)
    old, new = parties.key_list(first).to_bytes(), parties.key_list(first, second).to_bytes()
    asked = []

    def answer(step, _):
        if isinstance(step, Post):
            return Response(202, b"")
        asked.append(step.url)
        return Response(200, old if "mirror" in step.url and len(asked) <= 2 else new)

    done = Script(talk(parties, server=MIRRORED), answer)
    assert done.outcome is Outcome.ACCEPTED
    assert len(asked) == 4, "all of them are asked again, not only the mirror"
    assert done.waits[:-1] == [2 + kept_seconds(parties.plan)] == [62]
    assert done.posts[0].headers["Croupier-Batch"] == second.batch


def test_a_mirror_that_stays_different_is_an_alarm(parties, keys):
    other, asked = parties.key_list(parties.open()).to_bytes(), []

    def answer(step, _):
        asked.append(step.url)
        return Response(200, other if "mirror" in step.url else keys)

    with pytest.raises(UntrustedError, match="every mirror"):
        Script(talk(parties, server=MIRRORED), answer)
    assert len(asked) == 4


def test_the_document_of_a_round_is_waited_for_as_well(make_parties):
    parties = make_parties(participation={"model": "divide", "groups": 2})
    key, late = parties.open(1), [b"another"]

    def answer(step, number):
        if "mirror" in step.url and step.url.endswith("/rounds/1") and late:
            return Response(200, late.pop())
        return asking(parties, key)(step, number)

    done = Script(talk(parties, lambda _: 3, MIRRORED, group=1), answer)
    assert done.outcome is Outcome.ACCEPTED
    assert done.waits[0] == 62


def test_no_condition_is_sent_and_none_is_answered(parties):
    """Only a whole document counts: 304 would be about one that another person's client has."""
    asked = []

    def answer(step, _):
        asked.append(step)
        return Response(304, b"")

    with pytest.raises(NotOfferedError, match="304"):
        Script(talk(parties), answer)
    (get,) = asked
    assert set(get.headers) == {"User-Agent", "Accept-Encoding"}


def test_without_keys_nothing_is_randomised_or_sent(parties):
    memory = MemoryState()
    done = Script(talk(parties, memory=memory), lambda *_: None)
    assert done.outcome is Outcome.EXPIRED
    assert not done.posts
    with memory.update() as state:
        assert not state.spent


NOT_OFFERED = "This server does not offer the plan (404). Check the address and the plan's digest."


@pytest.mark.parametrize("at_once", [True, False])
def test_a_server_that_does_not_offer_the_plan_is_named_at_once(parties, keys, at_once):
    asked = []

    def answer(step, _):
        asked.append(step)
        offered = isinstance(step, Get) and not at_once
        return Response(200, keys) if offered else Response(404, b"")

    with pytest.raises(NotOfferedError) as refused:
        Script(talk(parties), answer)
    assert str(refused.value) == NOT_OFFERED
    assert [type(step) for step in asked] == ([Get] if at_once else [Get, Post])


def test_a_mirror_or_a_round_that_is_missing_is_named(make_parties):
    parties = make_parties(participation={"model": "divide", "groups": 2})
    keys = parties.key_list(parties.open(0)).to_bytes()
    with pytest.raises(NotOfferedError, match=r"offer the round of the plan \(404\)"):
        Script(
            talk(parties, group=0),
            lambda step, _: Response(404, b"") if "/rounds/" in step.url else Response(200, keys),
        )
    mirrored = Server(
        url="https://reports.example", credential="x", mirrors=("https://mirror.example",)
    )
    with pytest.raises(NotOfferedError, match=r"This mirror does not offer the plan \(307\)"):
        Script(
            talk(parties, server=mirrored, group=0),
            lambda step, _: Response(307 if "mirror" in step.url else 200, keys),
        )


def pointer(parties, signing_key=None):
    """What a server shows in place of a superseded plan."""
    successor = parties.plan.replace(collection__rounds=9)
    plan = parties.plan
    if signing_key is None:
        return SupersededPlan.make(plan, successor, signing_key=parties.shuffler).to_bytes()
    forged = Pointer.written(
        plan, signing_key=signing_key, kind="superseded", successor=successor.digest
    )
    document = {"schema_version": 2, "plan": plan.canonical.decode()}
    return canonical(document | {"superseded": forged.model_dump()})


def test_a_superseded_plan_is_reported_before_anything_is_randomised(parties):
    memory, asked = MemoryState(), []

    def answer(step, _):
        asked.append(step)
        return Response(410, pointer(parties))

    with pytest.raises(SupersededError) as told:
        Script(talk(parties, memory=memory), answer)
    successor = parties.plan.replace(collection__rounds=9).digest
    assert told.value.successor == successor
    assert str(told.value) == (
        f"This plan was superseded by plan {successor[:16]}…: install the version of the app that "
        "has it."
    )
    assert len(asked) == 1
    with memory.update() as state:
        assert state == State()


def test_a_sealed_report_of_a_superseded_plan_is_neither_sent_again_nor_made_again(parties, keys):
    """Whether the last answer was lost is not known: so nothing is forgotten, and nothing new."""
    memory, posts = MemoryState(), []

    def answer(step, _):
        if isinstance(step, Get):
            return Response(200, keys)
        posts.append(step)
        return Response(410, pointer(parties))

    with pytest.raises(SupersededError):
        Script(talk(parties, memory=memory), answer)
    assert len(posts) == 1
    with memory.update() as state:
        kept = state.model_copy(deep=True)
    assert kept.sealed[parties.plan.digest].body == posts[0].body.hex()
    assert kept.spent == {"emoji": [2.0]}
    with pytest.raises(SupersededError):
        Script(talk(parties, memory=memory), lambda *_: Response(410, pointer(parties)))
    # If the round were offered again after all, the same bytes would go out.
    done = Script(talk(parties, 7, memory=memory), answering(keys, Response(202, b"")))
    assert [post.body for post in done.posts] == [posts[0].body]
    with memory.update() as state:
        assert state == kept


def test_a_plan_that_is_superseded_after_a_refusal_seals_nothing_again(make_parties):
    parties = make_parties(collection={"rounds": 5})
    keys = iter([Response(200, parties.key_list(parties.open()).to_bytes())])

    def answer(step, _):
        if isinstance(step, Get):
            return next(keys, Response(410, pointer(parties)))
        return Response(409, parties.refusal(step.headers["Croupier-Batch"], step.body).to_bytes())

    with pytest.raises(SupersededError):
        Script(talk(parties), answer)


@pytest.mark.parametrize("at", [Get, Post])
def test_a_pointer_that_the_shuffler_did_not_sign_sends_nobody_away(make_parties, parties, at):
    keys = parties.key_list(parties.open()).to_bytes()
    others = [pointer(parties, parties.release), pointer(parties, parties.analyzer)]
    others += [pointer(make_parties()), b'{"superseded": {}}']
    others += [b"", b"[]", b"{}", b'{"error": "gone", "schema_version": 1}'] * (at is Get)
    for body in others:
        with pytest.raises(UntrustedError, match="the pointer"):
            Script(
                talk(parties),
                lambda step, _, body=body: (
                    Response(410, body) if isinstance(step, at) else Response(200, keys)
                ),
            )


def test_a_closed_batch_is_no_pointer(parties, keys):
    gone = Response(410, b'{"error":"The batch is closed.","schema_version":1}')
    assert Script(talk(parties), answering(keys, gone)).outcome is Outcome.REFUSED


def test_a_relay_is_told_as_well(parties, keys):
    def relay():
        return send_all(parties.plan, [np.zeros(3, int)], server=SERVER, sent=lambda _: None)

    def answer(status, body):
        return lambda step, _: (
            Response(200, keys) if isinstance(step, Get) else Response(status, body)
        )

    for answers in (lambda *_: Response(410, pointer(parties)), answer(410, pointer(parties))):
        with pytest.raises(SupersededError):
            Script(relay(), answers)
    for answers in (lambda *_: Response(404, b""), answer(404, b"")):
        with pytest.raises(NotOfferedError):
            Script(relay(), answers)
    assert Script(relay(), answer(401, b"")).outcome is Outcome.REFUSED


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
    with pytest.raises(ParameterError, match=r"begin with https://; got .* --insecure-http"):
        Server(url="http://shuffler:8080", credential="x")
    for address in ("ftp://shuffler", "shuffler:8080", "https://"):
        with pytest.raises(ParameterError, match="begin with https:// or http://"):
            Server(url=address, credential="x", insecure_http=True)
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
    pauses = []
    assert submit(talk(parties), transport=transport, sleep=pauses.append) is Outcome.EXPIRED
    assert not any("elsewhere" in url for url in asked)
    assert len(pauses) > 3, "as of no answer: the report is sent again"
