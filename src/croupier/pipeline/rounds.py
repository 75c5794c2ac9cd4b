"""Opening a round: its batch, its secrets, and the signed key list that announces it."""

import os

from croupier.errors import UntrustedError
from croupier.model.deployable import require_deployable
from croupier.model.plan import Plan
from croupier.pipeline.key_list import ShufflerKey
from croupier.pipeline.keys import KeyDirectory
from croupier.pipeline.query import Query, require_query
from croupier.pipeline.store import Batch, Store
from croupier.pipeline.wire import BATCH_SIZE, Epoch

__all__ = ["SHUFFLER", "open_round"]

SHUFFLER = "shuffler"
"""The name of the shuffler's signing key in its key directory."""

_UNDECIDED = ("open", "sealed")


async def open_round(
    plan: Plan,
    *,
    store: Store,
    keys: KeyDirectory,
    round_number: int | None = None,
    query: Query | None = None,
) -> Batch:
    """Open the next round of a plan, or return the one that is open or may be again.

    A sealed batch that turns out too small is opened again: beside a next round nobody would fill
    it, and a report could be in both.

    Secrets come first and the announcement last, so that a crash leaves a whole open batch, or
    secrets that no batch names: files that open nothing, swept by a later release.

    Args:
        plan: What is collected; names the shuffler's signing key.
        store: Where batches are.
        keys: Where secrets are.
        round_number: Which round; the one after the newest if left out. A round that was opened
            before is returned as it is.
        query: What the round asks, where rounds ask by query. A round that is open keeps its own.

    Raises:
        ParameterError: A query is missing, or none belongs here; or the plan cannot be run.
        UntrustedError: The query is not the analyzer's, or is for another plan or round.
    """
    require_deployable(plan)
    known = await store.batches(bytes.fromhex(plan.digest))
    for batch in known:
        if batch.round == round_number or (round_number is None and batch.state in _UNDECIDED):
            if query is not None and query.to_bytes().decode() != batch.query:
                raise UntrustedError(
                    "the query", f"is not that of round {batch.round}, which is open"
                )
            return batch
    if round_number is None:
        round_number = known[0].round + 1 if known else 0
    require_query(query, plan, round_number=round_number)
    signing_key = keys.signing_key(SHUFFLER)
    epoch = Epoch.of(
        plan,
        round_number=round_number,
        batch=os.urandom(BATCH_SIZE),
        query=b"" if query is None else query.digest,
    )
    async with store.opening():
        secrets = keys.create_batch(epoch.batch, plan=plan.digest)
        announced = ShufflerKey.make(epoch, plan, key=secrets.outer, signing_key=signing_key)
        batch = Batch(
            batch=epoch.batch,
            plan=bytes.fromhex(plan.digest),
            round=round_number,
            state="open",
            keys=announced.to_bytes().decode(),
            query=None if query is None else query.to_bytes().decode(),
        )
        if await store.open_batch(batch):
            return batch
        keys.destroy(epoch.batch)  # another process was quicker
    return await open_round(plan, store=store, keys=keys, round_number=round_number, query=query)
