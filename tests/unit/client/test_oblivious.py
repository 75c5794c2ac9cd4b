"""A client behind a relay: one length, signed keys, replaced keys, and relays that lie."""

import json
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.client.client import Client
from croupier.client.conversation import Outcome, Response, Server, converse, fetch, submit
from croupier.client.forward import deliver, prepare
from croupier.client.memory import MemoryState
from croupier.client.relay import send_all
from croupier.errors import CertificateError, NotOfferedError, ParameterError, UntrustedError
from croupier.protocol.oblivious.binary_http import BinaryRequest, BinaryResponse
from croupier.protocol.oblivious.capsule import (
    KEYS_PATH,
    REQUEST_OVERHEAD,
    UNKNOWN_KEY,
    GatewayKey,
    KeyConfiguration,
    NotForUsError,
    write_configurations,
)
from croupier.protocol.oblivious.gateway_keys import GatewayKeys, ListedGateway
from tests.unit.client.script import Script
from tests.unit.client.test_tokens import (
    ISSUER,
    signers,  # noqa: F401 - a fixture
)
from tests.unit.client.test_tokens import SERVER as ISSUING
from tests.unit.client.test_tokens import Site as TokenSite
from tests.unit.parties import Parties

RELAY = "https://relay.example"
SERVER = Server(url="https://reports.example", credential="ab" * 33, relay=RELAY)
FIRST, SECOND, THIRD = (GatewayKey(number, X25519PrivateKey.generate()) for number in (1, 2, 3))
LENGTH = 4096


class Site:
    """A shuffler with its gateway, and what a relay in front of it sees and shows."""

    def __init__(self, *keys, parties=None):
        relay, soon = {"relay": "Example Relay"}, {"every": "10m"}
        self.parties = parties or Parties(admission=relay, collection=soon)
        self.plan = self.parties.plan
        self.keys, self.shown, self.signer = keys, keys, self.parties.intake
        self.opening = self.parties.open()
        self.inside, self.outside = [], []
        self.posted = Response(202, b"")
        self.changed = lambda answer: answer

    def __call__(self, step, _):
        """Answer as the relay does."""
        assert step.url.startswith(RELAY)
        assert step.relay is None
        if step.url == f"{RELAY}{KEYS_PATH}":
            return Response(200, write_configurations([key.configuration for key in self.shown]))
        self.outside.append((dict(step.headers), len(step.body)))
        for key in self.keys:
            try:
                opened = key.open(step.body)
            except NotForUsError:
                continue
            answer = self.answer(BinaryRequest.read(opened.request))
            later = () if answer.retry_after is None else ((b"retry-after", b"7"),)
            sealed = BinaryResponse(answer.status, later, answer.body).to_bytes(length=8192)
            return self.changed(Response(200, opened.answered(sealed)))
        return Response(400, json.dumps({"type": UNKNOWN_KEY, "title": "x"}).encode())

    def answer(self, request):
        self.inside.append(request)
        path = request.path.decode().removeprefix(f"/v1/plans/{self.plan.digest}")
        if path == "/gateway":
            return Response(200, self.signed())
        if path == "":
            return Response(200, self.parties.key_list(self.opening).to_bytes())
        return self.posted

    def signed(self):
        signed = GatewayKeys.make(self.plan, keys=self.keys, signing_key=self.signer)
        return ListedGateway(keys=self.parties.keys, gateway=signed).to_bytes()

    def client(self, **given):
        given = {"attribute": "emoji", "budget": 9.0, "memory": MemoryState()} | given
        return Client(self.plan, **given)

    def talk(self, value=1, server=SERVER, client=None):
        return Script(converse(client or self.client(), value, server=server), self)


def test_everything_goes_through_the_relay_and_has_one_length():
    site = Site(FIRST)
    done = site.talk()
    assert done.outcome is Outcome.ACCEPTED
    assert [request.path.decode() for request in site.inside] == [
        f"/v1/plans/{site.plan.digest}{path}" for path in ("/gateway", "", "/reports")
    ]
    assert {length for _, length in site.outside} == {LENGTH + REQUEST_OVERHEAD}
    expected = {
        "User-Agent": "croupier",
        "Accept-Encoding": "identity",
        "Content-Type": "message/ohttp-req",
    }
    assert all(headers == expected for headers, _ in site.outside)
    report = site.inside[-1]
    assert (report.method, report.authority) == (b"POST", b"reports.example")
    assert dict(report.fields) == {
        b"content-type": b"application/octet-stream",
        b"croupier-batch": site.opening.batch.encode(),
        b"authorization": f"Bearer {SERVER.credential}".encode(),
    }
    opened = site.parties.read(report.content, site.opening)
    assert opened.report is not None


