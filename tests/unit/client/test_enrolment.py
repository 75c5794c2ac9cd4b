"""Enrolment: one device, one credential, whatever is lost on the way."""

import json
import re

import httpx
import pytest

from croupier.client.client import Client
from croupier.client.conversation import Get, Outcome, Post, Response, Server, converse, submit
from croupier.client.enrolment import admitted
from croupier.client.forward import Prepared, deliver, prepare
from croupier.client.memory import FileState, MemoryState, State
from croupier.errors import CroupierError, NotAdmittedError, ParameterError, UntrustedError
from croupier.protocol.signed_document import canonical
from tests.unit.client.script import Script

ISSUER = "https://issuer.example"
SERVER = Server(url="https://reports.example", issuer=ISSUER, proof="an invitation")
UNSAID = "zebra-crossing"


class Issuer:
    """Gives each device one credential, the same however often it asks."""

    def __init__(self, *answers):
        self.answers, self.devices, self.bodies = list(answers), {}, []

    def __call__(self, body):
        self.bodies.append(body)
        if self.answers:
            return self.answers.pop(0)
        device = json.loads(body)["device"]
        credential = self.devices.setdefault(device, f"{len(self.devices):066x}")
        return Response(200, canonical({"credential": credential, "schema_version": 1}))


class Site:
    """An issuer and a shuffler."""

    def __init__(self, parties, issuer, *posts):
        self.keys = parties.key_list(parties.open()).to_bytes()
        self.issuer, self.posts, self.steps = issuer, list(posts) or [Response(202, b"")], []

    def __call__(self, step, _=None):
        self.steps.append(step)
        if step.url == f"{ISSUER}/v1/enrol":
            return self.issuer(step.body)
        if isinstance(step, Get):
            return Response(200, self.keys)
        return self.posts.pop(0) if len(self.posts) > 1 else self.posts[0]

    @property
    def reports(self):
        return [
            step for step in self.steps if isinstance(step, Post) and step.url.endswith("/reports")
        ]


@pytest.fixture
def memory():
    return MemoryState()


@pytest.fixture
def client(parties, memory):
    return make(parties, memory)


def make(parties, memory, **given):
    return Client(parties.plan, attribute="emoji", budget=9.0, memory=memory, **given)


def known(memory):
    with memory.update() as state:
        return state.enrolled


def test_a_device_enrols_before_it_takes_part(parties, client, memory):
    site = Site(parties, Issuer())
    done = Script(converse(client, 1, server=SERVER), site)
    assert done.outcome is Outcome.ACCEPTED
    enrolment, keys, report = site.steps
    device = known(memory)[ISSUER].device
    assert re.fullmatch("[0-9a-f]{64}", device)
    assert enrolment.url == "https://issuer.example/v1/enrol"
    assert enrolment.headers == {
        "User-Agent": "croupier",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
    }
    assert enrolment.body == (
        b'{"device":"%s","proof":"an invitation","schema_version":1}' % device.encode()
    )
    assert isinstance(keys, Get)
    assert report.headers["Authorization"] == f"Bearer {0:066x}"


def test_it_enrols_once(parties, client, memory):
    issuer = Issuer()
    for _ in range(2):
        Script(converse(client, 1, server=SERVER), Site(parties, issuer))
    Script(converse(make(parties, memory), 1, server=SERVER), Site(parties, issuer))
    assert len(issuer.bodies) == 1


def test_the_device_is_remembered_before_it_is_sent(client, memory):
    steps = admitted(client, SERVER, seconds=30.0)
    step = next(steps)
    assert json.loads(step.body)["device"] == known(memory)[ISSUER].device
    assert known(memory)[ISSUER].credential is None


def test_a_restart_at_any_point_gets_the_same_credential(parties, tmp_path):
    issuer, path = Issuer(), tmp_path / "memory.json"
    for is_answered in (False, True, False):
        steps = admitted(make(parties, FileState(path)), SERVER, seconds=30.0)
        body = next(steps).body
        if is_answered:
            issuer(body)  # and the answer is lost
        steps.close()
    done = Script(admitted(make(parties, FileState(path)), SERVER, seconds=30.0), send(issuer))
    assert len(set(issuer.bodies)) == 1
    assert len(issuer.devices) == 1
    assert done.outcome.credential == f"{0:066x}"
    again = Script(admitted(make(parties, FileState(path)), SERVER, seconds=30.0), send(issuer))
    assert (again.outcome, again.steps) == (done.outcome, [])


