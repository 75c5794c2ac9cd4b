"""TLS errors that no retry helps against, told from silence.

A server that is down comes back; a certificate that is not believed stays as it is until somebody
acts. Only reasons of the second kind are named here. A connection that breaks off during the
handshake counts as silence.
"""

import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

from croupier.errors import CertificateError

__all__ = ["certificate_error"]

_AUTHORITY = (
    "Serve a certificate that this device trusts, or name its authority's in SSL_CERT_FILE."
)
_NAME = "Check the address; the certificate must name this host."
_RENEW = "Renew it, or set the clock of this device."
_VERSIONS = "Offer TLS 1.2 or later."

_UNVERIFIED = {
    9: ("certificate not yet valid", _RENEW),
    10: ("certificate expired", _RENEW),
    18: ("self-signed certificate", _AUTHORITY),
    19: ("self-signed certificate in the chain", _AUTHORITY),
    20: ("certificate of an unknown authority", _AUTHORITY),
    21: ("certificate of an unknown authority", _AUTHORITY),
    62: ("hostname mismatch", _NAME),
    64: ("hostname mismatch", _NAME),
}
"""Reason and advice by OpenSSL's code of a failed verification (X509_V_ERR_...)."""

_UNUSABLE = {
    "WRONG_VERSION_NUMBER": ("no TLS on this port", "Check the port of the address."),
    "HTTP_REQUEST": ("no TLS on this port", "Check the port of the address."),
    "UNSUPPORTED_PROTOCOL": ("no common version of TLS", _VERSIONS),
    "TLSV1_ALERT_PROTOCOL_VERSION": ("no common version of TLS", _VERSIONS),
    "SSLV3_ALERT_HANDSHAKE_FAILURE": ("no common version or cipher of TLS", _VERSIONS),
    "TLSV1_UNRECOGNIZED_NAME": ("hostname mismatch", _NAME),
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": (
        "the server asks for a certificate of the client",
        "Turn that off: it would name the sender.",
    ),
}
"""Reason and advice by OpenSSL's name of a failed handshake."""


def certificate_error(error: BaseException, *, url: str) -> CertificateError | None:
    """Return the error to raise if the cause of a failed request stays; None if it may pass."""
    host = urlsplit(url).hostname or ""
    for cause in _chain(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            reason, hint = _UNVERIFIED.get(
                cause.verify_code, (f"certificate not verified ({cause.verify_code})", _AUTHORITY)
            )
            return CertificateError(host, reason, hint=hint)
        if isinstance(cause, ssl.SSLError) and cause.reason in _UNUSABLE:
            reason, hint = _UNUSABLE[cause.reason]
            return CertificateError(host, reason, hint=hint)
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, its cause, the cause of that, and so on."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
