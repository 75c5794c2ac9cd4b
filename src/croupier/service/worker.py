"""One worker process: made when it starts, renewed while it runs, drained when it ends."""

import asyncio
import gc
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from croupier.model.plan import Plan
from croupier.pipeline.intake import Intake, IntakeLimits
from croupier.pipeline.key_list import AnalyzerKey
from croupier.pipeline.keys import KeyDirectory
from croupier.pipeline.store import Store, StoreError
from croupier.service.app import App
from croupier.service.board import Board
from croupier.service.credentials import BearerCredentials
from croupier.service.logs import configure, log
from croupier.service.metrics import Metrics
from croupier.service.reports import Reports, RequestLimits

__all__ = ["Served", "Settings", "Worker"]


@dataclass(frozen=True, kw_only=True)
class Served:
    """A plan and the analyzer's signed key."""

    plan: Plan
    analyzer: AnalyzerKey


@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    """What a worker needs. It holds secrets and has no text.

    Attributes:
        database: A libpq connection string or URL.
        keys: The shuffler's key directory.
        passphrase: What its files are encrypted with.
        credential_secret: What credentials are checked with.
        served: The plans.
        most_rows: How many rows a batch may have, about; by plan what its enrolled people send
            in one round, if left out.
        intake: What is held and written at once.
        requests: What one sender may do.
        renewal: Seconds between looks at the batches.
        publication: Seconds between publications of sums.
    """

    database: str
    keys: Path
    passphrase: bytes
    credential_secret: bytes
    served: tuple[Served, ...]
    most_rows: int | None = None
    intake: IntakeLimits = field(default_factory=IntakeLimits)
    requests: RequestLimits = field(default_factory=RequestLimits)
    renewal: float = 1.0
    publication: float = 60.0

    def board(self, served: Served) -> Board:
        """A plan as a worker sees it."""
        plan = served.plan
        return Board(
            plan=plan,
            analyzer=served.analyzer,
            keys=KeyDirectory(self.keys, self.passphrase),
            most_rows=self.most_rows or plan.population.enrolled * plan.protections.messages,
        )


class Worker:
    """The ASGI application that uvicorn runs: the app, and its start and end."""

    def __init__(self, settings: Settings) -> None:
        configure()
        self._settings = settings
        self._boards = [settings.board(served) for served in settings.served]
        self._clerk: Store | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def __call__(
        self,
        scope: Mapping[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        """Answer a request, or start and end."""
        if scope["type"] == "http":
            await self._app(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    async def _live(
        self, receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        await receive()
        try:
            await self._start()
        except StoreError as error:
            log.error("cannot start", cause=error.cause)
            await send({"type": "lifespan.startup.failed", "message": ""})
            return
        await send({"type": "lifespan.startup.complete"})
        log.info("worker started")
        await receive()
        await self._stop()
        log.info("worker stopped")
        await send({"type": "lifespan.shutdown.complete"})

    async def _start(self) -> None:
        settings = self._settings
        self._intake = Intake(self._connect, settings.intake)
        await self._renew()
        await self._intake.start()
        reports = Reports(
            intake=self._intake,
            credentials=BearerCredentials(settings.credential_secret),
            lookups=lambda: self._clerk,
            limits=settings.requests,
        )
        self._app = App(self._boards, reports=reports, healthy=lambda: self._clerk is not None)
        self._metrics = Metrics()
        self._tasks = [
            asyncio.create_task(self._keep_renewing()),
            asyncio.create_task(self._keep_publishing()),
        ]
        gc.freeze()  # what is here now stays: the collector need not look at it again

    async def _stop(self) -> None:
        """Commit what waits, publish the last sums. Every request has its answer by now."""
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await self._intake.close()
        self._metrics.publish(self._app.tally, self._intake.tally)
        if self._clerk is not None:
            await self._clerk.close()

    async def _connect(self) -> Store:
        return await Store.connect(self._settings.database)

    async def _renew(self) -> None:
        if self._clerk is None:
            self._clerk = await self._connect()
        for board in self._boards:
            await board.renew(self._clerk)

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(self._settings.renewal)
            try:
                await self._renew()
            except StoreError as error:
                log.error("database failed", cause=error.cause)
                if self._clerk is not None:
                    await self._clerk.close()
                    self._clerk = None

    async def _keep_publishing(self) -> None:
        while True:
            await asyncio.sleep(self._settings.publication)
            self._metrics.publish(self._app.tally, self._intake.tally)
