"""Keeps what a version makes: ``python tests/kept/make.py`` writes tests/kept/VERSION/.

Run it once, with the version to be kept installed, before anything that is stored or sent changes.
Four collections are run with the real program, service and database; README.md says what is kept
of them. Keys, credentials and answers are made for this and protect nobody.

Needs PostgreSQL (CROUPIER_TEST_DATABASE), pg_dump and node. Takes a few minutes.
"""

import csv
import json
import os
import random
import secrets
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from hashlib import sha256
from importlib.metadata import version
from importlib.resources import files
from math import cos, sin
from pathlib import Path
from threading import Thread
from urllib.request import urlopen

import psycopg

from croupier.analyzer.keys import AnalyzerKeys
from croupier.client.client import Client
from croupier.client.conversation import Outcome, Server, converse, submit
from croupier.client.memory import FileState, MemoryState
from croupier.plan.plan import Plan
from croupier.protocol.query import Query
from croupier.protocol.unsealing import open_inner, open_outer
from croupier.protocol.wire import Epoch, decode_report
from croupier.shuffler.release.keys import ReleaseKeys

HERE = Path(__file__).parent
DATABASES = os.environ.get("CROUPIER_TEST_DATABASE", "host=127.0.0.1 user=postgres dbname=test")
PASSPHRASE = "kept for tests, protects nobody"  # noqa: S105 - of keys that are published
PROGRAM = "from croupier.cli import main; main()"
ATTRIBUTE, BUDGET = "kept", 100.0
LABELS = ["never", "rarely", "often", "no answer"]
PLACES = 120
NOT_MET, DISPOSED = 4, 6

COMMON = """\
schema = 2
name = "{name}"
{questions}
[population]
enrolled = {enrolled}
corrupt_fraction = 0.02

[protections]
minimum_batch = {minimum}
report_size = 32
messages = 1
disposal_age = "{disposal_age}"

[collection]
every = "{every}"
rounds = {rounds}

[[shufflers]]
key = "{shuffler}"

[analyzer]
publication = "estimate"
key = "{analyzer}"

[guarantee]
adjacency = "replace-one"
delta = 1e-6

[policy]
batch = {{max_epsilon = 1.5, max_reidentification = 0.1}}
collusion = {{max_epsilon = 10.5}}
"""
CATEGORIES = """
[randomizer]
mechanism = "k-rr"
labels = ["never", "rarely", "often", "no answer"]
max_epsilon_local = 2.0

[participation]
model = "single"
noise = "fresh"
"""
MALLOWS = """
[shuffling]
order = "mallows"
alpha = 3.0

[shuffling.groups]
sha256 = "{digest}"
sensitivity = {sensitivity}
"""
BY_QUERY = """
[randomizer]
mechanism = "k-rr"
labels = ["fine", "crashed"]
max_epsilon_local = 2.0

[participation]
model = "rectified-multinomial"
weights = 3
noise = "fresh"
"""
PARALLEL = """
[[questions]]
mechanism = "k-rr"
labels = ["no", "yes", "ask later"]
max_epsilon_local = 1.0

[[questions]]
mechanism = "local-hashing"
k = 100
max_epsilon_local = 2.0

[[questions]]
mechanism = "one-bit-mean"
grid = {low = -1.0, high = 1.0, step = 0.25}
max_epsilon_local = 1.0

[participation]
model = "rectified-parallel"
weights = [1, 1, 2]
noise = "fresh"
"""
TYPESCRIPT = """
const { client, url, credential, digest, value, attribute, budget } = JSON.parse(process.argv[1]);
const { Client, Server, loadPlan, submit } = await import(client);
const state = { schema_version: 1, sealed: {}, joined: {}, resent: {}, spent: {} };
const memory = { update: (use) => use(state) };
const server = new Server({ url, credential });
const plan = await loadPlan(digest, server);
const person = new Client(plan, { attribute, budget, memory, spread: 0 });
const outcome = await submit(person, value, server);
process.stdout.write(JSON.stringify({ outcome, state }));
"""


