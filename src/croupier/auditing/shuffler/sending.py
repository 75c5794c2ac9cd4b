"""Test reports of an auditor, sent into a running shuffler and kept to be recognised."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import chain, repeat

import numpy as np

from croupier.auditing.shuffler.sent import Sent
from croupier.client.conversation import Outcome, Server, Steps, fetch, post_patiently
from croupier.engines.mixing import rows_of
from croupier.plan.plan import Plan
from croupier.protocol.key_list import KeyList, ShufflerKey
from croupier.protocol.party_keys import Signers
from croupier.protocol.query import Round
from croupier.protocol.wire import (
    Epoch,
    asks_by_query,
    encode_report,
    seal_inner,
    seal_outer,
    seal_second,
)

__all__ = ["Acknowledged", "send_test_reports"]


@dataclass
class Acknowledged:
    """Test reports that the shuffler acknowledged, in the order of sending."""

    envelopes: list[bytes] = field(default_factory=list)
    inner: list[bytes] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    batch: str = ""

    def __len__(self) -> int:
        return len(self.inner)

    def sent(self) -> Sent:
        """Return the input of `audit_shuffler`."""
        return Sent(
            rows_of(self.envelopes, length=len(self.envelopes[0]) if self.envelopes else 1),
            rows_of(self.inner, length=len(self.inner[0]) if self.inner else 1),
            np.array(self.times, dtype=np.float64),
            (self.batch,) * len(self),
        )


def send_test_reports(
    plan: Plan,
    requests: Iterable[tuple[Server, int]],
    *,
    acknowledged: Acknowledged,
    clock: Callable[[], float] = time.time,
) -> Steps[Outcome]:
    """Send nulls into the open batch, one request after the other.

    A null has the length of every report and counts in no estimate. It counts towards the minimum
    of its batch, like a report of somebody who hides nobody.

    Args:
        plan: The plan of the collection.
        requests: The server, the credential and the number of envelopes of each request.
        acknowledged: Receives what was acknowledged, even if the conversation ends early.
        clock: The time, in seconds.
    """
    sequence = iter(requests)
    first = next(sequence, None)
    if first is None:
        return Outcome.ACCEPTED
    keys = yield from _keys(plan, first[0])
    if isinstance(keys, Outcome):
        return keys
    shuffler = max(keys.shuffler, key=lambda entry: entry.round)
    epoch = yield from _epoch(plan, first[0], keys, shuffler)
    if isinstance(epoch, Outcome):
        return epoch
    acknowledged.batch = shuffler.batch
    report = encode_report(plan, None, round_number=shuffler.round)
    for server, size in chain([first], sequence):
        places = range(len(acknowledged), len(acknowledged) + size)
        inner = [seal_inner(report, epoch=epoch) for _ in places]
        onward = [seal_second(entry, epoch=epoch) for entry in inner] if epoch.onward else inner
        envelopes = [
            seal_outer(entry, key=shuffler.public_key, epoch=epoch, owner=owner)
            for entry, owner in zip(onward, places if epoch.owned else repeat(None), strict=False)
        ]
        started = clock()
        outcome = yield from post_patiently(server, envelopes, plan=plan, batch=shuffler.batch)
        if outcome is not Outcome.ACCEPTED:
            return outcome
        acknowledged.envelopes += envelopes
        acknowledged.inner += inner
        acknowledged.times += [started] * size
    return Outcome.ACCEPTED


def _keys(plan: Plan, server: Server) -> Steps[KeyList | Outcome]:
    """Fetch the signed key list, with at least one open batch."""
    body = yield from fetch(plan, server)
    if body is None:
        return Outcome.EXPIRED
    keys = KeyList.verified(body, plan)
    return keys if keys.shuffler else Outcome.CLOSED


def _epoch(
    plan: Plan, server: Server, keys: KeyList, shuffler: ShufflerKey
) -> Steps[Epoch | Outcome]:
    """Return what seals are bound to, with the query if the round asks by one."""
    if not asks_by_query(plan):
        return shuffler.epoch(plan)
    body = yield from fetch(plan, server, f"/rounds/{shuffler.round}")
    if body is None:
        return Outcome.EXPIRED
    query = Round.verified(body, plan, Signers.of(plan, keys.keys)).query
    return shuffler.epoch(plan, query=b"" if query is None else query.digest)