def send(issuer):
    return lambda step, _: issuer(step.body)


def test_a_busy_issuer_is_asked_again_with_the_same_bytes(client):
    issuer = Issuer(None, Response(503, b"", "7"), Response(429, b""), Response(500, b""))
    done = Script(admitted(client, SERVER, seconds=3600.0), send(issuer))
    assert done.outcome.credential == f"{0:066x}"
    assert len(issuer.bodies) == 5
    assert len(set(issuer.bodies)) == 1
    assert done.waits[1] >= 7


@pytest.mark.parametrize("talk", [converse, prepare])
def test_a_silent_issuer_lets_nothing_be_randomised(parties, client, memory, talk):
    site = Site(parties, lambda _: None)
    assert Script(talk(client, 1, server=SERVER), site).outcome is Outcome.EXPIRED
    assert {step.url for step in site.steps} == {f"{ISSUER}/v1/enrol"}
    with memory.update() as state:
        assert not state.spent


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (403, "The issuer does not admit this device (403). Check the proof of enrolment."),
        (409, "The invitation was used by another device (409). Ask for another one."),
        (404, "The issuer does not enrol devices (404). Check its address."),
        (301, "The issuer does not enrol devices (301). Check its address."),
    ],
)
def test_a_device_that_is_not_admitted_is_told_a_fixed_sentence(
    parties, client, memory, status, said
):
    refusal = Response(status, canonical({"error": UNSAID, "schema_version": 1}))
    site = Site(parties, Issuer(refusal))
    with pytest.raises(NotAdmittedError) as refused:
        Script(converse(client, 1, server=SERVER), site)
    assert (str(refused.value), refused.value.status) == (said, status)
    assert len(site.steps) == 1
    before = known(memory)[ISSUER]
    with memory.update() as state:
        assert not state.spent
    done = Script(converse(client, 1, server=SERVER), site)
    assert done.outcome is Outcome.ACCEPTED
    assert known(memory)[ISSUER].device == before.device


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        canonical({"credential": "0" * 65, "schema_version": 1}),
        canonical({"credential": "0" * 67, "schema_version": 1}),
        canonical({"credential": "0" * 65 + "\n", "schema_version": 1}),
        canonical({"credential": "0" * 66 + "\n", "schema_version": 1}),
        canonical({"credential": "G" * 66, "schema_version": 1}),
        canonical({"credential": "0" * 66, "schema_version": 2}),
        canonical({"credential": "0" * 66}),
    ],
)
def test_an_answer_that_is_no_credential_is_an_alarm(client, memory, body):
    with pytest.raises(UntrustedError, match="the issuer's answer is not a credential"):
        Script(admitted(client, SERVER, seconds=30.0), send(Issuer(Response(200, body))))
    assert known(memory)[ISSUER].credential is None


def test_a_credential_that_is_refused_is_not_replaced(parties, client):
    """A second credential would make two senders of one person."""
    issuer = Issuer()
    site = Site(parties, issuer, Response(401, b""))
    for _ in range(2):
        assert Script(converse(client, 1, server=SERVER), site).outcome is Outcome.REFUSED
    assert len(issuer.bodies) == 1
    assert len({report.headers["Authorization"] for report in site.reports}) == 1


def test_a_prepared_report_is_delivered_with_the_credential(parties, memory):
    issuer, now = Issuer(), [1_800_000_000.0]
    client = make(parties, memory, clock=lambda: now[0])
    site = Site(parties, issuer, Response(401, b""), Response(202, b""))
    made = Script(prepare(client, 1, server=SERVER), site).outcome
    assert isinstance(made, Prepared)
    assert len(issuer.bodies) == 1
    waiting = Script(deliver(client, server=SERVER), site)
    assert (waiting.outcome, waiting.steps) == (Outcome.WAITING, [])
    now[0] = made.due
    assert Script(deliver(client, server=SERVER), site).outcome is Outcome.REFUSED
    assert Script(deliver(client, server=SERVER), site).outcome is Outcome.ACCEPTED
    assert len(issuer.bodies) == 1
    assert len({report.body for report in site.reports}) == 1