class Recorder:
    """Passes bytes on to the service, and remembers those of the last request and its answer."""

    def __init__(self, url):
        self._to = ("127.0.0.1", int(url.rpartition(":")[2]))
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._sent, self._answered = bytearray(), bytearray()
        Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            near = self._socket.accept()[0]
            far = socket.create_connection(self._to)
            Thread(target=self._pass, args=(near, far, self._sent), daemon=True).start()
            Thread(target=self._pass, args=(far, near, self._answered), daemon=True).start()

    @staticmethod
    def _pass(source, target, heard):
        while data := source.recv(65536):
            heard += data
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)

    def last(self):
        """The request that sent a report, and what was answered, byte for byte."""
        sent, answered = bytes(self._sent), bytes(self._answered)
        return sent[sent.rindex(b"POST ") :], answered[answered.rindex(b"HTTP/1.1 ") :]


class Site:
    """One collection: its folder, its database, and the program as its operators run it."""

    def __init__(self, folder, database, *, questions, name, **numbers):
        self.folder, self.database = folder, database
        for part in ("printed", "wire", "released"):
            (folder / part).mkdir(parents=True)
        named = {}
        for role in ("shuffler", "release", "intake", "analyzer"):
            made = self.run("keys", "create", role, to=f"keys-create-{role}")
            named |= made["plan"]
        keys = {"shuffler": named["shufflers"][0]["key"], "analyzer": named["analyzer"]["key"]}
        text = COMMON.format(name=name, questions=questions, **numbers, **keys)
        (folder / "plan.toml").write_text(text)
        self.plan = Plan.load(folder / "plan.toml")
        sign = ["keys", "sign", "analyzer", "plan.toml", "--despite-policy"]
        self.run(*sign, to="keys-sign")
        self.run("keys", "sign", "shuffler", "plan.toml", to="keys-sign-shuffler")
        for command in ("assess", "check"):
            self.run(command, "plan.toml", to=command, codes=(0, NOT_MET))

    @property
    def environment(self):
        ours = {"CROUPIER_PASSPHRASE": PASSPHRASE, "CROUPIER_DATABASE": self.database}
        return os.environ | ours

    def run(self, *arguments, to, codes=(0,), **environment):
        """What a command prints with --json, kept as printed/TO.json."""
        done = self._done(*arguments, **environment)
        if done.returncode not in codes:
            raise SystemExit(f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}")
        return self._recorded(arguments, done, to)

    def _done(self, *arguments, **environment):
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, *map(str, arguments), "--json"],
            cwd=self.folder,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def _recorded(self, arguments, done, to):
        (self.folder / "printed" / f"{to}.json").write_text(done.stdout)
        line = shlex.join(["croupier", *map(str, arguments), "--json"])
        with (self.folder / "commands.txt").open("a") as file:
            file.write(f"{line} > printed/{to}.json  # exit {done.returncode}\n")
        return json.loads(done.stdout)

    @contextmanager
    def serving(self, *options, first=()):
        """`croupier serve` with an open round, ended in the end as with Ctrl-C."""
        opening = ["release", "--plan", "plan.toml", "-o", "released", "--next-round"]
        self.run(*opening, "--analyzer", "analyzer.json", *first, to="release-first")
        files = ["--plan", "plan.toml", "--secret", "credentials.key"]
        files += ["--port", "0", "--metrics-port", "0"]
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "serve", *files, *options, "--json"],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            line = process.stdout.readline() or "{}"  # it says itself why it did not start
            self.url = json.loads(line)["server"]
            self.recorder = Recorder(self.url)
            try:
                yield
            finally:
                process.terminate()

    def get(self, path=""):
        """What is served about the plan."""
        with urlopen(f"{self.url}/v1/plans/{self.plan.digest}{path}") as answer:  # noqa: S310
            return answer.read()

    def credentials(self, *options, to):
        """Credentials, issued by the program."""
        return self.run("credentials", "issue", "credentials.key", *options, to=to)["credentials"]

    def column(self, name, values):
        """A file with one column."""
        with (self.folder / name).open("w", newline="") as file:
            csv.writer(file).writerows([["answer"], *([value] for value in values)])

    def submit(self, file, relay, *, to):
        """A column, sent by a relay."""
        command = ["submit", "plan.toml", file, "--server", self.url]
        self.run(*command, to=to, CROUPIER_CREDENTIAL=relay)

    def take_part(self, credential, value, memory=None, *, url=None, owner=None):
        """A person's Python client, which sends at once."""
        client = self.client(MemoryState() if memory is None else memory, owner)
        server = Server(url=url or self.url, credential=credential)
        outcome = submit(converse(client, value, server=server))
        if outcome is not Outcome.ACCEPTED:
            raise SystemExit(f"a report was not taken: {outcome}")

    def client(self, memory, owner=None):
        """Somebody who sends at once."""
        person = {"attribute": ATTRIBUTE, "budget": BUDGET, "owner": owner, "spread": 0}
        return Client(self.plan, memory=memory, **person)

    def record_python(self, credential, value, **person):
        """A person whose memory and request are kept."""
        memory = FileState(self.folder / "wire" / "python.memory.json")
        self.take_part(credential, value, memory, url=self.recorder.url, **person)
        self._keep_exchange("python", *self.recorder.last())

    def record_typescript(self, credential, value):
        """The same with the TypeScript client that the package ships."""
        with tempfile.TemporaryDirectory() as folder:
            module = Path(folder) / "client.mjs"
            module.write_bytes((files("croupier.demo") / "client.js").read_bytes())
            given = {
                "client": str(module),
                "url": self.recorder.url,
                "credential": credential,
                "digest": self.plan.digest,
                "value": value,
                "attribute": ATTRIBUTE,
                "budget": BUDGET,
            }
            command = [program("node"), "--input-type=module", "-e", TYPESCRIPT, json.dumps(given)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        made = json.loads(done.stdout)
        if made["outcome"] != "accepted":
            raise SystemExit(f"a report was not taken: {made['outcome']}")
        self.keep("typescript.memory.json", json.dumps(made["state"]).encode())
        self._keep_exchange("typescript", *self.recorder.last())

    def _keep_exchange(self, name, request, response):
        self.keep(f"{name}.request.http", request)
        self.keep(f"{name}.response.http", response)

    def keep(self, name, data):
        """Bytes that were sent."""
        (self.folder / "wire" / name).write_bytes(data)

    def release(self, *options, to):
        """Run the job until nothing is held, then wait until the service sees the next round."""
        command = ["release", "--plan", "plan.toml", "-o", "released"]
        command += options
        while '"outcome": "held"' in (done := self._done(*command)).stdout:
            time.sleep(1)
        if done.returncode not in {0, DISPOSED}:
            raise SystemExit(f"{command}: {done.stdout}{done.stderr}")
        opened = self._recorded(command, done, to)["open_round"]
        while [entry["round"] for entry in json.loads(self.get())["shuffler"]] != [opened]:
            time.sleep(0.2)

    def verify(self, *queries):
        """What an auditor and the analyzer print about everything that is released."""
        receipts = sorted(f"released/{p.name}" for p in self.folder.glob("released/*.receipt.json"))
        self.run("receipt", "verify", *receipts, "--plan", "plan.toml", to="receipt-verify")
        batches = sorted(f"released/{p.name}" for p in self.folder.glob("released/*.parquet"))
        options = ["--plan", "plan.toml", *queries]
        self.run("analyze", *batches, *options, to="analyze")

    def publish_query(self, number, question):
        """What a round asks, signed by the analyzer; the options that name it."""
        asking = ["--publish-round", number, "--question", question]
        self.run("analyze", "--plan", "plan.toml", *asking, to=f"query-{number}")
        return ["--query", f"query-{number}.json"]

    def keep_served(self, round_number, query=b""):
        """What the service says about the open round, and what is in the kept envelopes."""
        self.keep("key-list.json", self.get())
        self.keep("round.json", self.get(f"/rounds/{round_number}"))
        keys = self.folder / "keys"
        shuffler = ReleaseKeys(keys / "release", PASSPHRASE.encode())
        analyzer = AnalyzerKeys(keys / "analyzer", PASSPHRASE.encode())
        (batch,) = shuffler.batches()
        epoch = Epoch.of(
            self.plan,
            round_number=round_number,
            batch=batch,
            analyzer=analyzer.sealing_key("analyzer").public_key().public_bytes_raw(),
            query=query,
        )
        opened = {}
        for path in sorted(self.folder.glob("wire/[!.]*.memory.json")):
            memory = json.loads(path.read_text())
            body = bytes.fromhex(memory["sealed"][self.plan.digest]["body"])
            outer = open_outer(body, key=shuffler.outer_key(batch), epoch=epoch)
            report = open_inner(outer.inner, key=analyzer.sealing_key("analyzer"), epoch=epoch)
            decoded = decode_report(self.plan, report, round_number=round_number)
            opened[path.name.partition(".")[0]] = {
                "owner": outer.owner,
                "report": report.hex(),
                "decoded": None if decoded is None else decoded.tolist(),
            }
        self.keep("opened.json", json.dumps(opened, indent=1).encode())

    def dump(self):
        """The database as SQL that any connection can run: no COPY, no commands of psql."""
        command = [program("pg_dump"), "--no-owner", "--no-privileges", "--rows-per-insert=50"]
        done = subprocess.run(
            [*command, "--encoding=UTF8", "--dbname", self.database],
            env=os.environ | {"PGTZ": "UTC"},
            capture_output=True,
            text=True,
            check=True,
        )
        lines = done.stdout.splitlines(keepends=True)
        kept = "".join(line for line in lines if not line.startswith("\\"))
        (self.folder / "database.sql").write_text(kept)
        for lock in self.folder.glob("wire/.lock-*"):
            lock.unlink()


def program(name):
    """Where a program is that this needs."""
    found = shutil.which(name)
    if found is None:
        raise SystemExit(f"needs {name}")
    return found


def answers(number, rng):
    """Made-up answers."""
    return rng.choices(LABELS, weights=[5, 3, 2, 1], k=number)


def uniform(folder, database, rng):
    """One question, mixed uniformly: a round released, one disposed of, one open and full."""
    numbers = {
        "enrolled": 1_000,
        "minimum": 200,
        "every": "10s",
        "rounds": 5,
        "disposal_age": "20s",
    }
    site = Site(folder, database, questions=CATEGORIES, name="uniform", **numbers)
    site.run("explain", "plan.toml", "-o", "explain.html", to="explain")
    (folder / "explain.html").unlink()
    mechanism = ["--mechanism", "k-rr", "--k", 4, "--max-epsilon-local", 2]
    people = ["--n", 200, "--corrupt", 20, "--delta", 1e-6, "--rounds", 5]
    site.run("amplify", *mechanism, *people, to="amplify")
    persons = site.credentials("--new", "--count", 8, to="credentials-persons")
    (relay,) = site.credentials("--relay", to="credentials-relay")
    revoke = ["credentials", "revoke", "revoked.txt", "--new", persons[7][2:34]]
    site.run(*revoke, to="credentials-revoke")
    for number, rows in enumerate((210, 12, 215)):
        site.column(f"answers-{number}.csv", answers(rows, rng))
    with site.serving("--revoked", "revoked.txt"):
        site.submit("answers-0.csv", relay, to="submit-0")
        site.take_part(persons[0], "often", url=site.recorder.url)
        late, _ = site.recorder.last()
        site.release("--next-round", to="release-0")
        batch = json.loads((folder / "printed" / "release-0.json").read_text())["batches"][0]
        unknown = late.replace(batch["batch"].encode(), bytes(16).hex().encode())
        for name, request in (("late", late), ("refused", unknown)):
            site.keep(f"{name}.request.http", request)
            site.keep(f"{name}.response.http", replayed(site.url, request))
        site.submit("answers-1.csv", relay, to="submit-1")
        site.release("--next-round", to="release-1")
        site.submit("answers-2.csv", relay, to="submit-2")
        site.record_python(persons[1], "rarely")
        site.record_typescript(persons[2], "never")
        waiting = FileState(folder / "wire" / "waiting.memory.json")
        site.client(waiting).report("often", key_list=site.get())
        site.keep_served(2)
    site.verify()
    site.dump()


def replayed(url, request):
    """What is answered to the bytes of a request."""
    with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as connection:
        connection.sendall(request)
        return b"".join(iter(lambda: connection.recv(65536), b""))  # it closes after a refusal


def groups(folder, database, rng):
    """Answers that stay near their places: a round released, one held with too few people."""
    places = [(t / PLACES * cos(t / 3), t / PLACES * sin(t / 3)) for t in range(PLACES)]
    public = "x,y\n" + "".join(f"{x:.4f},{y:.4f}\n" for x, y in places)
    folder.mkdir(parents=True)
    (folder / "places.csv").write_text(public)
    order = ["mallows", "order", "places.csv", "--columns", "x,y", "--radius", "0.1"]
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, *order, "--alpha", "3", "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    sensitivity = json.loads(found)["sensitivity"]
    digest = sha256(public.encode()).hexdigest()
    mixing = MALLOWS.format(digest=digest, sensitivity=sensitivity)
    numbers = {"enrolled": 120, "minimum": 60, "every": "5s", "rounds": 5, "disposal_age": "72h"}
    site = Site(folder, database, questions=CATEGORIES + mixing, name="groups", **numbers)
    site.run(*order, "--alpha", "3", to="mallows-order")
    owners = site.credentials("--new", "--owners", PLACES, to="credentials-owners")
    (relay,) = site.credentials("--relay", to="credentials-relay")
    site.column("answers-0.csv", answers(100, rng))
    options = ["--public", "places.csv", "--columns", "x,y", "--radius", "0.1"]
    options += ["--secret", "credentials.key"]
    with site.serving(first=options):
        site.submit("answers-0.csv", relay, to="submit-0")
        for owner in (3, 110):
            site.take_part(owners[owner], "often", owner=owner)
        site.release("--next-round", *options, to="release-0")
        for owner in range(1, 20):
            site.take_part(owners[owner], answers(1, rng)[0], owner=owner)
        site.record_python(owners[0], "rarely", owner=0)
        time.sleep(6)
        command = ["release", "--plan", "plan.toml", "-o", "released"]
        site.run(*command, *options, to="release-1-held")
        site.keep_served(1)
    site.verify()
    site.dump()


def adaptive(folder, database, rng):
    """Rounds that ask by query, the same people in each: one round released, one open and full."""
    numbers = {"enrolled": 60, "minimum": 40, "every": "5s", "rounds": 1, "disposal_age": "72h"}
    site = Site(folder, database, questions=BY_QUERY, name="adaptive", **numbers)
    persons = site.credentials("--new", "--count", 50, to="credentials-persons")
    memories = [MemoryState() for _ in persons[2:]]
    first = site.publish_query(0, "crashed since build 4711")
    second = site.publish_query(1, "crashed since build 4720")
    with site.serving(first=first):
        for number in range(2):
            for credential, memory in zip(persons[2:], memories, strict=True):
                site.take_part(credential, rng.choice(["fine", "crashed"]), memory)
            site.record_python(persons[0], "crashed")
            if number == 0:
                site.release("--next-round", *second, to="release-0")
        site.record_typescript(persons[1], "fine")
        query = Query.verified((folder / "query-1.json").read_bytes(), site.plan)
        site.keep_served(1, query=query.digest)
    site.verify(*first)
    site.dump()


def parallel(folder, database, rng):
    """Several questions, one of them answered by each person: one round released, one open."""
    numbers = {"enrolled": 80, "minimum": 40, "every": "5s", "rounds": 5, "disposal_age": "72h"}
    site = Site(folder, database, questions=PARALLEL, name="parallel", **numbers)
    persons = site.credentials("--new", "--count", 50, to="credentials-persons")
    with site.serving():
        for number in range(2):
            for credential in persons[2:]:
                answer = [rng.choice(["no", "yes"]), rng.randrange(100), rng.choice([-1.0, 0.5])]
                site.take_part(credential, answer)
            site.record_python(persons[0], ["yes", 42, 0.25])
            if number == 0:
                site.release("--next-round", to="release-0")
        site.record_typescript(persons[1], ["ask later", 7, -0.5])
        site.keep_served(1)
    site.verify()
    site.dump()


@contextmanager
def fresh_database():
    """An empty database, dropped afterwards."""
    name = f"croupier_kept_{secrets.token_hex(8)}"
    with psycopg.connect(DATABASES, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'".encode())
        try:
            yield psycopg.conninfo.make_conninfo(DATABASES, dbname=name)
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def main():
    """Make every collection in a temporary folder, then move it here."""
    target = HERE / version("croupier")
    if target.exists():
        raise SystemExit(f"{target.name} is kept already. What was kept is never made again.")
    with tempfile.TemporaryDirectory() as made:
        for collection in (uniform, groups, adaptive, parallel):
            rng = random.Random(collection.__name__)  # noqa: S311 - made-up answers
            with fresh_database() as database:
                collection(Path(made) / collection.__name__, database, rng)
        (Path(made) / "passphrase.txt").write_text(PASSPHRASE + "\n")
        shutil.copytree(made, target)


if __name__ == "__main__":
    main()
