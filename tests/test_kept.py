"""What earlier versions made is still read: plans, keys; or refused by its name: all of a digest.

A plan of version 0.1 is of schema 1. Upgraded, it is the same collection with the same numbers
under another digest; what belongs to the old digest, batches, receipts and what was signed, is left
to the version that made it.

tests/kept/README.md says what is there. Every test works on a copy, for key files must be private.
"""

import asyncio
import json
import math
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from croupier.analyzer.keys import AnalyzerKeys
from croupier.assessment.ladder.ladder import assess
from croupier.cli import main
from croupier.client.client import Client
from croupier.client.conversation import Outcome, Server, converse, submit
from croupier.client.memory import BudgetError, FileState, StateError
from croupier.errors import MalformedReportError, SealError, UntrustedError
from croupier.hosting.revocation import read_revoked
from croupier.model.judgement import Judgement
from croupier.plan.file import PlanError
from croupier.plan.plan import Plan
from croupier.plan.upgrade import upgraded_text
from croupier.protocol.admission.credentials import BearerCredentials, read_secret
from croupier.protocol.key_directory import KeyDirectory, KeyFileError
from croupier.protocol.key_list import AnalyzerKey, KeyList, NotAccepted, PolicyWord, sent_digest
from croupier.protocol.party_keys import Signers
from croupier.protocol.query import Query, Round
from croupier.protocol.receipt import Receipt, require_chain
from croupier.protocol.unsealing import open_outer
from croupier.protocol.wire import Epoch, decode_report
from croupier.shuffler.database.schema import MIGRATIONS
from croupier.shuffler.database.store import Store
from croupier.shuffler.release.keys import ReleaseKeys

KEPT = Path(__file__).parent / "kept"
SITES = sorted(
    str(plan.parent.relative_to(KEPT)) for plan in KEPT.glob("*/*/plan.toml")
)  # VERSION/COLLECTION
MACHINE = re.compile(rb"/(?:home|root|tmp|work|Users|opt|var)/")

CHANGED = {
    "0.1.0/adaptive assess rungs.?.cells.?.assumptions.0": "0.2.0: bounds from epsilon_local alone "
    "are for one randomizer for everybody, or one assigned independently of the person",
    "0.1.0/adaptive assess rungs.5.cells.[34].assumptions": "0.2.0: a guess from one report "
    "assumes nothing about an order",
    "0.1.0/adaptive assess repeated.epsilon_upper": "0.2.0: composed to the last loss, 60 -> 26.4",
    "0.1.0/parallel check limits.2.value": "0.2.0: composed to the last loss, 10.0 -> 9.95",
    "0.1.0/groups assess repeated.epsilon_upper": "0.2.0: composed to the last loss, 300 -> 252",
    **{
        f"0.1.0/{site} assess rungs.?.cells.[0-5].{end}": "0.2.0: composed to the last loss, and "
        "in one way: other digits from the fifth on"
        for site in ("groups", "parallel", "uniform")
        for end in ("upper", "lower")
    },
    **{
        f"0.1.0/{place}": "0.2.0: composed in one way: other digits from the fifth on"
        for place in (
            "parallel assess everybody.epsilon_upper",
            "parallel assess repeated.epsilon_upper",
            "parallel check limits.0.value",
            "uniform assess everybody.epsilon_upper",
            "uniform assess repeated.epsilon_upper",
            "uniform amplify epsilon_composed",
            "uniform check limits.0.value",
        )
    },
    **{
        f"0.1.0/{site} assess rungs.?.cells.1.assumptions.1": "0.2.0: per, not a, person"
        for site in ("adaptive", "parallel", "uniform")
    },
    "0.1.0/groups assess rungs.?.cells.6.upper": "0.2.0: alpha of all 5 batches together, 3 -> 15; "
    "of estimates 0",
    "0.1.0/groups assess rungs.?.cells.6.theorem": "0.2.0: names the theorem that adds batches up",
    "0.1.0/groups assess rungs.?.cells.6.assumptions": "0.2.0: says that 5 batches are added up",
}
"""Numbers that a later version proves otherwise: where they stand, and why they changed.

A key is "VERSION/COLLECTION COMMAND PATH", such as "0.1.0/uniform assess rungs.1.cells.0.upper";
? stands for any one character, [0-5] for any of these.
"""

