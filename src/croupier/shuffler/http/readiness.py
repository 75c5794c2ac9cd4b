"""The readiness of a worker to store reports: told on request, and changes once to the log."""

import time
from dataclasses import dataclass, field

from croupier.shuffler.http.logs import log

__all__ = ["Readiness"]

_RENEWAL_SECONDS = 5.0
_STALE = "The batches were last read more than 5 seconds ago."


@dataclass
class Readiness:
    """The causes for which a worker is not ready, by the part that has failed.

    A cause is a fixed sentence: it may be shown to anybody who can reach the service.
    """

    _causes: dict[str, str] = field(default_factory=dict)
    _details: dict[str, str] = field(default_factory=dict)
    _renewed: float = field(default_factory=time.monotonic)
    _logged: str | None = None

    def renewed(self) -> None:
        """Note that the batches of every plan have just been read."""
        self._renewed = time.monotonic()

    def report(self, part: str, cause: str | None, *, detail: str = "") -> None:
        """Note why a part has failed, or that it works.

        Args:
            part: The part that was tried.
            cause: The reason why it failed; None if it works.
            detail: Text for the log only.
        """
        self._causes.pop(part, None)
        self._details.pop(part, None)
        if cause is not None:
            self._causes[part] = _sentence(cause)
            self._details[part] = detail
        self.cause()

    def failed(self, part: str) -> bool:
        """Tell whether a part has failed."""
        return part in self._causes

    def cause(self) -> str | None:
        """Say why the worker is not ready, None if it is; log it if it is not the last logged."""
        stale = time.monotonic() - self._renewed > _RENEWAL_SECONDS
        causes = list(dict.fromkeys(self._causes.values())) or [_STALE] * stale
        cause = " ".join(causes) or None
        if cause != self._logged:
            self._logged = cause
            if cause is None:
                log.info("ready again")
            else:
                details = " ".join(filter(None, self._details.values()))
                log.error("not ready", cause=cause, **({"detail": details} if details else {}))
        return cause


def _sentence(cause: str) -> str:
    return f"{cause[0].upper()}{cause[1:].removesuffix('.')}."
