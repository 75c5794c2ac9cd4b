"""The options that tell two shufflers in a row where the other one publishes."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.seen_lists import SeenLists

if TYPE_CHECKING:
    from croupier.shuffler.release.predecessor import Predecessor
    from croupier.shuffler.release.successor import Successor

__all__ = ["HandTo", "TakeFrom", "first_shuffler", "second_shuffler"]

TakeFrom = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="For the second of two shufflers: the place in which the first one publishes.",
        metavar="PLACE",
    ),
]
HandTo = Annotated[
    str | None,
    typer.Option(
        "--to",
        help="For the first of two shufflers: the place in which the second one publishes.",
        metavar="PLACE",
    ),
]


def first_shuffler(place: str | None, plan: Plan, keys: Path) -> "Predecessor | None":
    """Return the place in which the first shuffler publishes, for the second one."""
    if place is None:
        return None
    from croupier.shuffler.release.object_storage import read_storage  # noqa: PLC0415 - the extra `service`
    from croupier.shuffler.release.predecessor import Predecessor  # noqa: PLC0415

    return Predecessor(plan, read_storage(place, keys), SeenLists(keys))


def second_shuffler(
    place: str | None, plan: Plan, *, hop: int, next_round: bool
) -> "Successor | None":
    """Return the place in which the second shuffler publishes, for the first one."""
    wanted = hop < len(plan.shufflers) - 1
    if (place is not None) > wanted or (wanted and next_round and place is None):
        raise ParameterError(
            "--to",
            must="be given exactly for the first of two shufflers, to open a round",
            hint="Name the place in which the second shuffler publishes."
            if wanted
            else "Leave it out.",
        )
    if place is None:
        return None
    from croupier.shuffler.release.object_storage import read_storage  # noqa: PLC0415 - the extra `service`
    from croupier.shuffler.release.successor import Successor  # noqa: PLC0415

    return Successor(plan, read_storage(place, Path()))
