"""A served plan: real processes, a real database."""

import json
import os
import signal
import subprocess
import time
from contextlib import closing, contextmanager
from copy import copy
from http.client import HTTPConnection
from typing import NamedTuple

import psycopg
import pytest

from croupier.analyzer.keys import AnalyzerKeys
from croupier.issuer.keys import IssuerRootKeys, TokenKeyFiles
from croupier.model.judgement import Judgement
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import BearerCredentials, read_secret, write_secret
from croupier.protocol.admission.token_keys import TokenKeys
from croupier.protocol.key_list import AnalyzerKey, PolicyWord
from croupier.protocol.query import Query
from croupier.protocol.receipt import FIRST, Counts, Receipt
from croupier.protocol.wire import Epoch, envelope_length, seal_outer
from tests.unit.parties import House
from tests.warm import croupier

PASSPHRASE = "four dice, no cards"  # noqa: S105 - of keys that live for one test
RELEASE_PASSPHRASE = "a deck, cut twice"  # noqa: S105 - as above, and never intake's
TABLES = {
    "schema": 2,
    "randomizer": {"mechanism": "k-rr", "k": 10, "max_epsilon_local": 2.0},
    "population": {"enrolled": 1_000_000},
    "protections": {"minimum_batch": 50},
    "guarantee": {"delta": 1e-8},
}


