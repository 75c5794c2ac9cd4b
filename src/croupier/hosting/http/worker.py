"""One worker process of a service: made when it starts, drained when it ends."""

import asyncio
import multiprocessing
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from croupier.errors import CroupierError
from croupier.hosting.http.logs import configure, log
from croupier.hosting.http.notes import Notes

__all__ = ["HostedWorker", "Receive", "Scope", "Send", "WorkerFactory", "end_with_parent"]

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


class HostedWorker(ABC):
    """The ASGI application that uvicorn runs: answers to requests, and its start and end.

    Args:
        notes: The place where it records that it has started, or why it cannot.
    """

    def __init__(self, notes: Notes | None) -> None:
        configure()
        self._notes = notes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or start and end."""
        if scope["type"] == "http":
            await self._answer(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._live(receive, send)

    @abstractmethod
    async def _start(self) -> None:
        """Start to answer. An error here ends the whole server."""

    @abstractmethod
    async def _stop(self) -> None:
        """End; every request has its answer by now."""

    @abstractmethod
    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await self._start()
        except Exception as error:  # noqa: BLE001 - said, and the process ends
            self._leave_word(error)
            await send({"type": "lifespan.startup.failed"})
            return
        await send({"type": "lifespan.startup.complete"})
        log.info("worker started")
        if self._notes is not None:
            self._notes.has_started()
        await receive()
        await self._stop()
        log.info("worker stopped")
        await send({"type": "lifespan.shutdown.complete"})

    def _leave_word(self, error: Exception) -> None:
        """Record why this worker cannot start: of errors from libraries, only the kind."""
        cause = str(error) if isinstance(error, CroupierError) else type(error).__name__
        log.error("worker cannot start", cause=cause)
        if self._notes is not None:
            self._notes.cannot_start(cause)


class WorkerFactory(Protocol):
    """A function that makes a worker, in its process."""

    def __call__(self, *, notes: Notes) -> HostedWorker:
        """Make a worker that leaves its notes in a place."""


def end_with_parent() -> None:
    """Drain and end this process when its parent dies without a signal.

    Otherwise it would keep the socket, and a restarted server would find the port taken.
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
