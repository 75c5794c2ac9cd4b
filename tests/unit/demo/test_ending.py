"""A demo that is ended leaves nothing: no process, no database, no file."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from croupier.demo.ending import Signals

PROGRAM = "from croupier.cli import main; main()"
SERVER = "host=127.0.0.1 user={user} dbname=postgres"
A_WHILE = 60


def soon(condition, seconds=A_WHILE):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


class Demo:
    """The real one, in a session of its own, with a database role and a temporary directory."""

    def __init__(self, admin, role, folder):
        self.admin, self.role, self.folder = admin, role, folder
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "demo", "--people", "2000"],
            env=os.environ
            | {"TMPDIR": str(folder), "CROUPIER_DEMO_DATABASE": SERVER.format(user=role)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def databases(self):
        query = "SELECT count(*) FROM pg_database WHERE datdba = %s::regrole"
        return self.admin.execute(query, [self.role]).fetchone()[0]

    def processes(self):
        """Of the session of the demo, whichever still live."""
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue
            if int(session) == self.process.pid and state != "Z":
                found.append(int(stat.parent.name))
        return found

    def serving(self):
        """Whether the service has said where it listens."""
        return any(log.stat().st_size for log in self.folder.glob("*/service.log"))


@pytest.fixture
def demo(tmp_path):
    role = f"croupier_ending_{os.urandom(4).hex()}"
    with psycopg.connect(SERVER.format(user="postgres"), autocommit=True) as admin:
        admin.execute(SQL("CREATE ROLE {} LOGIN CREATEDB").format(Identifier(role)))
        demo = Demo(admin, role, tmp_path)
        yield demo
        for number in demo.processes():
            os.kill(number, signal.SIGKILL)
        demo.process.wait()
        query = "SELECT datname FROM pg_database WHERE datdba = %s::regrole"
        for (name,) in admin.execute(query, [role]).fetchall():
            admin.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))
        admin.execute(SQL("DROP ROLE {}").format(Identifier(role)))


MOMENTS = {
    "a database is there": lambda demo: demo.databases(),
    "keys are there": lambda demo: any(demo.folder.glob("*/plan.toml")),
    "the service starts": lambda demo: any(demo.folder.glob("*/service.log")),
    "people send": lambda demo: len(demo.processes()) > 3,
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "number"),
    [*((moment, signal.SIGTERM) for moment in MOMENTS), ("people send", signal.SIGHUP)],
)
def test_nothing_is_left(demo, moment, number):
    assert soon(lambda: MOMENTS[moment](demo))
    demo.process.send_signal(number)
    assert demo.process.wait(A_WHILE) == 128 + number
    assert soon(lambda: not demo.processes())
    assert demo.databases() == 0
    assert list(demo.folder.iterdir()) == []


@pytest.mark.slow
def test_the_service_of_a_killed_demo_ends(demo):
    assert soon(lambda: len(demo.processes()) > 3)
    demo.process.kill()
    assert soon(lambda: not demo.processes(), 30)


def kill_oneself(number):
    os.kill(os.getpid(), number)
    time.sleep(0.01)


def interrupted(number):
    with Signals() as signals, signals.interruptible():
        kill_oneself(number)
        time.sleep(A_WHILE)


class TestSignals:
    def test_what_is_made_is_made_to_its_end(self):
        done = []

        def made_and_removed():
            with Signals() as signals:
                kill_oneself(signal.SIGTERM)
                done.append("made")
                try:
                    with signals.interruptible():
                        done.append("begun")
                finally:
                    kill_oneself(signal.SIGTERM)
                    done.append("removed")

        with pytest.raises(SystemExit) as ended:
            made_and_removed()
        assert ended.value.code == 128 + signal.SIGTERM
        assert done == ["made", "removed"]

    def test_a_block_is_ended(self):
        with pytest.raises(SystemExit):
            interrupted(signal.SIGTERM)

    def test_a_keyboard_interrupt_stays_one(self):
        with pytest.raises(KeyboardInterrupt):
            interrupted(signal.SIGINT)

    def test_handlers_are_put_back(self):
        before = signal.getsignal(signal.SIGTERM)
        with Signals():
            assert signal.getsignal(signal.SIGTERM) is not before
        assert signal.getsignal(signal.SIGTERM) is before
