"""Signed openings of rounds, believed only for the row of the database that they were made for."""

from collections.abc import Iterable

from croupier.protocol.key_list import ShufflerKey, is_current, opening_of
from croupier.protocol.party_keys import Signers
from croupier.shuffler.database.batch import Batch

__all__ = ["sealed_to_another", "signed_opening"]


def signed_opening(batch: Batch, signers: Signers) -> ShufflerKey:
    """Return the opening of a batch's round.

    Raises:
        OldRoundError: Version 0.1 signed it.
        UntrustedError: It is not what the plan's shuffler signed for this round and this batch.
    """
    number, identity = batch.round_number, batch.identity
    return opening_of(batch.opening, signers, round_number=number, batch=identity)


def sealed_to_another(batches: Iterable[Batch], analyzer: str) -> list[int]:
    """Return the open rounds that were opened for another key of the analyzer than a given one."""
    return sorted(
        batch.round_number
        for batch in batches
        if batch.undecided
        and is_current(batch.opening)
        and ShufflerKey.model_validate_json(batch.opening).analyzer != analyzer
    )
