"""Kills the server, its workers, the release job and PostgreSQL with SIGKILL, and counts the loss.

People and relays report over HTTP to `croupier serve` while `croupier release` runs again and again
and a process is killed at random. Every report that was acknowledged must be in exactly one
released batch, every released one must have been sent, and nobody may be in two batches with one
report. At the end the cluster's files are searched for what must not be there.

Needs PostgreSQL's programs (pg_config on the path). Run:
python -m benchmarks.faults [--kills 60] [--seed 7] [--json]
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psycopg
import pyarrow.parquet

from benchmarks.cluster import Cluster
from benchmarks.intake import PASSPHRASE, deploy, free_port
from benchmarks.senders import Notes, Senders
from croupier.model.plan import Plan
from croupier.pipeline.keys import KeyDirectory
from croupier.pipeline.receipt import Receipt, require_chain

PLAN: dict[str, object] = {
    "schema": 1,
    "randomizer": {"mechanism": "k-rr", "k": 2, "epsilon_local": 1.0},
    "population": {"enrolled": 1_000_000},
    "protections": {"minimum_batch": 200, "round_length": "5s", "disposal_age": "720h"},
}
VICTIMS = ["worker", "worker", "server", "release", "release", "postgres"]
MUST_BE_ZERO = ("lost", "doubled", "never_sent", "in_two_batches", "unexplained", "unfinished")
MUST_BE_ZERO += ("leftovers", "envelopes_in_tables", "released_in_tables", "released_in_wal")


class Site:
    """The shuffler: its cluster, its keys, and the processes that are killed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cluster = folder, Cluster(folder)
        credentials = deploy(folder, PLAN)
        self.plan = Plan.load(folder / "plan.toml")
        self.keys = KeyDirectory(folder / "keys", PASSPHRASE.encode())
        self.port = free_port()
        url = f"http://127.0.0.1:{self.port}"
        self.senders = Senders(self.plan, keys=self.keys, credentials=credentials, url=url)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def keep_running(self, *, answers: int, seconds: float) -> None:
        """Start what does not run: the server, and a release after the other.

        Args:
            answers: For how many more answers to clients, if they come within half a minute.
            seconds: How long from there.
        """
        wanted = self.senders.notes.answers.total() + answers
        end = time.monotonic() + 30
        reached = False
        while time.monotonic() < end:
            for name, start in (("server", self._serve), ("release", self._release)):
                if name not in self.processes or self.processes[name].poll() is not None:
                    self.processes[name] = start()
            if not reached and self.senders.notes.answers.total() >= wanted:
                reached, end = True, time.monotonic() + seconds
            time.sleep(0.02)

    def _serve(self) -> subprocess.Popen[bytes]:
        files = ["--keys", "keys", "--analyzer", "analyzer.json", "--secret", "secret"]
        ports = ["--port", str(self.port), "--metrics-port", "0", "--workers", "2"]
        return self._start("serve", "--plan", "plan.toml", *files, *ports)

    def _release(self, *more: str) -> subprocess.Popen[bytes]:
        options = ["--plan", "plan.toml", "--keys", "keys", "-o", "out", "--processes", "1"]
        return self._start("release", *options, *more or ["--next-round"])

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """The program, as an operator runs it."""
        command = [sys.executable, "-c", "from croupier.cli import main; main()", *arguments]
        ours = {"CROUPIER_PASSPHRASE": PASSPHRASE, "CROUPIER_DATABASE": self.cluster.database}
        with (self.folder / "log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - our own program
                command, cwd=self.folder, env=os.environ | ours, stdout=log, stderr=log
            )

    def kill(self, name: str) -> bool:
        """Kill one of them, and bring PostgreSQL up again; False if there is none just now."""
        if name == "postgres":
            self.cluster.kill()
            self.cluster.start()
        elif name == "worker":
            workers = children(self.processes["server"].pid)
            if not workers:
                return False
            os.kill(random.choice(workers), signal.SIGKILL)  # noqa: S311
        else:
            self.processes[name].kill()
            self.processes[name].wait()
        return True

    def stop(self) -> None:
        """End everything."""
        self.senders.stop()
        for process in self.processes.values():
            process.terminate()
            process.wait()
        self.cluster.stop()

    def finish(self) -> None:
        """Stop sending, fill the open batch up, release all there is."""
        deadline = time.monotonic() + 180
        while time.monotonic() < deadline:
            self.senders.stop()
            self.processes["release"].wait()
            self.processes["release"] = self._release("--quiet")
            if self.processes["release"].wait() == 0:
                return
            if self.processes["server"].poll() is not None:
                self.processes["server"] = self._serve()
            self.senders.start()
            time.sleep(5)
        raise SystemExit("what is left cannot be released:\n" + self.log())

    def log(self) -> str:
        """The last that was said."""
        return (self.folder / "log").read_text()[-2000:]


