"""A worker keeps looking at its batches, whatever a look meets."""

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from structlog.testing import capture_logs

from croupier.service.revocation import RevocationList
from croupier.service.worker import Settings, Worker

QUOTED = "what an error may quote"


class Board:
    """Fails while it is told to."""

    plan = SimpleNamespace(digest="0" * 64)

    def __init__(self):
        self.failing, self._look = None, asyncio.Event()

    async def renew(self, _store):
        self._look.set()
        if self.failing is not None:
            raise self.failing

    async def looked_at_again(self):
        """Wait for two more looks: one has begun and ended."""
        for _ in range(2):
            self._look.clear()
            await asyncio.wait_for(self._look.wait(), 20)


@pytest.fixture
def board(monkeypatch):
    made = Board()
    nothing = SimpleNamespace(publish=lambda *_tallies: None)
    monkeypatch.setattr("croupier.service.worker.configure", lambda: None)
    monkeypatch.setattr("croupier.service.worker.Metrics", lambda: nothing)
    monkeypatch.setattr(Settings, "board", lambda _settings, _served: made)
    return made


@asynccontextmanager
async def living(database):
    settings = Settings(
        database=database,
        keys=Path("keys"),
        passphrase=b"",
        credential_secret=bytes(32),
        served=(None,),
        renewal=0.01,
    )
    worker, told, said = Worker(settings), asyncio.Queue(), asyncio.Queue()
    life = asyncio.create_task(worker({"type": "lifespan"}, told.get, said.put))
    await told.put({"type": "lifespan.startup"})
    await said.get()
    yield worker
    await told.put({"type": "lifespan.shutdown"})
    await life


async def health(worker):
    said = asyncio.Queue()
    scope = {"type": "http", "method": "GET", "path": "/healthz", "headers": []}
    await worker(scope, None, said.put)
    return (await said.get())["status"]


@pytest.mark.parametrize("failure", [PermissionError(13, QUOTED), ValueError(QUOTED)])
def test_an_unknown_error_is_unhealthy_until_it_is_over(database, board, failure):
    async def work():
        seen = []
        async with living(database) as worker:
            for board.failing in (None, failure, None):
                await board.looked_at_again()
                seen.append(await health(worker))
        return seen

    with capture_logs() as logs:
        assert asyncio.run(work()) == [200, 503, 200]
    failures = [entry for entry in logs if entry["event"] == "renewal failed"]
    assert {entry["kind"] for entry in failures} == {type(failure).__name__}
    assert QUOTED not in str(logs)


def test_a_list_that_fails_does_not_end_the_looks(database, board, monkeypatch):
    def fail(_revoked):
        raise MemoryError

    async def work():
        async with living(database):
            monkeypatch.setattr(RevocationList, "renew", fail)
            await board.looked_at_again()

    with capture_logs() as logs:
        asyncio.run(work())
    assert "MemoryError" in {entry.get("kind") for entry in logs}
