"""The server: a socket, worker processes that share it, sums on a port of their own."""

import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from uvicorn import Config
from uvicorn.supervisors import Multiprocess

from croupier.errors import ParameterError
from croupier.service.logs import configure
from croupier.service.metrics import DIRECTORY_VARIABLE, serve_metrics
from croupier.service.protocol import PromptProtocol
from croupier.service.worker import Settings, Worker

__all__ = ["Address", "serve"]

_DRAIN_SECONDS = 30
_SILENT_SECONDS = 60
"""After which a worker is taken for hung. A busy machine needs half as long to start one."""


class Address(NamedTuple):
    """Where to listen; port 0 takes a free one."""

    host: str
    port: int


class _Supervisor(Multiprocess):
    """Uvicorn's, which would wait as long for the word of a dead worker as for that of a slow one.

    It keeps a copy of the worker's end of their pipe. Without the copy, that end closes with the
    worker, and the wait is over.
    """

    def keep_subprocess_alive(self) -> None:
        for worker in self.processes:
            worker.child_conn.close()
        super().keep_subprocess_alive()


def serve(
    settings: Settings,
    *,
    public: Address,
    private: Address,
    workers: int,
    started: Callable[[Address, Address], None],
) -> None:
    """Serve until a signal says to stop; then commit and answer what the workers have received.

    A worker that dies is replaced. There is no access log.

    Args:
        settings: What every worker needs.
        public: Where clients come.
        private: Where the sums are read: not by the world.
        workers: How many processes.
        started: Told both addresses once they are listened on.
    """
    configure()
    config = Config(
        partial(Worker, settings),
        factory=True,
        host=public.host,
        port=public.port,
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
    with tempfile.TemporaryDirectory(prefix="croupier-") as directory:
        # Workers inherit it; it must be there before they import the library that reads it.
        os.environ[DIRECTORY_VARIABLE] = directory
        with _free("--port", public):
            # Whoever comes before the workers waits for them.
            listening = _listen(public, backlog=config.backlog)
        with listening:
            with _free("--metrics-port", private):
                port = serve_metrics(Path(directory), host=private.host, port=private.port)
            supervisor = _Supervisor(config, sockets=[listening])  # from now on signals are heard
            started(public._replace(port=listening.getsockname()[1]), private._replace(port=port))
            supervisor.run()


def _listen(address: Address, *, backlog: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    listening = socket.create_server(address, family=family, backlog=backlog)
    listening.set_inheritable(True)
    return listening


@contextmanager
def _free(option: str, address: Address) -> Iterator[None]:
    """Say which address cannot be listened on, and why."""
    try:
        yield
    except OSError as error:
        raise ParameterError(
            option,
            must="be one that can be listened on",
            got=f"{address.host}:{address.port} ({error.strerror})",
            hint="Stop what listens there, or name another; 0 takes a free one.",
        ) from None