def children(parent: int) -> list[int]:
    """The worker processes of a server."""
    found = []
    for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if b"spawn_main" in command:
            found.append(int(pid))
    return found


def released(site: Site) -> tuple[int, Counter[bytes]]:
    """How many batches, and how often each inner ciphertext is in one."""
    paths = (site.folder / "out").glob("*.receipt.json")
    receipts = sorted((Receipt.read(path.read_bytes()) for path in paths), key=lambda r: r.number)
    require_chain(receipts, plan=site.plan.digest, public=str(site.plan.trust.shuffler_key))
    found: Counter[bytes] = Counter()
    for receipt in receipts:
        if receipt.file is None:
            raise SystemExit("a batch was disposed of")
        path = site.folder / "out" / receipt.file.name
        rows = pyarrow.parquet.read_table(path)["inner"].to_pylist()
        if not receipt.file.is_at(path) or len(rows) != receipt.counts.released:
            raise SystemExit(f"{path.name} is not what its receipt says")
        found.update(rows)
    return len(receipts), found


def verdict(site: Site) -> dict[str, int]:
    """Who is missing, who is there twice, who was never sent, over all released batches."""
    notes = site.senders.notes
    batches, rows = released(site)
    people = Counter(notes.person[inner] for inner in rows if inner in notes.person)
    with psycopg.connect(site.cluster.database) as connection:
        query = "SELECT batch FROM croupier.batches WHERE state <> 'shredded'"
        unfinished = {bytes(batch) for (batch,) in connection.execute(query)}
        known = {
            bytes(batch) for (batch,) in connection.execute("SELECT batch FROM croupier.batches")
        }
    return {
        "batches": batches,
        "acknowledged": len(notes.acknowledged),
        "released": rows.total(),
        "lost": len(notes.acknowledged - rows.keys()),
        "doubled": sum(times > 1 for times in rows.values()),
        "never_sent": len(rows.keys() - notes.person.keys()),
        "in_two_batches": sum(times > 1 for times in people.values()),
        "unexplained": notes.unexplained,
        "unfinished": len(unfinished | (known & set(site.keys.batches()))),
        "leftovers": len(list((site.folder / "out").glob(".*"))),
    }


def traces(site: Site) -> dict[str, int]:
    """How many envelopes and released ciphertexts the stopped cluster's files still hold."""
    notes = site.senders.notes
    wanted = {"envelopes": notes.envelopes, "released": list(notes.person)}
    files = [path for path in site.cluster.data.rglob("*") if path.is_file()]
    log = b"".join(path.read_bytes() for path in files if "pg_wal" in path.parts)
    rest = b"".join(path.read_bytes() for path in files if "pg_wal" not in path.parts)
    found = {}
    for name, entries in wanted.items():
        sample = entries[:: max(1, len(entries) // 300)]
        found[f"{name}_in_tables"] = sum(entry in rest for entry in sample)
        found[f"{name}_in_wal"] = sum(entry in log for entry in sample)
        found[f"{name}_searched"] = len(sample)
    return found


def told(notes: Notes) -> dict[str, object]:
    """What the clients went through."""
    answers = {str(status or "none"): times for status, times in sorted(notes.answers.items())}
    return {"retries": notes.retries, "answers": answers}


def run(kills: int, seed: int) -> dict[str, object]:
    """Kill so often, then count."""
    chance = random.Random(seed)  # noqa: S311 - chooses whom to kill
    done: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder))
        try:
            site.senders.start()
            while done.total() < kills:
                site.keep_running(answers=chance.randrange(100), seconds=chance.uniform(0.0, 3.0))
                victim = chance.choice(VICTIMS)
                done[victim] += site.kill(victim)
                print(f"{done.total()} of {kills} kills: {victim}", file=sys.stderr)
            site.finish()
            counts = verdict(site)
        finally:
            site.stop()
        return {"seed": seed, "kills": dict(done), **told(site.senders.notes), **counts} | traces(
            site
        )


def main() -> None:
    """Run, print, and fail if anything was lost, doubled or made up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    result = run(given.kills, given.seed)
    if given.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:24} {value}")
    if any(result[name] for name in MUST_BE_ZERO):
        sys.exit(1)


if __name__ == "__main__":
    main()
