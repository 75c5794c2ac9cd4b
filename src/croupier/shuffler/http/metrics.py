"""Sums and incidents for the operator, on a separate port.

A counter that moves with every report is a log of arrivals to anybody who reads it often.
Therefore a worker adds up in memory and publishes sums, and tenths of the minimum, once per minute.
Incidents are shown at once, as by /readyz.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from socket import gethostname

from prometheus_client import CollectorRegistry, Gauge, Metric, start_http_server
from prometheus_client import Counter as Published
from prometheus_client.metrics_core import InfoMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from croupier.shuffler.incidents import Occurrence
from croupier.shuffler.intake.intake import IntakeTally

__all__ = ["DIRECTORY_VARIABLE", "Metrics", "forget", "serve_metrics"]

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

        self._incident = Gauge(
            "croupier_incident",
            "1 while the operator must act on an incident; plan is empty if it concerns all plans",
            ["incident", "plan"],
            registry=registry,
            multiprocess_mode="livemax",
        )
        self._fill = Gauge(
            "croupier_fill_deciles",
            "tenths of the minimum that the open batch has, at most 10; -1 if none is open",
            ["plan"],
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._expiry = Gauge(
            "croupier_certificate_expiry_timestamp_seconds",
            "when the certificate of the proxy expires, if --certificate names it",
            registry=registry,
            multiprocess_mode="mostrecent",
        )
        self._shown: frozenset[tuple[str, str]] = frozenset()

    def show(self, found: Iterable[Occurrence], *, expires: datetime | None) -> None:
        """Show the incidents that are happening; those that are over become 0."""
        now = frozenset((each.name, each.plan or "") for each in found)
        for labels in now - self._shown:
            self._incident.labels(*labels).set(1)
        for labels in self._shown - now:
            self._incident.labels(*labels).set(0)
        self._shown = now
        if expires is not None:
            self._expiry.set(expires.timestamp())

    def fill(self, plan: str, decile: int | None) -> None:
        """Show how full the open batch of a plan is."""
        self._fill.labels(plan).set(-1 if decile is None else decile)

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


class _Target(Collector):
    """The service by the names that OpenTelemetry gives to resources."""

    def __init__(self, instance: str) -> None:
        self._resource = {
            "service_name": "croupier",
            "service_version": version("croupier"),
            "service_instance_id": instance,
        }

    def collect(self) -> Iterator[Metric]:
        """Yield the metric `target_info`."""
        yield InfoMetricFamily("target", "the service that is measured", self._resource)


def forget(directory: Path, pid: int) -> None:
    """Drop the incidents of a worker that has died."""
    mark_process_dead(pid, str(directory))  # type: ignore[no-untyped-call]


@contextmanager
def serve_metrics(directory: Path, *, host: str, port: int) -> Iterator[int]:
    """Serve the sums of all workers at /metrics; yield the port that is listened on."""
    registry = CollectorRegistry()
    MultiProcessCollector(registry, path=str(directory))  # type: ignore[no-untyped-call]
    registry.register(_Target(f"{gethostname()}:{port}"))
    server, thread = start_http_server(port, addr=host, registry=registry)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
