"""The readiness of a worker: its incidents, told on request, and changes to the log."""

import time
from collections.abc import Collection
from dataclasses import dataclass, field

from croupier.hosting.http.logs import log
from croupier.hosting.incidents import Occurrence

__all__ = ["Readiness", "stop_host"]

_RENEWAL_SECONDS = 5.0


@dataclass
class Readiness:
    """The incidents of a worker, by the part that has met them.

    Attributes:
        stale: The incident that nothing was read from the database for more than 5 seconds.
    """

    stale: Occurrence
    _found: dict[str, tuple[Occurrence, ...]] = field(default_factory=dict)
    _details: dict[str, str] = field(default_factory=dict)
    _renewed: float = field(default_factory=time.monotonic)
    _logged: frozenset[tuple[str, str | None]] = frozenset()

    def renewed(self) -> None:
        """Note that everything has just been read from the database."""
        self._renewed = time.monotonic()

    def report(self, part: str, *occurrences: Occurrence, detail: str = "") -> None:
        """Note what a part has met; nothing if it works.

        Args:
            part: The part that was tried.
            occurrences: What is wrong with it.
            detail: Text for the log only.
        """
        if (occurrences, detail) == (self._found.get(part, ()), self._details.get(part, "")):
            return
        self._found[part] = occurrences
        self._details[part] = detail
        self.occurrences()

    def failed(self, part: str) -> bool:
        """Tell whether a part has failed."""
        return bool(self._found.get(part))

    def occurrences(self) -> tuple[Occurrence, ...]:
        """Return what the operator must act on; log it if other incidents were logged last."""
        found = tuple(dict.fromkeys(each for part in self._found.values() for each in part))
        explained = any(each.incident.stops_host and each.plan is None for each in found)
        if not explained and time.monotonic() - self._renewed > _RENEWAL_SECONDS:
            found += (self.stale,)
        names = frozenset((each.name, each.plan) for each in found)
        if names != self._logged:
            self._logged = names
            self._log(found)
        return found

    def _log(self, found: tuple[Occurrence, ...]) -> None:
        if not found:
            log.info("ready again")
            return
        details = " ".join(filter(None, self._details.values()))
        log.error(
            "not ready",
            cause=" ".join(dict.fromkeys(each.sentence for each in found)),
            incidents=sorted({each.name for each in found}),
            **({"detail": details} if details else {}),
        )


def stop_host(found: Collection[Occurrence], plans: Collection[str]) -> tuple[Occurrence, ...]:
    """Return what keeps a host from storing reports while another host may.

    An incident of one plan stops the host only if every plan has one: the others need the host.
    """
    stopping = tuple(each for each in found if each.incident.stops_host)
    of_all = any(each.plan is None for each in stopping)
    of_each = {each.plan for each in stopping} >= set(plans)
    return stopping if of_all or of_each else ()