ADDED = ("within_uninformed", "within_informed")
"""Columns of plans about numbers that version 0.1 did not have."""

RENAMED = {
    "guess_coin": "guess_of_two",
    "guess_uniform": "guess_uninformed",
    '"schema_version": 1': '"schema_version": 2',
}
"""Names of version 0.1 in what it printed, and what they are today."""


class Site:
    """A copy of one kept collection, with its plan in today's schema."""

    def __init__(self, name, folder):
        shutil.copytree(KEPT / name, folder)
        for path in folder.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)  # git keeps no such modes
        self.name, self.folder = name, folder
        self.old_text = (folder / "plan.toml").read_text()
        (folder / "plan.toml").write_text(upgraded_text(self.old_text, file="plan.toml"))
        self.plan = Plan.load(folder / "plan.toml")
        self.old_digest = self.printed("assess")["plan_digest"]
        phrase = (KEPT / name).parent / "passphrase.txt"
        self.passphrase = phrase.read_text().strip()
        self.shuffler = ReleaseKeys(folder / "shuffler", self.passphrase.encode())
        self.analyzer = AnalyzerKeys(folder / "analyzer", self.passphrase.encode())

    def printed(self, name):
        return json.loads((self.folder / "printed" / f"{name}.json").read_text())

    def wire(self, name):
        return (self.folder / "wire" / name).read_bytes()

    def names(self, pattern):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.glob(pattern))

    @property
    def opening(self):
        """What the kept service signed about the round that is open."""
        return json.loads(self.wire("round.json"))["shuffler"]

    @property
    def batch(self):
        return bytes.fromhex(self.opening["batch"])

    def stored(self, database):
        """How many envelopes the open batch has."""
        with psycopg.connect(database) as connection:
            table = Identifier("croupier", f"env_{self.batch.hex()}")
            counted = connection.execute(SQL("SELECT count(*) FROM {}").format(table))
            return counted.fetchone()[0]

    def sign_again(self):
        """Sign the analyzer's key for the plan of today, despite the policy, with the kept keys.

        As `croupier keys sign --despite-policy` does, without the proof.
        """
        file = self.folder / "analyzer.json"
        signed = AnalyzerKey.make(
            self.plan,
            key=self.analyzer.sealing_key("analyzer"),
            signing_key=self.analyzer.signing_key("analyzer"),
            policy=PolicyWord.on(self.plan, Judgement.NOT_MET, despite_policy=True),
        )
        assert signed.key == json.loads(file.read_bytes())["key"]
        file.write_bytes(signed.to_bytes())

    @contextmanager
    def serving(self, database, *options):
        """The port of this version's service."""
        command = [sys.executable, "-c", "from croupier.cli import main; main()", "serve"]
        command += ["--plan", "plan.toml", "--passphrase-file", "intake.txt"]
        command += ["--secret", "credentials.key", "--port", "0", "--metrics-port", "0"]
        with subprocess.Popen(
            [*command, "--workers", "1", *options, "--json"],
            cwd=self.folder,
            env=os.environ | environment(self, database),
            stdout=subprocess.PIPE,
        ) as process:
            try:
                yield int(re.search(rb":(\d+)/v1/", process.stdout.readline())[1])
            finally:
                process.send_signal(signal.SIGTERM)


