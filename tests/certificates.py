"""Certificates that are right or wrong in one way, and a TLS server on this machine with one."""

import socket
import ssl
import threading
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

DAY = timedelta(days=1)
WRONG = {
    "self-signed": "self-signed certificate",
    "expired": "certificate expired",
    "early": "certificate not yet valid",
    "wrong-name": "hostname mismatch",
    "unknown": "certificate of an unknown authority",
}
"""The reason that clients give, by what is wrong with a certificate."""


def pem(key):
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


class Authority:
    """An authority of certificates; `file` is its own one, for a client that trusts it."""

    def __init__(self, folder, name="authority"):
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        own = self._draft(self.name, self.key, -DAY, DAY).add_extension(constraints, critical=True)
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(own.sign(self.key, hashes.SHA256()).public_bytes(Encoding.PEM))

    def _draft(self, subject, key, start, end, issuer=None):
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer or subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + start)
            .not_valid_after(now + end)
        )

    def context(self, kind):
        """Return the context of a server with a certificate of a kind in WRONG, or "right"."""
        start, end = {"expired": (-2 * DAY, -DAY), "early": (DAY, 2 * DAY)}.get(kind, (-DAY, DAY))
        if kind == "unknown":
            return Authority(self.folder, "another").context("right")
        key = ec.generate_private_key(ec.SECP256R1())
        name = "other.example" if kind == "wrong-name" else "localhost"
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        own = kind == "self-signed"
        draft = self._draft(subject, key, start, end, None if own else self.name)
        names = x509.SubjectAlternativeName([x509.DNSName(name)])
        signer = key if own else self.key
        made = draft.add_extension(names, critical=False).sign(signer, hashes.SHA256())
        chain = self.folder / f"server-{kind}.pem"
        chain.write_bytes(pem(key) + made.public_bytes(Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain)
        return context


class TlsServer(threading.Thread):
    """Counts connections, and answers requests with one body; without a context, without TLS."""

    def __init__(self, context, body=b""):
        super().__init__(daemon=True)
        self.context, self.body, self.connections = context, body, 0
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://localhost:{self.socket.getsockname()[1]}"

    def run(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            with connection:
                try:
                    self.answer(connection)
                except OSError:
                    continue

    def answer(self, connection):
        if self.context is None:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return
        with self.context.wrap_socket(connection, server_side=True) as wrapped:
            wrapped.recv(65536)
            head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
            wrapped.sendall(head % len(self.body) + self.body)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.socket.close()
