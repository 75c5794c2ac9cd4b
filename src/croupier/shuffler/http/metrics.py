"""Sums for the operator, on a separate port.

A counter that moves with every report is a log of arrivals to anybody who reads it often.
Therefore a worker adds up in memory and publishes the sums once per minute.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from prometheus_client import CollectorRegistry, Gauge, start_http_server
from prometheus_client import Counter as Published
from prometheus_client.multiprocess import MultiProcessCollector

from croupier.shuffler.intake.intake import IntakeTally

__all__ = ["DIRECTORY_VARIABLE", "Metrics", "serve_metrics"]

DIRECTORY_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the directory of the workers' sums."""


class Metrics:
    """The published sums of one worker."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self._answers = Published(
            "croupier_answers", "answers given, by status", ["status"], registry=registry
        )
        self._rows = Published(
            "croupier_envelopes",
            "envelopes committed (repeated ones included), refused because the batch was closed, "
            "or failed with the database",
            ["outcome"],
            registry=registry,
        )
        self._commits = Published("croupier_commits", "transactions", registry=registry)
        self._full = Gauge(
            "croupier_full_batches",
            "open batches that take no more: --maximum-batch is reached, or their keys are missing",
            registry=registry,
            multiprocess_mode="mostrecent",
        )

    def publish(self, given: Counter[int], intake: IntakeTally, *, full_batches: int) -> None:
        """Add the sums to what is published and set them to zero."""
        self._full.set(full_batches)
        for status, count in given.items():
            self._answers.labels(str(status)).inc(count)
        for outcome in ("committed", "refused", "failed"):
            self._rows.labels(outcome).inc(getattr(intake, outcome))
            setattr(intake, outcome, 0)
        self._commits.inc(intake.commits)
        intake.commits = 0
        given.clear()


@contextmanager
def serve_metrics(directory: Path, *, host: str, port: int) -> Iterator[int]:
    """Serve the sums of all workers at /metrics; yield the port that is listened on."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(directory))  # type: ignore[no-untyped-call]
    server, thread = start_http_server(port, addr=host, registry=registry)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
