"""Sums and incidents for the operator of the issuer, on a separate port.

A counter that moves with every enrolment is a log of arrivals to anybody who reads it often.
Therefore a worker adds up in memory and publishes sums, and tenths of the limit, once per minute.
"""

from collections import Counter

from prometheus_client import Gauge

from croupier.hosting.http.metrics import HostMetrics

__all__ = ["IssuerMetrics"]


class IssuerMetrics(HostMetrics):
    """The published sums of one worker."""

    def __init__(self) -> None:
        super().__init__()
        self._enrolled = Gauge(
            "croupier_enrolled_deciles",
            "tenths of the people that may be enrolled",
            registry=self.registry,
            multiprocess_mode="mostrecent",
        )

    def publish(self, given: Counter[int], *, enrolled_deciles: int | None) -> None:
        """Add the sums to what is published; None if the number of people is not known now."""
        self.publish_answers(given)
        if enrolled_deciles is not None:
            self._enrolled.set(enrolled_deciles)
