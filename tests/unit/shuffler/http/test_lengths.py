"""What the network can count: bytes and requests, the same whatever is sent (M26, rung network).

Real clients talk to a real `croupier serve` through a proxy that counts every byte of every request
and answer.
"""

import asyncio
import re
import socket
import threading
import time
from contextlib import suppress
from dataclasses import replace

import pytest

from croupier.client import client as client_module
from croupier.client.client import Client
from croupier.client.conversation import Get, Outcome, Post, Server, converse, submit
from croupier.client.memory import MemoryState
from croupier.numerics.keystream import Keystream
from croupier.protocol import wire
from croupier.shuffler.database.store import Store
from croupier.shuffler.release.rounds import open_round

SEEDS = (0, 1, 5, 10)
"""Of people of either value who answer in the first round or in the second."""
TABLES = {
    "randomizer": None,
    "questions": [
        {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 2.0},
        {"mechanism": "subset-selection", "k": 10, "subset_size": 3, "max_epsilon_local": 2.0},
    ],
    "participation": {"model": "rectified-multinomial"},
}
CUT = "cut"


class CountingProxy(threading.Thread):
    """Passes requests and answers on, one connection after the other, and notes their bytes.

    `noted` has a pair for each request: its bytes and those of the answer, or CUT.
    """

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.noted, self.cuts = port, [], 0
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listening.getsockname()[1]}"
        self.start()

    def run(self):
        while True:
            try:
                near, _ = self.listening.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.port))
            with near, far, suppress(OSError):
                self.pass_on(near, far)

    def pass_on(self, near, far):
        while request := message(near):
            far.sendall(request)
            answer = message(far)
            if request.startswith(b"POST") and self.cuts:
                self.cuts -= 1
                self.noted.append((len(request), CUT))
                return
            self.noted.append((len(request), len(answer)))
            near.sendall(answer)
            if b"connection: close" in answer:
                return

    def of(self, person, *given):
        """What is noted while a person's report is accepted."""
        self.noted = []
        self.outcome = person.report(self.url, *given)
        return tuple(self.noted)


def message(connection):
    """A request or an answer as a whole; nothing where the other side has closed."""
    data = b""
    while chunk := connection.recv(65536):
        data += chunk
        head, end, body = data.partition(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", head.lower())
        if end and len(body) >= (int(length[1]) if length else 0):
            return data
    return b""


class Person:
    """A client with its memory, a value and a turn drawn from a seed."""

    def __init__(self, service, number):
        self.value = (0, 9)[number % 2]
        self.memory = MemoryState()
        self.client = Client(
            service.plan,
            attribute="any",
            budget=9.0,
            memory=self.memory,
            spread=0.0,
            rng=Keystream(insecure_seed=number),
        )
        self.credential = service.credentials.issue()

    def answers_in(self):
        with self.memory.update() as state:
            (joined,) = state.joined.values()
        return joined.answers

    def report(self, url, changed=lambda _, step: step):
        """Take part in the open round; `changed` is what is sent instead of a step."""
        steps = converse(
            self.client, self.value, server=Server(url=url, credential=self.credential)
        )

        def altered():
            answer = None
            while True:
                try:
                    step = steps.send(answer)
                except StopIteration as end:
                    return end.value
                answer = yield changed(self, step) if isinstance(step, Post) else step

        return submit(altered(), sleep=lambda _: None)


class Reader:
    """Somebody who fetches a document."""

    def __init__(self, path):
        self.path = path

    def report(self, url):
        def steps():
            answer = yield Get(url + self.path)
            return Outcome.ACCEPTED if answer.status == 200 else Outcome.REFUSED

        return submit(steps())


@pytest.fixture
def service(make_service):
    with make_service(**TABLES) as made:
        made.start("--workers", "1")
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:  # clients that give a slow worker up would count twice
            with suppress(TimeoutError):
                if made.get("/readyz").status == 200:
                    break
        yield made


@pytest.fixture
def proxy(service):
    made = CountingProxy(service.port)
    yield made
    made.listening.close()


def open_next_round(service):
    """Close the open round and wait until the service announces the next."""

    async def opened():
        store = await Store.connect(service.database)
        try:
            return await open_round(service.plan, store=store, **service.own)
        finally:
            await store.close()

    service.set_state("released")
    service.batch = asyncio.run(opened()).identity.hex()
    deadline = time.monotonic() + 30
    while [key["batch"] for key in service.get(service.path).document["shuffler"]] != [
        service.batch
    ]:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_bytes_and_requests_are_the_same_for_every_value_answer_and_null(service, proxy):
    people = [Person(service, number) for number in SEEDS]
    seen = []
    for number in range(service.plan.participation_model.rounds):
        if number:
            open_next_round(service)
        for person in people:
            seen.append(proxy.of(person))
            assert proxy.outcome is Outcome.ACCEPTED
    assert {(person.value, person.answers_in()) for person in people} == {
        (value, answers) for value in (0, 9) for answers in (0, 1)
    }
    (one,) = set(seen)
    assert len(one) == 2, "the keys, then the report"
    assert len(service.stored()) == len(SEEDS)


def test_a_cut_connection_costs_everybody_the_same_bytes_again(service, proxy):
    seen = set()
    for number in SEEDS:
        proxy.cuts = 2
        seen.add(proxy.of(Person(service, number)))
        assert proxy.outcome is Outcome.ACCEPTED
    (one,) = seen
    _, *posts = one
    assert [answer for _, answer in posts[:2]] == [CUT, CUT]
    assert len({request for request, _ in posts}) == 1
    assert len(service.stored()) == len(SEEDS)


def test_repeated_and_second_reports_are_answered_alike(service, proxy):
    again = Person(service, 0)
    first, repeated = proxy.of(again), proxy.of(again)
    second = Person(service, 1)
    second.credential = again.credential
    assert proxy.of(second) == first == repeated
    assert len(service.stored()) == 1


def test_the_documents_of_a_round_are_the_same_for_everybody(service, proxy):
    for path in (service.path, f"{service.path}/rounds/0"):
        before = proxy.of(Reader(path))
        assert proxy.outcome is Outcome.ACCEPTED
        proxy.of(Person(service, 0))
        assert {proxy.of(Reader(path)) for _ in range(3)} == {before}


def in_a_header(person, step):
    return replace(step, headers=step.headers | {"X-Value": "*" * person.value})


def in_the_length(person, step):
    return replace(step, body=step.body + bytes(person.value))


@pytest.mark.parametrize("leak", [in_a_header, in_the_length])
def test_the_count_would_show_a_value(service, proxy, leak):
    assert proxy.of(Person(service, 0), leak) != proxy.of(Person(service, 1), leak)


def test_the_count_would_show_a_null_without_padding(service, proxy, monkeypatch):
    padded = client_module.encode_report

    def unpadded(plan, report, *, round_number):
        return padded(plan, report, round_number=round_number).rstrip(b"\0")

    monkeypatch.setattr(client_module, "encode_report", unpadded)
    monkeypatch.setattr(wire, "_require_length", lambda *_: None)
    people = [Person(service, number) for number in SEEDS]
    seen = {}
    for person in people:
        sent = proxy.of(person)
        seen.setdefault(person.answers_in() == 0, set()).add(sent[1][0])
    assert not seen[True] & seen[False]
