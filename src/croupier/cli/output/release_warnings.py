"""Warnings of a release: what is no problem of a batch, but what an operator should know."""

from typing import TYPE_CHECKING

from croupier.plan.plan import Plan
from croupier.protocol.key_list import ShufflerKey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from croupier.shuffler.database.batch import Batch
    from croupier.shuffler.release.predecessor import Predecessor

__all__ = ["first_warnings", "key_warnings"]


def key_warnings(
    held: "Sequence[Batch]", opened: ShufflerKey | None, shown: str | None
) -> list[str]:
    """Warn that rounds are sealed to another key of the analyzer than its file shows.

    Args:
        held: The batches that are not settled.
        opened: The opening of the next round, if there is one.
        shown: The key that the analyzer's signed file shows; None if there is no file.
    """
    from croupier.shuffler.openings import sealed_to_another  # noqa: PLC0415 - the extra `service`

    if shown is None:
        return []
    new = [opened.round] if opened is not None and opened.analyzer != shown else []
    rounds = sorted({*sealed_to_another(held, shown), *new})
    if not rounds:
        return []
    which = f"round{'s' if len(rounds) > 1 else ''} {', '.join(map(str, rounds))}"
    warning = (
        f"The reports of {which} are sealed to another key of the analyzer than its signed file "
        "shows. If it has replaced its key, it must keep the old one until it has analyzed them."
    )
    return [warning]


def first_warnings(first: "Predecessor", plan: Plan, database: str) -> list[str]:
    """Warn the second shuffler of batches that are handed over and were given up here."""
    from croupier.shuffler.release.run import in_vain  # noqa: PLC0415 - the extra `service`

    return [
        f"The first shuffler hands over round {number}, which was disposed of or lost here: its "
        "key is destroyed, and it is not released."
        for number in in_vain(database, plan, first)
    ]
