"""The options that tell two shufflers in a row where the other one publishes."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from pydantic import ValidationError

from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.key_list import Onward
from croupier.protocol.party_keys import LIST_FILE, ShufflerKeys, Signers
from croupier.protocol.receipt import Receipt
from croupier.protocol.seen_lists import SeenLists

if TYPE_CHECKING:
    from croupier.shuffler.release.predecessor import Predecessor
    from croupier.shuffler.release.storage import Storage

__all__ = ["HandTo", "TakeFrom", "first_shuffler", "rounds_offered"]

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


def rounds_offered(
    place: str | None, plan: Plan, *, hop: int, next_round: bool
) -> Callable[[], list[Onward]]:
    """Return a function that reads what the second shuffler has opened, for the first one."""
    wanted = hop < len(plan.shufflers) - 1
    if (place is not None) > wanted or (wanted and next_round and place is None):
        raise ParameterError(
            "--to",
            must="be given exactly for the first of two shufflers, to open a round",
            hint="Name the place in which the second shuffler publishes."
            if wanted
            else "Leave it out.",
        )

    def read() -> list[Onward]:
        if place is None:
            return []
        from croupier.shuffler.release.object_storage import read_storage  # noqa: PLC0415

        storage = read_storage(place, Path())
        signers = _second_signers(storage, plan)
        settled = []
        for name, text in storage.receipts().items():
            receipt = Receipt.read(text, which=name, signers=signers)
            receipt.require_of(signers, which=name)
            settled.append(receipt)
        batches = {receipt.batch for receipt in settled}
        lost = {n for each in settled if each.recovery is not None for n in each.recovery.lost}
        found = [_opening(name, text, place) for name, text in storage.openings().items()]
        return [
            each
            for each in found
            if each.opening.batch not in batches and each.opening.round not in lost
        ]

    return read


def _second_signers(storage: "Storage", plan: Plan) -> Signers:
    """Return the keys that sign for the second shuffler, by the list in its place."""
    text = storage.read(LIST_FILE)
    keys = None if text is None else ShufflerKeys.verified(text, plan, hop=1)
    return Signers.of(plan, keys, hop=1)


def _opening(name: str, text: bytes, place: str) -> Onward:
    try:
        return Onward.model_validate_json(text)
    except ValidationError:
        raise ParameterError(
            "--to",
            must="hold openings of rounds that can be read",
            got=f"{place}, with {name}",
            hint="Let the second shuffler's operator put the file back.",
        ) from None
