"""A shuffler's host for fault injection: a cluster, a deployment, its commands and clients."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import psycopg
from psycopg.conninfo import make_conninfo

from benchmarks.cluster import Cluster
from benchmarks.faults import command
from benchmarks.faults.command import Finished, Running
from benchmarks.faults.result import Skipped
from benchmarks.faults.verdict import Shuffler, Verdict, judge
from benchmarks.house import House
from benchmarks.intake import PASSPHRASE, deploy
from benchmarks.machine import free_port, worker_processes
from benchmarks.senders import Senders
from croupier.client.conversation import Outcome
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import BearerCredentials
from croupier.shuffler.release.keys import ReleaseKeys

__all__ = ["MINIMUM", "NEXT", "SERVERS", "Site", "site", "wait_until_ready"]

MINIMUM = 20
SERVERS = ("server", "second server")
"""The names of the processes that take reports."""
NEXT = ("--next-round", "--analyzer", "analyzer.json")
_STOPPING = 20.0
_DISPOSED = 6
_RELEASE = ("--plan", "plan.toml", "--processes", "1")


class Site:
    """A deployment in a folder, on a separate cluster.

    Args:
        folder: An empty one.
        minimum: The number of reports that a batch needs.
        every: The length of a round.
        proxied: Maps the database's port to the one that the commands use.
        fronted: Maps the server's port to the one that clients use.
    """

    def __init__(
        self,
        folder: Path,
        *,
        minimum: int = MINIMUM,
        every: str = "1s",
        proxied: Callable[[int], int] | None = None,
        fronted: Callable[[int], int] | None = None,
    ) -> None:
        self.folder, self.cluster = folder, self.make_cluster(folder)
        tables: dict[str, object] = {
            "schema": 2,
            "randomizer": {"mechanism": "k-rr", "k": 2, "max_epsilon_local": 1.0},
            "population": {"enrolled": 1_000_000},
            "collection": {"every": every},
            "protections": {"minimum_batch": minimum, "disposal_age": "720h"},
        }
        credentials = self.deploy(folder, tables)
        self.plan = Plan.load(folder / "plan.toml")
        self.keys = House.at(folder, PASSPHRASE.encode()).release
        port = self.cluster.port if proxied is None else proxied(self.cluster.port)
        self.database = make_conninfo(self.cluster.database, port=port)
        self.port, self.second_port = free_port(), free_port()
        public = self.port if fronted is None else fronted(self.port)
        self.senders = Senders(
            self.plan,
            keys=self.keys,
            credentials=credentials,
            url=self.url(public),
            second=self.second_keys,
        )
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.variables: dict[str, str] = {}

    second_keys: ReleaseKeys | None = None
    """The keys of a second shuffler, if there is one."""

    def deploy(self, folder: Path, tables: dict[str, object]) -> BearerCredentials:
        """Make a plan, keys and a secret."""
        return deploy(folder, tables)

    def make_cluster(self, folder: Path) -> Cluster:
        """Start the cluster."""
        return Cluster(folder)

    def url(self, port: int) -> str:
        """Return the address that clients use, where it has this port."""
        return f"http://127.0.0.1:{port}"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the commands."""
        own = {"CROUPIER_PASSPHRASE": PASSPHRASE, "CROUPIER_DATABASE": self.database}
        return own | self.variables

    def operate(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command as an operator does."""
        program = [sys.executable, "-c", "from croupier.cli import main; main()", *arguments]
        environment = os.environ | self.environment
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - our own program
                program, cwd=self.folder, env=environment, stdout=log, stderr=log
            )

    def serve(self, name: str = "server", *, workers: int = 2) -> None:
        """Start a server, and do not wait for it."""
        ports = ["--port", str(self.port_of(name)), "--metrics-port", "0"]
        more = ["--workers", str(workers), *self.files(name)]
        self.processes[name] = self.operate("serve", "--plan", "plan.toml", *ports, *more)

    def files(self, name: str) -> list[str]:
        """Return the options that name the files of a server."""
        _ = name  # both have the same
        return ["--secret", "secret"]

    def port_of(self, name: str) -> int:
        """Return the port of a server."""
        return self.port if name == "server" else self.second_port

    def is_ready(self, name: str = "server", *, seconds: float = 60) -> bool:
        """Wait until a server is ready, or until it has ended without."""
        url = f"http://127.0.0.1:{self.port_of(name)}"
        return wait_until_ready(url, seconds=seconds, process=self.processes[name])

    def keep(self, *names: str) -> None:
        """Start again what has ended: a server, or one release after the other."""
        for name in names:
            process = self.processes.get(name)
            if process is not None and process.poll() is None:
                continue
            if "release" in name:
                self.processes[name] = self.operate("release", *_RELEASE, "-o", "out", *NEXT)
            else:
                self.serve(name)

    def workers(self, name: str) -> list[int]:
        """The worker processes of a server."""
        return worker_processes(self.processes[name].pid)

    def kill_one(self, victim: str, chance: random.Random) -> bool:
        """Kill one process, and restart PostgreSQL if needed; False if there is no such process.

        Args:
            victim: "postgres"; "worker", of any server; or the name of a process.
            chance: Chooses the worker.
        """
        if victim == "postgres":
            self.cluster.kill()
            self.cluster.start()
        elif victim == "worker":
            servers = [name for name in SERVERS if name in self.processes]
            workers = [pid for name in servers for pid in self.workers(name)]
            if not workers:
                return False
            os.kill(chance.choice(workers), signal.SIGKILL)
        else:
            self.processes[victim].kill()
            self.processes[victim].wait()
        return True

    def stop(self, name: str) -> None:
        """End a process that was started, and wait for it; one that hangs is killed."""
        process = self.processes.get(name)
        if process is None:
            return
        process.terminate()
        try:
            process.wait(_STOPPING)
        except subprocess.TimeoutExpired:
            for pid in (*self.workers(name), process.pid):
                os.kill(pid, signal.SIGKILL)
            process.wait()
        del self.processes[name]

    def fill(self, count: int, *, seconds: float = 30) -> None:
        """Send this number of reports to the open round."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with suppress(KeyError):  # the round is not known yet
                if self.senders.relay(count) is Outcome.ACCEPTED:
                    return
            time.sleep(0.1)
        raise SystemExit("nobody takes reports:\n" + self.log())

    def age(self, *, days: float = 0, seconds: float = 0) -> None:
        """Backdate the open round, also for the witness, so that nobody has to wait."""
        with psycopg.connect(self.cluster.database, dbname=self.name) as connection:
            connection.isolation_level = psycopg.IsolationLevel.READ_COMMITTED
            connection.execute(
                "UPDATE croupier.batches SET opened = opened - make_interval(secs => %s) "
                "WHERE state = 'open'",
                [days * 86_400 + seconds],
            )
        witness = self.keys.path / "witness" / f"{self.plan.digest}.json"
        if witness.exists():
            record = json.loads(witness.read_text())
            record["first_seen"] = {
                batch: (datetime.fromisoformat(at) - timedelta(days, seconds)).isoformat()
                for batch, at in record["first_seen"].items()
            }
            witness.write_text(json.dumps(record))

    @property
    def name(self) -> str:
        """The database's name."""
        return str(psycopg.conninfo.conninfo_to_dict(self.database)["dbname"])

    def start_release(
        self,
        *more: str,
        folder: Path | None = None,
        out: str = "out",
        prepare: Callable[[], None] | None = None,
    ) -> Running:
        """Begin to release, in a process that starts at once.

        Args:
            more: Further options.
            folder: Another copy of the deployment's files.
            out: The place for files and receipts.
            prepare: Called in the process before the command.
        """
        return command.start(
            *("release", *_RELEASE, "-o", out, *more),
            folder=folder or self.folder,
            environment=self.environment,
            prepare=prepare,
        )

    def release(self, *more: str, folder: Path | None = None, out: str = "out") -> Finished:
        """Release, to the end."""
        return self.start_release(*more, folder=folder, out=out).wait()

    def open_round(self) -> None:
        """Open the next round if none is open."""
        done = self.release(*NEXT)
        if done.code not in {0, _DISPOSED}:
            raise SystemExit(done.said)

    def finish(self, *, seconds: float = 180) -> None:
        """Stop sending, fill the open batch up, and release all there is."""
        self.senders.stop()
        end = time.monotonic() + seconds
        said = ""
        while time.monotonic() < end:
            done = self.release("--json")
            if done.code == 0 and '"outcome": "held"' not in done.said:
                return
            said = done.said
            if self.processes["server"].poll() is not None:
                self.serve()
            if self.is_ready(seconds=10):
                self.senders.relay(10 * MINIMUM)
            time.sleep(self.plan.collection.every.total_seconds())
        raise SystemExit(f"the remaining reports cannot be released: {said}\n{self.log()}")

    def copy_database(self, source: str, target: str) -> None:
        """Replace a database by a copy of another that is not in use."""
        with psycopg.connect(self.cluster.database, autocommit=True, dbname="template1") as c:
            c.execute(f"DROP DATABASE IF EXISTS {target} WITH (FORCE)".encode())
            c.execute(f"CREATE DATABASE {target} TEMPLATE {source}".encode())

    def use(self, name: str) -> None:
        """Work on another of the cluster's databases from now on."""
        self.database = make_conninfo(self.database, dbname=name)

    def judge(
        self, *outputs: str, folder: Path | None = None, disposal_due: bool = False
    ) -> Verdict:
        """Compare what its clients were told with what it has released.

        Args:
            outputs: The names of the directories that were released into.
            folder: Another copy of the deployment's files.
            disposal_due: True if a batch was too small for too long, and had to be deleted.
        """
        shuffler = self.shuffler(*outputs, folder=folder)
        return judge(self.senders.notes, shuffler, disposal_due=disposal_due)

    def shuffler(self, *outputs: str, folder: Path | None = None) -> Shuffler:
        """Return the places where it stores and publishes; arguments as for `judge`."""
        place = folder or self.folder
        return Shuffler(
            plan=self.plan,
            database=make_conninfo(self.cluster.database, dbname=self.name),
            house=House.at(place, self.keys.passphrase),
            outputs=[place / output for output in outputs or ("out",)],
        )

    def log(self) -> str:
        """The last lines of the log."""
        path = self.folder / "log"
        return path.read_text()[-2000:] if path.exists() else ""

    def close(self) -> None:
        """End all processes, also frozen ones."""
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
        self.senders.stop()
        for name in list(self.processes):
            self.stop(name)
        if (self.cluster.data / "postmaster.pid").exists():
            self.cluster.stop()


@contextmanager
def site(
    *,
    minimum: int = MINIMUM,
    every: str = "1s",
    proxied: Callable[[int], int] | None = None,
    fronted: Callable[[int], int] | None = None,
    mounted: Mapping[str, str] | None = None,
) -> Iterator[Site]:
    """A deployment that is removed at the end.

    Args:
        minimum: As `Site` takes it.
        every: As `Site` takes it.
        proxied: As `Site` takes it.
        fronted: As `Site` takes it.
        mounted: The folders that are separate file systems, with their sizes.

    Raises:
        Skipped: They cannot be mounted here.
    """
    with TemporaryDirectory() as folder, ExitStack() as stack:
        for name, size in (mounted or {}).items():
            stack.enter_context(_small_disk(Path(folder) / name, size))
        made = Site(Path(folder), minimum=minimum, every=every, proxied=proxied, fronted=fronted)
        stack.callback(made.close)
        yield made


@contextmanager
def _small_disk(path: Path, size: str) -> Iterator[None]:
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "tmpfs", str(path)]
    if os.getuid() or subprocess.run(command, capture_output=True, check=False).returncode:  # noqa: S603
        raise Skipped("only root can mount a small file system, and not everywhere")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)  # noqa: S603, S607


def wait_until_ready(
    url: str, *, seconds: float = 60, process: subprocess.Popen[bytes] | None = None
) -> bool:
    """Wait until a server says that it takes reports; False if it does not, or its process ends."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and (process is None or process.poll() is None):
        if _is_ready(url):
            return True
        time.sleep(0.05)
    return False


def _is_ready(url: str) -> bool:
    for path in ("/readyz", "/healthz"):
        try:
            urlopen(url + path, timeout=2).close()  # noqa: S310 - our own server
        except HTTPError as error:
            if error.code != 404:
                return False
        except (URLError, OSError):
            return False
        else:
            return True
    return False
