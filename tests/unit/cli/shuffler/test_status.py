"""`croupier status` against a real database, with and without a service."""

import json
import socket
import threading

import psycopg
import pytest

from tests.unit.cli.servers import answering
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


def serving(pages):
    """Serves status and body by path; 404 with nothing elsewhere."""
    return answering(lambda path: pages.get(path, (404, b"")))


def not_ready(site, *incidents):
    entries = [
        {"incident": name, "plan": site.plan.digest, "cause": "It is so.", "page": "a page"}
        for name in incidents
    ]
    document = {"schema_version": 1, "ready": False, "cause": "It is so.", "incidents": entries}
    return 503, json.dumps(document).encode()


READY = (200, b'{"schema_version":1,"ready":true}')


def test_nothing_needs_the_operator_while_a_round_is_open(site):
    outcome = status(site)
    assert (outcome.code, told(outcome)) == (0, [])


def test_a_service_that_is_ready_and_serves_the_plan_needs_nobody(site):
    with serving({"/readyz": READY, f"/v1/plans/{site.plan.digest}": (200, b"{}")}) as server:
        outcome = status(site, server=server)
    assert (outcome.code, told(outcome)) == (0, [])


@pytest.mark.parametrize("option", ["--keys", "--output"])
def test_a_directory_that_is_missing_is_refused(site, option):
    outcome = status(site, option, site.folder / "missing")
    assert outcome.code == 2
    assert f"`{option}` must be a directory; got '" in outcome.document["error"]


def test_an_object_store_is_no_missing_directory(site):
    outcome = status(site, "-o", "s3://bucket/prefix")
    assert (outcome.code, outcome.document["output_free"]) == (0, None)


@pytest.mark.parametrize("damage", ["gone", "damaged"])
def test_a_release_without_its_witness_is_told(site, damage):
    witness = site.folder / f"keys/release/witness/{site.plan.digest}.json"
    if damage == "gone":
        witness.unlink()
    else:
        witness.write_bytes(b"{")
    outcome = status(site)
    assert outcome.code == 1
    assert told(outcome) == [("witness", "The witness of release is damaged or gone.")]


def test_a_plan_without_rounds_needs_no_witness(site, database):
    (site.folder / f"keys/release/witness/{site.plan.digest}.json").unlink()
    with psycopg.connect(database) as connection:
        connection.execute("DELETE FROM croupier.batches")
    assert names(status(site)) == ["no-round"]


@pytest.mark.parametrize("code", [200, 404, 503])
@pytest.mark.parametrize("body", [b"<html>Welcome</html>", b"{}", b'{"ready": true, "x": 1}'])
def test_another_server_is_not_taken_for_the_service(site, code, body):
    with serving({"/readyz": (code, body)}) as server:
        outcome = status(site, server=server)
    cause = "Something answers, but not croupier serve of this version."
    assert (outcome.code, told(outcome)) == (1, [("service-down", cause)])


def test_a_port_that_speaks_no_http_is_not_taken_for_the_service(site):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def greet():
            with listener.accept()[0] as connection:
                connection.recv(1000)
                connection.sendall(b"SSH-2.0-OpenSSH\r\n\r\n")

        talk = threading.Thread(target=greet)
        talk.start()
        outcome = status(site, server=f"http://127.0.0.1:{listener.getsockname()[1]}")
        talk.join()
    assert names(outcome) == ["service-down"]


@pytest.mark.parametrize("code", [404, 410])
def test_a_plan_that_the_service_does_not_serve_is_told(site, code):
    pages = {"/readyz": READY, f"/v1/plans/{site.plan.digest}": (code, b"")}
    with serving(pages) as server:
        outcome = status(site, server=server)
    assert outcome.code == 1
    assert told(outcome) == [("service-down", "The service does not serve this plan.")]


def test_a_release_that_is_late_is_told_without_the_service(site, database):
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE croupier.batches SET opened = opened - interval '1 hour'")
        connection.execute("UPDATE croupier.release_runs SET ran = ran - interval '1 hour'")
    assert names(status(site)) == ["release-late"]
    key_list = f"/v1/plans/{site.plan.digest}"
    pages = {key_list: (200, b"{}"), "/readyz": not_ready(site, "release-late")}
    with serving(pages) as server:
        assert names(status(site, server=server)) == ["release-late"]


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
    with serving(pages) as server:
        found = names(status(site, server=server))
    assert found == ["signed-files", "batch-full", "database-set-back"]
    pages["/readyz"] = not_ready(site, "database-set-back")
    with serving(pages) as server:
        assert names(status(site, server=server)) == ["database-set-back"]
