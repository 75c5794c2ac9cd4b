"""A running service behind its gateway: plans that demand a relay, replaced keys, one length."""

import json
import time

import pytest

from croupier.client.client import Client
from croupier.client.conversation import Outcome, Server, converse, submit
from croupier.client.memory import MemoryState
from croupier.protocol.oblivious.binary_http import BinaryRequest, BinaryResponse
from croupier.protocol.oblivious.capsule import UNKNOWN_KEY, KeyConfiguration, read_configurations
from croupier.protocol.oblivious.gateway_keys import ListedGateway

RELAY = {"relay": "Example Relay", "origins": ["https://www.example"]}


@pytest.fixture(scope="module")
def serving(tmp_path_factory, make_database):
    """Started, with a gateway."""
    from tests.unit.shuffler.http.conftest import deployed  # noqa: PLC0415 - a folder's own helper

    with deployed(tmp_path_factory.mktemp("service"), make_database, admission=RELAY) as made:
        made.house.intake.rotate_gateway()
        yield made.start("--workers", "1")


def shown(service):
    return read_configurations(service.get("/v1/ohttp-keys").body)


def ask(service, method, path, fields=(), content=b"", key=None):
    """The answer inside, and the length of the sealed one."""
    request = BinaryRequest(method, b"https", b"", path.encode(), fields, content)
    sealed = (key or shown(service)[0]).ask(request.to_bytes(length=4096))
    reply = service.request("POST", "/v1/ohttp", sealed.body, Content_Type="message/ohttp-req")
    assert reply.status == 200, reply.body
    return BinaryResponse.read(sealed.opened(reply.body)), len(reply.body)


def report(service, token):
    headers = service.headers(token)
    return tuple(
        (name.replace("_", "-").lower().encode(), value.encode()) for name, value in headers.items()
    )


def test_a_report_must_come_through_the_relay(serving):
    token, body = serving.credentials.issue(), serving.envelopes()
    refused = serving.send(body, token)
    assert refused.status == 403
    assert "relay" in refused.document["error"]
    assert serving.stored() == []
    taken, _ = ask(serving, b"POST", f"{serving.path}/reports", report(serving, token), body)
    assert taken.status == 202
    assert len(serving.stored()) == 1


def test_everything_else_may_be_read_both_ways_and_all_answers_have_one_length(serving):
    lengths = set()
    for path in (serving.path, f"{serving.path}/rounds/0", f"{serving.path}/gateway", "/none"):
        direct, (inside, length) = serving.get(path), ask(serving, b"GET", path)
        assert (inside.status, inside.content) == (direct.status, direct.body)
        lengths.add(length)
    refused, length = ask(serving, b"POST", f"{serving.path}/reports", content=b"x")
    assert refused.status == 401
    assert lengths == {length}


def test_the_signed_keys_are_those_of_the_standard_document_and_may_be_cached(serving):
    signed = serving.get(f"{serving.path}/gateway")
    read = ListedGateway.verified(signed.body, serving.plan)
    standard = serving.get("/v1/ohttp-keys")
    assert read.gateway.configurations == standard.body.hex()
    for path, reply in ((f"{serving.path}/gateway", signed), ("/v1/ohttp-keys", standard)):
        kept = dict(reply.headers)
        assert kept["cache-control"].startswith("public, max-age=")
        assert serving.request("GET", path, If_None_Match=kept["etag"]).status == 304


def test_pages_of_other_origins_may_send_through_the_relay(serving):
    asked = serving.request("OPTIONS", "/v1/ohttp", Access_Control_Request_Method="POST")
    headers = dict(asked.headers)
    assert asked.status == 204
    assert headers["access-control-allow-origin"] == "*"
    assert headers["access-control-allow-methods"] == "POST"
    assert "Content-Type" in headers["access-control-allow-headers"]
    assert dict(serving.get("/v1/ohttp-keys").headers)["access-control-allow-origin"] == "*"
    wrong = serving.request("POST", "/v1/ohttp", b"", Content_Type="text/plain")
    assert (wrong.status, dict(wrong.headers)["access-control-allow-origin"]) == (415, "*")
    assert serving.request("PUT", "/v1/ohttp", b"").status == 405


def test_a_key_is_replaced_while_the_service_runs(service):
    """The one before stays valid, the one before that is gone, from the disk as well."""
    service.start("--workers", "1")
    assert service.get("/v1/ohttp-keys").status == 404
    keys = []
    for number in (1, 2, 3):
        made = service.croupier("keys", "gateway", "--keys", service.house.intake.path)
        assert made[0] == 0, made
        assert (made[1]["number"], made[1]["accepted"]) == (number, [number, number - 1][:number])
        keys.append(KeyConfiguration(number, bytes.fromhex(made[1]["key"])))
        followed(service, keys[-1])
        for key in keys[-2:]:
            assert ask(service, b"GET", service.path, key=key)[0].status == 200
    sealed = keys[0].ask(b"")
    kind = {"Content_Type": "message/ohttp-req"}
    unknown = service.request("POST", "/v1/ohttp", sealed.body, **kind)
    assert (unknown.status, json.loads(unknown.body)["type"]) == (400, UNKNOWN_KEY)
    names = {path.name for path in service.house.intake.path.glob("gateway*")}
    assert names == {"gateway-2.hpke.pem", "gateway-3.hpke.pem"}
    client = Client(service.plan, attribute="emoji", budget=9.0, memory=MemoryState(), spread=0)
    address = f"http://127.0.0.1:{service.port}"
    url = "https://reports.example"  # never asked
    server = Server(url=url, relay=address, credential=service.credentials.issue())
    assert submit(converse(client, 3, server=server)) is Outcome.ACCEPTED
    assert len(service.stored()) == 1


def followed(service, key, seconds=120):
    end = time.monotonic() + seconds
    while shown(service)[:1] != [key]:
        assert time.monotonic() < end, "the worker does not follow"
        time.sleep(0.2)


def test_a_plan_that_demands_a_relay_is_not_served_without_a_gateway(make_service):
    with make_service(admission=RELAY) as service:
        service.open_round()
        code, told = service.run(service.serving())
        assert code == 2
        assert "croupier keys gateway" in told["error"]
