"""A network between croupier and PostgreSQL that can fail."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class Proxy:
    """Passes connections on to a database, until they fall silent.

    Args:
        database: Where to.
        from_client: What becomes of the first bytes that a client sends.
        from_server: What becomes of every piece that the server sends.
    """

    def __init__(
        self,
        database: str,
        from_client: Callable[[bytes], bytes] = lambda data: data,
        from_server: Callable[[bytes], bytes] = lambda data: data,
    ) -> None:
        parts = conninfo_to_dict(database)
        self._target = (str(parts["host"]), int(parts.get("port") or 5432))
        self._from_client, self._from_server = from_client, from_server
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._silent = threading.Event()
        self._open: list[socket.socket] = [self._listening]
        port = self._listening.getsockname()[1]
        self.database = make_conninfo(
            database, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable"
        )
        threading.Thread(target=self._accept, daemon=True).start()

    def silence(self) -> None:
        """No byte of the connections that there are passes from now on; new ones work."""
        self._silent.set()
        self._silent = threading.Event()

    def close(self) -> None:
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                server = socket.create_connection(self._target)
                self._open += [client, server]
                with suppress(OSError):
                    server.sendall(self._from_client(client.recv(1 << 16)))
                ways = ((client, server, bytes), (server, client, self._from_server))
                for way in ways:
                    threading.Thread(
                        target=self._pass, args=(*way, self._silent), daemon=True
                    ).start()

    @staticmethod
    def _pass(
        source: socket.socket,
        target: socket.socket,
        change: Callable[[bytes], bytes],
        silent: threading.Event,
    ) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if not silent.is_set():
                    target.sendall(change(data))
            if not silent.is_set():
                target.shutdown(socket.SHUT_RDWR)


@contextmanager
def proxied(database: str, **changes: Callable[[bytes], bytes]) -> Iterator[Proxy]:
    """Run a network before a database until the end of the context."""
    proxy = Proxy(database, **changes)
    try:
        yield proxy
    finally:
        proxy.close()
