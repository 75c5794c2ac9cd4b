import asyncio
import os
import shutil
import time
from concurrent.futures.process import BrokenProcessPool
from errno import EIO, ENOSPC
from hashlib import sha256
from types import SimpleNamespace

import psycopg
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from prometheus_client.parser import text_string_to_metric_families

from croupier.cli.output.release import exit_code
from croupier.cli.shuffler import release
from croupier.model.judgement import Judgement
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import BearerCredentials, read_secret
from croupier.protocol.key_list import AnalyzerKey, PolicyWord
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.query import Query
from croupier.protocol.wire import Epoch, seal_outer
from croupier.shuffler.database.store import Store
from croupier.shuffler.release.rounds import open_round
from croupier.shuffler.tags import TAG_BYTES, person_tags
from tests.unit.parties import House

PASSPHRASE = "a passphrase"  # noqa: S105 - of a directory that lives for one test
PLAN = """
schema = 2
randomizer = {{mechanism = "k-rr", k = 2, max_epsilon_local = 1}}
population.enrolled = 100
collection.every = "1s"
protections = {{minimum_batch = 5, disposal_age = "{disposal_age}"}}
shufflers = [{{key = "{key}"}}]
analyzer.key = "{signer}"
"""
ADAPTIVE = 'participation = {model = "rectified-multinomial", weights = 3}\n'


class Site:
    """Everything that an operator has."""

    def __init__(self, croupier, folder, disposal_age="72h", more=""):
        self.croupier, self.folder = croupier, folder
        self.house = House(folder / "keys", PASSPHRASE.encode())
        self.keys, public = self.house.release, self.house.public
        self.file = folder / "plan.toml"
        self.analyzer = Ed25519PrivateKey.generate()
        signer = self.analyzer.public_key().public_bytes_raw().hex()
        text = PLAN.format(key=public, signer=signer, disposal_age=disposal_age)
        self.file.write_text(text + more)
        self.plan = Plan.load(self.file)
        self.listed = self.house.listed(self.plan)
        (folder / "shuffler.json").write_bytes(self.listed.to_bytes())
        self.sealing = X25519PrivateKey.generate()
        self.inner = self.sealing.public_key().public_bytes_raw()
        self.own = {"keys": self.keys, "handover": self.house.handover, "shuffler": self.listed}

    def sign_analyzer(self, key=None):
        """A file with what reports are sealed to."""
        signed = AnalyzerKey.make(
            self.plan,
            key=key or self.sealing,
            signing_key=self.analyzer,
            policy=PolicyWord.on(self.plan, Judgement.NO_LIMIT, despite_policy=True),
        )
        file = self.folder / "analyzer.json"
        file.write_bytes(signed.to_bytes())
        return file

    def query(self, number):
        """A file with what a round asks."""
        made = Query.make(
            self.plan, round_number=number, question="crashed?", signing_key=self.analyzer
        )
        file = self.folder / f"query-{number}.json"
        file.write_bytes(made.to_bytes() + b"\n")
        return file

    def receive_from(self, owners, secret):
        """Reports of people in a public file, each with the credential of the own place."""
        asyncio.run(self._receive_from(owners, BearerCredentials(read_secret(secret))))

    async def _receive_from(self, owners, credentials):
        store = await Store.connect(os.environ["CROUPIER_DATABASE"])
        await store.migrate()
        batch = await open_round(self.plan, store=store, analyzer=self.inner, **self.own)
        epoch = Epoch.of(
            self.plan, round_number=batch.round_number, batch=batch.identity, analyzer=self.inner
        )
        key, tag_key = self.keys.outer_key(batch.identity), self.keys.tag_key(batch.identity)
        rows = []
        for owner in owners:
            header = f"Bearer {credentials.issue_for(owner)}".encode()
            (tag,) = person_tags(tag_key, credentials.check(header).identity, 1)
            inner = os.urandom(epoch.inner_length)
            rows.append(tag + seal_outer(inner, key=key.public_key(), epoch=epoch, owner=owner))
        await store.accept(batch.identity, rows)
        await store.close()

    def receive(self, count, query=None):
        asyncio.run(self._receive(count, query and Query.verified(query.read_bytes(), self.plan)))

    async def _receive(self, count, query):
        store = await Store.connect(os.environ["CROUPIER_DATABASE"])
        await store.migrate()
        batch = await open_round(
            self.plan, store=store, analyzer=self.inner, query=query, **self.own
        )
        epoch = Epoch.of(
            self.plan,
            round_number=batch.round_number,
            batch=batch.identity,
            analyzer=self.inner,
            query=query.digest if query else b"",
        )
        key = self.keys.outer_key(batch.identity).public_key()
        rows = [
            os.urandom(TAG_BYTES) + seal_outer(os.urandom(80), key=key, epoch=epoch)
            for _ in range(count)
        ]
        await store.accept(batch.identity, rows)
        await store.close()

    def release(self, *more):
        time.sleep(1)  # a round is over
        files = {"--keys": "keys/release", "--handover": "keys/handover", "-o": "out"}
        files |= {"--shuffler": "shuffler.json", "--plan": "plan.toml"}
        given = [part for flag, name in files.items() for part in (flag, self.folder / name)]
        return self.croupier("release", *given, "--processes", "1", *more)

    @property
    def sealed_to(self):
        return f": reports sealed to the analyzer's key {self.inner.hex()[:16]}…"

    def verify(self, *more):
        receipts = sorted((self.folder / "out").glob("*.receipt.json"))
        return self.croupier("receipt", "verify", *receipts, "--plan", self.file, *more)


