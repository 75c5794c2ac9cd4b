"""Simulated people: their values, and their clients, each with a credential of its own."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

from croupier.client.client import Client
from croupier.client.conversation import Outcome, Server, converse, submit_async
from croupier.client.memory import MemoryState
from croupier.errors import CroupierError
from croupier.plan.plan import Plan

__all__ = ["answers", "send"]

_AT_ONCE = 8


def answers(people: int, *, k: int) -> NDArray[np.int64]:
    """Draw people's values: one is common, the next half as common, and so on, at random."""
    weights = np.geomspace(1, 2.0**-k, k)
    return np.random.default_rng().choice(k, size=people, p=weights / weights.sum())


async def send(
    plan: Plan,
    values: Sequence[int],
    *,
    credentials: Sequence[str],
    url: str,
    sent: Callable[[int, bytes], None],
) -> None:
    """Let everybody's client take part in the open round.

    Args:
        plan: The plan that they agreed to.
        values: Their values.
        credentials: Their credentials.
        url: The address of the shuffler.
        sent: A function that receives person and envelope, once it is acknowledged.
    """
    transport = _Shared()

    async def one(person: int, credential: str) -> None:
        client = _Recorded(plan, attribute="demo", budget=10.0, memory=MemoryState(), spread=0.0)
        steps = converse(client, int(values[person]), server=Server(url=url, credential=credential))
        outcome = await submit_async(steps, transport=transport)
        if outcome is not Outcome.ACCEPTED:
            raise CroupierError(f"A client of the demo was not served: {outcome}.")
        sent(person, client.body)

    try:
        async with asyncio.TaskGroup() as group:
            for person, credential in enumerate(credentials):
                async with transport.room:  # start one when there is room for its requests
                    group.create_task(one(person, credential))
                    await asyncio.sleep(0)
    finally:
        await transport.close()


class _Recorded(Client):
    """A client whose envelope is shown to the referee of the demo."""

    body: bytes = b""

    def report(self, *arguments: Any, **settings: Any) -> Any:
        submission = super().report(*arguments, **settings)
        if submission is not None:
            self.body = submission.body
        return submission


class _Shared(httpx.AsyncBaseTransport):
    """Connections that outlive a conversation: thousands of clients on one machine share them."""

    def __init__(self) -> None:
        limits = httpx.Limits(max_connections=_AT_ONCE)
        self._transport = httpx.AsyncHTTPTransport(limits=limits)
        self.room = asyncio.Semaphore(_AT_ONCE)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        async with self.room:
            response = await self._transport.handle_async_request(request)
            await response.aread()
            return response

    async def close(self) -> None:
        await self._transport.aclose()
