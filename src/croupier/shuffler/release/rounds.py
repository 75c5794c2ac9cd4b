"""Opening of a round: its batch, its secrets, and the signed key list that announces it."""

import os
from collections.abc import Sequence

from croupier.errors import ParameterError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.key_list import ShufflerKey, is_current
from croupier.protocol.party_keys import ShufflerKeys, Signers
from croupier.protocol.query import Query, require_query
from croupier.protocol.wire import BATCH_SIZE, Epoch
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.database.store import Store
from croupier.shuffler.handover import Handover, TagKey
from croupier.shuffler.openings import signed_opening
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.witness import Record, Witness

__all__ = ["open_round"]


async def open_round(  # noqa: PLR0913 - keyword-only facts about one round
    plan: Plan,
    *,
    store: Store,
    keys: ReleaseKeys,
    shuffler: ShufflerKeys,
    handover: Handover,
    analyzer: bytes | None = None,
    round_number: int | None = None,
    query: Query | None = None,
) -> Batch:
    """Open the next round of a plan, or return the one that is open or may be again.

    A sealed batch that turns out too small is opened again: with a next round open nobody would
    fill it, and a report could be in both.

    Secrets come first, then the hand-over of the tag key, and the announcement last. A crash
    therefore leaves a complete open batch, or secrets that no batch names: files that open nothing
    and that a later release sweeps. The witness records the round once it is in the database, and
    before anybody is told of it.

    Args:
        plan: The plan of the collection; names the shuffler's root.
        store: The database.
        keys: The directory of secrets.
        shuffler: The root's list, which names the keys of the round.
        handover: The directory in which intake finds the tag key.
        analyzer: The analyzer's public key, that reports of the round are sealed to; that of the
            round before if left out. A round that is open keeps its own, and another key is used
            from the next round on.
        round_number: The round; the one after the newest if left out. A round that was opened
            before is returned as it is.
        query: The query of the round, if rounds ask by query. A round that is open keeps its own.

    Raises:
        ParameterError: A query is missing or not allowed; or the plan cannot be run; or the
            round is older than the newest and was never opened.
        RolledBackError: The database lacks a round or a receipt that was published.
        KeyFileError: The directory lacks the key that the list names for the round.
        UntrustedError: The query is not the analyzer's, or is for another plan or round; or the
            list is not the root's, is older than one that was followed, or names another key for
            a round that is open.
    """
    plan.require_deployable()
    signers = Signers.of(plan, shuffler)
    witness = Witness(keys, plan=plan.digest)
    seen = await witness.follow(store, signers)
    known = await store.batches(plan.digest)
    witness.follow_list(signers, known)
    for batch in known:
        if batch.round_number == round_number or (round_number is None and batch.undecided):
            if query is not None and query.to_bytes().decode() != batch.query:
                raise UntrustedError(
                    "the query", f"is not that of round {batch.round_number}, which is open"
                )
            signed_opening(batch, signers)  # checks version and signature
            return batch
    if round_number is None:
        round_number = max(known[0].round_number + 1 if known else 0, seen.next_round)
    if round_number < seen.next_round:
        must = f"be above {seen.next_round - 1}, the newest round"
        raise ParameterError("round_number", must=must, got=round_number)
    require_query(query, plan, round_number=round_number)
    signing_key = keys.signer(shuffler.release_key(round_number))
    epoch = Epoch.of(
        plan,
        round_number=round_number,
        batch=os.urandom(BATCH_SIZE),
        analyzer=_next_analyzer(signers, known, seen) if analyzer is None else analyzer,
        query=b"" if query is None else query.digest,
    )
    async with store.opening():
        secrets = keys.create_batch(epoch.batch, plan=plan.digest, tags=epoch.owned)
        seal = shuffler.intake_key(round_number).seal
        handover.put(
            TagKey.make(
                plan,
                batch=epoch.batch,
                key=secrets.tag_key,
                seal=seal,
                signing_key=signing_key,
            )
        )
        announced = ShufflerKey.make(epoch, plan, key=secrets.outer, signing_key=signing_key)
        opened = await store.open_batch(
            epoch.batch,
            plan=plan.digest,
            round_number=round_number,
            opening=announced.to_bytes().decode(),
            query=None if query is None else query.to_bytes().decode(),
        )
        if opened is not None:
            await witness.follow(store, signers)
            witness.follow_list(signers, [opened])
            return opened
        handover.destroy(epoch.batch)  # another process was faster
        keys.destroy(epoch.batch)
    return await open_round(
        plan,
        store=store,
        keys=keys,
        shuffler=shuffler,
        handover=handover,
        analyzer=analyzer,
        round_number=round_number,
        query=query,
    )


def _next_analyzer(signers: Signers, known: Sequence[Batch], seen: Record) -> bytes:
    """Return the analyzer's public key that the newest round was opened for.

    A database that was recovered may have an older one, which was replaced since.
    """
    kept = known and is_current(known[0].opening) and known[0].round_number >= (seen.resumed or 0)
    if not kept:
        raise ParameterError(
            "--analyzer",
            must="be given for the first round, also after croupier recover: its reports are "
            "sealed to that key",
            hint="Run: croupier release --next-round --analyzer FILE.",
        )
    return bytes.fromhex(signed_opening(known[0], signers).analyzer)
