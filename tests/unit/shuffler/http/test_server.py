import json
import os
import re
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

import psycopg
import pytest

from croupier.hosting.revocation import identity_of, write_revoked
from croupier.protocol.admission.credentials import BearerCredentials
from croupier.protocol.key_list import NotAccepted, sent_digest
from croupier.protocol.party_keys import Signers
from croupier.protocol.query import Query, Round
from tests.unit.shuffler.http.test_readiness import within


def workers(service):
    """The process ids of the workers: children of the server that have the event loop's files."""
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            text = status.read_text()
            command = (status.parent / "cmdline").read_bytes()
        except OSError:
            continue
        parent = int(re.search(r"PPid:\s+(\d+)", text)[1])
        if parent == service.process.pid and b"spawn_main" in command:
            found.append(int(status.parent.name))
    return found


class Load(threading.Thread):
    """Sends reports until told to stop; a person whose request broke sends the same again."""

    def __init__(self, service):
        super().__init__()
        self.service = service
        self.acknowledged = set()
        self.broken = 0
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.is_set():
            token, envelope = self.service.credentials.issue(), self.service.envelopes()
            try:
                reply = self.service.send(envelope, token)
            except (OSError, HTTPException):
                self.broken += 1
                continue
            assert reply.status == 202
            self.acknowledged.add(envelope)


def under_load(service, act, threads=8):
    """Every report that was acknowledged while something happened, and how many broke."""
    loads = [Load(service) for _ in range(threads)]
    for load in loads:
        load.start()

    def wait_for_more():
        enough = sum(len(load.acknowledged) for load in loads) + 50
        deadline = time.monotonic() + 60
        while sum(len(load.acknowledged) for load in loads) < enough:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    try:
        act(wait_for_more)
    finally:
        for load in loads:
            load.stopping.set()
        for load in loads:
            load.join()
    return set().union(*(load.acknowledged for load in loads)), sum(load.broken for load in loads)


def test_killed_workers_lose_no_acknowledged_report_and_are_replaced(service):
    service.start("--workers", "2")

    def kill(wait_for_more):
        for _ in range(3):
            wait_for_more()
            for pid in workers(service):
                os.kill(pid, signal.SIGKILL)
        wait_for_more()

    acknowledged, broken = under_load(service, kill)
    assert broken > 0
    assert acknowledged <= set(service.stored())
    assert service.send(service.envelopes()).status == 202


def test_a_held_batch_never_stores_what_was_signed_away(service):
    """A copy of a request may arrive after the batch was sealed, found too small, opened again."""
    service.start("--workers", "1")
    token, envelope = service.credentials.issue(), service.envelopes()
    service.set_state("sealed")
    retried = service.send(envelope, token)
    service.set_state("open")
    delayed = service.send(envelope, token)
    assert delayed.status == 202
    assert retried.status != 409, "its sender would have sealed the report for a second batch"


def test_a_worker_that_is_replaced_while_the_database_is_away_ends_nothing(service):
    service.start("--workers", "1")
    with service.cut_off():
        for pid in workers(service):
            os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 30
        while service.send(service.envelopes()).status != 503 or not workers(service):
            assert time.monotonic() < deadline
    while service.send(service.envelopes()).status != 202:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert service.process.poll() is None


def test_a_killed_server_takes_its_workers_along_and_its_port_is_free_again(service):
    port = service.start("--workers", "2").port
    assert service.send(service.envelopes()).status == 202
    orphans = workers(service)
    service.process.kill()
    service.stop()
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in orphans):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    service.start("--workers", "1", "--port", str(port))
    assert service.port == port
    assert service.send(service.envelopes()).status == 202


def test_a_port_that_is_taken_is_named(service):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for option in ("--port", "--metrics-port"):
            code, document = service.run(service.serving(option, port))
            assert code == 2
            assert f"`{option}` must be one that can be listened on" in document["error"]
            assert port in document["error"]


def test_a_worker_that_is_slow_is_not_replaced(service):
    """On a busy machine one that starts is silent for long: replacing it would never end."""
    service.start("--workers", "1")
    assert service.send(service.envelopes()).status == 202
    (slow,) = workers(service)
    os.kill(slow, signal.SIGSTOP)
    time.sleep(8)
    os.kill(slow, signal.SIGCONT)
    assert service.send(service.envelopes()).status == 202
    assert workers(service) == [slow]


