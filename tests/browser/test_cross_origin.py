"""Pages on other origins than the service's, in a real browser: the plan says which take part."""

import json
import os
import subprocess
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.browser.test_typescript_client import PACKAGES, PAGE, tools
from tests.unit.shuffler.http.conftest import deployed

pytestmark = [pytest.mark.browser, pytest.mark.slow]

__all__ = ["tools"]

SECONDS = 5
"""A round: as long a page asks again that gets no answer."""


@contextmanager
def page(script):
    """The origin of a page that takes part."""
    own = {"/": ("text/html", PAGE), "/client.js": ("text/javascript", script)}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            kind, data = own[self.path]
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def visits(tools, tmp_path_factory, make_database):
    """The visits of a listed and an unlisted page, and the reports that were stored."""
    node, browser, script = tools
    with page(script) as listed, page(script) as unlisted:
        tables = {
            "admission": {"origins": [listed]},
            "collection": {"every": f"{SECONDS}s"},
            "protections": {"minimum_batch": 50, "disposal_age": "72h"},
        }
        with deployed(tmp_path_factory.mktemp("service"), make_database, **tables) as service:
            service.start("--workers", "1", "--requests-per-minute", "1")
            pages = [
                {
                    "url": f"{origin}/",
                    "service": service.served["server"],
                    "credential": service.credentials.issue(),
                    "digest": service.plan.digest,
                    "value": 3,
                    "batch": service.batch,
                    "length": service.envelope_length,
                }
                for origin in (listed, unlisted)
            ]
            done = subprocess.run(
                [node, Path(__file__).with_name("across.cjs"), browser],
                input=json.dumps(pages),
                capture_output=True,
                text=True,
                check=False,
                timeout=600,
                env=os.environ | {"NODE_PATH": str(PACKAGES)},
            )
            assert done.returncode == 0, done.stderr
            stored = service.stored()
            log = service.log.read_text()
    return json.loads(done.stdout), stored, log


def test_a_listed_page_takes_part_and_reads_every_answer(visits):
    (listed, _), stored, _ = visits
    assert listed["outcome"] == "accepted"
    assert len(stored) == 1
    status, retry_after, length = listed["again"]
    assert (status, retry_after, length > 0) == (429, "60", True)
    assert listed["stranger"][0] == 401
    assert listed["list"][0] == listed["round"][0] == 200


def test_an_unlisted_page_sends_nothing_and_reads_what_is_public(visits):
    (listed, unlisted), stored, _ = visits
    assert unlisted["outcome"] == "no answer in time"
    assert unlisted["again"] == unlisted["stranger"] == ["TypeError"]
    assert len(stored) == 1, "the browser has sent no report of this page"
    for public in ("list", "round", "missing"):
        assert unlisted[public] == listed[public]
    assert unlisted["missing"][0] == 404


def test_no_page_may_send_with_cookies(visits):
    assert [visit["cookies"] for visit in visits[0]] == [["TypeError"]] * 2


def test_no_origin_is_logged(visits):
    assert "127.0.0.1" not in visits[2]
