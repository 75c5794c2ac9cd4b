"""A TCP proxy that cuts streams in the middle, resets, stalls or silences connections."""

import asyncio
import random
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Sequence
from contextlib import suppress

__all__ = ["Proxy"]

_PIECE = 65_536
_CUT_CHANCE = 0.25


class Proxy:
    """A proxy that listens on one port and forwards each connection to one of several others.

    Attributes:
        port: The port on which it listens.
        connections: The number of connections made.
        cut: The number of connections that it ended mid-stream.
        stalled: While true, nothing moves.
        cutting: While true, each piece of a stream may be its last, and arrive in part.
    """

    def __init__(self, targets: Sequence[int], *, seed: int = 0) -> None:
        self.targets = list(targets)
        self.connections = self.cut = 0
        self.stalled = self.cutting = False
        self._silent_before = 0
        self._chance = random.Random(seed)  # noqa: S311 - chooses what to break
        self._open: set[tuple[StreamWriter, StreamWriter]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        listening = asyncio.start_server(self._join, "127.0.0.1", 0)
        self._server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        self.port: int = self._server.sockets[0].getsockname()[1]

    def drop(self) -> None:
        """Reset every open connection."""
        self._loop.call_soon_threadsafe(self._drop)

    def silence(self) -> None:
        """Silence all open connections forever without closing them; new ones work."""
        self._silent_before = self.connections

    def close(self) -> None:
        """Stop the proxy."""

        async def end() -> None:
            self._server.close()
            self._drop()
            own = asyncio.current_task()
            others = [task for task in asyncio.all_tasks() if task is not own]
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        asyncio.run_coroutine_threadsafe(end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _drop(self) -> None:
        for pair in list(self._open):
            for writer in pair:
                writer.transport.abort()

    async def _join(self, reader: StreamReader, writer: StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        target = self._chance.choice(self.targets)
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            writer.transport.abort()
            return
        pair = (writer, far_writer)
        self._open.add(pair)
        with suppress(asyncio.CancelledError):  # at the end; asyncio would print it
            await asyncio.gather(
                self._pump(reader, far_writer, pair, number),
                self._pump(far_reader, writer, pair, number),
            )
        self._open.discard(pair)

    async def _pump(
        self,
        source: StreamReader,
        target: StreamWriter,
        pair: tuple[StreamWriter, StreamWriter],
        number: int,
    ) -> None:
        with suppress(OSError):
            while piece := await source.read(_PIECE):
                while self.stalled or number <= self._silent_before:  # noqa: ASYNC110
                    await asyncio.sleep(0.05)  # other threads set both
                if self.cutting and self._chance.random() < _CUT_CHANCE:
                    self.cut += 1
                    target.write(piece[: self._chance.randrange(len(piece))])
                    await target.drain()
                    for writer in pair:
                        writer.transport.abort()
                    return
                target.write(piece)
                await target.drain()
        target.close()