def test_people_with_different_values_look_alike():
    seen = []
    for value in (0, 9):
        site = Site(FIRST)
        done = site.talk(value)
        urls = [getattr(step, "url", None) for step in done.steps]
        seen.append((urls, site.outside))
    assert seen[0] == seen[1]


def test_a_key_that_was_replaced_is_fetched_anew_once():
    site = Site(THIRD, SECOND)
    site.shown = (FIRST,)  # a cache that is not renewed
    assert site.talk().outcome is Outcome.EXPIRED
    assert site.inside == []
    site = Site(FIRST)
    steps = converse(site.client(), 1, server=SERVER)

    def rotating(step, number):
        if len(site.inside) == 2:
            site.keys = site.shown = (THIRD, SECOND)
        return site(step, number)

    done = Script(steps, rotating)
    assert done.outcome is Outcome.ACCEPTED
    assert [request.path.decode().rpartition("/")[2] for request in site.inside][-2:] == [
        "gateway",
        "reports",
    ]


def test_an_older_list_of_keys_counts_as_silence():
    site = Site(THIRD, SECOND)
    client = site.client()
    assert site.talk(client=client).outcome is Outcome.ACCEPTED
    site.keys = site.shown = (SECOND, FIRST)
    assert Script(converse(client, 1, server=SERVER), site).outcome is Outcome.EXPIRED


def test_a_relay_that_shows_a_key_of_its_own_learns_only_the_plan():
    site = Site(THIRD)
    own = Site(FIRST, parties=site.parties)
    own.signed = site.signed  # it can fetch what the shuffler signs, and not sign
    with pytest.raises(UntrustedError, match="does not have the key that the relay shows"):
        own.talk()
    assert [request.path for request in own.inside] == [
        f"/v1/plans/{site.plan.digest}/gateway".encode()
    ]
    own = Site(FIRST, parties=site.parties)
    own.signer = Ed25519PrivateKey.generate()
    with pytest.raises(UntrustedError, match="is not signed by the newest intake key"):
        own.talk()


def test_a_key_that_hides_nothing_is_refused():
    """A point of small order gives everybody the same shared secret."""
    empty = KeyConfiguration(1, bytes(32))

    def shows(step, _):
        assert step.url == f"{RELAY}{KEYS_PATH}"
        return Response(200, write_configurations([empty]))

    with pytest.raises(UntrustedError, match="hides"):
        Script(converse(Site(FIRST).client(), 1, server=SERVER), shows)


def test_a_list_older_than_the_one_seen_is_refused():
    site = Site(FIRST)
    client = site.client()
    site.parties.keys = site.parties.list_of_keys(2)
    assert site.talk(client=client).outcome is Outcome.ACCEPTED
    site.parties.keys = site.parties.list_of_keys(1)
    with pytest.raises(UntrustedError, match="was seen before"):
        site.talk(client=client)


@pytest.mark.parametrize(
    "changed",
    [
        lambda _: None,
        lambda _: Response(200, b""),
        lambda answer: Response(200, answer.body[:-1]),
        lambda answer: Response(200, answer.body[:-1] + bytes([answer.body[-1] ^ 1])),
        lambda answer: Response(202, answer.body),
        lambda _: Response(404, b"{}"),
        lambda _: Response(410, b"{}"),
        lambda _: Response(400, b"[" * 100_000),
    ],
)
def test_what_does_not_open_counts_as_no_answer(changed):
    site = Site(FIRST)
    site.changed = changed
    assert site.talk().outcome is Outcome.EXPIRED
    assert {request.path.rpartition(b"/")[2] for request in site.inside} == {b"gateway"}


def test_an_answer_that_belongs_to_another_request_does_not_open():
    site = Site(FIRST)
    answers = []

    def replayed(answer):
        answers.append(answer)
        return answers[0]

    site.changed = replayed
    assert site.talk().outcome is Outcome.EXPIRED


def test_busy_relays_and_busy_shufflers_are_waited_for():
    site = Site(FIRST)
    busy = iter([Response(503, b"relay", "9")])
    site.changed = lambda answer: next(busy, answer)
    done = site.talk()
    assert done.outcome is Outcome.ACCEPTED
    assert 9.0 in done.waits
    site = Site(FIRST)
    answers = iter([Response(503, b"", "7"), Response(202, b"")])
    inner = site.answer
    site.answer = lambda request: next(answers) if request.method == b"POST" else inner(request)
    done = site.talk()
    assert done.outcome is Outcome.ACCEPTED
    assert 7.0 in done.waits