@pytest.fixture
def make_site(croupier, database, tmp_path, monkeypatch):
    monkeypatch.setenv("CROUPIER_DATABASE", database)
    monkeypatch.setenv("CROUPIER_PASSPHRASE", PASSPHRASE)
    return lambda **given: Site(croupier, tmp_path, **given)


@pytest.fixture
def site(make_site):
    return make_site()


def test_a_small_batch_is_held_and_a_full_one_released(site):
    site.receive(3)
    held = site.release()
    assert held.code == 0, "people may still come: nobody has to do anything"
    assert "at most 3 people, minimum 5; nothing released." in held.out
    assert " UTC unless the minimum is reached." in held.out
    site.receive(4)
    released = site.release("--next-round")
    assert released.code == 0, released.out
    assert released.out.startswith("RELEASED  7 reports: ")
    assert "received 7 = 7 released\n" in released.out
    assert released.out.endswith(f"OPEN  round 1{site.sealed_to}\n")
    assert site.release("--next-round", "--json").document["analyzer_key"] == site.inner.hex()


def test_the_chain_of_two_releases_is_verified_with_its_files(site):
    for _ in range(2):
        site.receive(5)
        assert site.release().code == 0
    checked = site.verify()
    assert checked.code == 0, checked.out
    assert checked.out.startswith("VALID  2 signed, chained receipts, numbers 0 to 1\n")
    document = site.verify("--json").document
    version, digest = document["list_version"], document["list_digest"]
    assert checked.out.endswith(f"By version {version} of the list of keys, {digest[:16]}…\n")
    published = ShufflerKeys.read((site.folder / "out" / "shuffler-keys.json").read_bytes())
    assert (version, digest) == (1, published.digest)
    assert [receipt["file_checked"] for receipt in document["receipts"]] == [True, True]

    first, second = sorted((site.folder / "out").glob("*.parquet"))
    first.write_bytes(second.read_bytes())
    spoiled = site.verify()
    assert spoiled.code == 1
    assert "is not about" in spoiled.err
    first.unlink()
    assert "not here, not checked" in site.verify().out


