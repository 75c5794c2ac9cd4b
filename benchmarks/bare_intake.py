"""The reference for `intake.py`: an ASGI application that only commits with COPY.

No credentials, no limits, no tags, no index: it stores a random key and the body.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import psycopg

ENVELOPE = 128
WRITERS = 1
LINGER = 0.005
HEAD = b"PGCOPY\n\xff\r\n\0" + bytes(8)
KEY, VALUE = b"\0\2\0\0\0\x10", b"\0\0\0\x80"
ACCEPTED = {"type": "http.response.start", "status": 202, "headers": [(b"content-length", b"0")]}


class Bare:
    """One worker."""

    def __init__(self) -> None:
        self.waiting: list[tuple[bytes, asyncio.Future[None]]] = []
        self.filled = asyncio.Event()

    async def __call__(
        self,
        scope: Mapping[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        """Commit a body, then answer."""
        if scope["type"] == "lifespan":
            await receive()
            writers = [asyncio.create_task(self.write()) for _ in range(WRITERS)]
            await send({"type": "lifespan.startup.complete"})
            await receive()
            for writer in writers:
                writer.cancel()
            await send({"type": "lifespan.shutdown.complete"})
            return
        body, more = b"", True
        while more:
            message = await receive()
            body += message["body"]
            more = message["more_body"]
        committed = asyncio.get_running_loop().create_future()
        self.waiting.append((body, committed))
        self.filled.set()
        await committed
        await send(ACCEPTED)
        await send({"type": "http.response.body", "body": b""})

    async def write(self) -> None:
        """Copy waiting bodies into the table, forever."""
        async with await psycopg.AsyncConnection.connect(
            os.environ["CROUPIER_DATABASE"], autocommit=True
        ) as connection:
            while True:
                if not self.waiting:
                    self.filled.clear()
                    await self.filled.wait()
                    await asyncio.sleep(LINGER)
                    continue
                taken, self.waiting = self.waiting, []
                rows = [
                    KEY + os.urandom(16) + VALUE + body[start : start + ENVELOPE]
                    for body, _ in taken
                    for start in range(0, len(body), ENVELOPE)
                ]
                statement = "COPY bare FROM STDIN (FORMAT binary)"
                async with connection.cursor() as cursor, cursor.copy(statement) as copy:
                    await copy.write(HEAD + b"".join(rows) + b"\xff\xff")
                for _, committed in taken:
                    committed.set_result(None)


app = Bare