def environment(site, database=""):
    return {"CROUPIER_PASSPHRASE": site.passphrase, "CROUPIER_DATABASE": database}


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Makes the copy of a collection, and works in it."""

    def make(name):
        site = Site(name, tmp_path / "site")
        monkeypatch.chdir(site.folder)
        for variable, value in environment(site).items():
            monkeypatch.setenv(variable, value)
        return site

    return make


@pytest.fixture(params=SITES)
def site(request, load):
    return load(request.param)


@pytest.fixture(params=[name for name in SITES if name.endswith("/uniform")])
def uniform(request, load):
    return load(request.param)


@pytest.fixture(autouse=True)
def one_process(monkeypatch):
    """Batches are so small that starting processes takes longer than reading them."""
    monkeypatch.setattr("os.cpu_count", lambda: 1)


@pytest.fixture
def croupier(monkeypatch, capsys):
    """Runs the program in this process; its exit code and what it printed."""

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["croupier", *map(str, arguments), "--json"])
        with pytest.raises(SystemExit) as stop:
            main()
        return int(stop.value.code or 0), json.loads(capsys.readouterr().out or "null")

    return run


@pytest.fixture
def restore(database, monkeypatch):
    """Restores the dump of a collection into an empty database, and brings it up to date.

    The open round began so many hours ago: no test depends on when its database was kept.
    """

    def run(site, hours=1, *, migrating=True):
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute((site.folder / "database.sql").read_bytes())
            moved = connection.execute(
                "UPDATE croupier.batches SET opened = date_trunc('second', now()) "
                "- make_interval(hours => %s) WHERE state = 'open'",
                [hours],
            )
            assert moved.rowcount == 1
        if migrating:
            asyncio.run(migrated(database))
        monkeypatch.setenv("CROUPIER_DATABASE", database)
        return database

    return run


async def migrated(database):
    store = await Store.connect(database)
    try:
        await store.migrate()
        await store.migrate()  # safe to repeat
    finally:
        await store.close()


def differences(kept, now, path=""):
    """Where something that was kept is not there now, or is another; additions are welcome."""
    if isinstance(kept, dict) and isinstance(now, dict):
        for key, value in kept.items():
            yield from differences(value, now.get(key), f"{path}.{key}")
    elif isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        for place, pair in enumerate(zip(kept, now, strict=True)):
            yield from differences(*pair, f"{path}.{place}")
    elif isinstance(kept, float) and isinstance(now, (int, float)):
        if not math.isclose(kept, now, rel_tol=1e-6, abs_tol=1e-12):
            yield path[1:]
    elif kept != now:
        yield path[1:]


def flipped(data, place):
    changed = bytearray(data)
    changed[place] ^= 1
    return bytes(changed)


def test_something_is_kept():
    kept = {"0.1.0/uniform", "0.1.0/groups", "0.1.0/adaptive", "0.1.0/parallel"}
    assert kept <= set(SITES)


def test_kept_files_name_no_machine():
    for path in KEPT.rglob("*"):
        if path.is_file() and path.suffix not in (".py", ".pyc"):
            assert not MACHINE.search(path.read_bytes()), path


def test_differences_are_found():
    kept = {"a": [1.0, {"b": "x"}], "c": None}
    assert not list(differences(kept, {"a": [1.0 + 1e-9, {"b": "x", "more": 1}], "c": None}))
    assert list(differences(kept, {"a": [1.001, {"b": "y"}]})) == ["a.0", "a.1.b"]
    assert list(differences(kept, {"a": [1.0]})) == ["a"]


def test_a_plan_is_refused_until_it_is_upgraded(site, croupier):
    (site.folder / "plan.toml").write_text(site.old_text)
    with pytest.raises(PlanError, match=r"schema must be 2; got 1\. Run: croupier plan upgrade"):
        Plan.load("plan.toml")
    assert croupier("assess", "plan.toml")[0] == 3
    code, done = croupier("plan", "upgrade", "plan.toml")
    assert code == 0
    assert done["plan_digest"] == site.plan.digest
    assert Plan.load("plan.toml") == site.plan


def test_an_upgraded_plan_has_another_digest(site):
    assert site.old_digest == site.printed("keys-sign")["plan_digest"]
    assert site.plan.digest != site.old_digest


@pytest.mark.slow
def test_proved_numbers_are_those_of_the_version(site, croupier, monkeypatch):
    """One proof for both commands; the search for a minimum that would do is left out."""
    ladder = assess(site.plan)
    monkeypatch.setattr("croupier.cli.plan.assess.assess", lambda _: ladder)
    monkeypatch.setattr("croupier.cli.plan.check.assess", lambda _: ladder)
    monkeypatch.setattr("croupier.cli.plan.check.enough_people", lambda *_, **__: None)
    _, now = croupier("assess", "plan.toml")
    for row in now["rungs"]:
        row["cells"] = [cell for cell in row["cells"] if cell["metric"] not in ADDED]
    held_to_the_record(site, "assess", site.printed("assess"), now)
    _, now = croupier("check", "plan.toml")
    kept = site.printed("check")
    kept.pop("suggestion")
    for limit in kept["limits"]:
        limit.pop("line")  # of the file, which was written anew
    held_to_the_record(site, "check", kept, now)


@pytest.mark.slow
def test_amplification_is_that_of_the_version(uniform, croupier):
    line = (uniform.folder / "commands.txt").read_text()
    asked = re.search(r"^croupier (amplify .*) --json", line, re.MULTILINE)[1]
    code, now = croupier(*asked.replace("--epsilon-local", "--max-epsilon-local").split())
    assert code == 0
    held_to_the_record(uniform, "amplify", uniform.printed("amplify"), now)


def held_to_the_record(site, command, kept, now):
    """Every number is what it was, unless CHANGED says why it is not; the digest is another."""
    text = json.dumps(kept)
    for old, new in RENAMED.items():
        text = text.replace(old, new)
    kept = json.loads(text)
    if "plan_digest" in kept:
        assert (kept.pop("plan_digest"), now["plan_digest"]) == (site.old_digest, site.plan.digest)
    found = {f"{site.name} {command} {path}" for path in differences(kept, now)}
    excused = [key for key in CHANGED if key.startswith(f"{site.name} {command} ")]
    unexplained = {place for place in found if not any(fnmatchcase(place, key) for key in excused)}
    assert not unexplained, "Say in CHANGED, and under Guarantees in CHANGELOG.md, why."
    unneeded = [key for key in excused if not any(fnmatchcase(place, key) for place in found)]
    assert not unneeded, "Nothing changed there: take these out of CHANGED."


def test_receipts_of_the_old_digest_are_left_to_their_version(site, croupier):
    receipts = site.names("released/*.json")
    code, document = croupier("receipt", "verify", *receipts, "--plan", "plan.toml")
    assert code == 1
    assert "was signed by croupier 0.1 for the digest of a plan of schema 1" in document["error"]
    assert "with croupier 0.1 and that plan" in document["error"]


def test_receipts_are_still_signed_links_of_one_chain(site):
    """By the key that the upgraded plan names, about the files beside them."""
    paths = sorted(site.folder.glob("released/*.receipt.json"))
    receipts = sorted(
        (Receipt.read(path.read_bytes()) for path in paths), key=lambda one: one.number
    )
    require_chain(receipts, replace(Signers.of(site.plan), plan=site.old_digest))
    for receipt in receipts:
        if receipt.file is not None:
            assert receipt.file.is_at(site.folder / "released" / receipt.file.name)
    kept = site.printed("receipt-verify")["receipts"]
    now = [receipt.model_dump(mode="json") for receipt in receipts]
    dumped = [{name: one[name] for name in one if name != "file_checked"} for one in kept]
    assert not list(differences(dumped, now))


def test_a_changed_receipt_is_not_called_one_of_version_0_1(site, croupier):
    path = min(site.folder.glob("released/*.receipt.json"))
    good = path.read_bytes()
    for place in (good.find(b'"signature":"') + 20, len(good) // 3):
        path.write_bytes(flipped(good, place))
        code, document = croupier("receipt", "verify", path, "--plan", "plan.toml")
        assert code == 1
        assert "croupier 0.1" not in document["error"]
    path.write_bytes(good)


def test_batches_of_the_old_digest_are_left_to_their_version(site, croupier):
    command = ["analyze", *site.names("released/*.parquet"), "--plan", "plan.toml"]
    code, document = croupier(*command, "--keys", "analyzer")
    assert code == 1
    assert "analyze its batch, with croupier 0.1 and that plan" in document["error"]


def test_what_a_service_of_wire_version_1_says_is_refused_by_its_name(site):
    with pytest.raises(UntrustedError, match="is of wire version 1"):
        KeyList.verified(site.wire("key-list.json"), site.plan)
    with pytest.raises(UntrustedError, match="is of wire version 1"):
        Round.verified(site.wire("round.json"), site.plan, Signers.of(site.plan))
    with pytest.raises(UntrustedError, match="is of another plan"):
        AnalyzerKey.verified((site.folder / "analyzer.json").read_bytes(), site.plan)


def test_reports_and_seals_of_wire_version_1_are_refused(site):
    opened = json.loads(site.wire("opened.json"))
    asked = json.loads(site.wire("round.json"))["query"]
    query = b"" if asked is None else Query.model_validate(asked).digest
    outer = site.shuffler.outer_key(site.batch)
    analyzer = site.analyzer.sealing_key("analyzer").public_key().public_bytes_raw()
    number = site.opening["round"]
    epoch = Epoch.of(
        site.plan, round_number=number, batch=site.batch, analyzer=analyzer, query=query
    )
    for name, content in opened.items():
        memory = json.loads(site.wire(f"{name}.memory.json"))
        body = bytes.fromhex(memory["sealed"][site.old_digest]["body"])
        with pytest.raises(SealError):
            open_outer(body, key=outer, epoch=epoch)
        with pytest.raises(MalformedReportError, match="version"):
            decode_report(site.plan, bytes.fromhex(content["report"]), round_number=number)


def test_keys_open_with_their_passphrase_only(site):
    for directory, name in ((site.shuffler, "shuffler"), (site.analyzer, "analyzer")):
        public = directory.signing_key(name).public_key().public_bytes_raw().hex()
        assert public == getattr(site.plan, f"{name}_key")
        with pytest.raises(KeyFileError):
            KeyDirectory(directory.path, b"another").signing_key(name)


def test_a_refusal_of_the_old_digest_is_not_believed(uniform):
    head, _, body = uniform.wire("refused.request.http").partition(b"\r\n\r\n")
    authorization = re.search(rb"authorization: ([^\r]+)", head, re.IGNORECASE)[1]
    answered, _, document = uniform.wire("refused.response.http").partition(b"\r\n\r\n")
    assert answered.startswith(b"HTTP/1.1 409 ")
    refusal = NotAccepted.model_validate_json(document)
    assert (refusal.plan, refusal.batch) == (uniform.old_digest, bytes(16).hex())
    assert refusal.sent == sent_digest(authorization, body)
    with pytest.raises(UntrustedError, match="is of another plan"):
        NotAccepted.verified(document, Signers.of(uniform.plan), round_number=0)


def test_credentials_admit_whom_they_admitted(uniform):
    revoked = read_revoked(uniform.folder / "revoked.txt")
    secret = read_secret(uniform.folder / "credentials.key")
    credentials = BearerCredentials(secret, revoked=set(revoked))
    persons = uniform.printed("credentials-persons")["credentials"]
    (relay,) = uniform.printed("credentials-relay")["credentials"]
    checked = [credentials.check(f"Bearer {token}".encode()) for token in (*persons, relay)]
    assert [one and one.relay for one in checked] == [False] * 7 + [None, True]


def test_a_client_remembers_what_it_sealed_and_spent(uniform):
    memory = json.loads(uniform.wire("waiting.memory.json"))
    (cost,) = memory["spent"]["kept"]
    for name in ("waiting", "typescript"):
        with FileState(uniform.folder / f"wire/{name}.memory.json").update() as state:
            with pytest.raises(BudgetError):
                state.charge("kept", cost=cost, budget=1.5 * cost)
            assert state.sealed[uniform.old_digest].round == 2
    (uniform.folder / "wire/waiting.memory.json").write_text("{}}")
    with (
        pytest.raises(StateError),
        FileState(uniform.folder / "wire/waiting.memory.json").update(),
    ):
        pass


def split_keys(site, croupier):
    """Split the key directory of 0.1.0 by role, as an operator does; the code and the document."""
    phrases = []
    for role in ("shuffler", "release", "intake"):
        file = site.folder / f"{role}.txt"
        file.write_text(os.urandom(16).hex())
        file.chmod(0o600)
        phrases += [f"--{role}-passphrase-file", file.name]
    return croupier("keys", "migrate", "shuffler", "plan.toml", *phrases)


def refused_until_signed_again(site, croupier):
    """Key lists of 0.1.0 are signed for the old digest: no service starts with them."""
    command = ["serve", "--plan", "plan.toml", "--passphrase-file", "intake.txt"]
    code, document = croupier(*command, "--secret", "credentials.key", "--port", "0")
    assert code == 2
    assert "`--analyzer` must be signed for this plan" in document["error"]
    site.sign_again()


def options_of(site):
    """What a release of the collection is told besides plan, keys and directory."""
    if not site.name.endswith("/groups"):
        return []
    found = ["--public", "places.csv", "--columns", "x,y", "--radius", "0.1"]
    return [*found, "--secret", "credentials.key"]


def test_an_open_round_of_the_old_digest_is_left_to_its_version(site, restore, croupier):
    database = restore(site, hours=73)
    before = site.stored(database)
    code, document = split_keys(site, croupier)
    assert code == 2
    assert "with the version that opened them" in document["error"]
    assert site.stored(database) == before
    with psycopg.connect(database) as connection:
        query = "SELECT state FROM croupier.batches WHERE batch = %s"
        assert connection.execute(query, [site.batch]).fetchone() == ("open",)
    assert site.batch in site.shuffler.batches()
    site.shuffler.outer_key(site.batch)


def test_a_round_is_opened_once_the_old_ones_are_settled(uniform, restore, croupier):
    database = restore(uniform)
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE croupier.batches SET state = 'shredded'")
    uniform.shuffler.destroy(uniform.batch)
    code, document = split_keys(uniform, croupier)
    assert (code, document["roles"], document["open_batches"]) == (0, ["shuffler"], 0), document
    assert not list((uniform.folder / "shuffler").rglob("*.pem"))
    refused_until_signed_again(uniform, croupier)
    (uniform.folder / "today").mkdir()
    opening = ["release", "--plan", "plan.toml", "-o", "today", "--next-round"]
    opening += ["--analyzer", "analyzer.json", "--passphrase-file", "release.txt"]
    code, document = croupier(*opening)
    assert (code, document["open_round"]) == (0, 0), document
    persons = uniform.printed("credentials-persons")["credentials"]
    with uniform.serving(database, "--revoked", "revoked.txt") as port:
        server = Server(url=f"http://127.0.0.1:{port}", credential=persons[3])
        memory = FileState(uniform.folder / "wire/waiting.memory.json")
        client = Client(uniform.plan, attribute="kept", budget=100.0, memory=memory, spread=0)
        assert submit(converse(client, "never", server=server)) is Outcome.ACCEPTED
        sent = uniform.wire("python.request.http")
        assert replayed(port, sent).startswith(b"HTTP/1.1 404 ")
        sent = sent.replace(uniform.old_digest.encode(), uniform.plan.digest.encode())
        revoked = sent.replace(persons[1].encode(), persons[7].encode())
        assert replayed(port, revoked).startswith(b"HTTP/1.1 401 ")


def test_an_installation_is_upgraded_by_the_commands_alone(uniform, restore, croupier, monkeypatch):
    """Its database as it was dumped, its keys, and a round that is collected and released today."""
    database = restore(uniform, migrating=False)
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE croupier.batches SET state = 'shredded'")  # settled by 0.1
        before = connection.execute("SELECT * FROM croupier.receipts ORDER BY number").fetchall()
    uniform.shuffler.destroy(uniform.batch)
    assert split_keys(uniform, croupier)[0] == 0
    uniform.sign_again()
    releasing = ["release", "--plan", "plan.toml", "-o", "today"]
    releasing += ["--passphrase-file", "release.txt"]
    code, document = croupier(*releasing)
    assert (code, document["batches"]) == (0, []), document
    with psycopg.connect(database) as connection:
        done = connection.execute("SELECT name FROM croupier.migrations").fetchall()
    assert sorted(name for (name,) in done) == MIGRATIONS.pending([]), "migrated by the job"
    code, document = croupier(*releasing, "--next-round", "--analyzer", "analyzer.json")
    assert (code, document["open_round"]) == (0, 0), document
    (relay,) = uniform.printed("credentials-relay")["credentials"]
    monkeypatch.setenv("CROUPIER_CREDENTIAL", relay)
    with uniform.serving(database) as port:
        server = ["--server", f"http://127.0.0.1:{port}"]
        code, document = croupier("submit", "plan.toml", "answers-2.csv", *server)
        assert (code, document["accepted"]) == (0, 215), document
    with psycopg.connect(database) as connection:
        connection.execute("UPDATE croupier.batches SET opened = opened - interval '1 hour'")
    code, document = croupier(*releasing)
    assert (code, document["batches"][0]["outcome"]) == (0, "released"), document
    code, document = croupier(
        "receipt", "verify", *uniform.names("today/*.receipt.json"), "--plan", "plan.toml"
    )
    assert (code, len(document["receipts"])) == (0, 1), document
    with psycopg.connect(database) as connection:
        kept = "SELECT * FROM croupier.receipts WHERE plan = %s ORDER BY number"
        now = connection.execute(kept, [bytes.fromhex(uniform.old_digest)]).fetchall()
    assert now == before, "receipts of the old digest stay as they are"


def replayed(port, request):
    with closing(socket.create_connection(("127.0.0.1", port), timeout=30)) as connection:
        connection.sendall(request)
        return connection.recv(65536).partition(b"\r\n")[0]