def test_disposal_is_an_event_with_a_receipt(make_site):
    site = make_site(disposal_age="1s")
    site.receive(4)
    disposed = site.release("--json")
    assert disposed.code == 6
    (batch,) = disposed.document["batches"]
    assert (batch["outcome"], batch["receipt"]["counts"]["disposed"]) == ("disposed", 4)
    assert "round 0 disposed: received 4 = 4 disposed" in site.verify().out


def test_json_says_what_is_held(site):
    site.receive(1)
    held = site.release("--json")
    assert held.code == 0
    (batch,) = held.document["batches"]
    assert (batch["outcome"], batch["people_at_most"], batch["receipt"]) == ("held", 1, None)


def test_a_lost_key_is_said_to_be_lost(site):
    site.receive(5)
    shutil.rmtree(site.keys.path / "batches")
    held = site.release()
    assert held.code == 4
    assert "Its key is not in " in held.out
    assert "Put it back if it was moved" in held.out
    (batch,) = site.release("--json").document["batches"]
    assert "disposed of" in batch["problem"]
    quiet = site.release("--quiet")
    assert (quiet.code, quiet.out) == (4, "")
    assert quiet.err.startswith("HELD  round 0: Its key is not in ")


def gauges(file):
    found = {}
    for family in text_string_to_metric_families(file.read_text()):
        for sample in family.samples:
            labels = [sample.labels[name] for name in sorted(sample.labels) if name != "plan"]
            found[sample.name.removeprefix("croupier_release_"), *labels] = sample.value
    return found


def test_a_run_writes_what_a_monitor_needs(site):
    file = site.folder / "release.prom"
    site.receive(4)
    time.sleep(1.1)
    assert site.release("--metrics-file", file).code == 0
    before = gauges(file)
    assert before["held",] == 1
    assert before["receipts", "released"] == before["receipts", "disposed"] == 0
    assert before["round_seconds",] == 1
    assert abs(before["last_run_timestamp_seconds",] - time.time()) < 60
    shutil.rmtree(site.keys.path / "batches")
    assert site.release("--metrics-file", file).code == 4
    assert gauges(file)["incident", "batch-key"] == 1
    assert gauges(file)["incident", "clock"] == 0


def test_a_missing_key_of_release_is_told_by_its_name(site, tmp_path):
    (site.keys.path / "release.pem").unlink()
    assert site.release("--metrics-file", tmp_path / "release.prom").code == 1
    told = {name for name, value in gauges(tmp_path / "release.prom").items() if value == 1}
    assert ("incident", "signing-key") in told
    assert ("incident", "release-failed") not in told


@pytest.mark.parametrize("writable", [True, False])
def test_an_error_of_the_system_is_told_like_any_failure(site, tmp_path, monkeypatch, writable):
    file = tmp_path / "release.prom"

    def full(*_):
        if not writable:
            monkeypatch.setattr(release, "write_metrics", full)
        raise OSError(ENOSPC, "No space left on device", "released/a.parquet")

    monkeypatch.setattr(release, "open_output", full)
    ended = site.release("--metrics-file", file)
    assert ended.code == 1
    assert "released/a.parquet cannot be written: the disk is full" in ended.err
    assert file.exists() == writable
    if writable:
        assert gauges(file)["incident", "disk-full"] == 1
        assert gauges(file)["incident", "release-failed"] == 0


@pytest.mark.parametrize("kind", [BrokenProcessPool, MemoryError])
def test_an_error_of_any_kind_is_told_as_a_failure(site, tmp_path, monkeypatch, kind):
    file = tmp_path / "release.prom"
    site.receive(4)
    assert site.release("--metrics-file", file).code == 0
    assert gauges(file)["incident", "release-failed"] == 0

    def fail(*_):
        raise kind

    monkeypatch.setattr(release, "open_output", fail)
    assert site.release("--metrics-file", file).code == 1
    assert gauges(file)["incident", "release-failed"] == 1


