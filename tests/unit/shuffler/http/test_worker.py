"""A worker keeps looking at its batches, whatever a look meets."""

import asyncio
import time
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from croupier.hosting.http.certificate import Certificate
from croupier.hosting.http.readiness import Readiness, stop_host
from croupier.hosting.incidents import Occurrence
from croupier.hosting.revocation import RevocationList, UnreadableListError
from croupier.shuffler.http.worker import Settings, Worker
from croupier.shuffler.intake.key_watch import KeyWatch

QUOTED = "what an error may quote"


class Board:
    """Fails while it is told to."""

    batches, occurrences, full_batches, needed_keys = {}, (), 0, ("", "")

    def __init__(self, digest):
        self.plan = SimpleNamespace(digest=digest, admission=SimpleNamespace(origins=()))
        self.failing, self._look = None, asyncio.Event()

    async def fill(self, _store):
        return None

    async def renew(self, _store, _look):
        self._look.set()
        if self.failing is not None:
            raise self.failing

    async def looked_at_again(self):
        """Wait for two more looks: one has begun and ended."""
        for _ in range(2):
            self._look.clear()
            await asyncio.wait_for(self._look.wait(), 20)


async def see_nothing(_boards, _store):
    """Look at a database without tables."""
    return {}


class Metrics:
    """Fails while it is told to."""

    def __init__(self):
        self.failing, self.published = False, 0

    def show(self, _found, *, expires):
        pass

    def fill(self, _plan, _decile):
        pass

    def publish(self, *_tallies, full_batches):  # noqa: ARG002 - as that of the service
        self.published += 1
        if self.failing:
            raise OSError(28, QUOTED)


@pytest.fixture
def metrics(monkeypatch):
    made = Metrics()
    monkeypatch.setattr("croupier.shuffler.http.worker.Metrics", lambda: made)
    return made


@pytest.fixture
def boards(monkeypatch, metrics):  # noqa: ARG001 - a worker has both
    made = [Board("0" * 64), Board("1" * 64)]
    monkeypatch.setattr("croupier.hosting.http.worker.configure", lambda: None)
    monkeypatch.setattr("croupier.shuffler.http.worker.look_at", see_nothing)
    monkeypatch.setattr(Worker, "_follow", lambda *_: None)
    monkeypatch.setattr(KeyWatch, "occurrences", lambda *_: ())
    monkeypatch.setattr(Settings, "board", lambda _settings, served: made[served])
    return made


@pytest.fixture
def board(boards):
    return boards[0]


@asynccontextmanager
async def living(database):
    settings = Settings(
        database=database,
        keys=Path("keys"),
        passphrase=b"",
        handover=Path("handover"),
        credential_secret=bytes(32),
        served=(0, 1),
        renewal=0.01,
        publication=0.01,
    )
    worker, told, said = Worker(settings), asyncio.Queue(), asyncio.Queue()
    life = asyncio.create_task(worker({"type": "lifespan"}, told.get, said.put))
    await told.put({"type": "lifespan.startup"})
    await said.get()
    yield worker
    await told.put({"type": "lifespan.shutdown"})
    await life


