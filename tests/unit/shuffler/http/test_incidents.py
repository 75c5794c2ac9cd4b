"""Every fault of an operator: red within five seconds, named once, over when it is mended."""

import os
import shutil
import subprocess
import time
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.request import urlopen

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from croupier.demo.database import _cluster, _programs
from croupier.hosting.incidents import INCIDENTS
from croupier.protocol import encrypted_key
from croupier.protocol.encrypted_key import Derivation
from tests.unit.shuffler.http.conftest import deployed
from tests.unit.shuffler.http.test_readiness import FULL_DISK, events, start, tag_file, within

PROMISE = 5
"""Seconds within which readiness tells of a fault."""
SLACK = 10
"""Seconds more on a machine that runs other tests."""


def execute(service, *statements):
    with psycopg.connect(service.database, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


@contextmanager
def moved(path):
    away = path.with_name(f"{path.name}.away")
    shutil.move(path, away)
    yield
    shutil.move(away, path)


@contextmanager
def batch_key(service):
    with moved(tag_file(service)):
        yield


@contextmanager
def signing_key(service):
    with moved(service.house.intake.path / "intake.pem"):
        yield


@contextmanager
def passphrase(service):
    """The key file comes back from a copy under another passphrase."""
    file = service.house.intake.path / "intake.pem"
    with moved(file):
        key = service.house.intake.read_signing(file.with_name("intake.pem.away"))
        file.write_bytes(encrypted_key.encrypt(key, b"another passphrase", Derivation.new()))
        file.chmod(0o600)
        yield
        file.unlink()


@contextmanager
def disk_full(service):
    table = f"croupier.env_{service.batch}"
    trigger = f"CREATE TRIGGER full_disk BEFORE INSERT ON {table} EXECUTE FUNCTION fail()"
    execute(service, FULL_DISK, trigger)
    assert service.send(service.envelopes()).status == 503
    yield
    execute(service, f"DROP TRIGGER full_disk ON {table}")


@contextmanager
def database_down(service):
    with service.cut_off():
        yield


@contextmanager
def connections(server):
    """Everybody is disconnected, and no role but a superuser may connect again."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("ALTER DATABASE collection CONNECTION LIMIT 0")
        ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'shuffler'"
        connection.execute(ending)
    yield
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("ALTER DATABASE collection CONNECTION LIMIT -1")


@contextmanager
def read_only(server):
    """The server comes back as a standby, and is promoted."""
    with psycopg.connect(server) as connection:
        (data,) = connection.execute("SHOW data_directory").fetchone()
    Path(data, "standby.signal").touch(0o644)
    ahead = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    restart = [*ahead, _programs() / "pg_ctl", "-D", data, "-m", "fast", "-w", "restart"]
    subprocess.run(restart, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield
    with psycopg.connect(server) as connection:
        assert connection.execute("SELECT pg_promote()").fetchone() == (True,)


@contextmanager
def batch_full(service):
    relay = service.credentials.issue(relay=True)
    assert service.send(service.envelopes(1000), relay).status == 202
    yield
    execute(service, f"TRUNCATE croupier.env_{service.batch}")


@contextmanager
def clock(service):
    """Round 0 was opened later than it is now: the clock was set back by an hour."""
    execute(service, "UPDATE croupier.batches SET opened = opened + interval '1 hour'")
    yield
    execute(service, "UPDATE croupier.batches SET opened = opened - interval '1 hour'")


@contextmanager
def release_late(service):
    execute(
        service,
        "UPDATE croupier.batches SET opened = opened - interval '50 hours'",
        "UPDATE croupier.release_runs SET ran = ran - interval '50 hours'",
    )
    yield
    execute(service, "UPDATE croupier.batches SET opened = opened + interval '50 hours'")
    service.release()


@contextmanager
def batch_old(service):
    """Release runs, but has not disposed of it: as if the clocks disagreed."""
    execute(service, "UPDATE croupier.batches SET opened = opened - interval '97 hours'")
    execute(service, "UPDATE croupier.release_runs SET ran = now()")
    yield
    execute(service, "UPDATE croupier.batches SET opened = opened + interval '97 hours'")


@contextmanager
def revoked_list(service):
    file = service.directory / "revoked.txt"
    before = file.read_bytes()
    file.write_bytes(b"\xff no id\n")
    yield
    file.write_bytes(before)


def write_certificate(file, days):
    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "reports.example")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=90))
        .not_valid_after(now + timedelta(days=days))
        .sign(key, None)
    )
    file.write_bytes(made.public_bytes(Encoding.PEM))


@contextmanager
def certificate(service):
    file = service.directory / "certificate.pem"
    write_certificate(file, -1)
    yield
    write_certificate(file, 30)


FAULTS = {
    "batch-key": batch_key,
    "passphrase": passphrase,
    "signing-key": signing_key,
    "disk-full": disk_full,
    "database-down": database_down,
    "batch-full": batch_full,
    "clock": clock,
    "release-late": release_late,
    "batch-old": batch_old,
    "revoked-list": revoked_list,
    "certificate": certificate,
}
FAULTS_OF_A_SERVER = {"database-connections": connections, "database-read-only": read_only}


@pytest.fixture(scope="module")
def running(tmp_path_factory, make_database):
    """A service that all faults are played on, one after the other, each mended."""
    folder = tmp_path_factory.mktemp("incidents")
    (folder / "revoked.txt").write_text("")
    write_certificate(folder / "certificate.pem", 30)
    with deployed(folder, make_database) as service:
        files = ["--revoked", folder / "revoked.txt", "--certificate", folder / "certificate.pem"]
        start(service, "--workers", "1", "--maximum-batch", "1", *map(str, files))
        yield service


def readiness(service):
    reply = service.get("/readyz")
    return reply.status, [each["incident"] for each in reply.document.get("incidents", [])]


def metrics(service):
    published = urlopen(service.served["metrics"]).read().decode()  # noqa: S310 - our own server
    lines = [line for line in published.splitlines() if line.startswith("croupier_incident{")]
    return {line.split('"')[1] for line in lines if float(line.rpartition(" ")[2]) == 1}


def status(service):
    folders = ["--keys", service.house.intake.path, "--server", service.served["server"]]
    plan = service.directory / "plan.toml"
    return service.croupier("status", "--plan", plan, *folders)


def told_everywhere(service, name, fault):
    assert within(60, lambda: readiness(service) == (200, [])), readiness(service)
    lines = len(events(service, "not ready"))
    with fault:
        began = time.monotonic()
        assert within(PROMISE + SLACK, lambda: readiness(service) == (503, [name]))
        if "PYTEST_XDIST_WORKER" not in os.environ:
            assert time.monotonic() - began < PROMISE
        assert service.get("/healthz").status == 200
        assert within(SLACK, lambda: metrics(service) == {name})
        code, shown = status(service)
        told = [*shown["incidents"], *shown["plans"][0]["incidents"]]
        assert (code, {each["incident"] for each in told}) == (1, {name})
        assert {each["page"] for each in told} == {INCIDENTS[name].page}
    assert within(60, lambda: readiness(service) == (200, [])), readiness(service)
    assert within(SLACK, lambda: metrics(service) == set())
    # While a server restarts, it is down for a moment: that is told as well, by a line of its own.
    new = [line["incidents"] for line in events(service, "not ready")[lines:]]
    assert new.count([name]) == 1, new
    assert new in ([[name]], [["database-down"], [name]]), new


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_everywhere_and_is_over_when_it_is_mended(running, name):
    told_everywhere(running, name, FAULTS[name](running))


def test_a_service_goes_on_while_its_key_directory_is_away(running):
    assert within(60, lambda: readiness(running) == (200, [])), readiness(running)
    with moved(running.house.intake.path):
        assert within(PROMISE + SLACK, lambda: len(readiness(running)[1]) > 1), readiness(running)
        code, found = readiness(running)
        assert (code, {*found}) == (503, {"signing-key"})
        assert running.get("/readyz/host").status == 200
        assert running.send(running.envelopes()).status == 202
    assert within(60, lambda: readiness(running) == (200, [])), readiness(running)


def test_a_fault_of_a_server_of_its_own_is_told_as_well(tmp_path):
    with _cluster() as server:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("CREATE ROLE shuffler LOGIN")
            connection.execute("CREATE DATABASE collection OWNER shuffler")
        database = psycopg.conninfo.make_conninfo(server, user="shuffler", dbname="collection")
        with deployed(tmp_path, lambda: nullcontext(database)) as service:
            start(service, "--workers", "1")
            for name, fault in FAULTS_OF_A_SERVER.items():
                told_everywhere(service, name, fault(server))
