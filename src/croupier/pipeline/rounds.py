"""Opening a round: its batch, its secrets, and the signed key list that announces it."""

import os

from croupier.model.plan import Plan
from croupier.pipeline.key_list import ShufflerKey
from croupier.pipeline.keys import KeyDirectory
from croupier.pipeline.store import Batch, Store
from croupier.pipeline.wire import BATCH_SIZE, Epoch

__all__ = ["SHUFFLER", "open_round"]

SHUFFLER = "shuffler"
"""The name of the shuffler's signing key in its key directory."""


async def open_round(
    plan: Plan,
    *,
    store: Store,
    keys: KeyDirectory,
    round_number: int | None = None,
    query: str | None = None,
) -> Batch:
    """Open the next round of a plan, or return the one that is open.

    Secrets come first and the announcement last, so that a crash leaves a whole open batch, or
    secrets that no batch names: files that open nothing.

    Args:
        plan: What is collected; names the shuffler's signing key.
        store: Where batches are.
        keys: Where secrets are.
        round_number: Which round; the one after the newest if left out. A round that was opened
            before is returned as it is.
        query: The analyzer's signed question, for rounds that depend on earlier ones.
    """
    known = await store.batches(bytes.fromhex(plan.digest))
    for batch in known:
        if batch.round == round_number or (round_number is None and batch.state == "open"):
            return batch
    if round_number is None:
        round_number = known[0].round + 1 if known else 0
    signing_key = keys.signing_key(SHUFFLER)
    epoch = Epoch.of(plan, round_number=round_number, batch=os.urandom(BATCH_SIZE))
    secrets = keys.create_batch(epoch.batch)
    announced = ShufflerKey.make(epoch, plan, key=secrets.outer, signing_key=signing_key)
    batch = Batch(
        batch=epoch.batch,
        plan=bytes.fromhex(plan.digest),
        round=round_number,
        state="open",
        keys=announced.to_bytes().decode(),
        query=query,
    )
    if await store.open_batch(batch):
        return batch
    keys.destroy(epoch.batch)  # another process was quicker
    return await open_round(plan, store=store, keys=keys, round_number=round_number, query=query)
