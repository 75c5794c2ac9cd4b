"""The service compared with a bare application that only copies into PostgreSQL, in one run.

Both have two workers on the same machine as the database and the load. Needs wrk and PostgreSQL.

Run: python -m benchmarks.intake [--json] [--database DSN] [--seconds S] [--rounds R]
"""

import argparse
import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import median
from urllib.error import URLError
from urllib.request import urlopen

import psycopg

from benchmarks.house import House
from benchmarks.machine import free_port
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import BearerCredentials, read_secret, write_secret
from croupier.protocol.party_keys import ShufflerKeys
from croupier.shuffler.database.store import Store
from croupier.shuffler.release import rounds

HERE = Path(__file__).parent
CONNECTIONS = {1: 256, 100: 32}
SERVER = "host=127.0.0.1 user=postgres dbname=test"
PASSPHRASE = "of the benchmarks"  # noqa: S105 - of keys that live for a minute
PLAN: dict[str, object] = {
    "schema": 2,
    "randomizer": {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 2.0},
    "population": {"enrolled": 10**8},
    "protections": {"minimum_batch": 50},
}


@contextmanager
def fresh_database(server: str) -> Iterator[str]:
    """An empty database."""
    name = f"croupier_{secrets.token_hex(8)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0".encode())
        try:
            yield psycopg.conninfo.make_conninfo(server, dbname=name)
        finally:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


