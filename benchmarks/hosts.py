"""Two hosts behind a load balancer, one of which is killed again and again; count lost reports.

Each host runs `croupier serve` in a network namespace of its own, with its own copy of intake's
keys. They share the hand-over directory and a PostgreSQL server that they reach over a bridge.
HAProxy, in a third namespace, checks /readyz/host; it runs with deploy/haproxy/haproxy.cfg, where
only addresses and the certificate are replaced. People and relays send over TLS from a fourth, and
repeat what was not answered, as clients do. `croupier release --next-round` runs from a timer in a
fifth. Every few seconds all processes of one of the two hosts are killed with SIGKILL, alternately,
and are started again a few seconds later.

Every report that was acknowledged must be in exactly one released batch, and receipts must be one
chain. Ends with 1 if anything that must be zero is not. Needs root, iproute2, HAProxy, openssl and
PostgreSQL's programs.

Run: python -m benchmarks.hosts [--seconds 300] [--every 10] [--haproxy FILE] [--json]
"""

import argparse
import csv
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.cluster import Cluster
from benchmarks.faults.command import Finished
from benchmarks.faults.result import Skipped
from benchmarks.faults.rig import Site, wait_until_ready
from benchmarks.faults.verdict import Verdict
from benchmarks.network import Network, network

CONFIGURATION = Path(__file__).parents[1] / "deploy" / "haproxy" / "haproxy.cfg"
_HOSTS = {"server": "intake-1", "second server": "intake-2"}
"""The namespaces of the two servers, by the names that `Site` has for them."""
_NAMESPACES = ("database", *_HOSTS.values(), "balancer", "clients", "release")
_MINIMUM, _EVERY = 100, "5s"
_DOWN = 3.0
"""Seconds from the kill of a host until it is started again."""
_TIMER = 1.0
"""Seconds from the end of a release until the next."""
_PORT = 8000
_RELEASE = ("release", "--plan", "plan.toml", "--processes", "1")
_NEXT = ("--next-round", "--analyzer", "analyzer.json")


@dataclass
class Figures:
    """The result of a run.

    Attributes:
        seconds: The time in which hosts were killed.
        kills: The number of kills of a host.
        requests: The number of requests with reports, repeated ones included.
        retried: How many of them repeated an earlier one.
        accepted: How many of them were accepted.
        repeated_by_proxy: The number of attempts that HAProxy repeated by itself.
        longest_pause_s: The longest time in which no report was accepted, between rounds included.
        verdict: The fate of the reports.
    """

    seconds: float
    kills: int = 0
    requests: int = 0
    retried: int = 0
    accepted: int = 0
    repeated_by_proxy: int = 0
    longest_pause_s: float = 0.0
    verdict: Verdict = field(default_factory=Verdict)

    @property
    def retried_share(self) -> float:
        """The share of requests that repeated an earlier one."""
        return self.retried / self.requests if self.requests else 0.0

    @property
    def is_clean(self) -> bool:
        """True if hosts were killed, reports were accepted, and nothing forbidden happened."""
        return bool(self.kills and self.verdict.acknowledged) and self.verdict.is_clean