def test_a_plan_that_is_not_offered_is_named():
    site = Site(FIRST)
    site.answer = lambda _: Response(404, b"")
    with pytest.raises(NotOfferedError):
        site.talk()


def test_a_report_that_was_prepared_is_delivered_through_the_relay():
    site = Site(FIRST)
    now = [0.0]
    client = site.client(clock=lambda: now[0])
    waiting = Script(prepare(client, 1, server=SERVER), site).outcome
    now[0] = waiting.due
    assert Script(deliver(client, server=SERVER), site).outcome is Outcome.ACCEPTED
    assert {length for _, length in site.outside} == {LENGTH + REQUEST_OVERHEAD}


def test_a_certificate_that_is_not_trusted_is_raised_where_it_was_asked():
    site = Site(FIRST)
    steps = converse(site.client(), 1, server=SERVER)
    steps.send(None)
    with pytest.raises(CertificateError):
        steps.throw(CertificateError("relay.example", "certificate expired", hint="Renew it."))


def test_a_plan_that_demands_a_relay_refuses_to_go_without():
    site = Site(FIRST)
    direct = replace(SERVER, relay=None)
    for steps in (
        converse(site.client(), 1, server=direct),
        prepare(site.client(), 1, server=direct),
        deliver(site.client(), server=direct),
    ):
        with pytest.raises(ParameterError, match="the relay of Example Relay"):
            next(steps)
    for server in (direct, SERVER):
        with pytest.raises(ParameterError, match="many people's reports"):
            next(send_all(site.plan, [], server=server, sent=lambda _: None))


def test_a_plan_that_demands_none_may_use_one():
    site = Site(FIRST, parties=Parties())
    assert site.talk().outcome is Outcome.ACCEPTED


def test_mirrors_and_long_credentials_are_refused():
    with pytest.raises(ParameterError, match="mirrors"):
        replace(SERVER, mirrors=("https://mirror.example",))
    with pytest.raises(ParameterError, match="relay"):
        replace(SERVER, relay="ftp://relay.example")
    with pytest.raises(ParameterError, match="another address than the shuffler's"):
        replace(SERVER, relay="https://Reports.example:443/")
    site = Site(FIRST)
    with pytest.raises(ParameterError, match="shorter"):
        site.talk(server=replace(SERVER, credential="a" * 9000))


def test_nothing_goes_to_the_shuffler_by_itself():
    """A request that must be sealed is never sent as it is."""
    with pytest.raises(ParameterError, match="relay"):
        submit(fetch(Site(FIRST).plan, SERVER))


def test_the_device_keeps_its_relay_when_it_is_admitted():
    server = Server(url="https://reports.example", issuer="https://issuer.example", relay=RELAY)
    assert server.admitting("x").relay == RELAY


def test_tokens_values_and_rounds_look_alike(signers):  # noqa: F811 - the fixture
    """A report with a token and one with a credential have the same length at the relay too."""
    seen = []
    for value in (0, 9):
        tokens = TokenSite(signers)
        site = Site(FIRST, parties=tokens.parties)

        def answer(step, number, tokens=tokens, site=site):
            return tokens(step) if step.url.startswith(ISSUER) else site(step, number)

        inner = site.answer
        site.answer = lambda request, tokens=tokens, inner=inner: (
            Response(200, tokens.key_list())
            if request.path.decode().endswith(tokens.plan.digest)
            else inner(request)
        )
        client, server = site.client(budget=99.0), replace(ISSUING, relay=RELAY)
        for number in range(3):
            tokens.open(number)
            outcome = Script(converse(client, value, server=server), answer).outcome
            assert outcome is (Outcome.ACCEPTED if number else Outcome.NO_TOKEN)
            seen.append((number > 0, len(site.outside)))
            assert {length for _, length in site.outside} == {LENGTH + REQUEST_OVERHEAD}
            site.outside.clear()
        reports = [request for request in site.inside if request.path.endswith(b"/reports")]
        assert len(reports) == 2
        assert all(dict(each.fields)[b"authorization"][:12] == b"PrivateToken" for each in reports)
    assert seen[:3] == seen[3:]
    assert seen[1] == seen[2]
