"""A service with one plan beside a service with many, in one run on one machine.

The two take turns, A B A B: in each turn a service is started, left idle, put under load on one of
its plans, and stopped. Each has two workers and a database of its own, on the same PostgreSQL. Ends
with 1 if an acknowledged report is missing. Needs wrk and PostgreSQL on this machine.

Run: python -m benchmarks.plans [--plans N] [--rounds R] [--seconds S] [--idle S] [--json]
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import psycopg

from benchmarks.faults.rig import wait_until_ready
from benchmarks.house import House
from benchmarks.intake import PASSPHRASE, PLAN, SERVER, Intake, fresh_database, open_round, ours
from benchmarks.intake import running as running_service
from benchmarks.machine import circumstances
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import BearerCredentials, read_secret, write_secret

_TICKS = os.sysconf("SC_CLK_TCK")
_SETTLING = 3.0
"""Seconds from the first answer of a service until it counts as idle: both workers have started."""
_FIGURES = {
    "opening_s": "opening the first rounds, seconds",
    "start_s": "start until /readyz says 200, seconds",
    "memory_mb": "memory of all processes (PSS), MB",
    "idle_ms_per_s": "idle: processor time of the service, ms per second",
    "database_ms_per_s": "idle: processor time of its database sessions, ms per second",
    "requests_per_s": "accepted requests per second",
    "p99_ms": "99 of 100 answered within, ms",
}


@dataclass
class Deployment:
    """Plans with open rounds that share keys, a secret and a database.

    Attributes:
        directory: The keys and the secret; each plan in a folder of its own.
        database: A connection string.
        folders: The folders of the plans.
        figures: What was measured, in each turn.
        acknowledged: The reports that were acknowledged.
        stored: Those of them that the database has.
    """

    directory: Path
    database: str
    folders: list[Path]
    figures: dict[str, list[float]] = field(default_factory=dict)
    acknowledged: int = 0
    stored: int = 0

    def note(self, **figures: float) -> None:
        """Add figures of a turn."""
        for name, value in figures.items():
            self.figures.setdefault(name, []).append(value)

    def take_turn(self, *, idle: float, seconds: float) -> None:
        """Start the service, leave it alone, put it under load, and stop it."""
        credentials = BearerCredentials(read_secret(self.directory / "secret"))
        begun = time.monotonic()
        command = ours(self.directory, folders=self.folders)
        with running_service(command, self.database) as service:
            assert service.stdout is not None  # noqa: S101 - it is a pipe
            served = json.loads(service.stdout.readline())
            if "error" in served:
                raise SystemExit(served["error"])
            if not wait_until_ready(served["server"], process=service):
                raise SystemExit("the service does not become ready")
            self.note(start_s=time.monotonic() - begun)
            time.sleep(_SETTLING)
            self.note(**self._idle(service.pid, idle))
            plan = served["plans"][-1]
            intake = Intake(
                {"ours": plan["url"] + "/reports"}, plan["batch"], self.database, credentials
            )
            found = intake.load("ours", envelopes=1, seconds=seconds)
            self.note(
                requests_per_s=found["requests"] / found["seconds"],
                p99_ms=found["p99_ms"],
                memory_mb=sum(map(_memory, _tree(service.pid))) / 1e6,
            )
        self.acknowledged += intake.acknowledged["ours"]
        self.stored = intake.stored("ours")

    def _idle(self, service: int, seconds: float) -> dict[str, float]:
        """Return the processor time that the service and its sessions take for themselves."""
        groups = {"idle_ms_per_s": _tree(service), "database_ms_per_s": self._sessions()}
        before = {name: sum(map(_ticks, pids)) for name, pids in groups.items()}
        begun = time.monotonic()
        time.sleep(seconds)
        passed = time.monotonic() - begun
        after = {name: sum(map(_ticks, pids)) for name, pids in groups.items()}
        return {name: 1e3 * (after[name] - before[name]) / _TICKS / passed for name in groups}

    def _sessions(self) -> list[int]:
        """Return the processes of PostgreSQL that work for this deployment, but for this one."""
        query = (
            "SELECT pid FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        with psycopg.connect(self.database) as connection:
            return [pid for (pid,) in connection.execute(query)]


@contextmanager
def deployed(server: str, count: int) -> Iterator[Deployment]:
    """Make plans, sign their files and open the first round of each."""
    with tempfile.TemporaryDirectory() as name, fresh_database(server) as database:
        directory = Path(name)
        house = House.at(directory, PASSPHRASE.encode())
        parties = house.create()
        write_secret(directory / "secret")
        folders = [directory / f"plan-{number}" for number in range(count)]
        for number, folder in enumerate(folders):
            folder.mkdir()
            minimum = {"protections": {"minimum_batch": 50 + number}}  # no two plans are the same
            house.sign(Plan.from_document(PLAN | parties | minimum), into=folder)
        made = Deployment(directory, database, folders)
        begun = time.monotonic()
        for folder in folders:
            asyncio.run(open_round(directory, database, folder=folder))
        made.note(opening_s=time.monotonic() - begun)
        yield made


def measure(
    server: str, *, plans: int, rounds: int, seconds: float, idle: float
) -> dict[str, object]:
    """Let a service with one plan and one with several take turns; return medians and ratios."""
    with deployed(server, 1) as one, deployed(server, plans) as many:
        for _ in range(rounds):
            for deployment in (one, many):
                deployment.take_turn(idle=idle, seconds=seconds)
    middle = [{name: median(each.figures[name]) for name in _FIGURES} for each in (one, many)]
    return {
        "plans": plans,
        "one": middle[0],
        "many": middle[1],
        "ratio": {name: _ratio(middle[1][name], middle[0][name]) for name in _FIGURES},
        "acknowledged": one.acknowledged + many.acknowledged,
        "missing": sum(max(0, each.acknowledged - each.stored) for each in (one, many)),
        "machine": circumstances(),
    }


def as_table(result: Mapping[str, object]) -> str:
    """Return a table in Markdown, and one line about reports and machine."""
    one, many, ratio = (result[name] for name in ("one", "many", "ratio"))
    lines = [f"| figure | 1 plan | {result['plans']} plans | ratio |", "|---|---|---|---|"]
    for name, words in _FIGURES.items():
        cells = [_cell(each[name]) for each in (one, many, ratio)]  # type: ignore[index]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    machine: Mapping[str, object] = result["machine"]  # type: ignore[assignment]
    lines.append(f"{result['acknowledged']:,} acknowledged, {result['missing']:,} missing; ")
    lines[-1] += f"{machine['date']}, {machine['cores']} cores, load {machine['load']}"
    return "\n".join(lines)


def _cell(value: float | None) -> str:
    return "-" if value is None else f"{value:,.3g}" if value < 1000 else f"{value:,.0f}"


def _ratio(many: float, one: float) -> float | None:
    return many / one if one else None


def _tree(process: int) -> list[int]:
    """Return a process and all that it has started."""
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [process, *(pid for child in children for pid in _tree(int(child)))]


def _memory(process: int) -> int:
    """Return the bytes of a process; pages that several share count in parts."""
    with suppress(FileNotFoundError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return 1024 * int(line.split()[1])
    return 0


def _ticks(process: int) -> int:
    """Return the processor time of a process so far, in ticks of the clock."""
    with suppress(FileNotFoundError):
        user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
        return int(user) + int(system)
    return 0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--database", default=SERVER)
    parser.add_argument("--plans", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5.0, help="of load, in each turn")
    parser.add_argument("--idle", type=float, default=10.0, help="seconds without load")
    given = parser.parse_args()
    result = measure(
        given.database,
        plans=given.plans,
        rounds=given.rounds,
        seconds=given.seconds,
        idle=given.idle,
    )
    print(json.dumps(result) if given.json else as_table(result))
    sys.exit(int(bool(result["missing"])))


if __name__ == "__main__":
    main()
