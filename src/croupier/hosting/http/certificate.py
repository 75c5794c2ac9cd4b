"""The certificate of the proxy that terminates TLS: watched, since clients refuse an old one."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from cryptography.x509 import load_pem_x509_certificates

from croupier.hosting.incidents import Occurrence

__all__ = ["Certificate"]

_EXPIRED = Occurrence("certificate", "the TLS certificate of the proxy has expired")
_UNREADABLE = Occurrence("certificate", "the TLS certificate of the proxy cannot be read")


class Certificate:
    """A file of certificates, the first of which is the proxy's; read again when it changes.

    Args:
        file: In PEM, without a private key; None watches nothing.
        now: Returns the time.
    """

    def __init__(
        self, file: Path | None, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._file = file
        self._now = now
        self._seen: tuple[int, int] | None = None
        self.expires: datetime | None = None

    def occurrences(self) -> tuple[Occurrence, ...]:
        """Return what is wrong with the certificate now."""
        if self._file is None:
            return ()
        try:
            self._renew(self._file)
        except Exception:  # noqa: BLE001 - a file of somebody else, read by a library
            self._seen = self.expires = None
        if self.expires is None:
            return (_UNREADABLE,)
        return (_EXPIRED,) if self._now() >= self.expires else ()

    def _renew(self, file: Path) -> None:
        facts = file.stat()
        seen = (facts.st_mtime_ns, facts.st_ino)
        if seen != self._seen:
            first, *_ = load_pem_x509_certificates(file.read_bytes())
            self._seen, self.expires = seen, first.not_valid_after_utc
