"""Kills writers, PostgreSQL and the release job with SIGKILL, at random, and counts what was lost.

A cluster of its own takes reports from two writers while batches are released. Every report that
was acknowledged must be in exactly one released batch, and every released one must have been sent.
At the end the cluster's files are searched for what must not be there.

Needs PostgreSQL's programs (pg_config on the path). Run:
python benchmarks/faults.py [--kills 60] [--seed 7] [--json]
"""

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet

from croupier.model.plan import Plan
from croupier.pipeline.key_list import ShufflerKey
from croupier.pipeline.keys import KeyDirectory
from croupier.pipeline.receipt import Receipt, require_chain
from croupier.pipeline.rounds import open_round
from croupier.pipeline.store import TAG_BYTES, Store, StoreError
from croupier.pipeline.wire import seal_outer

PASSPHRASE = "of a directory that lives as long as the run"  # noqa: S105
ROWS = 20
MINIMUM = 200
PLAN = f"""
schema = 1
randomizer = {{mechanism = "k-rr", k = 2, epsilon_local = 1}}
population.enrolled = 1_000_000
protections = {{minimum_batch = {MINIMUM}, round_length = "1s", disposal_age = "720h"}}
"""


class Cluster:
    """A PostgreSQL server of its own."""

    def __init__(self, folder: Path) -> None:
        command = ["pg_config", "--bindir"]
        self.programs = Path(subprocess.check_output(command, text=True).strip())  # noqa: S603
        self.data = folder / "cluster"
        self.data.mkdir()
        self.port = random.SystemRandom().randrange(20_000, 30_000)
        if os.getuid() == 0:  # PostgreSQL refuses to run as root
            folder.chmod(0o755)
            shutil.chown(self.data, "postgres")
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "-E", "UTF8")
        self.start()

    @property
    def database(self) -> str:
        """How to reach it."""
        return f"host=127.0.0.1 port={self.port} user=postgres dbname=postgres"

    def start(self) -> None:
        """Start it; after a kill, as soon as the last of the old processes is gone."""
        settings = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=''"
        for _ in range(60):
            try:
                self._run(
                    "pg_ctl",
                    "-D",
                    self.data,
                    "-l",
                    self.data / "log",
                    "-w",
                    "-o",
                    settings,
                    "start",
                )
            except subprocess.CalledProcessError:
                time.sleep(0.5)
            else:
                return
        raise SystemExit((self.data / "log").read_text()[-2000:])

    def kill(self) -> None:
        """Kill its first process; the others end when they notice."""
        os.kill(int((self.data / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def stop(self) -> None:
        """Stop it in an orderly way."""
        self._run("pg_ctl", "-D", self.data, "-m", "fast", "stop")

    def _run(self, program: str, *arguments: object) -> None:
        ahead = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        command = [*ahead, str(self.programs / program), *map(str, arguments)]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, check=True, **quiet)  # noqa: S603 - PostgreSQL's own programs


class Writer:
    """Sends reports; notes each before it is sent, and again once it is acknowledged."""

    def __init__(self, site: Path, database: str, log: Path) -> None:
        self.plan = Plan.load(site / "plan.toml")
        self.database = database
        self.notes = log.open("ab", buffering=0)

    async def run(self, reports: float) -> None:
        """Get that many acknowledged."""
        acknowledged, rows = 0, None
        while acknowledged < reports:
            try:
                store = await Store.connect(self.database)
                while acknowledged < reports:
                    if rows is None:
                        rows = await self._sealed(store)
                        continue
                    batch, inner, sealed = rows
                    if await store.accept(batch, sealed) == "open":
                        self._note("acknowledged", inner)
                        acknowledged += len(inner)
                    rows = None
            except StoreError:  # perhaps stored, perhaps not: the same rows are sent again
                await asyncio.sleep(0.1)

    async def _sealed(self, store: Store) -> tuple[bytes, list[bytes], list[bytes]] | None:
        """Fresh reports for the open batch, if one is open."""
        for batch in await store.batches(bytes.fromhex(self.plan.digest)):
            if batch.state == "open":
                key = ShufflerKey.verified(batch.keys.encode(), self.plan)
                epoch = key.epoch(self.plan)
                inner = [os.urandom(epoch.inner_length) for _ in range(ROWS)]
                self._note("sent", inner)
                envelopes = [seal_outer(i, key=key.public_key, epoch=epoch) for i in inner]
                self._note("envelope", envelopes)
                return batch.batch, inner, [os.urandom(TAG_BYTES) + e for e in envelopes]
        await asyncio.sleep(0.05)
        return None

    def _note(self, what: str, entries: list[bytes]) -> None:
        self.notes.write(b"".join(b"%s %s\n" % (what.encode(), e.hex().encode()) for e in entries))


class Site:
    """The shuffler: its cluster, its keys, and the processes that are killed."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.cluster = folder, Cluster(folder)
        keys = KeyDirectory(folder / "keys", PASSPHRASE.encode())
        self.public = keys.create_signing_key("shuffler").public_key().public_bytes_raw().hex()
        (folder / "plan.toml").write_text(PLAN + f'trust.shuffler_key = "{self.public}"\n')
        self.plan = Plan.load(folder / "plan.toml")
        asyncio.run(self._prepare(keys))
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    async def _prepare(self, keys: KeyDirectory) -> None:
        store = await Store.connect(self.cluster.database)
        await store.migrate()
        await open_round(self.plan, store=store, keys=keys)
        await store.close()

    def log(self, name: str) -> Path:
        """What a writer noted."""
        return self.folder / f"{name}.log"

    def keep_running(self) -> None:
        """Start what does not run: two writers and a release job."""
        program = [sys.executable, __file__, "--writer", self.folder, self.cluster.database]
        commands = {name: [*program, self.log(name)] for name in ("writer 1", "writer 2")}
        commands["release"] = self.release_command("--next-round")
        for name, command in commands.items():
            if name not in self.processes or self.processes[name].poll() is not None:
                self.processes[name] = self._start(command)

    def release_command(self, *more: str) -> list[object]:
        """The job, as an operator runs it."""
        program = "from croupier.cli import main; main()"
        options = ["--plan", "plan.toml", "--keys", "keys", "-o", "out", "--processes", "1", *more]
        return [sys.executable, "-c", program, "release", *options]

    def _start(self, command: list[object]) -> subprocess.Popen[bytes]:
        ours = {"CROUPIER_PASSPHRASE": PASSPHRASE, "CROUPIER_DATABASE": self.cluster.database}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(  # noqa: S603 - our own program
            [*map(str, command)], cwd=self.folder, env=os.environ | ours, **quiet
        )

    def kill(self, name: str) -> None:
        """Kill one of them, and bring PostgreSQL up again."""
        if name == "postgres":
            self.cluster.kill()
            self.cluster.start()
        else:
            self.processes[name].kill()
            self.processes[name].wait()

    def _stop_processes(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()

    def stop(self) -> None:
        """End everything."""
        self._stop_processes()
        self.cluster.stop()

    def finish(self) -> None:
        """Stop the writers, fill the open batch up, release all there is."""
        self._stop_processes()
        for _ in range(3):
            if self._start(self.release_command()).wait() == 0:
                break
            writer = Writer(self.folder, self.cluster.database, self.log("last"))
            asyncio.run(asyncio.wait_for(writer.run(MINIMUM), timeout=60))


def noted(site: Site, what: str) -> set[str]:
    """What all writers noted under a word; a line that was cut short is none."""
    lines = [line for log in site.folder.glob("*.log") for line in log.read_text().split("\n")[:-1]]
    return {entry for word, _, entry in (line.partition(" ") for line in lines) if word == what}


def verdict(site: Site) -> dict[str, int]:
    """Who is missing, who is there twice, who was never sent, over all released batches."""
    paths = (site.folder / "out").glob("*.receipt.json")
    receipts = sorted((Receipt.read(path.read_bytes()) for path in paths), key=lambda r: r.number)
    require_chain(receipts, plan=site.plan.digest, public=site.public)
    released: Counter[str] = Counter()
    for receipt in receipts:
        path = site.folder / "out" / receipt.file.name
        rows = pyarrow.parquet.read_table(path)["inner"].to_pylist()
        if not receipt.file.is_at(path) or len(rows) != receipt.counts.released:
            raise SystemExit(f"{path.name} is not what its receipt says")
        released.update(row.hex() for row in rows)
    acknowledged = noted(site, "acknowledged")
    return {
        "batches": len(receipts),
        "acknowledged": len(acknowledged),
        "released": released.total(),
        "lost": len(acknowledged - released.keys()),
        "doubled": sum(count > 1 for count in released.values()),
        "never_sent": len(released.keys() - noted(site, "sent")),
        "unfinished": len(list((site.folder / "keys" / "batches").iterdir())),
        "leftovers": len(list((site.folder / "out").glob(".*"))),
    }


def traces(site: Site) -> dict[str, int]:
    """How many envelopes and released ciphertexts the stopped cluster's files still hold."""
    wanted = {
        "envelopes": [bytes.fromhex(entry) for entry in noted(site, "envelope")],
        "released": [bytes.fromhex(entry) for entry in noted(site, "sent")],
    }
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


def run(kills: int, seed: int) -> dict[str, object]:
    """Kill so often, then count."""
    chance = random.Random(seed)  # noqa: S311 - chooses whom to kill
    done: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        site = Site(Path(folder))
        try:
            while done.total() < kills:
                site.keep_running()
                time.sleep(chance.uniform(0.1, 4.0))
                site.keep_running()
                name = chance.choice(["release", "release", "postgres", "writer 1", "writer 2"])
                site.kill(name)
                done[name] += 1
            site.finish()
            counts = verdict(site)
        finally:
            site.stop()
        return {"seed": seed, "kills": dict(done), **counts, **traces(site)}


def main() -> None:
    """Run, print, and fail if anything was lost, doubled or made up."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--writer", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.writer:
        site, database, log = given.writer
        asyncio.run(Writer(Path(site), database, Path(log)).run(float("inf")))
        return
    result = run(given.kills, given.seed)
    if given.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:24} {value}")
    bad = ("lost", "doubled", "never_sent", "unfinished", "leftovers")
    bad += ("envelopes_in_tables", "released_in_tables", "released_in_wal")
    if any(result[name] for name in bad):
        sys.exit(1)


if __name__ == "__main__":
    main()
