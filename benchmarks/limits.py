"""Rate limits that all workers of a host share, compared with limits of each worker, in one run.

Two services with two workers each take in single reports of people, in turns, into one batch. They
differ only in how they count requests per person. The call that counts is also timed alone, since a
busy machine disturbs the services more than the call costs. Needs wrk and PostgreSQL.

Run: python -m benchmarks.limits [--json] [--database DSN] [--seconds S] [--rounds R]
"""

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from statistics import median

from benchmarks.faults.rig import wait_until_ready
from benchmarks.intake import Intake, deploy, fresh_database, open_round, ours, running, tell
from benchmarks.machine import cpu_seconds, worker_processes
from benchmarks.own_limit import OwnLimit
from croupier.hosting.http.rate import RateLimit
from croupier.protocol.admission.credentials import ID_BYTES

_CONNECTIONS = 16
"""Few enough that nobody is told to come back, before the limits are asked."""
_CALLS = 20_000
_WAYS = ("shared", "own")
_OWN = "from benchmarks.own_limit import main; main()"
_PROGRAM = 2
"""The place of the program in the command that `ours` returns."""


class Both:
    """Both services, running."""

    def __init__(self, intake: Intake, workers: dict[str, list[int]]) -> None:
        self.intake, self._workers = intake, workers

    def load(self, who: str, seconds: float) -> tuple[float, float]:
        """Put one of them under load; return requests per second, and processor time of each."""
        before = self._cpu(who)
        found = self.intake.load(who, envelopes=1, seconds=seconds, connections=_CONNECTIONS)
        if found["refused"]:
            raise SystemExit(f"{found['refused']:g} requests were refused: too much load")
        used = self._cpu(who) - before
        return found["requests"] / found["seconds"], used / found["requests"]

    def _cpu(self, who: str) -> float:
        return sum(map(cpu_seconds, self._workers[who]))


@contextmanager
def serving(server: str) -> Iterator[Both]:
    """Run both on one database."""
    with (
        tempfile.TemporaryDirectory() as name,
        fresh_database(server) as database,
        ExitStack() as stack,
    ):
        folder = Path(name)
        credentials = deploy(folder)
        asyncio.run(open_round(folder, database))
        commands = {"shared": ours(folder), "own": ours(folder)}
        commands["own"][_PROGRAM] = _OWN
        targets, workers, batch = {}, {}, ""
        for who, command in commands.items():
            process = stack.enter_context(running(command, database))
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            served = json.loads(process.stdout.readline())
            if not wait_until_ready(served["server"], seconds=120, process=process):
                raise SystemExit("a service does not start")
            plan, *_ = served["plans"]
            targets[who], batch = plan["url"] + "/reports", plan["batch"]
            workers[who] = worker_processes(process.pid)
        yield Both(Intake(targets, batch, database, credentials), workers)


def per_call(limit: RateLimit | OwnLimit) -> float:
    """Return the processor seconds of one call, by as many people as calls, in this process."""
    people = [os.urandom(ID_BYTES) for _ in range(_CALLS)]
    limit.allows(people[0], 1)
    begun = time.process_time()
    for person in people:
        limit.allows(person, 1)
    return (time.process_time() - begun) / _CALLS


def measure(server: str, *, seconds: float, rounds: int) -> dict[str, float]:
    """Measure both in turns."""
    rates: dict[str, list[float]] = {who: [] for who in _WAYS}
    times: dict[str, list[float]] = {who: [] for who in _WAYS}
    with serving(server) as both:
        for who in _WAYS:
            both.load(who, seconds)  # warm
        for _, who in product(range(rounds), _WAYS):
            rate, used = both.load(who, seconds)
            rates[who].append(rate)
            times[who].append(used)
        acknowledged, stored = both.intake.acknowledged.total(), both.intake.stored("ours")
    if stored < acknowledged:
        raise SystemExit(f"{acknowledged:,} acknowledged, {stored:,} stored")
    alone = {"shared": per_call(RateLimit(12)), "own": per_call(OwnLimit(12))}
    ratios = [a / b for a, b in zip(times["shared"], times["own"], strict=True)]
    return {
        "shared_requests_per_s": median(rates["shared"]),
        "own_requests_per_s": median(rates["own"]),
        "ratio_requests": median(rates["shared"]) / median(rates["own"]),
        "shared_cpu_us": 1e6 * median(times["shared"]),
        "own_cpu_us": 1e6 * median(times["own"]),
        "ratio_cpu": median(ratios),
        "ratio_cpu_least": min(ratios),
        "ratio_cpu_most": max(ratios),
        "shared_call_us": 1e6 * alone["shared"],
        "own_call_us": 1e6 * alone["own"],
    }


if __name__ == "__main__":
    tell(measure, __doc__, seconds=5.0, rounds=5)