@pytest.mark.parametrize("more", [(), ("--quiet",), ("--json",)])
def test_a_disposal_before_a_failure_is_told(make_site, monkeypatch, more):
    site = make_site(disposal_age="1s")
    file = site.folder / "release.prom"
    site.receive(4)

    def fail(*_):
        raise OSError(EIO, "Input/output error")

    monkeypatch.setattr(release, "_open_next", fail)
    failed = site.release("--metrics-file", file, "--next-round", *more)
    assert failed.code == 1, "the failure is what the operator must mend"
    assert failed.err.startswith("DISPOSED  round 0, before the failure\n")
    assert gauges(file)["receipts", "disposed"] == 1
    assert gauges(file)["incident", "release-failed"] == 1


def test_a_missing_key_that_replaced_another_is_told_by_its_name(site):
    site.keys.add_signing_key("release")
    newest = site.keys.publish()
    signed = site.listed.next(
        site.plan, release=newest, from_round=1, signing_key=site.house.root.signing_key("shuffler")
    )
    (site.folder / "shuffler.json").write_bytes(signed.to_bytes())
    (site.keys.path / "release-2.pem").unlink()
    file = site.folder / "release.prom"
    failed = site.release("--metrics-file", file)
    assert failed.code == 2
    assert "Put its file back, or name the directory that has it." in failed.err
    assert gauges(file)["incident", "signing-key"] == 1
    assert gauges(file)["incident", "release-failed"] == 0


def test_a_disposal_wins_over_a_batch_that_is_held_by_a_problem(make_site):
    site = make_site(disposal_age="1s")
    site.receive(4)
    quiet = site.release("--quiet")
    reason = "It had fewer people than the minimum at the plan's disposal age."
    assert (quiet.code, quiet.out, quiet.err) == (6, "", f"DISPOSED  round 0: {reason}\n")
    outcomes = [
        SimpleNamespace(receipt=None, problem="a key is missing"),
        SimpleNamespace(receipt=SimpleNamespace(event="disposed"), problem=None),
        SimpleNamespace(receipt=SimpleNamespace(event="released"), problem=None),
        SimpleNamespace(receipt=None, problem=None),
    ]
    codes = [exit_code(outcomes[start:]) for start in range(5)]
    assert codes == [6, 6, 0, 0, 0]
    assert exit_code([outcomes[0], outcomes[2]]) == 4


def test_a_lost_witness_is_begun_again_on_demand_only(site):
    site.receive(5)
    shutil.rmtree(site.keys.path / "witness")
    refused = site.release()
    assert refused.code == 1
    assert "--adopt-database once" in refused.err
    assert site.release("--adopt-database").out.startswith("RELEASED  5 reports: ")
    assert "Leave it out" in site.release("--adopt-database").err


def test_an_unreachable_database_is_named(site, monkeypatch):
    monkeypatch.setenv("CROUPIER_DATABASE", "host=127.0.0.1 port=1")
    refused = site.release()
    assert refused.code == 1
    assert "nothing listens where the database should be" in refused.err


def test_an_adaptive_round_follows_with_its_query_and_not_without(make_site):
    site = make_site(more=ADAPTIVE)
    first, second, third = (site.query(number) for number in range(3))
    site.receive(3, first)
    held = site.release("--next-round", "--query", second)
    assert held.code == 0
    assert held.out.startswith("HELD  round 0 ")
    assert "OPEN" not in held.out, "no round was opened"
    site.receive(4, first)
    for options, problem in (
        (["--next-round"], "`--query` must be given"),
        (["--query", second], "must come with --next-round"),
        (["--next-round", "--query", site.folder / "none"], "must be a file"),
    ):
        refused = site.release(*options)
        assert refused.code == 2
        assert problem in refused.err
    forged = site.folder / "forged.json"
    forged.write_text(second.read_text().replace("crashed", "married"))
    assert "not signed by analyzer.key" in site.release("--next-round", "--query", forged).err

    released = site.release("--next-round", "--query", second)
    assert released.code == 0, released.err
    assert "received 7 = 7 released" in released.out
    assert released.out.endswith(f"OPEN  round 1{site.sealed_to}\n")
    site.receive(5, second)
    wrong = site.release("--next-round", "--query", first)
    assert "is for round 0, and the next is 2" in wrong.err
    assert site.release("--next-round", "--query", third).out.endswith(
        f"OPEN  round 2{site.sealed_to}\n"
    )


