"""A plan is replaced while people report: nothing is lost, nothing counts twice, all are told."""

import asyncio
import os
from collections import Counter
from contextlib import asynccontextmanager
from unittest.mock import Mock

import httpx
import pyarrow.parquet as pq
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from croupier.client.client import Client
from croupier.client.conversation import Outcome, Server, converse, submit_async
from croupier.client.memory import MemoryState
from croupier.errors import SupersededError
from croupier.model.judgement import Judgement
from croupier.protocol import wire
from croupier.protocol.admission.credentials import BearerCredentials
from croupier.protocol.key_list import AnalyzerKey, PolicyWord
from croupier.protocol.signed_document import public_half
from croupier.protocol.superseded import SupersededPlan
from croupier.shuffler.http.worker import ServedPlan, Settings, Worker
from tests.unit.parties import Shuffler

SECRET = os.urandom(32)
CREDENTIALS = BearerCredentials(SECRET)
TOGETHER = 8
"""People of each version who are acknowledged while both are served."""


class Version(Shuffler):
    """One version of a plan, with the files that its parties signed for it."""

    def __init__(self, database, folder, *, signs, opens, house=None, **tables):
        folder.mkdir()
        analyzer = {"key": public_half(signs)}
        super().__init__(database, folder, house=house, analyzer=analyzer, **tables)
        self.inner = opens.public_key().public_bytes_raw()
        word = PolicyWord.on(self.plan, Judgement.NO_LIMIT, despite_policy=True)
        signed = AnalyzerKey.make(self.plan, key=opens, signing_key=signs, policy=word)
        self.files = {"analyzer": folder / "analyzer.json", "shuffler": folder / "shuffler.json"}
        self.files["analyzer"].write_bytes(signed.to_bytes())
        self.files["shuffler"].write_bytes(self.listed.to_bytes())

    @property
    def served(self):
        return ServedPlan(plan=self.plan, **self.files)

    def released(self):
        """The rows of every batch, as often as they are there."""
        tables = [pq.read_table(file) for file in self.out.glob("*.parquet")]
        return Counter(row for table in tables for row in table["inner"].to_pylist())


@pytest.fixture
def versions(database, tmp_path):
    parties = {"signs": Ed25519PrivateKey.generate(), "opens": X25519PrivateKey.generate()}
    old = Version(database, tmp_path / "v1", **parties)
    changed = {"randomizer": {"mechanism": "k-rr", "k": 3, "max_epsilon_local": 1}}
    new = Version(database, tmp_path / "v2", house=old.house, **parties, **changed)
    assert old.plan.digest != new.plan.digest
    return old, new


@pytest.fixture
def sealed(monkeypatch):
    """The inner ciphertexts of every client, in the order in which they were sealed."""
    kept, seal_inner = [], wire.seal_inner

    def recorded(report, *, epoch):
        kept.append(seal_inner(report, epoch=epoch))
        return kept[-1]

    monkeypatch.setattr(wire, "seal_inner", recorded)
    return kept


@pytest.fixture(autouse=True)
def _no_logs_or_sums(monkeypatch):
    monkeypatch.setattr("croupier.hosting.http.worker.configure", lambda: None)
    monkeypatch.setattr("croupier.shuffler.http.worker.Metrics", Mock())


@asynccontextmanager
async def serving(*versions, superseded=()):
    """A worker that serves some plans; requests are answered without a network."""
    first = versions[0]
    settings = Settings(
        database=first.database,
        keys=first.house.intake.path,
        passphrase=first.house.intake.passphrase,
        handover=first.handover.path,
        credential_secret=SECRET,
        served=tuple(version.served for version in versions),
        superseded=superseded,
        renewal=0.05,
    )
    worker, told, said = Worker(settings), asyncio.Queue(), asyncio.Queue()
    life = asyncio.create_task(worker({"type": "lifespan"}, told.get, said.put))
    await told.put({"type": "lifespan.startup"})
    assert (await said.get())["type"] == "lifespan.startup.complete"
    yield worker
    await told.put({"type": "lifespan.shutdown"})
    await life


class Network(httpx.AsyncBaseTransport):
    """A way to a worker that loses some answers to reports, or the reports themselves."""

    def __init__(self, worker, *, answers=0, reports=0):
        self.inside = httpx.ASGITransport(worker)
        self.answers, self.reports = answers, reports
        self.posts = 0

    async def handle_async_request(self, request):
        sends = request.method == "POST"
        self.posts += sends
        if sends and self.posts <= self.reports:
            raise httpx.ConnectError("lost")
        answer = await self.inside.handle_async_request(request)
        if sends and self.posts <= self.answers:
            raise httpx.ReadError("lost")
        return answer