def test_a_stop_commits_and_answers_what_the_workers_have(service):
    service.start("--workers", "2")
    assert service.send(service.envelopes()).status == 202
    sent = [service.envelopes() for _ in range(30)]
    with ThreadPoolExecutor(len(sent)) as senders:
        with service.held_back():
            answers = [senders.submit(service.send, envelope) for envelope in sent]
            time.sleep(2)
            assert not any(answer.done() for answer in answers)
            service.process.send_signal(signal.SIGTERM)
            time.sleep(2)
            assert not any(answer.done() for answer in answers)
            assert service.process.poll() is None
        replies = [answer.result() for answer in answers]
    assert {reply.status for reply in replies} == {202}
    assert set(sent) <= set(service.stored())
    assert service.stop() == 0


def test_a_sealed_batch_says_only_what_is_certain(service):
    service.start("--workers", "1")
    stored, late = service.credentials.issue(), service.credentials.issue()
    assert service.send(service.envelopes(), stored).status == 202
    relay = service.credentials.issue(relay=True)

    def answers():
        return [service.send(service.envelopes(), who).status for who in (stored, late, relay)]

    service.set_state("sealed")
    assert answers() == [202, 503, 503], "it may open again: nothing is certain but what is stored"
    service.sign_receipt()
    service.set_state("released")
    assert answers() == [202, 409, 410]
    body = service.envelopes()
    word = NotAccepted.verified(
        service.send(body, late).body, Signers.of(service.plan, service.listed), round_number=0
    )
    sent = sent_digest(f"Bearer {late}".encode(), body)
    assert (word.batch, word.sent) == (service.batch, sent)
    service.set_state("disposed")
    assert answers() == [410, 409, 410]
    service.set_state("released")
    time.sleep(1.5)
    assert answers() == [202, 409, 410], "also where a worker has seen that it is closed"
    service.drop_table()
    assert answers() == [410, 410, 410], "without its tags nobody can tell what was in it"
    service.handover.destroy(bytes.fromhex(service.batch))
    service.set_state("shredded")
    time.sleep(2.5)
    assert service.send(service.envelopes(), late).status == 410
    assert within(30, lambda: service.get(service.path).document["shuffler"] == [])


@pytest.mark.parametrize("state", ["released", "disposed"])
def test_no_refusal_is_signed_where_rows_are_missing(service, state):
    """As in a database that was restored from a backup without the envelopes."""
    service.start("--workers", "1")
    token, envelope = service.credentials.issue(), service.envelopes()
    assert service.send(envelope, token).status == 202
    service.set_state(state)
    late = service.credentials.issue()
    assert service.send(service.envelopes(), late).status == 410, (
        "nothing says how many rows there were"
    )
    service.sign_receipt()
    with psycopg.connect(service.database) as connection:
        connection.execute(f"TRUNCATE croupier.env_{service.batch}".encode())
    assert service.send(envelope, token).status == 410
    assert service.send(service.envelopes(), late).status == 410


def test_an_envelope_under_another_credential_is_not_said_to_be_missing(service):
    service.start("--workers", "1")
    held_back, relayed = service.envelopes(), service.envelopes()
    thief, victim = service.credentials.issue(), service.credentials.issue()
    assert service.send(held_back, thief).status == 202
    assert service.send(relayed, service.credentials.issue(relay=True)).status == 202
    sent = (held_back, relayed, service.envelopes())
    service.sign_receipt()
    for state in ("released", "disposed"):
        service.set_state(state)
        assert [service.send(body, victim).status for body in sent] == [410, 410, 409]


def test_a_full_batch_takes_no_more(service):
    service.start("--workers", "1", "--maximum-batch", "1")
    relay = service.credentials.issue(relay=True)
    assert service.send(service.envelopes(1000), relay).status == 202
    assert within(30, lambda: service.send(service.envelopes(), relay).status == 503)
    reply = service.send(service.envelopes(), relay)
    assert reply.status == 503
    assert ("retry-after", "1") in reply.headers


def test_a_round_is_opened_once_and_found_again(service):
    first = service.start("--workers", "1").batch
    assert service.stop() == 0
    assert service.start("--workers", "1").batch == first
    assert service.keys.batches() == [bytes.fromhex(first)]


def test_logs_and_metrics_tell_nothing_of_requests(service):
    service.start("--workers", "2")
    tokens = [service.credentials.issue() for _ in range(5)]
    for token in tokens:
        assert service.send(service.envelopes(), token).status == 202
        assert service.send(b"secret body", token).status == 400
    strange = BearerCredentials(os.urandom(32)).issue()
    assert service.send(service.envelopes(), strange).status == 401
    published = urlopen(service.served["metrics"]).read().decode()  # noqa: S310 - our own server
    assert "croupier_answers_total{" not in published, "sums are published once a minute"
    service.stop()
    log = service.log.read_text()
    events = [json.loads(line) for line in log.splitlines()]
    assert {event["event"] for event in events} == {"worker started", "worker stopped"}
    for secret in (*tokens, strange, "127.0.0.1", service.batch, service.plan.digest, "secret"):
        assert secret not in log
    for secret in ("four dice", (service.directory / "secret").read_text().strip()):
        assert secret not in log


