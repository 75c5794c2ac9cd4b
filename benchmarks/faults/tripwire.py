"""Stop a process before or after its n-th step that leaves a trace.

A step is a round trip to PostgreSQL (every statement, commit, fetch), a call that changes files or
their names, or a request to an object store.
"""

import errno
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import psycopg

from croupier.protocol.object_store import ObjectStore, ObjectStoreError

__all__ = ["Tripwire"]

_FILE_CALLS = ("fsync", "link", "rename", "replace", "unlink", "remove", "rmdir", "mkdir", "chmod")
_REQUESTS = ("create", "digest", "read", "replace", "sizes", "upload")


@dataclass
class Tripwire:
    """A counter of steps that kills the process at, or fails, the requested one.

    Attributes:
        notes: A file that gets one line per point met.
        at: The point to act at, from 0; None for none.
        action: Kill the process, or let the step fail: a full disk; a statement that is cancelled
            before it is sent; a connection that is lost before the answer comes; a store that
            cannot be reached, or whose answer is lost.
    """

    notes: Path
    at: int | None = None
    action: Literal["kill", "error"] = "kill"

    def __call__(self) -> None:
        """Watch this process from now on."""
        self._met = 0
        self._file = os.open(self.notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        for name in _FILE_CALLS:
            setattr(os, name, self._file_call(name, getattr(os, name)))
        opened = os.open
        creating = self._file_call("create", opened)
        os.open = lambda path, flags, *a, **k: (creating if flags & os.O_CREAT else opened)(
            path, flags, *a, **k
        )
        self._watch_statements()
        for name in _REQUESTS:
            setattr(ObjectStore, name, self._request(name, getattr(ObjectStore, name)))

    def _file_call(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*arguments: Any, **options: Any) -> Any:
            if self._trips(f"before {name}"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            result = call(*arguments, **options)
            if self._trips(f"after {name}"):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return result

        return watched

    def _request(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(store: ObjectStore, *arguments: Any, **options: Any) -> Any:
            if self._trips(f"before request {name}"):
                raise ObjectStoreError(store.address, "it cannot be reached", hint="Run again.")
            result = call(store, *arguments, **options)
            if self._trips(f"after request {name}"):
                raise ObjectStoreError(store.address, "its answer is lost", hint="Run again.")
            return result

        return watched

    def _watch_statements(self) -> None:
        wait, wait_async = psycopg.Connection.wait, psycopg.AsyncConnection.wait

        def watched(connection: Any, steps: Any, *arguments: Any, **options: Any) -> Any:
            self._before_statement(steps)
            result = wait(connection, steps, *arguments, **options)
            self._after_statement(connection, steps)
            return result

        async def watched_async(
            connection: Any, steps: Any, *arguments: Any, **options: Any
        ) -> Any:
            self._before_statement(steps)
            result = await wait_async(connection, steps, *arguments, **options)
            self._after_statement(connection, steps)
            return result

        psycopg.Connection.wait = watched  # type: ignore[method-assign]
        psycopg.AsyncConnection.wait = watched_async  # type: ignore[method-assign,assignment]

    def _before_statement(self, steps: Any) -> None:
        if self._trips(f"before statement {steps.__qualname__}"):
            steps.close()
            raise psycopg.OperationalError("cancelled")

    def _after_statement(self, connection: Any, steps: Any) -> None:
        if self._trips(f"after statement {steps.__qualname__}"):
            connection.pgconn.finish()
            raise psycopg.OperationalError("the connection is lost")

    def _trips(self, what: str) -> bool:
        """Note a point, and kill the process if it is the one; True if its step must fail."""
        os.write(self._file, f"{what}\n".encode())
        self._met += 1
        if self._met - 1 != self.at:
            return False
        if self.action == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        return True
