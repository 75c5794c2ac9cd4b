"""Sums and incidents that every service shows its operator."""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime

from prometheus_client import CollectorRegistry, Gauge
from prometheus_client import Counter as Published

from croupier.hosting.incidents import Occurrence

__all__ = ["HostMetrics"]


class HostMetrics:
    """The published sums of one worker. Incidents are shown at once, as by /readyz.

    Attributes:
        registry: The registry that further sums of the service join.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._answers = Published(
            "croupier_answers", "answers given, by status", ["status"], registry=self.registry
        )
        self._incident = Gauge(
            "croupier_incident",
            "1 while the operator must act on an incident; plan is empty if it concerns all plans",
            ["incident", "plan"],
            registry=self.registry,
            multiprocess_mode="livemax",
        )
        self._expiry = Gauge(
            "croupier_certificate_expiry_timestamp_seconds",
            "when the certificate of the proxy expires, if --certificate names it",
            registry=self.registry,
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

    def publish_answers(self, given: Counter[int]) -> None:
        """Add the numbers of answers to what is published and set them to zero."""
        for status, count in given.items():
            self._answers.labels(str(status)).inc(count)
        given.clear()
