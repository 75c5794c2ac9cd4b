"""An object store on this machine: the server of moto, with one bucket."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.error import URLError
from urllib.request import Request, urlopen

from benchmarks.machine import free_port

__all__ = ["BUCKET", "MotoServer", "moto_server"]

BUCKET = "croupier"
_STARTING = 60.0
_VERSIONING = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"


@dataclass(frozen=True)
class MotoServer:
    """A running server.

    Attributes:
        url: Its endpoint.
    """

    url: str

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which clients find and open it."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "access",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }

    def request(self, method: str, path: str, data: bytes | None = None) -> bytes:
        """Send a request without a signature, which the server accepts."""
        headers = {"Content-Type": "text/plain"}
        request = Request(self.url + path, method=method, data=data, headers=headers)  # noqa: S310
        with urlopen(request, timeout=10) as answer:  # noqa: S310 - our own server
            return bytes(answer.read())

    def keep_versions(self) -> None:
        """Keep what is overwritten or deleted from now on as an older version."""
        self.request("PUT", f"/{BUCKET}?versioning", _VERSIONING)

    def require_known_credentials(self, *, required: bool) -> None:
        """Refuse all credentials, since the server knows of no user; or accept any again."""
        self.request("POST", "/moto-api/reset-auth", b"0" if required else b"inf")


@contextmanager
def moto_server() -> Iterator[MotoServer]:
    """Start a server in a process of its own."""
    port = free_port()
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(  # noqa: S603 - moto's own program
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            server = MotoServer(f"http://127.0.0.1:{port}")
            _make_bucket(server, process)
            yield server
        finally:
            process.kill()


def _make_bucket(server: MotoServer, process: subprocess.Popen[bytes]) -> None:
    """Make the bucket as soon as the server answers."""
    end = time.monotonic() + _STARTING
    while time.monotonic() < end and process.poll() is None:
        try:
            server.request("PUT", f"/{BUCKET}")
        except (URLError, ConnectionError):
            time.sleep(0.05)
        else:
            return
    raise SystemExit("moto's server does not start: pip install 'moto[s3]' flask flask-cors")
