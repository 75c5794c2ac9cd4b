"""Sums and incidents for the operator of intake, on a separate port.

A counter that moves with every report is a log of arrivals to anybody who reads it often.
Therefore a worker adds up in memory and publishes sums, and tenths of the minimum, once per minute.
"""

from collections import Counter

from prometheus_client import Counter as Published
from prometheus_client import Gauge

from croupier.hosting.http.metrics import HostMetrics
from croupier.shuffler.intake.intake import IntakeTally

__all__ = ["Metrics"]


class Metrics(HostMetrics):
    """The published sums of one worker."""

    def __init__(self) -> None:
        super().__init__()
        self._rows = Published(
            "croupier_envelopes",
            "envelopes committed (repeated ones included), refused because the batch was closed, "
            "or failed with the database",
            ["outcome"],
            registry=self.registry,
        )
        self._commits = Published("croupier_commits", "transactions", registry=self.registry)
        self._full = Gauge(
            "croupier_full_batches",
            "open batches that take no more: --maximum-batch is reached, or their keys are missing",
            registry=self.registry,
            multiprocess_mode="mostrecent",
        )
        self._fill = Gauge(
            "croupier_fill_deciles",
            "tenths of the minimum that the open batch has, at most 10; -1 if none is open",
            ["plan"],
            registry=self.registry,
            multiprocess_mode="mostrecent",
        )

    def fill(self, plan: str, decile: int | None) -> None:
        """Show how full the open batch of a plan is."""
        self._fill.labels(plan).set(-1 if decile is None else decile)

    def publish(self, given: Counter[int], intake: IntakeTally, *, full_batches: int) -> None:
        """Add the sums to what is published and set them to zero."""
        self.publish_answers(given)
        self._full.set(full_batches)
        for outcome in ("committed", "refused", "failed"):
            self._rows.labels(outcome).inc(getattr(intake, outcome))
            setattr(intake, outcome, 0)
        self._commits.inc(intake.commits)
        intake.commits = 0
