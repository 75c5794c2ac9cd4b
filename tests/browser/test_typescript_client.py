"""People whose pages submit to a real service: nothing on the wire depends on the answer."""

import http.client
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import binom

from benchmarks.house import House
from croupier.analyzer.analyzer import analyze
from croupier.analyzer.keys import KeySource
from croupier.engines.base import engine
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import BearerCredentials, read_secret, write_secret
from croupier.protocol.unsealing import open_inner
from croupier.protocol.wire import Epoch, decode_report

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
PACKAGES = CLIENT / "node_modules"
NAMES = ("chromium", "chromium-browser", "google-chrome")
PEOPLE, AT_ONCE = 200, 4
PASSPHRASE = "four dice, no cards"  # noqa: S105 - of keys that live for one test
ANSWERS = ["no", "yes", "a rather long answer that nobody should be able to tell by its length"]
TABLES = {
    "schema": 2,
    "randomizer": {"mechanism": "k-rr", "labels": ANSWERS, "max_epsilon_local": 4.0},
    "population": {"enrolled": 1000},
    "collection": {"every": "20s"},
    "protections": {"minimum_batch": PEOPLE},
    "guarantee": {"delta": 1e-6},
}
PAGE = (
    b'<!doctype html><link rel="icon" href="data:,"><script type="module" src="client.js"></script>'
)


class Request(NamedTuple):
    """What an observer of the network counts."""

    method: str
    path: str
    credential: str | None
    length: int
    answered: int


class Counted:
    """A stream that counts what is read of it."""

    def __init__(self, stream):
        self._stream, self.count = stream, 0

    def _counted(self, data):
        self.count += len(data)
        return data

    def read(self, *args):
        return self._counted(self._stream.read(*args))

    def readline(self, *args):
        return self._counted(self._stream.readline(*args))

    def __getattr__(self, name):
        return getattr(self._stream, name)