class Person:
    """Somebody with the app of one version, and a memory that survives its updates."""

    def __init__(self, version):
        self.memory = MemoryState()
        self.credential = CREDENTIALS.issue()
        self.install(version)

    def install(self, version):
        given = {"attribute": "pets", "budget": 9.0, "memory": self.memory, "spread": 0.0}
        self.client = Client(version.plan, **given)

    async def report(self, network, value=1):
        server = Server(url="http://127.0.0.1", credential=self.credential)
        steps = converse(self.client, value, server=server)
        return await submit_async(steps, transport=network, sleep=lambda _: asyncio.sleep(0))

    def state(self):
        with self.memory.update() as state:
            return state.model_copy(deep=True)


FOR_EVER = 10**6


def test_an_old_and_a_new_version_side_by_side_then_the_new_one_alone(versions, sealed):
    old, new = versions
    pointer = SupersededPlan.make(old.plan, new.plan, signing_key=old.house.root.signer())
    acknowledged, unacknowledged, unsent = [], [], []

    async def send(person, network, into):
        begin = len(sealed)
        outcome = await person.report(network)
        into += sealed[begin:]
        return outcome

    async def side_by_side():
        async with serving(old, new) as worker:
            for version in versions:
                for _ in range(TOGETHER):
                    person = Person(version)
                    lossy = Network(worker, answers=2)
                    assert await send(person, lossy, acknowledged) is Outcome.ACCEPTED
                    assert lossy.posts == 3
            late, cut_off = Person(old), Person(old)
            silent = Network(worker, answers=FOR_EVER)
            assert await send(late, silent, unacknowledged) is Outcome.EXPIRED
            away = Network(worker, reports=FOR_EVER)
            assert await send(cut_off, away, unsent) is Outcome.EXPIRED
            return person, late, cut_off

    async def the_new_one_alone(*waiting):
        async with serving(new, superseded=(pointer,)) as worker:
            for person in waiting:
                before, network = person.state(), Network(worker)
                with pytest.raises(SupersededError) as told:
                    await person.report(network, value=0)
                assert told.value.successor == new.plan.digest
                assert (person.state(), network.posts) == (before, 0)
                person.install(new)
                assert await send(person, network, acknowledged) is Outcome.ACCEPTED
                assert person.state().spent == {"pets": [1.0, 1.0]}

    for version in versions:
        version.open_round()
    *_, late, cut_off = asyncio.run(side_by_side())
    (done,) = old.release()
    assert done.receipt.event == "released"
    asyncio.run(the_new_one_alone(late, cut_off))
    (done,) = new.release()
    assert done.receipt.event == "released"

    assert (len(acknowledged), len(unacknowledged), len(unsent)) == (2 * TOGETHER + 2, 1, 1)
    assert len(sealed) == len(set(sealed)) == 2 * TOGETHER + 4
    rows = old.released() + new.released()
    assert rows == Counter(acknowledged + unacknowledged)
    assert old.released() == Counter(acknowledged[:TOGETHER] + unacknowledged)


def test_whoever_sends_while_the_plan_is_taken_away_is_told(versions, sealed):
    """Keys are fetched while the plan is served, the report arrives when it no longer is."""
    old, new = versions
    for version in versions:
        version.open_round()
    pointer = SupersededPlan.make(old.plan, new.plan, signing_key=old.house.root.signer())

    async def work():
        async with serving(old, new) as before, serving(new, superseded=(pointer,)) as after:
            workers = {"GET": httpx.ASGITransport(before), "POST": httpx.ASGITransport(after)}

            class Restarted(httpx.AsyncBaseTransport):
                async def handle_async_request(self, request):
                    return await workers[request.method].handle_async_request(request)

            person = Person(old)
            with pytest.raises(SupersededError):
                await person.report(Restarted())
            return person.state().sealed[old.plan.digest]

    kept = asyncio.run(work())
    assert (kept.round, len(sealed)) == (0, 1)
    assert not old.released()


def test_a_running_service_shows_everybody_the_same_pointer(service, make_parties):
    """A worker of its own process, and its connection: with and without a credential."""
    old = make_parties()
    pointer = SupersededPlan.make(old.plan, service.plan, signing_key=old.shuffler)
    file = service.directory / "superseded.json"
    file.write_bytes(pointer.to_bytes() + b"\n")
    service.start("--workers", "1", "--superseded", str(file))
    path = f"/v1/plans/{old.plan.digest}"
    reads = [service.get(path + end) for end in ("", "/rounds/0", "")]
    sent = [
        service.get(f"{path}/reports"),
        *(
            service.request("POST", f"{path}/reports", service.envelopes(), **headers)
            for headers in (service.headers(), {})
        ),
    ]
    for answers in (reads, sent):  # pages of other origins may read the first kind alone
        assert answers == [answers[0]] * len(answers)
        assert (answers[0].status, answers[0].body) == (410, pointer.to_bytes())
        assert dict(answers[0].headers)["cache-control"] == "no-store"
    assert service.send(service.envelopes()).status == 202
