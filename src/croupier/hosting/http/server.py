"""The server: a socket, worker processes that share it, sums on a separate port."""

import errno
import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from uvicorn.config import STARTUP_FAILURE, Config
from uvicorn.supervisors import Multiprocess

from croupier.errors import CroupierError, ParameterError
from croupier.hosting.http.connection import PromptProtocol
from croupier.hosting.http.logs import configure
from croupier.hosting.http.notes import Notes
from croupier.hosting.http.sums import DIRECTORY_VARIABLE, forget, serve_sums
from croupier.hosting.http.worker import WorkerFactory

__all__ = ["Address", "Listening", "WorkerError", "listening", "serve"]

_DRAIN_SECONDS = 30
_SILENT_SECONDS = 60
"""Seconds after which a worker counts as hung. A busy machine needs half as long to start one."""
_GENERATIONS = 3
"""Consecutive deaths of workers without a single start, after which the server gives up."""
_BACKLOG = 2048
"""Connections that wait to be accepted."""


class Address(NamedTuple):
    """An address to listen on; port 0 takes a free one."""

    host: str
    port: int


class WorkerError(CroupierError):
    """No worker can start."""

    def __init__(self, cause: str) -> None:
        self.cause = cause
        super().__init__(f"A worker cannot start: {cause}")


@dataclass(frozen=True)
class Listening:
    """The sockets that are listened on before anything is served.

    Attributes:
        socket: The socket for clients; those who connect before the workers start wait for them.
        public: Its address.
        private: The address of the sums.
        directory: The directory of the workers' notes and sums.
    """

    socket: socket.socket
    public: Address
    private: Address
    directory: Path


class _Supervisor(Multiprocess):
    """Uvicorn's supervisor, which waits long for dead workers and restarts hopeless ones for ever.

    It keeps a copy of the worker's end of their pipe. Without the copy, that end closes with the
    worker, and the wait for its message is over.
    """

    def __init__(self, config: Config, sockets: list[socket.socket], notes: Notes) -> None:
        super().__init__(config, sockets)
        self.failed = False
        self._notes = notes
        self._started = 0
        self._replaced = 0

    def keep_subprocess_alive(self) -> None:
        """Replace the workers that died; end if they cannot start.

        Workers that have started are replaced however often the system kills them.
        """
        before = list(self.processes)
        for worker in before:
            worker.child_conn.close()
        super().keep_subprocess_alive()
        pairs = zip(before, self.processes, strict=True)
        for ended in [old for old, new in pairs if old is not new]:
            self._replaced += 1
            forget(self._notes.directory, ended.pid or 0)
        started = self._notes.count_started()
        if started > self._started:
            self._started, self._replaced = started, 0
        hopeless = self._replaced >= _GENERATIONS * self.processes_num
        if hopeless or any(worker.exitcode == STARTUP_FAILURE for worker in before):
            self._give_up()

    def _give_up(self) -> None:
        self.failed = True
        self.should_exit.set()


@contextmanager
def listening(public: Address, private: Address) -> Iterator[Listening]:
    """Listen on both ports until the end of the context; connections wait to be served.

    Raises:
        ParameterError: One of them cannot be listened on.
    """
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="croupier-")))
        with _free("--port", public):
            clients = stack.enter_context(_listen(public))
        with _free("--metrics-port", private):
            sums = serve_sums(directory, host=private.host, port=private.port)
            port = stack.enter_context(sums)
        yield Listening(
            clients,
            public._replace(port=clients.getsockname()[1]),
            private._replace(port=port),
            directory,
        )


def serve(
    make: WorkerFactory, listens: Listening, *, workers: int, started: Callable[[], None]
) -> None:
    """Serve until a signal says to stop; then commit and answer what the workers have received.

    A worker that dies is replaced. There is no access log.

    Args:
        make: Makes a worker, in its own process: what it holds is sent there.
        listens: The sockets to serve on.
        workers: The number of processes.
        started: Called once signals are handled.

    Raises:
        WorkerError: Workers cannot start.
    """
    configure()
    notes = Notes(listens.directory)
    config = Config(
        partial(make, notes=notes),
        factory=True,
        host=listens.public.host,
        port=listens.public.port,
        backlog=_BACKLOG,
        workers=workers,
        http=PromptProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
        timeout_worker_healthcheck=_SILENT_SECONDS,
    )
    # Workers inherit it; it must exist before they import the library that reads it.
    os.environ[DIRECTORY_VARIABLE] = str(listens.directory)
    supervisor = _Supervisor(config, sockets=[listens.socket], notes=notes)
    started()
    supervisor.run()
    if supervisor.failed:
        raise WorkerError(notes.cause())


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listening = socket.create_server(address, family=family, backlog=_BACKLOG)
    listening.set_inheritable(True)
    return listening


@contextmanager
def _free(option: str, address: Address) -> Iterator[None]:
    """Say which address cannot be listened on, and why."""
    try:
        yield
    except OSError as error:
        # The library adds the address, in parentheses.
        cause = str(error.strerror).partition(" (")[0]
        taken = error.errno == errno.EADDRINUSE
        raise ParameterError(
            option,
            must="be one that can be listened on",
            got=f"{address.host}:{address.port} ({cause})",
            hint="Stop what listens there, or name another; 0 takes a free one."
            if taken
            else f"Correct {option.replace('port', 'host')}, or name another port.",
        ) from None