def test_a_query_for_a_plan_that_says_what_it_asks_is_refused(make_site):
    site = make_site(more=ADAPTIVE)
    file = site.query(0)
    site.file.write_text(site.file.read_text().replace(ADAPTIVE, ""))
    refused = site.release("--next-round", "--query", file)
    assert "is of another plan" in refused.err


def test_a_plan_that_mixes_by_groups_is_released_with_its_public_file(make_site, croupier):
    text = "x,town\n" + "".join(f"{place},{'ab'[place % 2]}\n" for place in range(12))
    digest = sha256(text.encode()).hexdigest()
    line = f'shuffling = {{order = "mallows", alpha = 4.0, groups = {{sha256 = "{digest}"'
    site = make_site(more=f"{line}, sensitivity = 3}}}}\n")
    public, secret = site.folder / "public.csv", site.folder / "secret"
    public.write_text(text)
    issued = croupier("credentials", "issue", secret, "--new", "--owners", 12)
    assert len(set(issued.out.split())) == 12
    assert croupier("credentials", "issue", secret, "--owners", 2, "--relay").code == 2
    site.receive_from(range(3, 12), secret)
    grouped = ["--public", public, "--columns", "x", "--radius", "1", "--secret", secret]
    for options, problem in (
        ([], "with --secret: the plan mixes by groups"),
        (grouped[:2], "with --secret: the plan mixes by groups"),
        ([*grouped[:4], *grouped[6:]], "--radius"),
        ([*grouped[:5], "2", *grouped[6:]], "must be that of these groups, 10; got 3"),
        (["--public", site.file, *grouped[2:]], ".csv"),
    ):
        refused = site.release(*options)
        assert refused.code == 2
        assert problem in refused.err
    released = site.release(*grouped)
    assert released.code == 0, released.err
    assert "received 9 = 9 released" in released.out
    assert site.verify().code == 0
    assert site.release(*grouped, "--group-column", "town").code == 2
    other = public.with_name("other.csv")
    other.write_text(text + "12,a\n")
    assert "SHA-256" in site.release("--public", other, *grouped[2:]).err


def test_public_options_are_refused_where_everybody_is_mixed(site):
    refused = site.release("--columns", "x")
    assert refused.code == 2
    assert "the plan mixes everybody" in refused.err


def test_release_opens_the_first_round_on_an_empty_database(site):
    """It makes the tables; serve never opens a round."""
    unprepared = site.release()
    assert unprepared.code == 1
    assert "croupier release --next-round" in unprepared.err
    missing = site.release("--next-round")
    assert missing.code == 2
    assert "`--analyzer` must be given for the first round" in missing.err
    opened = site.release("--next-round", "--analyzer", site.sign_analyzer())
    assert opened.code == 0, opened.err
    assert "OPEN  round 0" in opened.out
    (batch,) = site.keys.batches()
    assert site.house.handover.has(batch)
    assert not site.keys.has_batch(batch, tags=True)


