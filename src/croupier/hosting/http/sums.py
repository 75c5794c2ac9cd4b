"""The sums of all workers of a service, on a separate port.

A counter that moves with every request is a log of arrivals to anybody who reads it often.
Therefore a worker adds up in memory and publishes sums once per minute.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from socket import gethostname

from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.metrics_core import InfoMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

__all__ = ["DIRECTORY_VARIABLE", "forget", "serve_sums"]

DIRECTORY_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the directory of the workers' sums."""


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
def serve_sums(directory: Path, *, host: str, port: int) -> Iterator[int]:
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
