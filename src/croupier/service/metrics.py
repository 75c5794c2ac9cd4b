"""Sums for the operator, on a port of their own.

A counter that moves with every report is a log of arrivals to whoever may read it often. So a
worker adds up in memory and publishes the sums once a minute.
"""

from collections import Counter
from pathlib import Path

from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client import Counter as Published
from prometheus_client.multiprocess import MultiProcessCollector

from croupier.pipeline.intake import IntakeTally

__all__ = ["DIRECTORY_VARIABLE", "Metrics", "serve_metrics"]

DIRECTORY_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""Where workers leave their sums for the process that serves them."""


class Metrics:
    """The published sums of one worker."""

    def __init__(self) -> None:
        registry = CollectorRegistry()
        self._answers = Published(
            "croupier_answers", "answers given, by status", ["status"], registry=registry
        )
        self._rows = Published(
            "croupier_envelopes",
            "envelopes committed (repeated ones included), refused since the batch was closed, or "
            "failed with the database",
            ["outcome"],
            registry=registry,
        )
        self._commits = Published("croupier_commits", "transactions", registry=registry)

    def publish(self, given: Counter[int], intake: IntakeTally) -> None:
        """Add the sums to what is published and set them to zero."""
        for status, count in given.items():
            self._answers.labels(str(status)).inc(count)
        for outcome in ("committed", "refused", "failed"):
            self._rows.labels(outcome).inc(getattr(intake, outcome))
            setattr(intake, outcome, 0)
        self._commits.inc(intake.commits)
        intake.commits = 0
        given.clear()


def serve_metrics(directory: Path, *, host: str, port: int) -> int:
    """Serve the sums of all workers at /metrics; the port that is listened on."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(directory))  # type: ignore[no-untyped-call]
    server, _ = start_http_server(port, addr=host, registry=registry)
    return server.server_port