def test_a_list_that_was_published_is_not_taken_back(site):
    """Release refuses an older list than the directory has, and another of the same version."""
    site.receive(5)
    assert site.release().code == 0
    keys = site.folder / "shuffler.json"
    rotated = site.house.release.rotate()
    signer = site.house.root.signer()
    second = site.listed.next(site.plan, release=rotated, from_round=1, signing_key=signer)
    keys.write_bytes(second.to_bytes())
    site.own["shuffler"] = second
    site.receive(5)
    assert site.release().code == 0
    assert site.verify().code == 0, "old and new receipts, by the list beside them"
    published = site.folder / "out" / "shuffler-keys.json"
    assert ShufflerKeys.verified(published.read_bytes(), site.plan) == second
    keys.write_bytes(site.listed.to_bytes())
    refused = site.release()
    assert refused.code == 2
    assert "be the newest list of keys" in refused.err
    other = site.listed.next(site.plan, release=rotated, from_round=7, signing_key=signer)
    keys.write_bytes(other.to_bytes())
    assert "is a second one of version 2" in site.release().err.replace("\n", " ")


def test_receipts_without_the_list_say_what_is_missing(site):
    site.receive(5)
    assert site.release().code == 0
    kept = (site.folder / "out" / "shuffler-keys.json").rename(site.folder / "kept.json")
    missing = site.verify()
    assert missing.code == 1
    assert "put shuffler-keys.json beside the receipts" in missing.err.replace("\n", " ")
    assert site.verify("--shuffler", kept).code == 0
    forged = site.house.listed(site.plan).model_copy(update={"version": 9})
    kept.write_bytes(forged.to_bytes())
    assert site.verify("--shuffler", kept).code == 2


def recover(site, *more):
    files = {"--keys": "keys/release", "--handover": "keys/handover", "-o": "out"}
    files |= {"--shuffler": "shuffler.json", "--plan": "plan.toml"}
    given = [part for flag, name in files.items() for part in (flag, site.folder / name)]
    return site.croupier("recover", *given, *more)


def test_a_plan_is_recovered_after_its_database_was_set_back(site, database):
    site.receive(5)
    assert site.release().code == 0
    assert "was not set back" in recover(site, "--yes").err
    site.receive(5)
    with psycopg.connect(database) as connection:
        connection.execute("DROP SCHEMA croupier CASCADE")
    assert site.release("--next-round").code == 1
    nobody = recover(site)
    assert (nobody.code, nobody.out) == (2, "")
    assert "`--yes` must be given where nobody can be asked. Nothing was changed." in nobody.err
    done = recover(site, "--yes")
    assert done.code == 0, done.err
    assert "puts back 1 published receipt\n" in done.err
    assert "gives up  rounds 1 to 2: lost with all reports" in done.err
    assert done.out.startswith("RECOVERED  receipt 1: database set back to an older copy; lost: ")
    repeated = recover(site, "--yes")
    assert (repeated.code, repeated.err) == (0, "")
    assert repeated.out.startswith("RECOVERED before, by receipt 1: database set back to an older")
    again = recover(site, "--yes", "--json")
    assert again.document["receipt"]["recovery"] == {"lost": [1, 2], "restored": 1}
    opened = site.release("--next-round", "--analyzer", site.sign_analyzer())
    assert (opened.code, opened.out.splitlines()[-1]) == (0, f"OPEN  round 3{site.sealed_to}")
    site.receive(6)
    assert site.release().out.startswith("RELEASED  6 reports: ")
    checked = site.verify()
    assert checked.code == 0, checked.err
    assert checked.out.startswith("VALID  3 signed, chained receipts, numbers 0 to 2\n")
    lost = "1  recovered: database set back to an older copy; lost: rounds 1 to 2; 1 receipt put"
    assert lost in checked.out


@pytest.mark.parametrize("place", ["/proc/nothing/out", "plan.toml"])
def test_an_output_that_cannot_be_written_is_refused_in_words(site, place):
    site.receive(5)
    outcome = site.release("-o", site.folder / place)
    assert outcome.code == 2
    assert "`--output` must be a directory that can be written; got '" in outcome.err
    assert "Name another one, or let the user of release write there." in outcome.err
    assert "Errno" not in outcome.err
    assert site.release().code == 0, "nothing was sealed before"
