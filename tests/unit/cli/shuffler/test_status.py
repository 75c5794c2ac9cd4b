"""`croupier status` against a real database, with and without a service."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg
import pytest

from tests.unit.cli.shuffler.test_release import PASSPHRASE, Site

NOWHERE = "host=127.0.0.1 port=1"


@pytest.fixture
def site(croupier, database, tmp_path, monkeypatch):
    """A plan whose first round is open, and what its release left."""
    monkeypatch.setenv("CROUPIER_DATABASE", database)
    monkeypatch.setenv("CROUPIER_PASSPHRASE", PASSPHRASE)
    site = Site(croupier, tmp_path)
    opened = site.release("--next-round", "--analyzer", site.sign_analyzer())
    assert opened.code == 0, opened.err
    return site


def status(site, *more, server="none"):
    keys = ("--keys", site.folder / "keys/release")
    given = ("--plan", site.file, "--server", server, *keys, *more)
    return site.croupier("status", *given, "--json")


def told(outcome):
    """Name and cause of all incidents."""
    document = outcome.document
    found = [*document["incidents"], *(each for p in document["plans"] for each in p["incidents"])]
    return [(each["incident"], each["cause"]) for each in found]


def names(outcome):
    return [name for name, _ in told(outcome)]


@contextmanager
def answering(pages):
    """Serves status and body by path; 404 with nothing elsewhere."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            code, body = pages.get(self.path, (404, b""))
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def not_ready(site, *incidents):
    entries = [
        {"incident": name, "plan": site.plan.digest, "cause": "It is so.", "page": "a page"}
        for name in incidents
    ]
    document = {"schema_version": 1, "ready": False, "cause": "It is so.", "incidents": entries}
    return 503, json.dumps(document).encode()


def test_nothing_needs_the_operator_while_a_round_is_open(site):
    outcome = status(site)
    assert (outcome.code, told(outcome)) == (0, [])


def test_a_database_that_does_not_answer_is_not_called_set_back(site, monkeypatch):
    monkeypatch.setenv("CROUPIER_DATABASE", NOWHERE)
    outcome = status(site)
    assert (outcome.code, names(outcome)) == (1, ["database-down"])


def test_a_database_that_was_set_back_is_told_beside_what_the_service_told(site, database):
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM croupier.batches")
    assert names(status(site)) == ["database-set-back"]
    key_list = f"/v1/plans/{site.plan.digest}"
    pages = {key_list: (503, b""), "/readyz": not_ready(site, "signed-files", "batch-full")}
    with answering(pages) as server:
        found = names(status(site, server=server))
    assert found == ["signed-files", "batch-full", "database-set-back"]
    pages["/readyz"] = not_ready(site, "database-set-back")
    with answering(pages) as server:
        assert names(status(site, server=server)) == ["database-set-back"]
