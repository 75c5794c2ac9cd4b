import os
import socket
import time
from contextlib import suppress

import pytest

from croupier.protocol.key_list import KeyList, NotAccepted, sent_digest
from croupier.protocol.party_keys import Signers


def raw(serving, *chunks, pause=0.0):
    """What comes back for bytes sent in pieces, until the server closes."""
    with socket.create_connection(("127.0.0.1", serving.port), timeout=60) as connection:
        try:
            for chunk in chunks:
                connection.sendall(chunk)
                time.sleep(pause)
            return b"".join(iter(lambda: connection.recv(65536), b""))
        except ConnectionError:
            return b""


def head(serving, token, length):
    return (
        f"POST {serving.path}/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
        f"Content-Type: application/octet-stream\r\nCroupier-Batch: {serving.batch}\r\n"
        f"Content-Length: {length}\r\n\r\n"
    ).encode()


def test_a_report_is_acknowledged_once_it_is_stored(serving):
    envelope = serving.envelopes()
    reply = serving.send(envelope)
    assert (reply.status, reply.body) == (202, b"")
    assert envelope in serving.stored()


def test_new_repeated_and_second_reports_get_the_same_bytes_and_the_first_stays(serving):
    token = serving.credentials.issue()
    first, second = serving.envelopes(), serving.envelopes()
    replies = [serving.send(sent, token) for sent in (first, first, second)]
    assert replies == [(202, [("content-length", "0"), ("cache-control", "no-store")], b"")] * 3
    stored = serving.stored()
    assert stored.count(first) == 1
    assert second not in stored


def test_a_relay_sends_many_at_once(serving):
    body = serving.envelopes(1000)
    reply = serving.send(body, serving.credentials.issue(relay=True))
    assert reply == (202, [("content-length", "0"), ("cache-control", "no-store")], b"")
    size = serving.envelope_length
    sent = {body[start : start + size] for start in range(0, len(body), size)}
    assert sent <= set(serving.stored())


@pytest.mark.parametrize(
    ("envelopes", "relay", "changed", "status"),
    [
        (1, False, {"Authorization": None}, 401),
        (1, False, {"Authorization": "Basic eA=="}, 401),
        (1, False, {"Authorization": "Bearer " + "0" * 66}, 401),
        (1, False, {"Content_Type": "text/plain"}, 415),
        (1, False, {"Content_Type": None}, 415),
        (0, False, {}, 400),
        (2, False, {}, 400),
        (0.5, False, {}, 400),
        (1.5, True, {}, 400),
        (1001, False, {}, 413),
        (1001, True, {}, 413),
        (1, False, {"Croupier_Batch": None}, 400),
        (1, False, {"Croupier_Batch": "00"}, 400),
        (1, False, {"Croupier_Batch": "G" * 32}, 400),
    ],
)
def test_refusals_have_a_status_a_sentence_and_store_nothing(
    serving, envelopes, relay, changed, status
):
    body = os.urandom(int(envelopes * serving.envelope_length))
    reply = serving.send(body, serving.credentials.issue(relay=relay), **changed)
    assert reply.status == status
    assert set(reply.document) == {"schema_version", "error"}
    assert not body or body not in serving.stored()


def test_a_body_without_its_length_is_refused(serving):
    start = head(serving, serving.credentials.issue(), 1)
    chunked = start.replace(b"Content-Length: 1\r\n", b"Transfer-Encoding: chunked\r\n")
    assert raw(serving, chunked).startswith(b"HTTP/1.1 411 ")


def test_refusals_of_one_kind_are_the_same_bytes(serving):
    lengths = (0, 64, 127, 129, 256)
    assert len({repr(serving.send(os.urandom(length))) for length in lengths}) == 1


def test_an_unknown_plan_is_not_found(serving):
    path = f"/v1/plans/{'0' * 64}/reports"
    assert serving.request("POST", path, b"", **serving.headers()).status == 404


def test_other_methods_are_refused(serving):
    assert serving.get(f"{serving.path}/reports").status == 405
    assert serving.request("POST", serving.path).status == 405
    assert serving.request("DELETE", "/healthz").status == 405


def test_an_unknown_batch_is_refused_with_the_shufflers_word(serving):
    batch = os.urandom(16).hex()
    token, body = serving.credentials.issue(), serving.envelopes()
    reply = serving.send(body, token, Croupier_Batch=batch)
    assert reply.status == 409
    word = NotAccepted.verified(
        reply.body, Signers.of(serving.plan, serving.listed), round_number=0
    )
    assert (word.batch, word.sent) == (batch, sent_digest(f"Bearer {token}".encode(), body))


def test_a_bad_credential_is_refused_before_the_body_is_sent(serving):
    answer = raw(serving, head(serving, "0" * 66, serving.envelope_length))
    assert answer.startswith(b"HTTP/1.1 401 ")


def test_too_large_a_body_is_refused_before_it_is_sent(serving):
    token = serving.credentials.issue(relay=True)
    assert raw(serving, head(serving, token, 10**12)).startswith(b"HTTP/1.1 413 ")


def test_a_person_who_comes_too_often_is_told_to_wait(serving):
    token, envelope = serving.credentials.issue(), serving.envelopes()
    replies = [serving.send(envelope, token) for _ in range(2 * 12 + 1)]
    assert {reply.status for reply in replies} == {202, 429}
    refused = next(reply for reply in replies if reply.status == 429)
    assert ("retry-after", "60") in refused.headers


def test_everybody_gets_the_same_signed_keys(serving):
    replies = {serving.get(serving.path).body for _ in range(5)}
    (body,) = replies
    found = KeyList.verified(body, serving.plan)
    assert [entry.batch for entry in found.shuffler] == [serving.batch]
    one = serving.get(f"{serving.path}/rounds/0").document
    assert one["shuffler"]["batch"] == serving.batch
    assert one["query"] is None
    assert serving.get(f"{serving.path}/rounds/1").status == 404


def test_health_is_told_and_metrics_are_not(serving):
    assert serving.get("/healthz").document == {"schema_version": 1, "healthy": True}
    assert serving.get("/readyz").document == {"schema_version": 1, "ready": True}
    assert serving.get("/metrics").status == 404


def test_long_heads_are_cut_off(serving):
    line = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
    assert raw(serving, line + b"X-Long: " + b"a" * 200_000, b"a" * 200_000) == b""
    assert serving.get("/healthz").status == 200


def test_garbage_does_not_stop_the_service(serving):
    for _ in range(300):
        raw(serving, os.urandom(200) + b"\r\n\r\n")
    assert serving.send(serving.envelopes()).status == 202


@pytest.mark.slow
def test_slow_senders_are_cut_off_and_nothing_of_theirs_is_stored(serving):
    envelope = serving.envelopes()
    start = head(serving, serving.credentials.issue(), len(envelope))
    begun = time.monotonic()
    with (
        socket.create_connection(("127.0.0.1", serving.port), timeout=30) as silent,
        socket.create_connection(("127.0.0.1", serving.port), timeout=30) as slow_head,
        socket.create_connection(("127.0.0.1", serving.port), timeout=30) as slow_body,
    ):
        slow_head.sendall(start[:50])
        slow_body.sendall(start + envelope[:50])
        for connection in (silent, slow_head, slow_body):
            with suppress(ConnectionResetError):
                assert connection.recv(100) == b""
    assert 5 < time.monotonic() - begun < 25
    assert envelope not in serving.stored()
