"""Work of release that should have been done by now, and clocks by which nobody could tell."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import cast

from croupier.plan.plan import Plan
from croupier.shuffler.database.batch import CLOCKS_AGREE, Batch
from croupier.shuffler.database.store import SignsOfLife

__all__ = ["overdue"]

_ROUNDS_WITHOUT_RELEASE = 2
_TIMER = timedelta(minutes=1)
"""The time that release always has: in a trial, a round may be shorter."""


def overdue(
    plan: Plan, batches: Sequence[Batch], signs: SignsOfLife, *, host_now: datetime | None = None
) -> Iterator[tuple[str, str]]:
    """Yield name and cause of each incident: release is late, a batch is old, clocks disagree.

    Args:
        plan: The plan.
        batches: All its batches, the newest round first.
        signs: The clock of the database, and when release last ran.
        host_now: The clock of this host; read if left out.
    """
    every = plan.collection.every
    waiting = [batch for batch in batches if batch.state != "shredded"]
    if waiting:
        last = max(signs.ran or waiting[0].opened, *(batch.opened for batch in waiting))
        if signs.now - last > max(_ROUNDS_WITHOUT_RELEASE * every, _TIMER):
            yield "release-late", "croupier release has not run for two rounds"
    elif batches and signs.now - batches[0].opened > max(_ROUNDS_WITHOUT_RELEASE * every, _TIMER):
        yield "no-round", "no round has been open for two rounds"
    disposal_age = cast("timedelta", plan.protections.disposal_age)  # the plan fills it in
    for batch in waiting:
        # Release has a round's time to dispose of it.
        age = signs.now - batch.opened
        if batch.undecided and age > disposal_age + max(every, _TIMER):
            yield "batch-old", f"the batch of round {batch.round_number} is past its disposal age"
    host = datetime.now(UTC) if host_now is None else host_now
    if abs(host - signs.now) > CLOCKS_AGREE:
        yield "clock", "the clocks of the database and of this host differ by over 10 minutes"
    elif any(batch.opened - signs.now > CLOCKS_AGREE for batch in waiting):
        yield "clock", "the clock is before the beginning of a round: it was set back"
