"""A service that cannot store reports says so, and why; one that never could does not start."""

import json
import os
import resource
import shutil
import signal
import socket
import time
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.network import proxied
from tests.unit.shuffler.http.conftest import within

FULL_DISK = """
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'a row' USING ERRCODE = '53100'; END $$
"""


def start(service, *options):
    """Start, and wait for the workers however busy the machine is."""
    service.start(*options)

    def ready():
        with suppress(OSError):
            return service.get("/readyz").status == 200

    assert within(120, ready)


def readiness(service):
    reply = service.get("/readyz")
    return reply.status, reply.document.get("cause")


def events(service, name):
    lines = map(json.loads, service.log.read_text().splitlines())
    return [line for line in lines if line["event"] == name]


def tag_file(service):
    return service.handover.path / f"{service.batch}.tag"


def tables(database):
    with psycopg.connect(database) as connection:
        query = "SELECT count(*) FROM pg_tables WHERE schemaname = 'croupier'"
        return connection.execute(query).fetchone()[0]


def test_connections_that_fall_silent_are_replaced_within_seconds(service):
    with proxied(service.database) as network:
        service.database = network.database
        start(service, "--workers", "1")
        assert service.send(service.envelopes()).status == 202
        network.silence()
        began = time.monotonic()
        assert service.send(service.envelopes()).status == 503
        assert within(9, lambda: service.send(service.envelopes()).status == 202)
        assert time.monotonic() - began < 15
        assert within(30, lambda: readiness(service)[0] == 200)
        assert service.stop() == 0
    causes = " ".join(line["cause"] for line in events(service, "not ready"))
    assert "did not answer in time" in causes


def test_a_batch_without_its_tag_key_is_not_served(service):
    start(service, "--workers", "1")
    service.stop()
    tag_file(service).unlink()
    code, document = service.run(service.serving("--workers", "1"))
    assert code == 2
    assert "must hold the tag key of round 0, which is open" in document["error"]
    assert f"{service.batch}.tag" in document["error"]
    assert "croupier release settles it" in document["error"]


def test_a_first_start_beside_another_hand_over_directory_names_it(service):
    """There is no witness yet: nobody is told to restore one."""
    service.open_round()
    moved = service.directory / "elsewhere"
    tag = next(service.handover.path.iterdir()).name
    service.handover.path.rename(moved)
    code, document = service.run(service.serving("--workers", "1"))
    said = document["error"]
    assert code == 1
    assert said.startswith("The hand-over directory lacks the tag key of round 0, the newest one:")
    steps = [
        "--handover",
        tag,
        "release --next-round",
        "backup",
        "croupier recover",
        "batch-key.md",
    ]
    assert [*map(said.index, steps)] == sorted(map(said.index, steps))
    assert "witness" not in said
    moved.rename(service.handover.path)
    start(service, "--workers", "1")
    assert readiness(service)[0] == 200


@pytest.mark.parametrize("place", [40, 200, -3])
def test_a_damaged_tag_key_is_named(service, place):
    service.open_round()
    (file,) = service.handover.path.iterdir()
    data = bytearray(file.read_bytes())
    data[place] ^= 1
    file.write_bytes(data)
    code, document = service.run(service.serving("--workers", "1"))
    assert code == 1
    assert f"{file.name} is damaged" in document["error"]
    assert "Put back a copy" in document["error"]


def test_without_a_round_it_is_served_and_says_how_one_is_opened(service):
    service.start("--workers", "1", first=None)
    assert [service.served["plans"][0][name] for name in ("round", "batch")] == [None, None]
    assert within(60, lambda: service.get("/healthz").status == 200)
    assert within(60, lambda: "croupier release --next-round" in str(readiness(service)))
    assert readiness(service)[0] == 503
    assert service.get(service.path).document["shuffler"] == []
    service.open_round()
    assert within(30, lambda: readiness(service) == (200, None))
    assert [entry["round"] for entry in service.get(service.path).document["shuffler"]] == [0]


def test_keys_that_vanish_while_serving_are_noticed_and_found_again(service):
    start(service, "--workers", "1")
    assert readiness(service) == (200, None)
    kept = service.directory / "kept"
    shutil.move(tag_file(service), kept)
    assert within(5, lambda: readiness(service)[0] == 503)
    assert "lacks the tag key of round 0, which is open" in readiness(service)[1]
    assert service.send(service.envelopes()).status == 503, "not closed: it may be put back"
    assert service.get(service.path).document["shuffler"] == []
    assert service.get("/healthz").status == 200
    shutil.move(kept, tag_file(service))
    assert within(30, lambda: readiness(service)[0] == 200)
    assert service.send(service.envelopes()).status == 202
    time.sleep(2)
    assert len(events(service, "not ready")) == len(events(service, "ready again")) == 1


