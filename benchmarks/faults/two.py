"""Two shufflers in a row, killed at random: each with its own keys, database server and output.

People and relays report to the first one while both release again and again. Killed are workers,
the server, both release jobs and both database servers. At the end every acknowledged report must
be in one batch of the second shuffler, once; the rest of its rows must be as many dummies as both
receipts say; and no batch may have two receipts, of either shuffler.
"""

import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from psycopg.conninfo import make_conninfo

from benchmarks.cluster import Cluster
from benchmarks.faults import command
from benchmarks.faults.command import Finished
from benchmarks.faults.result import Result, timed
from benchmarks.faults.rig import NEXT, Site
from benchmarks.faults.verdict import Shuffler, Verdict, judge
from benchmarks.house import two_houses
from benchmarks.intake import PASSPHRASE
from croupier.protocol.admission.credentials import BearerCredentials, read_secret, write_secret
from croupier.protocol.receipt import Receipt

__all__ = ["run"]

_VICTIMS = ("worker", "server", "release", "second", "second", "postgres", "postgres of the second")
_DUMMIES = {"epsilon": 4.0, "delta": 1e-2}
_RELEASE = ("release", "--plan", "plan.toml", "--processes", "1", "-o", "out")


class TwoShufflers(Site):
    """A deployment of two shufflers: the first in a folder, the second in one inside it."""

    def deploy(self, folder: Path, tables: dict[str, object]) -> BearerCredentials:
        """Make a plan that both share, and keys of each."""
        self.inside = folder / "second"
        self.inside.mkdir(mode=0o755)
        self.other_cluster = Cluster(self.inside)
        plain = {"randomizer": {"mechanism": "plain", "k": 2}}
        _, second = two_houses(folder, PASSPHRASE.encode(), tables | plain, dummies=_DUMMIES)
        self.second_keys, self.house = second.release, second
        write_secret(folder / "secret")
        return BearerCredentials(read_secret(folder / "secret"))

    def keep(self, *names: str) -> None:
        """Start again what has ended: the server, and the release jobs of both."""
        for name in names:
            process = self.processes.get(name)
            if process is not None and process.poll() is None:
                continue
            if name == "server":
                self.serve()
            else:
                self.processes[name] = self._start(name)

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        if name == "release":
            return self.operate(*_RELEASE, *NEXT, "--to", "second/out")
        folder, variables = self.folder, self.variables
        self.folder = self.inside
        self.variables = {"CROUPIER_DATABASE": self.other_cluster.database}
        try:
            return self.operate(*_RELEASE, *NEXT, "--from", "../out")
        finally:
            self.folder, self.variables = folder, variables

    def kill_one(self, victim: str, chance: random.Random) -> bool:
        """Kill one process, also the second database server, which is restarted."""
        if victim != "postgres of the second":
            return super().kill_one(victim, chance)
        self.other_cluster.kill()
        self.other_cluster.start()
        return True

    def release_second(self, *more: str) -> Finished:
        """Release at the second shuffler, to the end."""
        own = {"CROUPIER_DATABASE": self.other_cluster.database}
        return command.start(
            *(*_RELEASE, "--from", "../out", *more),
            folder=self.inside,
            environment=self.environment | own,
        ).wait()

    def receipts(self, folder: Path) -> list[Receipt]:
        """Return the published receipts of one of them."""
        paths = (folder / "out").glob("[!.]*.receipt.json")
        return [Receipt.read(path.read_bytes()) for path in paths]

    def finish(self, *, seconds: float = 180) -> None:
        """Release all there is, first at the first shuffler, then at the second."""
        super().finish(seconds=seconds)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            said = self.release_second("--json").said
            done = {each.batch for each in self.receipts(self.inside)}
            if {each.batch for each in self.receipts(self.folder)} <= done:
                return
        raise SystemExit(f"the second shuffler does not take over: {said}\n{self.log()}")

    def judged(self) -> Verdict:
        """Compare what clients were told with what the second shuffler has released."""
        first, second = self.receipts(self.folder), self.receipts(self.inside)
        released = [each for each in (*first, *second) if each.file is not None]
        shuffler = Shuffler(
            plan=self.plan,
            database=make_conninfo(self.other_cluster.database),
            house=self.house,
            outputs=[self.inside / "out"],
            hop=1,
            made_up=sum(each.counts.added or 0 for each in released),
        )
        found = judge(self.senders.notes, shuffler)
        for name, receipts in (("first", first), ("second", second)):
            times = Counter(each.batch for each in receipts)
            found.violations += [f"{name}: two receipts of one batch"] * sum(
                count > 1 for count in times.values()
            )
        digests = {each.digest for each in first}
        found.violations += [
            "a batch was taken over that the first one does not show"
            for each in second
            if each.file is not None and each.taken_over not in digests
        ]
        return found

    def close(self) -> None:
        """End all processes, and the second database server."""
        super().close()
        if (self.other_cluster.data / "postmaster.pid").exists():
            self.other_cluster.stop()


def run(*, kills: int = 60, seed: int = 7) -> Result:
    """Kill so many times, then count."""
    chance = random.Random(seed)  # noqa: S311 - chooses whom to kill
    done: Counter[str] = Counter()
    with timed("two") as result, TemporaryDirectory() as folder:
        where = TwoShufflers(Path(folder), minimum=100, every="3s")
        try:
            where.keep("server", "second", "release")
            where.senders.start()
            while done.total() < kills:
                _let_run(where, chance.uniform(0.2, 3.0))
                victim = chance.choice(_VICTIMS)
                done[victim] += where.kill_one(victim, chance)
                print(f"{done.total()} kills: {victim}", file=sys.stderr)
            where.senders.stop()
            for name in ("release", "second"):
                where.processes.pop(name).wait()
            where.finish()
            result.verdict = where.judged()
            result.faults = done.total()
        finally:
            where.close()
    return result


def _let_run(where: TwoShufflers, seconds: float) -> None:
    """Keep everything going, until clients got some answers and for some time."""
    wanted = where.senders.notes.answers.total() + 40
    end, latest = time.monotonic() + seconds, time.monotonic() + 30
    while time.monotonic() < latest:
        where.keep("server", "second", "release")
        if time.monotonic() > end and where.senders.notes.answers.total() >= wanted:
            return
        time.sleep(0.02)
