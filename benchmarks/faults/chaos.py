"""Everything at once: two servers, two release jobs, and proxies between all of them.

Connections to the database and of clients are cut mid-stream, reset and stalled; processes are
killed and frozen, sessions of the database ended, PostgreSQL is killed. A client that repeats a
request may reach the other server.
"""

import random
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from os import kill

import psycopg

from benchmarks.faults.proxy import Proxy
from benchmarks.faults.result import Result, timed
from benchmarks.faults.rig import SERVERS, Site, site

__all__ = ["run"]

_RELEASES = ("release", "second release")


def run(*, seconds: float = 120.0, seed: int = 7) -> Result:
    """Break something about every second, for the given time, then count."""
    proxies: list[Proxy] = []

    def between(port: int) -> int:
        proxies.append(Proxy([port], seed=seed))
        return proxies[-1].port

    with (
        timed("chaos") as result,
        site(minimum=60, every="2s", proxied=between, fronted=between) as where,
    ):
        database, front = proxies
        front.targets.append(where.second_port)
        chaos = Chaos(where, database=database, front=front, chance=random.Random(seed))  # noqa: S311
        where.keep(*SERVERS)
        where.is_ready()
        where.senders.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            chaos.wait()
            chaos.strike()
        chaos.calm()
        where.finish()
        result.verdict.add(where.judge())
        result.faults = chaos.done.total()
        struck = ", ".join(f"{times} x {name}" for name, times in sorted(chaos.done.items()))
        result.remarks.append(f"{struck}; {database.cut + front.cut} streams were cut")
    for proxy in proxies:
        proxy.close()
    return result


class Chaos:
    """A source of faults, one after the other."""

    def __init__(
        self, where: Site, *, database: Proxy, front: Proxy, chance: random.Random
    ) -> None:
        self._where, self._database, self._front, self._chance = where, database, front, chance
        self.done: Counter[str] = Counter()
        self._ways = [
            self.kill_worker,
            self.kill_server,
            self.kill_release,
            self.kill_release,
            self.kill_postgres,
            self.reset_database,
            self.cut_database,
            self.stall_database,
            self.reset_clients,
            self.cut_clients,
            self.freeze_release,
            self.freeze_worker,
            self.end_sessions,
        ]

    def wait(self) -> None:
        """Let everything run for a moment, and start what has ended."""
        end = time.monotonic() + self._chance.uniform(0.3, 2.2)
        while time.monotonic() < end:
            self._where.keep(*SERVERS, *_RELEASES)
            time.sleep(0.05)

    def strike(self) -> None:
        """Break something that is running at the moment."""
        way = self._chance.choice(self._ways)
        with suppress(ProcessLookupError, psycopg.Error):
            if way():
                name = way.__name__.replace("_", " ")
                self.done[name] += 1
                print(f"{self.done.total()}: {name}", file=sys.stderr)

    def calm(self) -> None:
        """Let the release jobs end, and both servers run."""
        for name in _RELEASES:
            process = self._where.processes.pop(name, None)
            if process is not None:
                process.wait()
        self._where.keep(*SERVERS)

    def kill_worker(self) -> bool:
        return self._signal_worker(signal.SIGKILL) is not None

    def kill_server(self) -> bool:
        self._where.processes[self._chance.choice(SERVERS)].kill()
        return True

    def kill_release(self) -> bool:
        self._where.processes[self._chance.choice(_RELEASES)].kill()
        return True

    def kill_postgres(self) -> bool:
        self._where.cluster.kill()
        self._where.cluster.start()
        return True

    def reset_database(self) -> bool:
        self._database.drop()
        return True

    def reset_clients(self) -> bool:
        self._front.drop()
        return True

    def cut_database(self) -> bool:
        return self._cut(self._database)

    def cut_clients(self) -> bool:
        return self._cut(self._front)

    def stall_database(self) -> bool:
        self._database.stalled = True
        self._pause(0.3, 2.0)
        self._database.stalled = False
        return True

    def freeze_release(self) -> bool:
        """Freeze a release; its session may end meanwhile, and with it its lock."""
        process = self._where.processes[self._chance.choice(_RELEASES)]
        process.send_signal(signal.SIGSTOP)
        self._pause(0.5, 3.0)
        if self._chance.random() < 0.5:
            self._database.drop()
            self._pause(0.5, 0.5)
        process.send_signal(signal.SIGCONT)
        return True

    def freeze_worker(self) -> bool:
        frozen = self._signal_worker(signal.SIGSTOP)
        if frozen is None:
            return False
        self._pause(0.3, 2.0)
        kill(frozen, signal.SIGCONT)
        return True

    def end_sessions(self) -> bool:
        with psycopg.connect(self._where.cluster.database) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )
        return True

    def _signal_worker(self, number: signal.Signals) -> int | None:
        workers = self._where.workers(self._chance.choice(SERVERS))
        if not workers:
            return None
        chosen = self._chance.choice(workers)
        kill(chosen, number)
        return chosen

    def _cut(self, proxy: Proxy) -> bool:
        proxy.cutting = True
        self._pause(0.2, 0.8)
        proxy.cutting = False
        return True

    def _pause(self, least: float, most: float) -> None:
        time.sleep(self._chance.uniform(least, most))