def test_a_wrong_passphrase_or_key_is_named_before_anything_is_served(service):
    start(service, "--workers", "1")
    service.stop()
    wrong = service.directory / "wrong"
    wrong.write_text("another passphrase")
    wrong.chmod(0o600)
    command = service.serving("--workers", "1", "--passphrase-file", wrong)
    code, document = service.run(command)
    assert (code, document["error"]) == (
        1,
        "intake.pem does not open. Check the passphrase, or restore the file.",
    )
    (service.house.intake.path / "intake.pem").rename(service.directory / "away")
    code, document = service.run(service.serving("--workers", "1"))
    assert code == 1
    assert "intake.pem is not there" in document["error"]
    service.house.intake.create_signing_key("intake")
    code, document = service.run(service.serving("--workers", "1"))
    assert code == 2
    assert "must hold the keys of intake that --shuffler names" in document["error"]


def test_no_table_is_made_before_ports_and_keys_are_in_order(service):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for option in ("--port", "--metrics-port"):
            code, _ = service.run(service.serving(option, str(taken.getsockname()[1])))
            assert code == 2
            assert tables(service.database) == 0
    (service.house.intake.path / "intake.pem").rename(service.directory / "away")
    assert service.run(service.serving())[0] == 1
    assert tables(service.database) == 0
    assert service.keys.batches() == []


def test_a_full_disk_is_said_by_readiness_and_once_by_the_log(service):
    start(service, "--workers", "1")
    table = f"croupier.env_{service.batch}"
    with psycopg.connect(service.database, autocommit=True) as connection:
        connection.execute(FULL_DISK.encode())
        trigger = f"CREATE TRIGGER full_disk BEFORE INSERT ON {table} EXECUTE FUNCTION fail()"
        connection.execute(trigger.encode())
        for _ in range(8):
            assert service.send(service.envelopes()).status == 503
        assert readiness(service) == (503, "The database's disk is full.")
        time.sleep(3)
        assert readiness(service) == (503, "The database's disk is full.")
        connection.execute(f"DROP TRIGGER full_disk ON {table}".encode())
    assert within(30, lambda: readiness(service) == (200, None)), "nobody has to send for that"
    assert service.send(service.envelopes()).status == 202
    (line,) = events(service, "not ready")
    assert line["cause"] == "The database's disk is full."


def test_a_worker_that_cannot_start_ends_the_server_with_its_cause(service):
    start(service, "--workers", "2")
    (service.house.intake.path / "intake.pem").unlink()
    for pid in children(service.process.pid):
        os.kill(pid, signal.SIGKILL)
    assert service.process.wait(60) == 1
    assert "intake.pem is not there" in service.process.stdout.read().decode()
    (said,) = {line["cause"] for line in events(service, "worker cannot start")}
    assert "intake.pem is not there" in said


def children(pid):
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    commands = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in found}
    return [child for child, command in commands.items() if b"spawn_main" in command]


def test_workers_write_no_core_dumps(service):
    start(service, "--workers", "1")
    processes = [service.process.pid, *children(service.process.pid)]
    assert len(processes) == 2
    for pid in processes:
        assert resource.prlimit(pid, resource.RLIMIT_CORE) == (0, 0)


def test_a_full_batch_is_said_to_the_operator_once(service):
    start(service, "--workers", "1", "--maximum-batch", "1")
    relay = service.credentials.issue(relay=True)
    assert service.send(service.envelopes(1000), relay).status == 202
    assert within(30, lambda: service.send(service.envelopes(), relay).status == 503)
    assert within(30, lambda: events(service, "batch is full, clients wait"))
    time.sleep(2.5)
    (line,) = events(service, "batch is full, clients wait")
    assert (line["round"], line["room"]) == (0, 1)
    assert within(30, lambda: readiness(service)[0] == 503)
    status, cause = readiness(service)
    assert (status, cause.partition(":")[0]) == (503, "The batch of round 0 is full")


def test_the_database_that_is_wrong_is_named(service):
    service.database = make_conninfo(service.database, dbname="nosuch", password="hunter2")  # noqa: S106
    code, document = service.run(service.serving())
    assert code == 1
    assert document["error"].startswith("the database does not exist (nosuch at 127.0.0.1")
    assert "hunter2" not in document["error"]