def within(seconds, condition):
    """Whether something becomes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


class Reply(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def document(self):
        return json.loads(self.body)


class Service:
    """What an operator has: a plan, keys, a secret, and a running `croupier serve`."""

    def __init__(self, directory, database, **tables):
        self.directory, self.database = directory, database
        self.house = House(
            directory / "keys", PASSPHRASE.encode(), release=RELEASE_PASSPHRASE.encode()
        )
        self.phrase = directory / "release.txt"
        self.phrase.write_text(RELEASE_PASSPHRASE)
        self.phrase.chmod(0o600)
        self.keys, self.handover = self.house.release, self.house.handover
        self.analyzer = AnalyzerKeys(directory / "keys" / "analyzer", PASSPHRASE.encode())
        parties = {
            "shufflers": [{"key": self.house.public}],
            "analyzer": {"key": self.analyzer.create().key},
        }
        if tables.get("admission", {}).get("by") == "token":
            self.issuer = IssuerRootKeys(directory / "keys" / "issuer", PASSPHRASE.encode())
            self.tokens = TokenKeyFiles(directory / "keys" / "tokens", PASSPHRASE.encode())
            parties["admission"] = tables["admission"] | {"key": self.issuer.create().key}
        document = {name: entry for name, entry in (TABLES | tables).items() if entry}
        write_secret(directory / "secret")
        self.credentials = BearerCredentials(read_secret(directory / "secret"))
        self.log = directory / "log"
        self.process = None
        self.write_plan(document | parties)

    def write_plan(self, document):
        """Write a plan and the files that its parties have signed for it."""
        directory, self.document = self.directory, document
        self.plan = Plan.from_document(document)
        self.path = f"/v1/plans/{self.plan.digest}"
        word = PolicyWord.on(self.plan, Judgement.NO_LIMIT, despite_policy=True)
        analyzer = AnalyzerKey.make(
            self.plan,
            key=self.analyzer.sealing_key("analyzer"),
            signing_key=self.analyzer.signing_key("analyzer"),
            policy=word,
        )
        self.listed = self.house.listed(self.plan)
        (directory / "shuffler.json").write_bytes(self.listed.to_bytes())
        (directory / "plan.toml").write_text(self.plan.to_toml())
        (directory / "analyzer.json").write_bytes(analyzer.to_bytes())
        self.envelope_length = envelope_length(self.plan)
        if self.plan.admission.by == "token":
            self.list_tokens(range(3))

    def list_tokens(self, rounds, earlier=None):
        """Make token keys of some rounds, and sign their list."""
        keys = [self.tokens.create(self.plan.digest, number) for number in rounds]
        signer = self.issuer.signer()
        listed = TokenKeys.make(
            self.plan, first=rounds[0], keys=keys, signing_key=signer, earlier=earlier
        )
        (self.directory / "issuer.json").write_bytes(listed.to_bytes())
        return listed

    def beside(self, name):
        """Another plan of the same operator: it shares keys, secret and database."""
        other = copy(self)
        other.directory = self.directory / name
        other.directory.mkdir()
        another = self.document["randomizer"] | {"k": self.document["randomizer"]["k"] + 1}
        other.write_plan(self.document | {"name": name, "randomizer": another})
        return other

    def command(self, name, *options):
        command = [croupier(), name, "--plan", self.directory / "plan.toml"]
        role = {"serve": "intake", "release": "release"}[name]
        files = ["--keys", self.house.path / role, "--handover", self.handover.path]
        files += ["--shuffler", self.directory / "shuffler.json"]
        if role == "release":
            files += ["--passphrase-file", self.phrase]
        return [*map(str, [*command, *files, *options]), "--json"]

    @property
    def environment(self):
        return os.environ | {
            "CROUPIER_DATABASE": self.database,
            "CROUPIER_PASSPHRASE": PASSPHRASE,
        }

    def serving(self, *options):
        """The command that serves on free ports."""
        files = ["--analyzer", self.directory / "analyzer.json"]
        files += ["--port", "0", "--metrics-port", "0"]
        if self.plan.admission.by == "credential":
            files += ["--secret", self.directory / "secret"]
        return self.command("serve", *files, *options)

    def serving_all(self, *others, options=()):
        """The command that serves this plan and others, whose files lie beside them."""
        plans = [part for each in others for part in ("--plan", each.directory / "plan.toml")]
        files = ["--keys", self.house.intake.path, "--handover", self.handover.path]
        files += ["--secret", self.directory / "secret", "--port", "0", "--metrics-port", "0"]
        command = [croupier(), "serve", "--plan", self.directory / "plan.toml"]
        return [*map(str, [*command, *plans, *files, *options]), "--json"]

    @property
    def own(self):
        """What release has."""
        return {"keys": self.keys, "handover": self.handover, "shuffler": self.listed}

    def open_round(self, *options):
        """Open the first round, as `croupier release --next-round` does."""
        analyzer = ["--analyzer", self.directory / "analyzer.json"]
        code, done = self.release("--next-round", *analyzer, *options)
        assert (code, done["open_round"]) == (0, 0), done

    def shows(self, number):
        """Whether all workers list a round: each look of many meets one of them by chance."""
        looks = [self.get(self.path).document["shuffler"] for _ in range(20)]
        return all(number in [entry["round"] for entry in look] for look in looks)

    def start(self, *options, first=(), plans=()):
        """Serve; the first round is opened before if there is none yet, unless `first` is None."""
        if first is not None and not (self.keys.path / "witness").exists():
            self.open_round(*first)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.serving_all(*plans, options=options) if plans else self.serving(*options),
                stdout=subprocess.PIPE,
                stderr=log,
                env=self.environment,
            )
        line = self.process.stdout.readline()
        assert line, self.log.read_text()
        self.served = json.loads(line)
        self.port = int(self.served["server"].rpartition(":")[2])
        self.batch = self.served["plans"][0]["batch"]
        return self

    def release(self, *options):
        """Run `croupier release` beside the service."""
        return self.run(self.command("release", "-o", self.directory / "out", *options))

    def croupier(self, *arguments):
        """Run another command, as `run` does."""
        return self.run([*map(str, [croupier(), *arguments]), "--json"])

    def run(self, command):
        """The exit code of a command that ends by itself, and what it printed."""
        done = subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=False
        )
        return done.returncode, json.loads(done.stdout)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.process.stdout.close()
        return code

    def request(self, method, path, body=None, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, body, named)
            with connection.getresponse() as response:
                return Reply(response.status, response.getheaders(), response.read())

    def get(self, path):
        return self.request("GET", path)

    def when_found(self, path, seconds=120):
        """The answer for a path, once the service has one."""
        end = time.monotonic() + seconds
        while (found := self.get(path)).status != 200 and time.monotonic() < end:
            time.sleep(0.2)
        return found

    def headers(self, token=None):
        return {
            "Authorization": f"Bearer {token or self.credentials.issue()}",
            "Content_Type": "application/octet-stream",
            "Croupier_Batch": self.batch,
        }

    def send(self, body, token=None, **changed):
        headers = self.headers(token) | changed
        given = {name: value for name, value in headers.items() if value is not None}
        return self.request("POST", f"{self.path}/reports", body, **given)

    def envelopes(self, count=1):
        return os.urandom(count * self.envelope_length)

    def query(self, number):
        """A file with what a round asks."""
        signer = self.analyzer.signing_key("analyzer")
        made = Query.make(self.plan, round_number=number, question="crashed?", signing_key=signer)
        file = self.directory / f"query-{number}.json"
        file.write_bytes(made.to_bytes())
        return file

    def sealed(self, count, number, query):
        """Envelopes that open, for the batch that is served now."""
        batch = bytes.fromhex(self.batch)
        digest = Query.verified(query.read_bytes(), self.plan).digest
        signed = AnalyzerKey.verified((self.directory / "analyzer.json").read_bytes(), self.plan)
        analyzer = bytes.fromhex(signed.key)
        epoch = Epoch.of(
            self.plan, round_number=number, batch=batch, analyzer=analyzer, query=digest
        )
        key = self.keys.outer_key(batch).public_key()
        inner = [os.urandom(epoch.inner_length) for _ in range(count)]
        return b"".join(seal_outer(report, key=key, epoch=epoch) for report in inner)

    def stored(self):
        with psycopg.connect(self.database) as connection:
            query = f"SELECT envelope FROM croupier.env_{self.batch}"  # noqa: S608
            return sorted(row for (row,) in connection.execute(query.encode()))

    @contextmanager
    def held_back(self):
        """Nothing is committed until the context ends."""
        with psycopg.connect(self.database) as connection:
            connection.execute(f"LOCK TABLE croupier.env_{self.batch} IN SHARE MODE".encode())
            yield

    @contextmanager
    def cut_off(self):
        """No connection to the database, as if it were down."""
        parts = psycopg.conninfo.conninfo_to_dict(self.database)
        name = parts["dbname"]
        server = psycopg.conninfo.make_conninfo(self.database, dbname="postgres")
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false".encode())
            ending = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            connection.execute(ending, (name,))
            yield
            connection.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true".encode())

    def drop_table(self):
        with psycopg.connect(self.database) as connection:
            connection.execute(f"DROP TABLE croupier.env_{self.batch}".encode())

    def sign_receipt(self):
        """Put the receipt of the batch into the database, as a release does when it decides."""
        stored = len(self.stored())
        receipt = Receipt(
            event="disposed",
            plan=self.plan.digest,
            round=0,
            batch=self.batch,
            number=0,
            previous=FIRST,
            counts=Counts(received=stored, disposed=stored),
        ).signed(self.keys.signing_key("release"))
        with psycopg.connect(self.database) as connection:
            query = "INSERT INTO croupier.receipts VALUES (%s, 0, %s)"
            connection.execute(query, (bytes.fromhex(self.plan.digest), receipt.text))

    def set_state(self, state):
        with psycopg.connect(self.database) as connection:
            query = "UPDATE croupier.batches SET state = %s WHERE batch = %s"
            connection.execute(query, (state, bytes.fromhex(self.batch)))


@contextmanager
def deployed(directory, make_database, **tables):
    with make_database() as database:
        made = Service(directory, database, **tables)
        try:
            yield made
        finally:
            if made.process is not None:
                made.stop()


@pytest.fixture
def service(tmp_path, make_database):
    """Not started yet, and of one test only."""
    with deployed(tmp_path, make_database) as made:
        yield made


@pytest.fixture
def make_service(tmp_path, make_database):
    """Makes a service of a plan with tables of its own, as a context."""
    return lambda **tables: deployed(tmp_path, make_database, **tables)


@pytest.fixture(scope="module")
def serving(tmp_path_factory, make_database):
    """Started, for all tests of a file that leave it as it is."""
    with deployed(tmp_path_factory.mktemp("service"), make_database) as made:
        yield made.start("--workers", "2")
