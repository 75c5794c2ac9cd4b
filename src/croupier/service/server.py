"""The server: a socket, worker processes that share it, sums on a port of their own."""

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from uvicorn import Config
from uvicorn.supervisors import Multiprocess

from croupier.service.logs import configure
from croupier.service.metrics import DIRECTORY_VARIABLE, serve_metrics
from croupier.service.protocol import PromptProtocol
from croupier.service.worker import Settings, Worker

__all__ = ["serve"]

_DRAIN_SECONDS = 30


def serve(
    settings: Settings,
    *,
    host: str,
    port: int,
    metrics_host: str,
    metrics_port: int,
    workers: int,
    started: Callable[[int, int], None],
) -> None:
    """Serve until a signal says to stop; then every request that has begun gets its answer.

    A worker that dies is replaced. There is no access log.

    Args:
        settings: What every worker needs.
        host: Where to listen for clients.
        port: On which port; 0 takes a free one.
        metrics_host: Where to listen for whoever reads the sums: not the world.
        metrics_port: On which port; 0 takes a free one.
        workers: How many processes.
        started: Told both ports.
    """
    configure()
    config = Config(
        partial(Worker, settings),
        factory=True,
        host=host,
        port=port,
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
    )
    with tempfile.TemporaryDirectory(prefix="croupier-") as directory:
        # Workers inherit it; it must be there before they import the library that reads it.
        os.environ[DIRECTORY_VARIABLE] = directory
        listening = config.bind_socket()
        with listening:
            private = serve_metrics(Path(directory), host=metrics_host, port=metrics_port)
            started(listening.getsockname()[1], private)
            Multiprocess(config, sockets=[listening]).run()
