"""Many people's reports over one connection: a relay that vouches for them, or a simulation."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from croupier.client.client import seal
from croupier.client.conversation import (
    Outcome,
    Server,
    Steps,
    fetch,
    post_patiently,
    require_credential,
)
from croupier.client.oblivious import require_no_relay
from croupier.errors import ParameterError
from croupier.numerics.arrays import np
from croupier.numerics.keystream import Keystream
from croupier.protocol.key_list import KeyList
from croupier.protocol.wire import encode_report, question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from croupier.plan.plan import Plan
    from croupier.protocol.wire import Epoch

__all__ = ["send_all"]


def send_all(  # noqa: PLR0913 - keyword-only facts about one upload
    plan: Plan,
    columns: Iterable[NDArray[Any]],
    *,
    server: Server,
    per_request: int = 100,
    sent: Callable[[int], None],
    rng: Keystream | None = None,
) -> Steps[Outcome]:
    """Randomise, seal and send values, one per person, for the open round.

    Nothing is remembered: a second run randomises afresh and sends second reports. A retry within
    the run sends the same bytes.

    Args:
        plan: A plan in which everybody answers in every round.
        columns: The values, in pieces.
        server: The address they go to; its credential must be a relay's if `per_request` exceeds 1.
        per_request: The number of envelopes per request.
        sent: A function that receives how many more have been accepted.
        rng: The source of noise; the operating system if left out.

    Raises:
        SupersededError: Another plan took the place of this one.
        NotOfferedError: The server does not have the plan.
    """
    if not plan.participation_model.one_batch:
        raise ParameterError(
            "participation.model",
            must="let everybody answer in every round",
            got=plan.participation_model.model,
            hint="Use one Client per person: it remembers whose turn it is.",
        )
    require_credential(plan)
    require_no_relay(plan, server)
    body = yield from fetch(plan, server)
    if body is None:
        return Outcome.EXPIRED
    keys = KeyList.verified(body, plan)
    if not keys.shuffler:
        return Outcome.CLOSED
    shuffler = max(keys.shuffler, key=lambda entry: entry.round)
    epoch = shuffler.epoch(plan)
    reports = _encoded(plan, columns, epoch, rng)
    owned = plan.shuffling.groups is not None
    envelopes = (
        seal(report, epoch=epoch, shuffler=shuffler, owner=owner if owned else None)
        for owner, report in zip(count(), reports, strict=False)
    )
    for group in _groups(envelopes, per_request):
        outcome = yield from post_patiently(server, group, plan=plan, batch=shuffler.batch)
        if outcome is not Outcome.ACCEPTED:
            return outcome
        sent(len(group))
    return Outcome.ACCEPTED


def _encoded(
    plan: Plan, columns: Iterable[NDArray[Any]], epoch: Epoch, rng: Keystream | None
) -> Iterator[bytes]:
    stream = Keystream() if rng is None else rng
    mechanism = question(plan, epoch.round_number).in_batches((epoch.name,))
    for values in columns:
        for report in np.asarray(mechanism.randomize(values, rng=stream)):
            yield encode_report(plan, report, round_number=epoch.round_number)


def _groups(envelopes: Iterator[bytes], size: int) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    for envelope in envelopes:
        group.append(envelope)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group
