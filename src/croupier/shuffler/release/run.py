"""One run of release against a database, for the first or the second shuffler."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import psycopg

from croupier.errors import UntrustedError
from croupier.hosting.database.connection import connect
from croupier.plan.plan import Plan
from croupier.protocol.receipt import Receipt, ReceiptError
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.database.store import StoreError
from croupier.shuffler.release.predecessor import Predecessor
from croupier.shuffler.release.release import BatchOutcome, Releaser, UnpreparedError
from croupier.shuffler.release.second_release import SecondReleaser
from croupier.shuffler.release.successor import FirstReleaser, Successor

__all__ = ["in_vain", "release"]


def release(
    database: str,
    *,
    first: Predecessor | None = None,
    second: Successor | None = None,
    **settings: Any,
) -> Iterator[BatchOutcome]:
    """Yield the outcomes of a plan's batches, one after the other.

    Args:
        database: A libpq connection string or URL.
        first: For the second of two shufflers, the place in which the first one publishes.
        second: For the first of two shufflers, the place in which the second one publishes.
        settings: The other arguments of `Releaser`, all but its connection.
    """
    job: Callable[..., Releaser] = Releaser
    if first is not None:
        job = partial(SecondReleaser, first=first)
    elif second is not None:
        job = partial(FirstReleaser, second=second)
    try:
        with connect(database) as connection:
            if not states.prepared(connection):
                raise UnpreparedError
            states.require_schema(connection)
            yield from job(connection=connection, **settings).run()
    except psycopg.Error as error:
        raise StoreError(error, database=database) from None


def in_vain(database: str, plan: Plan, first: Predecessor) -> list[int]:
    """Return the rounds that the first shuffler hands over although they were given up here."""
    try:
        with connect(database) as connection:
            stored = states.progress(connection, plan.digest, round_number=0, receipt_number=0)
        own = [Receipt.read(document) for document in stored.receipts]
        return first.handed_over_in_vain(own)
    except (ReceiptError, UntrustedError):  # told as a refused hand-over
        return []
    except psycopg.Error as error:
        raise StoreError(error, database=database) from None
