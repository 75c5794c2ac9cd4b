"""Opening of a round: its batch, its secrets, and the signed key list that announces it."""

import os
from collections.abc import Sequence

from croupier.errors import ParameterError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.key_list import Onward, ShufflerKey, is_current
from croupier.protocol.party_keys import ShufflerKeys, Signers, hop_of
from croupier.protocol.query import Query, require_query
from croupier.protocol.wire import BATCH_SIZE, Epoch
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.database.store import Store
from croupier.shuffler.handover import Handover, TagKey
from croupier.shuffler.openings import signed_opening
from croupier.shuffler.release.keys import ReleaseKeys
from croupier.shuffler.witness import Record, Witness

__all__ = ["open_round"]

_AHEAD = 1
"""The number of rounds that a second shuffler opens before they are needed."""


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
    least: int = 0,
    offered: Sequence[Onward] = (),
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
        least: For the second shuffler, the least round that the first one can still open. It opens
            one round ahead, so that the first one never waits for it.
        offered: For the first of two shufflers, the rounds that the second one has opened.

    Raises:
        ParameterError: A query is missing or not allowed; or the plan cannot be run; or the
            round is older than the newest and was never opened.
        RolledBackError: The database lacks a round or a receipt that was published.
        KeyFileError: The directory lacks the key that the list names for the round.
        UntrustedError: The query is not the analyzer's, or is for another plan or round; or the
            list is not the root's, is older than one that was followed, or names another key for
            a round that is open; or the second shuffler's opening names a batch that is another
            round's or another plan's.
    """
    plan.require_deployable()
    hop = hop_of(shuffler, plan)
    signers = Signers.of(plan, shuffler, hop)
    witness = Witness(keys, plan=plan.digest)
    seen = await witness.follow(store, signers)
    known = await store.batches(plan.digest)
    witness.follow_list(signers, known)
    waiting = [batch for batch in known if batch.undecided]
    for batch in known if hop == 0 or len(waiting) > _AHEAD else ():
        if batch.round_number == round_number or (round_number is None and batch.undecided):
            if query is not None and query.to_bytes().decode() != batch.query:
                raise UntrustedError(
                    "the query", f"is not that of round {batch.round_number}, which is open"
                )
            signed_opening(batch, signers)  # checks version and signature
            return batch
    if round_number is None:
        round_number = max(known[0].round_number + 1 if known else 0, seen.next_round, least)
    if round_number < seen.next_round:
        must = f"be above {seen.next_round - 1}, the newest round"
        raise ParameterError("round_number", must=must, got=round_number)
    sealed_to = _next_analyzer(signers, known, seen) if analyzer is None else analyzer
    onward = None if signers.is_last else _chosen(offered, plan, round_number, sealed_to)
    if onward is not None:
        round_number = onward.opening.round
    require_query(query, plan, round_number=round_number)
    signing_key = keys.signer(shuffler.release_key(round_number))
    identity = os.urandom(BATCH_SIZE) if onward is None else bytes.fromhex(onward.opening.batch)
    async with store.opening():
        # With a second shuffler the name is that shuffler's, and another job has the same.
        if onward is None or not await _is_opened(onward, store, keys, handover):
            handover.destroy(identity)  # what a job that died may have left under it
            keys.destroy(identity)
            secrets = keys.create_batch(
                identity,
                plan=plan.digest,
                tags=plan.shuffling.groups is not None,
                noise=plan.shufflers[hop].dummies is not None,
            )
            own = secrets.outer.public_key().public_bytes_raw()
            epoch = Epoch.of(
                plan,
                round_number=round_number,
                batch=identity,
                analyzer=sealed_to,
                query=b"" if query is None else query.digest,
                onward=(own,) if hop else _keys(onward),
            )
            if hop == 0:
                tag_key = TagKey.make(
                    plan,
                    batch=identity,
                    key=secrets.tag_key,
                    seal=shuffler.intake_key(round_number).seal,
                    signing_key=signing_key,
                )
                handover.put(tag_key)
            announced = ShufflerKey.make(
                epoch, plan, key=secrets.outer, signing_key=signing_key, hop=hop
            )
            opened = await store.open_batch(
                identity,
                plan=plan.digest,
                round_number=round_number,
                opening=announced.to_bytes().decode(),
                query=None if query is None else query.to_bytes().decode(),
                onward=None if onward is None else onward.to_bytes().decode(),
            )
            if opened is not None:
                await witness.follow(store, signers)
                witness.follow_list(signers, [opened])
                return opened
            handover.destroy(identity)  # another process was faster
            keys.destroy(identity)
    return await open_round(
        plan,
        store=store,
        keys=keys,
        shuffler=shuffler,
        handover=handover,
        analyzer=analyzer,
        query=query,
        least=least,
        offered=offered,
    )


def _chosen(offered: Sequence[Onward], plan: Plan, least: int, analyzer: bytes) -> Onward:
    """Return the second shuffler's opening of the next round that both can open.

    Raises:
        ParameterError: There is none yet, or it is for another key of the analyzer.
        UntrustedError: It is not the second shuffler's.
    """
    later = [each for each in offered if each.opening.round >= least]
    if not later:
        raise ParameterError(
            "--to",
            must=f"have the second shuffler's opening of round {least} or a later one",
            hint="Let the second shuffler run: croupier release --next-round.",
        )
    found = min(later, key=lambda each: each.opening.round)
    found.opening.check(Signers.of(plan, found.keys, hop=1))
    if found.opening.analyzer != analyzer.hex():
        raise ParameterError(
            "--analyzer",
            must="be the analyzer's key that the second shuffler opened the round for",
            got=f"{analyzer.hex()[:16]}…, and it opened for {found.opening.analyzer[:16]}…",
            hint="Both shufflers need the same signed key of the analyzer. If it has replaced its "
            "key since, leave --analyzer out: the round keeps the key of the round before.",
        )
    return found


async def _is_opened(onward: Onward, store: Store, keys: ReleaseKeys, handover: Handover) -> bool:
    """Tell whether another job has opened a round under the name that the second shuffler chose.

    What a job that died left under the name, for the same plan and round, is not in the database.

    Raises:
        UntrustedError: Another round or plan has a batch of that name: to open one more would
            overwrite its keys.
    """
    plan, number = onward.opening.plan, onward.opening.round
    identity = bytes.fromhex(onward.opening.batch)
    known = {batch.round_number: batch.identity for batch in await store.batches(plan)}
    if known.get(number) == identity:
        return True
    of_another_plan = keys.has_of_another_plan(identity, plan) or (
        handover.has(identity) and identity.hex() not in handover.batches(plan)
    )
    if of_another_plan or await store.is_known(identity):
        raise UntrustedError(
            f"the second shuffler's opening of round {number}",
            f"names batch {identity.hex()}, which is another round's or another plan's",
        )
    return False


def _keys(onward: Onward | None) -> tuple[bytes, ...]:
    return () if onward is None else (bytes.fromhex(onward.opening.key),)


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