class Fleet(Site):
    """Two hosts that share a database and the hand-over, a balancer before them, and clients.

    Args:
        folder: An empty one.
        hosts: The network.
        configuration: The configuration of HAProxy.
    """

    def __init__(self, folder: Path, *, hosts: Network, configuration: str) -> None:
        self._network = hosts
        super().__init__(folder, minimum=_MINIMUM, every=_EVERY)
        for host in _HOSTS.values():
            shutil.copytree(folder / "keys" / "intake", folder / host / "keys" / "intake")
        self._statistics = folder / "haproxy.socket"
        (folder / "haproxy.cfg").write_text(
            configured(
                configuration,
                certificate=_certificate(folder),
                addresses=[f"{hosts.address(host)}:{_PORT}" for host in _HOSTS.values()],
                statistics=self._statistics,
            )
        )
        self._released = time.monotonic()

    def make_cluster(self, folder: Path) -> Cluster:
        """Start the cluster on the host that has the bridge."""
        host, hosts = "database", self._network
        return Cluster(
            folder, address=hosts.address(host), subnet=hosts.subnet, ahead=hosts.on(host)
        )

    def url(self, port: int) -> str:
        """Return the address of the balancer."""
        _ = port  # it has its own
        return f"https://{self._network.address('balancer')}"

    def serve(self, name: str = "server", *, workers: int = 1) -> None:
        """Start the service on its host, and do not wait for it."""
        host = _HOSTS[name]
        shared = ["--plan", "../plan.toml", "--secret", "../secret", "--handover"]
        listens = ["--host", self._network.address(host), "--port", str(_PORT)]
        self.processes[name] = self._start(
            host, "serve", *shared, "../keys/handover", *listens, "--workers", str(workers)
        )

    def is_ready(self, name: str = "server", *, seconds: float = 60) -> bool:
        """Wait until a host is ready, or until its service has ended without."""
        url = f"http://{self._network.address(_HOSTS[name])}:{_PORT}"
        return wait_until_ready(url, seconds=seconds, process=self.processes[name])

    def release(self, *more: str, folder: Path | None = None, out: str = "out") -> Finished:
        """Release, to the end, in the namespace of the timer."""
        command = self._command("release", *_RELEASE, "-o", out, *more)
        done = subprocess.run(  # noqa: S603 - our own program
            command,
            cwd=folder or self.folder,
            env=self._variables,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        return Finished(done.returncode, done.stdout)

    def keep_releasing(self) -> None:
        """Release again if the last release has ended some time ago, as a timer does."""
        process = self.processes.get("release")
        if process is not None and process.poll() is None:
            self._released = time.monotonic()
        elif time.monotonic() - self._released >= _TIMER:
            self.processes["release"] = self._start("release", *_RELEASE, "-o", "out", *_NEXT)

    def balance(self) -> None:
        """Start the load balancer."""
        command = [*self._network.on("balancer"), "haproxy", "-f", str(self.folder / "haproxy.cfg")]
        checked = subprocess.run([*command, "-c"], capture_output=True, text=True, check=False)  # noqa: S603
        if checked.returncode:
            raise SystemExit(checked.stderr)
        self.processes["balancer"] = subprocess.Popen([*command, "-db"])  # noqa: S603

    def kill(self, name: str) -> None:
        """Kill all processes of a host."""
        os.killpg(self.processes[name].pid, signal.SIGKILL)
        self.processes.pop(name).wait()

    def repeated_by_proxy(self) -> int:
        """Return how many attempts HAProxy has repeated, at the same or at the other host."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self._statistics))
            connection.sendall(b"show stat\n")
            with connection.makefile() as answer:
                rows = [*csv.DictReader(answer)]
        (backend,) = (row for row in rows if row["svname"] == "BACKEND")
        return int(backend["wretr"]) + int(backend["wredis"])

    @property
    def _variables(self) -> dict[str, str]:
        return os.environ | self.environment

    def _command(self, host: str, *arguments: str) -> list[str]:
        program = "from croupier.cli import main; main()"
        return [*self._network.on(host), sys.executable, "-c", program, *arguments]

    def _start(self, host: str, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a command on a host, with all its processes in a group of their own."""
        own = self.folder / host
        with (self.folder / f"{host}.log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - our own program
                self._command(host, *arguments),
                cwd=own if own.is_dir() else self.folder,
                env=self._variables,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def log(self) -> str:
        """The last lines of all logs."""
        return "\n".join(path.read_text()[-1000:] for path in self.folder.glob("*.log"))


def configured(text: str, *, certificate: Path, addresses: Sequence[str], statistics: Path) -> str:
    """Return a configuration of HAProxy for other addresses and another certificate.

    Raises:
        SystemExit: It does not have as many servers, or not one certificate.
    """
    left = iter(addresses)
    text, servers = re.subn(
        r"^(\s+server \S+ )\S+", lambda found: found[1] + next(left, ""), text, flags=re.MULTILINE
    )
    text, certificates = re.subn(r"(?<= crt )\S+", str(certificate), text)
    if (servers, certificates) != (len(addresses), 1):
        raise SystemExit(f"haproxy.cfg has {servers} servers and {certificates} certificates")
    return text.replace("global\n", f"global\n    stats socket {statistics}\n", 1)


def _certificate(folder: Path) -> Path:
    """Return a file with a key and its certificate, which nobody checks."""
    file = folder / "certificate.pem"
    names = ["-subj", "/CN=reports.example", "-keyout", str(file), "-out", str(file)]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    subprocess.run([*made, "-nodes", "-days", "2", *names], check=True, capture_output=True)  # noqa: S603
    return file


@contextmanager
def fleet(configuration: Path) -> Iterator[Fleet]:
    """Run everything in a network that is removed at the end; this thread is with the clients.

    Raises:
        Skipped: It cannot run here.
    """
    for program in ("haproxy", "openssl", "pg_config"):
        if shutil.which(program) is None:
            raise Skipped(f"needs {program}")
    if not configuration.exists():
        raise Skipped(f"needs {configuration}")
    with network(*_NAMESPACES) as hosts, TemporaryDirectory() as folder, hosts.entered("clients"):
        made = Fleet(Path(folder), hosts=hosts, configuration=configuration.read_text())
        try:
            yield made
        finally:
            made.close()


def run(*, seconds: float, every: float, configuration: Path = CONFIGURATION) -> Figures:
    """Kill one host after the other for the given time, then count.

    Raises:
        Skipped: It cannot run here.
    """
    figures = Figures(seconds)
    with fleet(configuration) as where:
        where.open_round()
        for name in _HOSTS:
            where.serve(name)
        for name in _HOSTS:
            if not where.is_ready(name):
                raise SystemExit("a host does not become ready:\n" + where.log())
        where.balance()
        where.senders.start()
        _keep_killing(where, figures, every=every)
        where.processes.pop("release").wait()
        where.finish()
        notes = where.senders.notes
        figures.requests, figures.retried = notes.answers.total(), notes.retries
        figures.accepted = notes.answers[202]
        figures.repeated_by_proxy = where.repeated_by_proxy()
        figures.verdict = where.judge()
    return figures


def _keep_killing(where: Fleet, figures: Figures, *, every: float) -> None:
    """Kill the two hosts alternately, and start each again; release meanwhile."""
    begun = paused = time.monotonic()
    known = 0
    down: dict[str, float] = {}
    while (now := time.monotonic()) - begun < figures.seconds:
        if now - begun >= (figures.kills + 1) * every:
            victim = [*_HOSTS][figures.kills % len(_HOSTS)]
            where.kill(victim)
            down[victim] = now
            figures.kills += 1
            print(f"{figures.kills} kills: {_HOSTS[victim]}", file=sys.stderr)
        for name in [name for name, since in down.items() if now - since >= _DOWN]:
            del down[name]
            where.serve(name)
        where.keep_releasing()
        if len(where.senders.notes.acknowledged) > known:
            known, paused = len(where.senders.notes.acknowledged), now
        figures.longest_pause_s = max(figures.longest_pause_s, now - paused)
        time.sleep(0.05)
    for name in down:
        where.serve(name)


def document(figures: Figures) -> dict[str, object]:
    """Return all figures by name."""
    counted = asdict(figures) | {"retried_share": round(figures.retried_share, 4)}
    verdict: dict[str, object] = counted.pop("verdict")
    counted["longest_pause_s"] = round(figures.longest_pause_s, 1)
    return counted | verdict | {"violations": figures.verdict.faults}


def main() -> None:
    """Run, print, and tell whether anything was lost, doubled, invented or left behind."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hosts",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two kills")
    parser.add_argument("--haproxy", type=Path, default=CONFIGURATION, metavar="FILE")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    try:
        figures = run(seconds=given.seconds, every=given.every, configuration=given.haproxy)
    except Skipped as reason:
        print(json.dumps({"skipped": str(reason)}) if given.json else f"skipped: {reason}")
        sys.exit(0)
    if given.json:
        print(json.dumps(document(figures)))
    else:
        for name, value in document(figures).items():
            print(f"{name:20} {value}")
    sys.exit(int(not figures.is_clean))


if __name__ == "__main__":
    main()
