"""The gateway of oblivious HTTP: answers of one length, replaced keys, hostile requests."""

import asyncio

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.hosting.http.answers import BUSY, document
from croupier.protocol.oblivious.binary_http import BinaryRequest, BinaryResponse
from croupier.protocol.oblivious.capsule import GatewayKey, read_configurations
from croupier.shuffler.http.gateway import PATH, Gateway

OLD, NEW = (GatewayKey(number, X25519PrivateKey.generate()) for number in (1, 2))
DOCUMENT = document(200, b"x" * 5000)


class Target:
    """Answers with what a test says, and keeps what it was asked."""

    def __init__(self, answer=DOCUMENT):
        self.answer, self.asked = answer, []

    async def __call__(self, scope, receive):
        message = await receive()
        self.asked.append((scope["method"], scope["path"], dict(scope["headers"]), message["body"]))
        return self.answer


def made(target, keys=(NEW, OLD), counted=None):
    count = [].append if counted is None else counted.append
    gateway = Gateway(target, count=count, largest=lambda: 5000, longest_request=2000)
    gateway.keys = keys
    return gateway


def take(gateway, body, kind=b"message/ohttp-req", length=None):
    given = [(b"content-type", kind), (b"content-length", length or b"%d" % len(body))]

    async def receive():
        return {"type": "http.request", "body": body}

    return asyncio.run(gateway.take(given, receive))


def ask(gateway, request, key=NEW, length=0):
    asked = key.configuration.ask(request.to_bytes(length=length))
    answer = take(gateway, asked.body)
    assert answer.status == 200
    sealed = answer.body["body"]
    return BinaryResponse.read(asked.opened(sealed)), len(sealed)


def request(method=b"GET", path=b"/v1/plans/x", fields=(), content=b""):
    return BinaryRequest(method, b"https", b"", path, fields, content)


def test_every_answer_has_one_length():
    found = [ask(made(Target(answer)), request()) for answer in (DOCUMENT, BUSY, document(202))]
    assert [response.status for response, _ in found] == [200, 503, 202]
    assert [dict(response.fields).get(b"retry-after") for response, _ in found] == [
        None,
        b"1",
        None,
    ]
    assert found[0][0].content == b"x" * 5000
    assert {length for _, length in found} == {8192 + 32}


def test_answers_are_counted_by_what_is_inside():
    counted = []
    for answer in (DOCUMENT, BUSY, document(202)):
        ask(made(Target(answer), counted=counted), request())
    take(made(Target(), counted=counted), b"\x02" + bytes(200))
    take(made(Target(), counted=counted), b"", kind=b"text/plain")
    assert counted == [200, 503, 202, 400, 415]


def test_a_request_arrives_as_if_it_had_come_by_itself():
    target = Target()
    sent = request(b"POST", b"/v1/plans/x/reports", ((b"authorization", b"a"),), b"sealed")
    ask(made(target), sent, length=1500)
    method, path, headers, body = target.asked[0]
    assert (method, path, body) == ("POST", "/v1/plans/x/reports", b"sealed")
    assert headers == {b"authorization": b"a", b"content-length": b"6"}


def test_an_earlier_key_is_opened_and_a_forgotten_one_is_named():
    assert ask(made(Target()), request(), key=OLD)[0].status == 200
    gateway = made(Target(), keys=(NEW,))
    answer = take(gateway, OLD.configuration.ask(request().to_bytes()).body)
    assert answer.status == 400
    assert b"http-problem-types#ohttp-key" in answer.body["body"]
    assert read_configurations(made(Target()).configurations.body["body"]) == [
        NEW.configuration,
        OLD.configuration,
    ]


def test_without_keys_there_is_no_gateway():
    gateway = made(Target(), keys=())
    assert gateway.configurations.status == 404
    assert take(gateway, b"").status == 404


@pytest.mark.parametrize(
    "sent",
    [
        b"\x07",
        request(path=PATH.encode()).to_bytes(),
        request(path=b"/v1/ohttp-keys").to_bytes(),
        request(path=b"/v1/openapi.json").to_bytes(),
        request(path=b"/healthz").to_bytes(),
        request(path="/ä".encode()).to_bytes(),
        request(fields=((b"authorization", b"a"), (b"authorization", b"b"))).to_bytes(),
    ],
)
def test_what_cannot_be_asked_is_refused_inside(sent):
    target = Target()
    asked = NEW.configuration.ask(sent)
    answer = take(made(target), asked.body)
    assert BinaryResponse.read(asked.opened(answer.body["body"])).status in {400, 404}
    assert len(answer.body["body"]) == 8192 + 32
    assert target.asked == []


def test_what_is_not_sealed_is_refused():
    gateway = made(Target())
    assert take(gateway, b"").status == 400
    assert take(gateway, b"\x02" + bytes(200)).status == 400
    assert take(gateway, b"", kind=b"text/plain").status == 415
    assert take(gateway, b"", length=b"9" * 30).status == 413
    assert take(gateway, b"", length=b"x").status == 411
