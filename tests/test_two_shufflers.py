"""A whole collection with two shufflers: two users, two databases, real processes."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import numpy as np
import psycopg
import pytest

import croupier
from benchmarks.machine import free_port
from croupier.plan.plan import Plan
from tests.conftest import fresh_database
from tests.warm import AFRESH

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.getuid() != 0 or shutil.which("setpriv") is None,
        reason="only root can start processes of other users",
    ),
]

PEOPLE, VALUES = 2000, 2000
PLAN = f"""schema = 2
randomizer = {{mechanism = "plain", k = {VALUES}}}
population.enrolled = {PEOPLE}
protections.minimum_batch = 500
collection.every = "1s"
protections.disposal_age = "24h"
guarantee.delta = 1e-4
policy.batch.max_epsilon = 1.0
policy.clients.max_epsilon = 1.0
analyzer.operator = "Example Inc."
[[shufflers]]
operator = "Example Foundation"
dummies = {{epsilon = 1.0, delta = 1e-4}}
[[shufflers]]
operator = "Example University"
dummies = {{epsilon = 1.0, delta = 1e-4}}
"""
USERS = {"first": "daemon", "second": "games", "analyzer": "nobody"}


@contextmanager
def reachable_interpreter(root):
    """Mount interpreter, packages and program where every user can read them.

    They may be in folders of root.
    """
    places = {
        "python": sys.base_prefix,
        "packages": sysconfig.get_path("platlib"),
        "source": Path(croupier.__file__).parents[1],
    }
    mounted = []
    try:
        for name, source in places.items():
            target = root / name
            target.mkdir()
            command = ["mount", "--bind", str(source), str(target)]
            if subprocess.run(command, check=False, capture_output=True).returncode:
                pytest.skip("nothing can be mounted here")
            mounted.append(target)
        yield
    finally:
        for target in mounted:
            subprocess.run(["umount", "--lazy", target], check=True)  # noqa: S607


def become(user):
    """The beginning of a command that runs as another user."""
    return ["setpriv", "--reuid", user, "--regid", "nogroup", "--clear-groups"]


class Party:
    """A user with a folder that nobody else can enter, but for what it publishes."""

    def __init__(self, name, root, database=""):
        self.user, self.folder, self._root = USERS[name], root / name, root
        self.out = root / f"{name}-out"
        for folder, mode in ((self.folder, 0o700), (self.out, 0o755)):
            folder.mkdir()
            shutil.chown(folder, self.user)
            folder.chmod(mode)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "LD_LIBRARY_PATH": str(root / "python" / "lib"),
            "CROUPIER_PASSPHRASE": f"the passphrase of {name}",
            "CROUPIER_DATABASE": database,
            "PYTHONPATH": os.pathsep.join(str(root / each) for each in ("source", "packages")),
        }

    def start(self, *arguments):
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        python = self._root / "python" / "bin" / version
        command = [python, "-c", AFRESH, *arguments]
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        return subprocess.Popen(
            [*become(self.user), *map(str, command)],
            cwd=self.folder,
            env=self.environment,
            **streams,
        )

    def run(self, *arguments, code=0):
        process = self.start(*arguments)
        said, _ = process.communicate(timeout=600)
        assert process.returncode == code, said
        return said

    def give(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        shutil.chown(path, self.user)


@pytest.fixture
def parties():
    with (
        tempfile.TemporaryDirectory() as name,
        fresh_database() as one,
        fresh_database() as other,
        ExitStack() as stack,
    ):
        root = Path(name)
        root.chmod(0o755)
        stack.enter_context(reachable_interpreter(root))
        made = {
            "first": Party("first", root, one),
            "second": Party("second", root, other),
            "analyzer": Party("analyzer", root),
        }
        _agree(made)
        yield made


def _agree(parties):
    """Make keys, one plan, and what each signs for the others."""
    text, roots = PLAN, {}
    for name in ("first", "second"):
        said = parties[name].run("keys", "create", "shuffler", "--keys", "root", "--json")
        roots[name] = re.search("[0-9a-f]{64}", said)[0]
        for role in ("release", "intake"):
            parties[name].run("keys", "create", role, "--keys", role)
    said = parties["analyzer"].run("keys", "create", "analyzer", "--keys", "keys", "--json")
    own = re.search("[0-9a-f]{64}", said)[0]
    text = text.replace(
        'operator = "Example Inc."', f'operator = "Example Inc."\nanalyzer.key = "{own}"'
    )
    for name, operator in (("first", "Foundation"), ("second", "University")):
        line = f'operator = "Example {operator}"'
        text = text.replace(line, f'{line}\nkey = "{roots[name]}"')
    for party in parties.values():
        party.give("plan.toml", text.encode())
    parties["analyzer"].run("keys", "sign", "analyzer", "plan.toml", "--keys", "keys")
    signed = (parties["analyzer"].folder / "analyzer.json").read_bytes()
    for name in ("first", "second"):
        parties[name].give("analyzer.json", signed)
        public = ["--release", "release/public.json", "--intake", "intake/public.json"]
        parties[name].run("keys", "sign", "shuffler", "plan.toml", "--keys", "root", *public)


def release(party, *more):
    own = ["--keys", "release", "--handover", "handover"]
    return party.run("release", "--plan", "plan.toml", *own, "-o", party.out, *more)


@contextmanager
def served(party):
    port = free_port()
    party.run("credentials", "issue", "secret", "--new", "--count", "0")
    said = party.run("credentials", "issue", "secret", "--relay")
    files = ["--keys", "intake", "--handover", "handover", "--secret", "secret"]
    ports = ["--port", port, "--metrics-port", "0", "--workers", "1"]
    process = party.start("serve", "--plan", "plan.toml", *files, *ports)
    try:
        url = f"http://127.0.0.1:{port}"
        _wait(url, process)
        yield url, said.split()[-1]
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _wait(url, process):
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        try:
            urlopen(f"{url}/readyz", timeout=2).close()  # noqa: S310 - our own server
        except (URLError, OSError):
            time.sleep(0.1)
        else:
            return
    process.kill()
    pytest.fail(f"the service is not ready: {process.communicate()[0]}")


def test_two_thousand_people_and_two_shufflers(parties):
    first, second, analyzer = (parties[name] for name in ("first", "second", "analyzer"))
    release(second, "--from", first.out, "--next-round", "--analyzer", "analyzer.json")
    release(first, "--to", second.out, "--next-round", "--analyzer", "analyzer.json")
    generator = np.random.default_rng(24)
    values = generator.choice(
        VALUES, PEOPLE, p=np.arange(VALUES, 0, -1) / (VALUES * (VALUES + 1) / 2)
    )
    with served(first) as (url, credential):
        lines = "value\n" + "\n".join(map(str, values)) + "\n"
        analyzer.give("values.csv", lines.encode())
        sent = ["submit", "plan.toml", "values.csv", "--server", url, "--insecure-http", "--quiet"]
        analyzer.run(*sent, "--credential", credential)
    time.sleep(1)
    release(first)
    release(second, "--from", first.out)
    (batch,) = second.out.glob("*.parquet")
    said = analyzer.run("analyze", batch, "--plan", "plan.toml", "--keys", "keys", "--json")
    found = json.loads(said[said.index("{") :])
    shares = np.bincount(values, minlength=VALUES) / PEOPLE
    points = np.array([row["share"] for row in found["estimates"]])
    lower, upper = np.array([row["interval"] for row in found["estimates"]]).T
    assert (found["n"], len(found["taken_over"])) == (PEOPLE, 1)
    covered = np.mean((lower <= shares) & (shares <= upper))
    assert covered > 0.92, "95 % of 2,000 intervals, but for a chance below 1e-9"
    plan = Plan.load(analyzer.folder / "plan.toml")
    spread = float(sum(table.variance for table in plan.dummies)) ** 0.5 / PEOPLE
    error = float(np.sqrt(np.mean((points - shares) ** 2)))
    assert 1 / 1.1 < error / spread < 1.1, "except with a chance below 1e-9"
    _require_walls(parties)


def _require_walls(parties):
    """Neither shuffler can read what the other keeps to itself."""
    for name, other in (("first", "second"), ("second", "first")):
        command = [*become(USERS[name]), "cat", parties[other].folder / "plan.toml"]
        done = subprocess.run([*map(str, command)], capture_output=True, check=False)
        assert b"Permission denied" in done.stderr
    with psycopg.connect(parties["second"].environment["CROUPIER_DATABASE"]) as connection:
        (number,) = connection.execute(
            "SELECT count(*) FROM pg_tables WHERE tablename LIKE 'env_%'"
        ).fetchone()
    assert number == 0, "the second one's database has no report"
