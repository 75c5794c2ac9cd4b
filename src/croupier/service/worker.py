"""One worker process: made when it starts, renewed while it runs, drained when it ends."""

import asyncio
import gc
import multiprocessing
import os
import signal
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
from croupier.service.revocation import RevocationList

__all__ = ["Served", "Settings", "Worker"]


@dataclass(frozen=True, kw_only=True)
class Served:
    """A plan and the analyzer's signed key, with its word that the plan may run.

    Raises:
        PolicyError: The word is missing, about another policy, or no.
    """

    plan: Plan
    analyzer: AnalyzerKey

    def __post_init__(self) -> None:
        self.analyzer.require_policy(self.plan)


@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    """What a worker needs. It holds secrets and has no text.

    Attributes:
        database: A libpq connection string or URL.
        keys: The shuffler's key directory.
        passphrase: What its files are encrypted with.
        credential_secret: What credentials are checked with.
        revoked: A file of those that admit nobody any more, read again when it changes.
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
    revoked: Path | None = None
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


def end_with_parent() -> None:
    """Drain and end this process when the one that started it dies without a word.

    It would keep the socket, and whoever starts the server again would find the port taken.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return
    loop = asyncio.get_running_loop()

    def end() -> None:
        loop.remove_reader(parent.sentinel)
        log.error("server died, worker ends")
        os.kill(os.getpid(), signal.SIGTERM)

    loop.add_reader(parent.sentinel, end)


class Worker:
    """The ASGI application that uvicorn runs: the app, and its start and end."""

    def __init__(self, settings: Settings) -> None:
        configure()
        self._settings = settings
        self._boards = [settings.board(served) for served in settings.served]
        self._revoked = RevocationList(settings.revoked)
        self._clerk: Store | None = None
        self._renewed = False
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
        await self._start()
        await send({"type": "lifespan.startup.complete"})
        log.info("worker started")
        await receive()
        await self._stop()
        log.info("worker stopped")
        await send({"type": "lifespan.shutdown.complete"})

    async def _start(self) -> None:
        """Begin to answer, with or without a database.

        Failing here would end the whole server, and a worker may be replaced while the database is
        away.
        """
        settings = self._settings
        self._intake = Intake(self._connect, settings.intake)
        self._revoked.renew()
        await self._try_to_renew()
        self._intake.start()
        end_with_parent()
        reports = Reports(
            intake=self._intake,
            credentials=BearerCredentials(settings.credential_secret, revoked=self._revoked),
            lookups=lambda: self._clerk,
            limits=settings.requests,
        )
        self._app = App(self._boards, reports=reports, healthy=lambda: self._renewed)
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

    async def _renew(self) -> bool:
        """Look at the batches of every plan; whether all could be seen."""
        if self._clerk is None:
            self._clerk = await self._connect()
        return all([await self._seen(board, self._clerk) for board in self._boards])

    async def _seen(self, board: Board, clerk: Store) -> bool:
        """Look at one plan's batches: what is wrong with one plan is not wrong with the others."""
        try:
            await board.renew(clerk)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - whoever stops looking serves old rounds for ever
            log.error("renewal failed", plan=board.plan.digest, kind=type(error).__name__)
            return False
        return True

    async def _try_to_renew(self) -> None:
        """Renew, or be unhealthy until that succeeds; never end for it."""
        try:
            self._renewed = await self._renew()
        except StoreError as error:
            self._renewed = False
            log.error("database failed", cause=error.cause)
            if self._clerk is not None:
                await self._clerk.close()
                self._clerk = None
        except Exception as error:  # noqa: BLE001 - as above
            self._renewed = False
            log.error("database failed", kind=type(error).__name__)

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(self._settings.renewal)
            try:
                self._revoked.renew()
            except Exception as error:  # noqa: BLE001 - as above
                log.error(
                    "revoked credentials cannot be read: those read before stay revoked",
                    kind=type(error).__name__,
                )
            await self._try_to_renew()

    async def _keep_publishing(self) -> None:
        while True:
            await asyncio.sleep(self._settings.publication)
            try:
                self._metrics.publish(self._app.tally, self._intake.tally)
            except Exception as error:  # noqa: BLE001 - the next sums may be published again
                log.error("sums not published", kind=type(error).__name__)
