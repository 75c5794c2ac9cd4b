import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from croupier.demo.board import Scoreboard
from croupier.demo.visit import Visit
from croupier.demo.watch import watching
from croupier.plan.plan import Plan

PLAN = """
schema = 2
randomizer = {mechanism = "k-rr", k = 10, max_epsilon_local = 2.0}
population.enrolled = 101
protections.minimum_batch = 100
"""
SENT = {"Authorization": "Bearer x", "Croupier-Batch": "00", "Accept-Language": "eo", "Cookie": "c"}


@pytest.fixture
def service():
    """Stands for the service: acknowledges every report, and keeps what it was told."""
    told = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            told.append((self.path, dict(self.headers.items()), body))
            self.send_response(202 if body else 400)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", told
        server.shutdown()


@pytest.fixture
def board():
    return Scoreboard(100, 100, [])


@pytest.fixture
def visit(board):
    return Visit(Plan.from_toml(PLAN), board, credential="x")


def test_a_report_reaches_the_service_without_what_a_browser_adds(service, board, visit):
    url, told = service
    visit.begin(url)
    with watching(board, visit) as page:
        sent = {"content": b"sealed", "headers": SENT, "trust_env": False}
        assert httpx.post(f"{page}v1/plans/ab/reports", **sent).status_code == 202
    ((path, headers, body),) = told
    assert (path, body) == ("/v1/plans/ab/reports", b"sealed")
    assert (headers["Authorization"], headers["Croupier-Batch"]) == ("Bearer x", "00")
    assert not {"Accept-Language", "Cookie"} & set(headers)


def test_only_requests_to_the_service_are_passed_on(service, board, visit):
    url, told = service
    visit.begin(url)
    with watching(board, visit) as page:
        for path in ("metrics", "healthz", "readyz", "v1"):
            answer = httpx.post(page + path, content=b"sealed", trust_env=False)
            assert answer.status_code == 404
        assert httpx.get(f"{page}visit.json", trust_env=False).json()["credential"] == "x"
    assert told == []


def test_one_visitor_counts_once_however_often_the_same_is_sent(service, board, visit):
    visit.begin(service[0])
    assert visit.pass_on("POST", "/v1/plans/ab/reports", SENT, b"")[0] == 400
    assert (visit.answered, board.document()["received"]) == (False, 0)
    for _ in range(2):
        assert visit.pass_on("POST", "/v1/plans/ab/reports", SENT, b"sealed")[0] == 202
    assert (visit.answered, board.document()["received"]) == (True, 1)


def test_nothing_is_passed_on_before_or_after(service, board, visit):
    url, told = service
    assert visit.pass_on("POST", "/v1/plans/ab/reports", SENT, b"sealed")[0] == 503
    visit.begin(url)
    visit.end()
    assert visit.pass_on("POST", "/v1/plans/ab/reports", SENT, b"sealed")[0] == 503
    assert told == []
    assert board.document()["visit"] == "missed"


def test_a_service_that_is_gone_is_silence(visit):
    visit.begin("http://127.0.0.1:9")
    assert visit.pass_on("GET", "/v1/plans/ab", {}, b"")[0] == 503


def test_the_wait_is_counted_down_and_ends_with_an_answer(service, board, visit):
    visit.begin(service[0])
    visit.wait(1)
    assert board.document()["seconds_left"] == 1
    threading.Timer(0.2, visit.pass_on, ["POST", "/v1/plans/ab/reports", SENT, b"sealed"]).start()
    began = time.monotonic()
    visit.wait(60)
    assert time.monotonic() - began < 50
    visit.end()
    assert board.document()["visit"] == "answered"


def test_the_page_is_told_the_law_of_its_report(visit):
    told = visit.document()
    assert told["kept"] + 9 * told["changed"] == pytest.approx(1)
    assert told["kept"] == pytest.approx(0.4508, abs=1e-4)  # e^2 / (e^2 + 9)


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "localhost:1"]
)
@pytest.mark.parametrize("path", ["", "visit.json", "client.js", "v1/plans/ab"])
def test_a_name_that_another_site_points_here_gets_nothing(service, board, visit, host, path):
    """Else a page of that site could read the visitor's credential."""
    url, told = service
    visit.begin(url)
    with watching(board, visit) as page:
        headers = {"Host": host.format(port=page.rstrip("/").rpartition(":")[2])}
        for method in ("GET", "POST"):
            answer = httpx.request(method, page + path, headers=headers, trust_env=False)
            assert answer.status_code == 421
            assert "credential" not in answer.text
    assert told == []


def test_this_machine_may_be_called_localhost(board, visit):
    with watching(board, visit) as page:
        named = page.replace("127.0.0.1", "localhost")
        headers = {"Host": named.removeprefix("http://").rstrip("/")}
        assert httpx.get(page, headers=headers, trust_env=False).status_code == 200