def test_without_a_database_the_service_says_so_and_recovers(service):
    service.start("--workers", "1")
    assert service.send(service.envelopes()).status == 202
    with service.cut_off():
        assert within(30, lambda: service.get("/readyz").status == 503)
        assert service.send(service.envelopes()).status == 503
    assert within(60, lambda: service.get("/readyz").status == 200)
    assert service.send(service.envelopes()).status == 202
    assert "StoreError" not in service.log.read_text()


def test_the_sums_of_all_workers_are_published_when_they_end(service):
    service.start("--workers", "2")
    for _ in range(6):
        assert service.send(service.envelopes()).status == 202
    service.send(b"")
    for pid in workers(service):
        os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + 30
    published = ""
    while 'status="400"} 1.0' not in published or 'status="202"} 6.0' not in published:
        assert time.monotonic() < deadline, published
        time.sleep(0.2)
        published = urlopen(service.served["metrics"]).read().decode()  # noqa: S310 - our own
    assert 'croupier_envelopes_total{outcome="committed"} 6.0' in published


def test_a_round_opened_while_serving_is_served_without_a_restart(make_service):
    """The query of an adaptive round too, as soon as each worker has looked (once per second)."""
    participation = {"model": "rectified-multinomial", "weights": 2}
    tables = {
        "participation": participation,
        "collection": {"every": "1s"},
        "protections": {"minimum_batch": 5, "disposal_age": "72h"},
    }
    with make_service(**tables) as service:
        first, second = (service.query(number) for number in range(2))
        service.start("--workers", "2", first=["--query", first])
        before = service.batch
        relay = service.credentials.issue(relay=True)
        assert service.send(service.sealed(5, 0, first), relay).status == 202

        code, done = service.release("--next-round", "--query", second)
        assert (code, done["open_round"]) == (0, 1)
        assert done["batches"][0]["receipt"]["counts"]["released"] == 5

        def announced():
            listed = service.get(service.path).document["shuffler"]
            return [entry["round"] for entry in listed] == [1]

        # Either worker may answer: both have looked when many answers in a row are the same.
        assert within(60, lambda: all(announced() for _ in range(20)))
        time.sleep(1.5)
        listed = service.get(service.path).document["shuffler"]
        signers = Signers.of(service.plan, service.listed)
        served = Round.verified(service.get(f"{service.path}/rounds/1").body, service.plan, signers)
        assert served.query == Query.verified(second.read_bytes(), service.plan)
        assert served.shuffler.batch == listed[0]["batch"]
        service.batch = served.shuffler.batch
        assert service.send(service.sealed(5, 1, second), relay).status == 202
        assert service.send(service.envelopes(), relay, Croupier_Batch=before).status == 410
        code, done = service.release()
        assert (code, done["batches"][0]["receipt"]["counts"]["released"]) == (0, 5)


def test_the_operator_sets_the_limits(service):
    service.start(
        "--workers",
        "1",
        "--requests-per-minute",
        "2",
        "--envelopes-per-request",
        "3",
        "--relay-envelopes-per-minute",
        "4",
    )
    token, relay = service.credentials.issue(), service.credentials.issue(relay=True)
    assert [service.send(service.envelopes(), token).status for _ in range(3)] == [202, 202, 429]
    assert service.send(service.envelopes(4), relay).status == 413
    assert service.send(service.envelopes(3), relay).status == 202
    assert service.send(service.envelopes(2), relay).status == 429


def test_a_credential_is_revoked_while_serving_and_refused_like_any_other(service):
    revoked = service.directory / "revoked.txt"
    stolen, good = service.credentials.issue(), service.credentials.issue()
    write_revoked(revoked, [])
    service.start("--workers", "2", "--revoked", str(revoked))
    assert service.send(service.envelopes(), stolen).status == 202
    write_revoked(revoked, [identity_of(stolen)])
    time.sleep(2.5)
    assert within(60, lambda: service.send(service.envelopes(), stolen).status == 401)
    strange = service.send(service.envelopes(), BearerCredentials(os.urandom(32)).issue())
    assert {repr(service.send(service.envelopes(), stolen)) for _ in range(4)} == {repr(strange)}
    assert service.send(service.envelopes(), good).status == 202
    revoked.unlink()
    assert within(60, lambda: "cannot be read" in service.log.read_text())
    time.sleep(2.5)
    assert service.send(service.envelopes(), stolen).status == 401
    log = service.log.read_text()
    assert stolen[2:34] not in log
