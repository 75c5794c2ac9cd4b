import json
import os
import re
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

from croupier.pipeline.key_list import NotAccepted
from croupier.service.credentials import BearerCredentials


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

    act(wait_for_more)
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
    service.set_state("sealed")
    assert service.send(service.envelopes(), stored).status == 202
    refused = service.send(service.envelopes(), late)
    assert refused.status == 409
    assert NotAccepted.verified(refused.body, service.plan).batch == service.batch
    relay = service.credentials.issue(relay=True)
    assert service.send(service.envelopes(), relay).status == 410
    service.set_state("open")
    assert service.send(service.envelopes(), late).status == 202
    service.set_state("released")
    assert service.send(service.envelopes(), stored).status == 410
    service.keys.destroy(bytes.fromhex(service.batch))
    service.set_state("shredded")
    time.sleep(2.5)
    assert service.send(service.envelopes(), late).status == 410
    assert service.get(service.path).document["shuffler"] == []


def test_a_full_batch_takes_no_more(service):
    service.start("--workers", "1", "--maximum-batch", "100")
    relay = service.credentials.issue(relay=True)
    assert service.send(service.envelopes(500), relay).status == 202
    time.sleep(2.5)
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
        time.sleep(2.5)
        assert service.get("/healthz").status == 503
        assert service.send(service.envelopes()).status == 503
    deadline = time.monotonic() + 15
    while service.get("/healthz").status != 200 and time.monotonic() < deadline:
        time.sleep(0.2)
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
