"""Tokens signed over HTTP, per core of the issuer, compared with the bare signing loop, in one run.

`croupier issuer serve` with one worker and a PostgreSQL server; everybody asks for one token of one
round. The time is the processor time of the worker, so that the load, the database and whatever
else runs on the machine are not counted. The loop signs the same kind of numbers in this process,
in turns with the service. Requests are random numbers below the modulus, which is what blinded
messages are; a few real clients check that the answers are signatures. Needs wrk and PostgreSQL.

Run: python -m benchmarks.issuer [--json] [--database DSN] [--seconds S] [--rounds R]
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from secrets import randbelow
from statistics import median
from urllib.error import URLError
from urllib.request import Request, urlopen

import psycopg

from benchmarks.intake import HERE, PASSPHRASE, PLAN, fresh_database, running, tell
from benchmarks.machine import cpu_seconds, free_port, worker_processes
from benchmarks.token_issuer import TokenIssuer
from croupier.issuer.signing import BlindSigner
from croupier.plan.plan import Plan
from croupier.protocol.admission.blind_rsa import Blinded
from croupier.protocol.admission.credentials import BearerCredentials, read_secret, write_secret
from croupier.protocol.admission.token import request_of
from croupier.protocol.admission.token_keys import key_id

_CONNECTIONS = 32
_MOST_PER_SECOND = 1_000
"""More than one core signs: nobody asks twice."""
_CLIENTS = 10
_PATIENCE = 120.0
_NOBODY = "http://127.0.0.1:1"
"""The address of a shuffler that opens no round, since nothing listens there."""


@dataclass(frozen=True)
class Issuing:
    """A running issuer.

    Attributes:
        plan: The plan whose tokens it signs.
        signer: The key of the first round.
        url: The address at which its tokens are asked for.
        credentials: Makes credentials of people.
        worker: The process that signs.
        database: Its database.
    """

    plan: Plan
    signer: BlindSigner
    url: str
    credentials: BearerCredentials
    worker: int
    database: str

    def asked(self) -> tuple[str, bytes]:
        """Make the credential of another person, and a request."""
        key = self.signer.key
        number = 1 + randbelow(key.modulus - 1)
        blinded = Blinded(number.to_bytes(key.size), inverse=0)
        return self.credentials.issue(), request_of(blinded, key_id(key))

    def check(self) -> None:
        """Ask as clients do; stop if an answer is not a signature."""
        key, message = self.signer.key, b"what a token says"
        for _ in range(_CLIENTS):
            blinded = key.blind(message)
            headers = {
                "Authorization": f"Bearer {self.credentials.issue()}",
                "Content-Type": "application/private-token-request",
            }
            body = request_of(blinded, key_id(key))
            with urlopen(Request(self.url, body, headers)) as answer:  # noqa: S310 - our own server
                key.finalize(message, answer.read(), inverse=blinded.inverse)

    def recorded(self) -> int:
        """Count the people who have a token."""
        with psycopg.connect(self.database) as connection:
            ((count,),) = connection.execute("SELECT count(*) FROM issuer.issued").fetchall()
        return int(count)


@contextmanager
def issuing(server: str) -> Iterator[Issuing]:
    """Run an issuer with one worker, on an empty database."""
    with tempfile.TemporaryDirectory() as name, fresh_database(server) as database:
        folder, phrase = Path(name), PASSPHRASE.encode()
        issuer = TokenIssuer.at(folder, phrase)
        plan = issuer.deploy(PLAN, phrase)
        issuer.sign(plan, [issuer.tokens.create(plan.digest, 0)])
        signer = issuer.tokens.signer(plan.digest, 0)
        if signer is None:
            raise SystemExit("the token key was not stored")
        write_secret(folder / "secret")
        port = free_port()
        with running(_command(folder, port), database) as process:
            address = f"http://127.0.0.1:{port}"
            worker = _started(process, address)
            yield Issuing(
                plan,
                signer,
                f"{address}/v1/plans/{plan.digest}/rounds/0/token",
                BearerCredentials(read_secret(folder / "secret")),
                worker,
                database,
            )


def _command(folder: Path, port: int) -> list[str]:
    program = [sys.executable, "-c", "from croupier.cli import main; main()", "issuer", "serve"]
    files = {"--plan": "plan.toml", "--secret": "secret", "--keys": "keys/tokens"}
    named = [part for option, name in files.items() for part in (option, str(folder / name))]
    others = ["--admit", "open", "--shuffler", _NOBODY, "--workers", "1", "--json"]
    return [*program, *named, *others, "--port", str(port), "--metrics-port", "0"]


def _started(process: subprocess.Popen[bytes], address: str) -> int:
    """Wait until the issuer answers; return its worker."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with suppress(URLError):
            urlopen(f"{address}/healthz", timeout=_PATIENCE).close()  # noqa: S310 - our own server
            (worker,) = worker_processes(process.pid)
            return worker
        time.sleep(0.1)
    raise SystemExit("the issuer does not start")


def over_http(issuer: Issuing, seconds: float) -> dict[str, float]:
    """Put the issuer under load; return signatures, seconds, and seconds of its processor."""
    people = [issuer.asked() for _ in range(int(_MOST_PER_SECOND * seconds))]
    with tempfile.NamedTemporaryFile("w", suffix=".people") as file:
        file.writelines(f"{who} {request.hex()}\n" for who, request in people)
        file.flush()
        load = ["wrk", "-t", "2", "-c", str(_CONNECTIONS), "-d", f"{seconds:g}s", "--timeout", "30"]
        command = [*load, "-s", str(HERE / "issuer.lua"), issuer.url, "--", file.name]
        before = cpu_seconds(issuer.worker)
        done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
        used = cpu_seconds(issuer.worker) - before
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    if found["broken"] or found["refused"] or not found["requests"]:
        raise SystemExit(f"requests were refused or broke: {found}")
    return {"signed": found["requests"], "seconds": found["seconds"], "cpu": used}


def bare(issuer: Issuing, seconds: float) -> float:
    """Sign in a loop for some seconds; return the processor seconds per signature."""
    asked = [issuer.asked()[1][-issuer.signer.key.size :] for _ in range(100)]
    signed, begun, until = 0, time.process_time(), time.monotonic() + seconds
    while time.monotonic() < until:
        issuer.signer.sign(asked[signed % len(asked)])
        signed += 1
    return (time.process_time() - begun) / signed


def measure(server: str, *, seconds: float, rounds: int) -> dict[str, float]:
    """Measure both in turns."""
    alone, served, rates, signed = [], [], [], 0
    with issuing(server) as issuer:
        issuer.check()
        for _ in range(rounds):
            alone.append(bare(issuer, seconds))
            found = over_http(issuer, seconds)
            signed += int(found["signed"])
            served.append(found["cpu"] / found["signed"])
            rates.append(found["signed"] / found["seconds"])
        recorded = issuer.recorded()
    if recorded < signed:
        raise SystemExit(f"{signed:,} tokens were signed, {recorded:,} recorded")
    return {
        "signed": signed,
        "recorded": recorded,
        "signatures_per_s": median(rates),
        "signatures_per_core_s": 1 / median(served),
        "bare_per_core_s": 1 / median(alone),
        "ratio": median(served) / median(alone),
        "ratio_least": min(served) / max(alone),
        "ratio_most": max(served) / min(alone),
    }


if __name__ == "__main__":
    tell(measure, __doc__, seconds=10.0, rounds=3)