def proxy(port, script):
    """The origin of the page: serves it, passes everything else on, counts every byte."""
    requests = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 60

        def setup(self):
            super().setup()
            self.rfile = Counted(self.rfile)

        def do_GET(self):
            own = {"/": ("text/html", PAGE), "/client.js": ("text/javascript", script)}
            if self.path in own:
                kind, data = own[self.path]
                self._answer(200, [("Content-Type", kind)], data)
            else:
                self._pass_on()

        def do_POST(self):
            self._pass_on()

        def _pass_on(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            upstream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            upstream.request(self.command, self.path, body or None, dict(self.headers))
            response = upstream.getresponse()
            data = response.read()
            keep = [(k, v) for k, v in response.getheaders() if k.lower().startswith("content-ty")]
            self._answer(response.status, keep, data)
            upstream.close()

        def _answer(self, status, headers, data):
            self.send_response(status)
            own = [("Content-Length", str(len(data))), ("Cache-Control", "no-store")]
            for name, value in [*headers, *own]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)
            credential = self.headers.get("Authorization")
            requests.append(Request(self.command, self.path, credential, self.rfile.count, status))
            self.rfile.count = 0

        def log_message(self, *args):
            pass

    class Origin(ThreadingHTTPServer):
        request_queue_size = 128
        daemon_threads = False  # closing it waits for them, and for their connections

    server = Origin(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, requests


@pytest.fixture(scope="module")
def tools(tmp_path_factory):
    """Node, the browser and the client as one file."""
    node = shutil.which("node")
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    bundler = PACKAGES / ".bin" / "rolldown"
    if node is None or browser is None or not (PACKAGES / "playwright-core").exists():
        pytest.skip("needs chromium, and npm install in clients/typescript")
    made = tmp_path_factory.mktemp("page") / "client.js"
    options = ["--file", made, "--minify", "--format", "es", "--no-codeSplitting"]
    command = [bundler, CLIENT / "tests" / "page.ts", *options]
    subprocess.run(command, cwd=CLIENT, capture_output=True, check=True, timeout=120)
    return node, browser, made.read_bytes()


class Operator:
    """What the operators have: keys, a plan, a running `croupier serve`."""

    def __init__(self, directory, database):
        self.directory = directory
        self.environment = os.environ | {
            "CROUPIER_DATABASE": database,
            "CROUPIER_PASSPHRASE": PASSPHRASE,
        }
        self.house = House.at(directory, PASSPHRASE.encode())
        self.keys = self.house.release
        self.plan = Plan.from_document(TABLES | self.house.create())
        self.house.sign(self.plan)
        self.analyzer = self.house.analyzer.sealing_key("analyzer")
        (directory / "phrase").write_text(PASSPHRASE)
        (directory / "phrase").chmod(0o600)
        write_secret(directory / "secret")
        self.credentials = BearerCredentials(read_secret(directory / "secret"))

    def command(self, name, *options):
        program = "from croupier.cli import main; main()"
        command = [sys.executable, "-c", program, name, "--plan", self.directory / "plan.toml"]
        role = {"serve": self.house.intake, "release": self.house.release}[name]
        files = ["--keys", role.path, "--handover", self.house.handover.path]
        files += ["--shuffler", self.directory / "shuffler.json"]
        return [*map(str, [*command, *files, *options]), "--json"]

    def serve(self):
        files = ["--analyzer", self.directory / "analyzer.json", "--secret"]
        files += [self.directory / "secret", "--port", "0", "--metrics-port", "0"]
        first = ["-o", self.directory / "out", "--next-round"]
        first += ["--analyzer", self.directory / "analyzer.json"]
        opening = self.command("release", *first)
        subprocess.run(opening, env=self.environment, capture_output=True, check=True)
        self.process = subprocess.Popen(
            self.command("serve", *files),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=self.environment,
        )
        served = json.loads(self.process.stdout.readline())
        self.batch = bytes.fromhex(served["plans"][0]["batch"])
        return int(served["server"].rpartition(":")[2])

    def stop(self):
        self.process.terminate()
        self.process.wait(60)
        self.process.stdout.close()

    def release(self):
        """Release the batch, as soon as the round is over."""
        command = self.command("release", "-o", self.directory / "out")
        for _ in range(60):
            done = subprocess.run(command, env=self.environment, capture_output=True, check=False)
            if done.returncode != 4:
                break
            time.sleep(10)
        assert done.returncode == 0, done.stderr
        (file,) = (self.directory / "out").glob("*.parquet")
        return file

    def analyze(self, file, *, confidence):
        """What the analyzer publishes of the one question."""
        key = KeySource(self.house.analyzer.path, self.directory / "phrase")
        with engine("duckdb") as made:
            found = analyze(self.plan, [file], key=key, engine=made, confidence=confidence)
        (only,) = found.estimates
        return only.estimate.simultaneous()


@pytest.fixture(scope="module")
def collection(tools, tmp_path_factory, make_database):
    """Two hundred visits, what crossed the network, and the released batch."""
    node, browser, script = tools
    with make_database() as database:
        operator = Operator(tmp_path_factory.mktemp("operator"), database)
        port = operator.serve()
        server, requests = proxy(port, script)
        people = [
            {
                "credential": operator.credentials.issue(),
                "digest": operator.plan.digest,
                "value": ANSWERS[number % len(ANSWERS)],
            }
            for number in range(PEOPLE)
        ]
        url = f"http://127.0.0.1:{server.server_port}/"
        command = [node, Path(__file__).with_name("submit.cjs"), browser, url, str(AT_ONCE)]
        environment = os.environ | {"NODE_PATH": str(PACKAGES)}
        try:
            done = subprocess.run(
                command,
                input=json.dumps(people),
                capture_output=True,
                text=True,
                check=False,
                timeout=1200,
                env=environment,
            )
            assert done.returncode == 0, done.stderr
            released = operator.release()
        finally:
            server.shutdown()
            server.server_close()
            operator.stop()
    return operator, people, json.loads(done.stdout), requests, released


def test_every_page_is_heard_and_says_nothing_else(collection):
    _, people, visits, _, _ = collection
    assert len(visits) == len(people)
    assert {visit["outcome"] for visit in visits} == {"accepted"}
    assert [visit["messages"] for visit in visits] == [[]] * PEOPLE
    assert not any(answer in visit["kept"] for answer in ANSWERS for visit in visits)


def test_all_requests_have_one_length_and_number_whatever_the_answer(collection):
    _, people, visits, requests, _ = collection
    # The page, its script, the plan, the key list, the report.
    assert {tuple(visit["requests"]) for visit in visits} == {("GET",) * 4 + ("POST",)}
    posts = [request for request in requests if request.method == "POST"]
    lengths = defaultdict(list)
    value = {f"Bearer {person['credential']}": person["value"] for person in people}
    for post in posts:
        lengths[value[post.credential]].append(post.length)
    assert sum(map(len, lengths.values())) == PEOPLE
    assert set(lengths) == set(ANSWERS)
    assert len(set().union(*lengths.values())) == 1
    reads = [
        request for request in requests if request.path.startswith("/v1") and request not in posts
    ]
    assert len(reads) == 2 * PEOPLE
    assert len({request.length for request in reads}) == 1
    assert {request.answered for request in posts} == {202}


def test_the_released_batch_has_every_report_and_opens(collection):
    operator, _, _, _, released = collection
    analyzer = operator.analyzer.public_key().public_bytes_raw()
    epoch = Epoch.of(operator.plan, round_number=0, batch=operator.batch, analyzer=analyzer)
    rows = pq.read_table(released)["inner"].to_pylist()
    assert len(set(rows)) == PEOPLE
    reports = [
        decode_report(
            operator.plan, open_inner(inner, key=operator.analyzer, epoch=epoch), round_number=0
        )
        for inner in rows
    ]
    assert {int(report) for report in reports} <= set(range(len(ANSWERS)))


def holds(estimate, truth):
    return (estimate.lower <= truth) & (truth <= estimate.upper)


def chance_of_a_miss(randomizer, held, *, confidence):
    """The chance that an interval misses the share of what so many hold, by the law of its count.

    Normal quantiles alone do not say: with so few people the tails of a count are heavier.
    """
    own, other = map(float, randomizer.support_probabilities)
    others = PEOPLE - held
    law = np.convolve(
        binom.pmf(np.arange(held + 1), held, own), binom.pmf(np.arange(others + 1), others, other)
    )
    missed = 0.0
    for count, chance in enumerate(law):
        tally = np.array([count, PEOPLE - count, 0])
        estimate = randomizer.estimate_tally(tally, PEOPLE, confidence=confidence).simultaneous()
        missed += 0.0 if holds(estimate, held / PEOPLE)[0] else chance
    return missed


def test_the_truth_is_in_the_intervals_of_all_answers_together(collection, alarm):
    operator, people, _, _, released = collection
    confidence = 1 - alarm / 2
    held = Counter(person["value"] for person in people)
    shares = np.array([held[answer] for answer in ANSWERS]) / PEOPLE
    law = operator.plan.randomizer
    misses = [chance_of_a_miss(law, held[a], confidence=confidence) for a in ANSWERS]
    assert sum(misses) < alarm
    estimate = operator.analyze(released, confidence=confidence)
    assert (list(estimate.values), estimate.n) == (ANSWERS, PEOPLE)
    assert holds(estimate, shares).all()
    assert not holds(estimate, shares + np.array([0.2, -0.2, 0])).all()