@contextmanager
def running(command: list[str], database: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server, and stop it at the end."""
    environment = os.environ | {"CROUPIER_DATABASE": database, "CROUPIER_PASSPHRASE": PASSPHRASE}
    with subprocess.Popen(  # noqa: S603 - our own programs
        command, stdout=subprocess.PIPE, env=environment, cwd=HERE.parent
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def deploy(directory: Path, tables: dict[str, object] = PLAN) -> BearerCredentials:
    """A plan, keys and a secret in a directory."""
    house = House.at(directory, PASSPHRASE.encode())
    house.sign(Plan.from_document(tables | house.create()))
    write_secret(directory / "secret")
    return BearerCredentials(read_secret(directory / "secret"))


async def open_round(directory: Path, database: str, *, folder: Path | None = None) -> None:
    """Open the first round, as `croupier release --next-round` does.

    Args:
        directory: The keys.
        database: A connection string.
        folder: The plan and its signed files, if they are not beside the keys.
    """
    files = folder or directory
    house, plan = House.at(directory, PASSPHRASE.encode()), Plan.load(files / "plan.toml")
    listed = ShufflerKeys.verified((files / "shuffler.json").read_bytes(), plan)
    analyzer = house.analyzer.sealing_key("analyzer").public_key().public_bytes_raw()
    store = await Store.connect(database)
    try:
        await store.migrate()
        await rounds.open_round(
            plan,
            store=store,
            keys=house.release,
            handover=house.handover,
            shuffler=listed,
            analyzer=analyzer,
        )
    finally:
        await store.close()


def ours(directory: Path, *, folders: Sequence[Path] = ()) -> list[str]:
    """The command that starts the service.

    Args:
        directory: The keys and the secret.
        folders: The plans with their signed files, if they are not beside the keys.
    """
    program = [sys.executable, "-c", "from croupier.cli import main; main()", "serve"]
    plans = [part for each in folders or [directory] for part in ("--plan", each / "plan.toml")]
    options = {"--keys": "keys/intake", "--handover": "keys/handover", "--secret": "secret"}
    files = [part for flag, name in options.items() for part in (flag, directory / name)]
    ports = ["--port", "0", "--metrics-port", "0", "--workers", "2", "--json"]
    return [*program, *map(str, plans + files), *ports]


def bare(port: int) -> list[str]:
    """The command that starts the bare application."""
    server = [
        sys.executable,
        "-m",
        "uvicorn",
        "--factory",
        "benchmarks.bare_intake:app",
        "--workers",
        "2",
    ]
    quiet = ["--no-access-log", "--log-level", "error", "--http", "httptools", "--loop", "uvloop"]
    return [*server, *quiet, "--port", str(port)]


def load(  # noqa: PLR0913 - keyword-only facts about one load
    url: str,
    *,
    tokens: list[str],
    batch: str,
    envelopes: int,
    seconds: float,
    connections: int | None = None,
) -> dict[str, float]:
    """Run wrk and return its counts; only accepted requests count, not refused ones."""
    with tempfile.NamedTemporaryFile("w", suffix=".tokens") as file:
        file.write("\n".join(tokens))
        file.flush()
        arguments = [file.name, batch, str(envelopes), secrets.token_hex(6)]
        many = connections or CONNECTIONS[envelopes]
        how = ["-t", "2", "-c", str(many), "-d", f"{seconds:g}s", "--timeout", "30s"]
        command = ["wrk", *how, "-s", str(HERE / "intake.lua"), url, "--", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    found["requests"] -= found["refused"]
    if found["broken"] or not found["requests"]:
        msg = f"{found['requests']} requests were accepted, {found['broken']} broke"
        raise SystemExit(msg)
    return found


def wait_for(url: str) -> None:
    """Wait until a server listens and is ready."""
    for _ in range(200):
        try:
            urlopen(url).close()  # noqa: S310 - our own server
        except URLError as error:
            if getattr(error, "code", 503) != 503:
                return
            time.sleep(0.1)
        else:
            return


@dataclass
class Intake:
    """Both servers, running.

    Attributes:
        targets: The addresses of both.
        batch: The batch that is open.
        database: The database in which both store.
        credentials: The issuer of tokens.
        acknowledged: The number of reports that each has acknowledged.
    """

    targets: dict[str, str]
    batch: str
    database: str
    credentials: BearerCredentials
    acknowledged: Counter[str] = field(default_factory=Counter)

    def load(
        self, who: str, *, envelopes: int, seconds: float, connections: int | None = None
    ) -> dict[str, float]:
        """Put one of them under load and return the counts of wrk."""
        relay = envelopes > 1
        many = 1_000 if relay else int(20_000 * seconds)
        tokens = [self.credentials.issue(relay=relay) for _ in range(many)]
        found = load(
            self.targets[who],
            tokens=tokens,
            batch=self.batch,
            envelopes=envelopes,
            seconds=seconds,
            connections=connections,
        )
        self.acknowledged[who] += int(found["requests"]) * envelopes
        return found

    def stored(self, who: str) -> int:
        """The number of reports in the database."""
        table = f"croupier.env_{self.batch}" if who == "ours" else "bare"
        with psycopg.connect(self.database) as connection:
            ((count,),) = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchall()  # noqa: S608
        return int(count)

    def lost(self) -> int:
        """The number of acknowledged reports that are missing."""
        return sum(max(0, self.acknowledged[who] - self.stored(who)) for who in self.targets)


@contextmanager
def serving(server: str) -> Iterator[Intake]:
    """Run both, with two workers each, on an empty database."""
    with tempfile.TemporaryDirectory() as name, fresh_database(server) as database:
        credentials = deploy(Path(name))
        asyncio.run(open_round(Path(name), database))
        with psycopg.connect(database) as connection:
            connection.execute("CREATE TABLE bare (key bytea NOT NULL, envelope bytea NOT NULL)")
        port = free_port()
        with running(ours(Path(name)), database) as service, running(bare(port), database):
            assert service.stdout is not None  # noqa: S101 - it is a pipe
            served = json.loads(service.stdout.readline())
            plan, *_ = served["plans"]
            targets = {"ours": plan["url"] + "/reports", "bare": f"http://127.0.0.1:{port}/"}
            wait_for(targets["bare"])
            wait_for(served["server"] + "/readyz")
            yield Intake(targets, plan["batch"], database, credentials)


def measure(server: str, *, seconds: float, rounds: int) -> dict[str, float]:
    """Measure the rates of both, in turn, and their ratios."""
    figures: dict[tuple[str, int], list[float]] = {}
    latencies: list[float] = []
    with serving(server) as intake:
        for _, envelopes, who in product(range(rounds), CONNECTIONS, intake.targets):
            found = intake.load(who, envelopes=envelopes, seconds=seconds)
            rate = found["requests"] / found["seconds"]
            figures.setdefault((who, envelopes), []).append(rate)
            if who == "ours" and envelopes == 1:
                latencies.append(found["p99_ms"])
        acknowledged, stored = intake.acknowledged["ours"], intake.stored("ours")
    if stored < acknowledged:
        msg = f"{acknowledged:,} acknowledged, {stored:,} stored"
        raise SystemExit(msg)
    rate = {key: median(rates) for key, rates in figures.items()}
    return {
        "requests_per_s": rate["ours", 1],
        "reports_per_s": 100 * rate["ours", 100],
        "p99_ms": median(latencies),
        "bare_requests_per_s": rate["bare", 1],
        "bare_reports_per_s": 100 * rate["bare", 100],
        "ratio_single": rate["ours", 1] / rate["bare", 1],
        "ratio_batched": rate["ours", 100] / rate["bare", 100],
        "acknowledged": acknowledged,
        "stored": stored,
    }


def tell(
    measure: Callable[..., Mapping[str, float]], text: str | None, *, seconds: float, rounds: int
) -> None:
    """Measure and print, with the options of every benchmark of a service.

    Args:
        measure: Takes the database, the seconds per turn and the number of turns.
        text: The description of the command.
        seconds: The seconds per turn, unless others are given.
        rounds: The number of turns, unless another is given.
    """
    parser = argparse.ArgumentParser(description=text)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--database", default=SERVER)
    parser.add_argument("--seconds", type=float, default=seconds)
    parser.add_argument("--rounds", type=int, default=rounds)
    given = parser.parse_args()
    result = measure(given.database, seconds=given.seconds, rounds=given.rounds)
    if given.json:
        print(json.dumps(result))
    else:
        for name, value in result.items():
            print(f"{name:24} {value:,.4g}")


if __name__ == "__main__":
    tell(measure, __doc__, seconds=5.0, rounds=3)