async def readiness(worker):
    said = asyncio.Queue()
    scope = {"type": "http", "method": "GET", "path": "/readyz", "headers": []}
    await worker(scope, None, said.put)
    return (await said.get())["status"]


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (PermissionError(13, QUOTED), "The key directory of intake cannot be read or written"),
        (ValueError(QUOTED), "(ValueError)"),
    ],
)
def test_an_unknown_error_is_not_ready_until_it_is_over(database, board, failure, said):
    async def work():
        seen = []
        async with living(database) as worker:
            for board.failing in (None, failure, None):
                await board.looked_at_again()
                seen.append(await readiness(worker))
        return seen

    with capture_logs() as logs:
        assert asyncio.run(work()) == [200, 503, 200]
    (line,) = [entry for entry in logs if entry["event"] == "not ready"]
    assert said in line["cause"]
    assert QUOTED not in str(logs)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "(MemoryError)"),
        (UnreadableListError(Path("a"), "--revoked", ValueError()), "(a line is not an id)"),
        (
            UnreadableListError(Path("a"), "--revoked", PermissionError(13, QUOTED)),
            "(Permission denied)",
        ),
    ],
)
def test_a_list_that_fails_does_not_end_the_looks(database, board, monkeypatch, error, said):
    def fail(_revoked):
        raise error

    async def work():
        async with living(database):
            monkeypatch.setattr(RevocationList, "renew", fail)
            await board.looked_at_again()

    with capture_logs() as logs:
        asyncio.run(work())
    (line,) = [entry for entry in logs if entry["event"] == "not ready"]
    assert line["incidents"] == ["revoked-list"]
    assert said in line["cause"]


def test_a_plan_that_fails_leaves_the_others_in_sight(database, boards):
    first, second = boards
    first.failing = ValueError(QUOTED)

    async def work():
        async with living(database) as worker:
            await second.looked_at_again()
            return await readiness(worker)

    assert asyncio.run(work()) == 503


def test_sums_are_published_again_after_a_failure(database, boards, metrics):
    async def work():
        metrics.failing = True
        async with living(database):
            while metrics.published < 3:
                await boards[0].looked_at_again()
            metrics.failing = False

    with capture_logs() as logs:
        asyncio.run(work())
    assert {entry["kind"] for entry in logs if entry["event"] == "sums not published"} == {
        "OSError"
    }
    assert QUOTED not in str(logs)


def test_a_look_that_takes_too_long_is_not_ready(database, board, monkeypatch):
    """Whatever holds it up: the age of the last look is what counts."""
    monkeypatch.setattr("croupier.hosting.http.readiness._RENEWAL_SECONDS", 2)

    async def work():
        async with living(database) as worker:
            board.failing, board.renew = None, hang
            seen = [await readiness(worker)]
            async with asyncio.timeout(60):
                while seen[-1] == 200:
                    await asyncio.sleep(0.1)
                    seen.append(await readiness(worker))
            return [seen[0], seen[-1]]

    async def hang(_store, _look):
        await asyncio.sleep(3600)

    with capture_logs() as logs:
        assert asyncio.run(work()) == [200, 503]
    (line,) = [entry for entry in logs if entry["event"] == "not ready"]
    assert "last read" in line["cause"]


@pytest.mark.parametrize(
    ("watcher", "incident"),
    [(KeyWatch, "signing-key"), (Certificate, "certificate"), (RevocationList, "revoked-list")],
)
def test_a_watcher_that_fails_is_an_incident_and_does_not_end_the_looks(
    database, board, monkeypatch, watcher, incident
):
    def fail(*_):
        raise PermissionError(13, QUOTED)

    async def work():
        async with living(database) as worker:
            with monkeypatch.context() as patch:
                patch.setattr(watcher, "occurrences", fail)
                await board.looked_at_again()
                before = await readiness(worker)
            await board.looked_at_again()
            return before, await readiness(worker)

    with capture_logs() as logs:
        assert asyncio.run(work()) == (503, 200)
    (line,) = [entry for entry in logs if entry["event"] == "not ready"]
    assert line["incidents"] == [incident]
    assert QUOTED not in str(logs)


def test_a_worker_that_no_longer_looks_is_stale_whatever_else_is_wrong(monkeypatch):
    readiness = Readiness(Occurrence("stale", "nothing was read"))
    readiness.report("a", Occurrence("clock", "clocks differ"))
    assert [each.name for each in readiness.occurrences()] == ["clock"]
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 6)
    assert [each.name for each in readiness.occurrences()] == ["clock", "stale"]
    assert [each.name for each in stop_host(readiness.occurrences(), ["x"])] == ["stale"]