def test_a_report_of_another_credential_can_be_delivered_after_enrolment(parties, client):
    """The app moved to an issuer while a report was waiting."""
    site = Site(parties, Issuer())
    old = Server(url="https://reports.example", credential="letmein")
    Script(prepare(client, 1, server=old), site)
    client._clock = lambda: 4e9  # noqa: SLF001 - long after it is due
    assert Script(deliver(client, server=SERVER), site).outcome is Outcome.ACCEPTED
    assert site.reports[0].headers["Authorization"] == f"Bearer {0:066x}"


def test_a_refused_batch_is_sealed_again_under_the_given_credential(make_parties, memory):
    parties = make_parties(collection={"rounds": 5})
    lists = iter([parties.key_list(parties.open(number)).to_bytes() for number in range(2)])
    issuer, authorization = Issuer(), f"Bearer {0:066x}"

    def answer(step, _):
        if step.url.endswith("/enrol"):
            return issuer(step.body)
        if isinstance(step, Get):
            return Response(200, next(lists))
        if answer.is_refusing:
            answer.is_refusing = False
            batch = step.headers["Croupier-Batch"]
            refusal = parties.refusal(batch, step.body, authorization=authorization)
            return Response(409, refusal.to_bytes())
        return Response(202, b"")

    answer.is_refusing = True
    done = Script(converse(make(parties, memory), 1, server=SERVER), answer)
    assert done.outcome is Outcome.ACCEPTED


def test_issuers_are_remembered_apart(client, memory):
    issuer = Issuer()
    other = Server(url="https://reports.example", issuer="https://other.example/")
    Script(admitted(client, SERVER, seconds=30.0), send(issuer))
    Script(admitted(client, other, seconds=30.0), send(issuer))
    assert set(known(memory)) == {ISSUER, "https://other.example"}
    assert len(issuer.devices) == 2


def test_people_differ_also_where_noise_is_repeatable(parties):
    devices = []
    for _ in range(2):
        memory = MemoryState()
        next(admitted(make(parties, memory, insecure_seed=7), SERVER, seconds=30.0))
        devices.append(known(memory)[ISSUER].device)
    assert devices[0] != devices[1]


def test_a_memory_without_enrolment_is_as_before():
    assert "enrolled" not in json.loads(State().model_dump_json())


def test_over_http(parties, client):
    issuer, asked = Issuer(), []
    keys = parties.key_list(parties.open()).to_bytes()

    def handle(request):
        asked.append((request.method, request.url.host))
        if request.url.path == "/v1/enrol":
            answer = issuer(request.content)
            return httpx.Response(answer.status, content=answer.body)
        return httpx.Response(200, content=keys) if request.method == "GET" else httpx.Response(202)

    steps = converse(client, 1, server=SERVER)
    transport = httpx.MockTransport(handle)
    assert submit(steps, transport=transport, sleep=lambda _: None) is Outcome.ACCEPTED
    assert asked == [
        ("POST", "issuer.example"),
        ("GET", "reports.example"),
        ("POST", "reports.example"),
    ]


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"issuer": "http://issuer.example"},
        {"issuer": "issuer.example"},
        {"issuer": ISSUER, "proof": f"{UNSAID}\n"},
        {"issuer": ISSUER, "proof": f"{UNSAID}é"},
        {"issuer": ISSUER, "proof": UNSAID.ljust(4097, "x")},
    ],
)
def test_what_a_server_cannot_be(given):
    with pytest.raises(ParameterError) as refused:
        Server(url="https://reports.example", **given)
    assert UNSAID not in str(refused.value)


def test_secrets_are_not_printed_and_a_missing_credential_is_named():
    Server(url="https://reports.example", issuer=ISSUER, proof="x" * 4096)
    assert "an invitation" not in repr(SERVER)
    with pytest.raises(CroupierError, match="Enrol first"):
        _ = SERVER.authorization


def test_a_given_credential_is_used_and_nobody_enrols(client, memory):
    given = Server(url="https://reports.example", issuer=ISSUER, credential="letmein")
    done = Script(admitted(client, given, seconds=30.0), lambda *_: None)
    assert (done.outcome, done.steps, known(memory)) == (given, [], {})
