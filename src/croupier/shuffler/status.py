"""The state of the plans of a shuffler: rounds, fill, receipts, and the incidents of all parts.

Reads the database and the output directory, and asks the running service. Counts are shown in
tenths of the minimum: an exact count that is read often would be a log of arrivals.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http.client import HTTPException
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import psycopg
from psycopg import Connection
from pydantic import ValidationError

from croupier.hosting.database.connection import connect
from croupier.hosting.http.answers import NotReady, Ready
from croupier.hosting.incidents import INCIDENTS, Occurrence
from croupier.plan.plan import Plan
from croupier.protocol.key_directory import KeyDirectory, KeyFileError
from croupier.protocol.key_list import is_current
from croupier.protocol.receipt import Receipt
from croupier.protocol.seen_lists import SeenLists
from croupier.shuffler.database import batch_states as states
from croupier.shuffler.database.batch import Batch
from croupier.shuffler.database.store import SignsOfLife, StoreError
from croupier.shuffler.http.overdue import overdue
from croupier.shuffler.openings import sealed_to_another
from croupier.shuffler.refusals import refusal
from croupier.shuffler.witness import Witness, WitnessError

__all__ = ["KeysStatus", "PlanStatus", "ask_service", "look", "look_at_keys"]

_PATIENCE = 10
_ROLES = ("intake", "release")
_UNOPENED = "no round of the plan has been opened yet"
_OK, _NOT_SERVED = 200, {404, 410}
_DOWN = Occurrence("service-down", "the service does not answer")
_OTHER = Occurrence("service-down", "something answers, but not croupier serve of this version")


@dataclass(frozen=True)
class PlanStatus:
    """The state of one plan.

    Attributes:
        plan: The plan.
        batch: Its newest batch, None before the first round.
        age: The time since the newest round was opened, by the database's clock.
        decile: Tenths of the minimum that the open batch has, at most 10; None if none is open.
        receipt: The last receipt.
        ran: The time since release last ran; None if that is not known.
        occurrences: Incidents that concern this plan.
        was_read: False if the database could not be read.
        has_current_round: True if a round was opened by this version, which keeps a witness.
        waiting: The batches that are not settled, by round.
        for_another_key: The open rounds for another key of the analyzer than its file shows.
        taken_over: For the second of two shufflers, the number of batches that it took over.
        last_taken_over: For the second of two shufflers, its receipt of the last one.
    """

    plan: Plan
    batch: Batch | None = None
    age: timedelta | None = None
    decile: int | None = None
    receipt: Receipt | None = None
    ran: timedelta | None = None
    occurrences: list[Occurrence] = field(default_factory=list)
    was_read: bool = True
    has_current_round: bool = False
    waiting: tuple[Batch, ...] = ()
    for_another_key: tuple[int, ...] = ()
    taken_over: int | None = None
    last_taken_over: Receipt | None = None


def look(
    database: str,
    plans: Sequence[Plan],
    known: Iterable[Occurrence],
    *,
    second: Collection[str] = (),
    shown: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[PlanStatus], list[Occurrence]]:
    """Look at the plans in a database.

    Args:
        database: A libpq connection string or URL.
        plans: The plans.
        known: The incidents that the service has told.
        second: The digests of the plans whose second shuffler this is.
        shown: The analyzer's key that its signed file shows, by the digest of the plan.

    Returns:
        The plans, and the incidents that concern all of them.
    """
    told = [*known]
    own = []
    try:
        with connect(database) as connection:
            seen = [
                _look_at(
                    connection,
                    plan,
                    is_second=plan.digest in second,
                    shown=shown.get(plan.digest),
                )
                for plan in plans
            ]
    except (StoreError, psycopg.Error) as error:
        failed = error if isinstance(error, StoreError) else StoreError(error)
        own = [Occurrence(failed.incident, failed.cause)]
        seen = [PlanStatus(plan, was_read=False) for plan in plans]
    names = {(each.name, each.plan) for each in told}
    own += [each for status in seen for each in status.occurrences]
    found = [*told, *(each for each in own if (each.name, each.plan) not in names)]
    for status in seen:
        status.occurrences[:] = [each for each in found if each.plan == status.plan.digest]
    return seen, [each for each in found if each.plan is None]


def _look_at(
    connection: Connection[Any], plan: Plan, *, is_second: bool, shown: str | None
) -> PlanStatus:
    unopened = Occurrence("no-round", _UNOPENED, plan.digest)
    if not states.prepared(connection):
        return PlanStatus(plan, occurrences=[unopened])
    now = states.clock(connection)
    batches = states.batches(connection, plan=plan.digest)
    newest = batches[0] if batches else None
    ran = states.last_run(connection, plan=plan.digest)
    minimum = plan.protections.minimum_batch
    fills = newest is not None and newest.state == "open" and not is_second
    late = overdue(plan, batches, SignsOfLife(now, ran))
    if is_second:  # a batch may wait for the first shuffler as long as that one takes
        late = ((name, cause) for name, cause in late if name != "batch-old")
    return PlanStatus(
        plan,
        batch=newest,
        age=None if newest is None else _since(newest.opened, now),
        decile=states.decile(connection, newest, minimum=minimum) if newest and fills else None,
        receipt=states.last_receipt(connection, plan=plan.digest),
        ran=None if ran is None else _since(ran, now),
        has_current_round=any(is_current(batch.opening) for batch in batches),
        waiting=tuple(batch for batch in reversed(batches) if batch.undecided),
        for_another_key=() if shown is None else tuple(sealed_to_another(batches, shown)),
        **(_taken_over(connection, plan) if is_second else {}),
        occurrences=[
            *([] if batches else [unopened]),
            *(Occurrence(name, cause, plan.digest) for name, cause in late),
        ],
    )


def _taken_over(connection: Connection[Any], plan: Plan) -> dict[str, Any]:
    released = states.receipts_by_event(connection, plan=plan.digest).get("released", 0)
    last = states.last_taken_over(connection, plan=plan.digest)
    return {"taken_over": released, "last_taken_over": last}


def _since(moment: datetime, now: datetime) -> timedelta:
    return max(now - moment, timedelta(0))


@dataclass(frozen=True)
class KeysStatus:
    """The keys in a directory, by the names of their files: no passphrase is needed.

    Attributes:
        folder: The directory.
        role: The role whose keys they are; None if there are none.
        missing: The rounds whose key should be there and is not.
    """

    folder: Path
    role: str | None
    missing: tuple[int, ...] = ()


def look_at_keys(folder: Path, plans: Iterable[PlanStatus]) -> KeysStatus:
    """Look at a key directory; add incidents to each plan whose key or witness is not there.

    For a second shuffler, add the hand-overs that the last run of release refused, and a list of
    the first one's keys that cannot be read.
    """
    role = next((each for each in _ROLES if [*folder.glob(f"{each}*.pem")]), None)
    missing = []
    for status in plans if role == "release" else ():
        if not status.was_read:
            continue
        _add_refusals(folder, status)
        _add_damaged_list(folder, status)
        try:
            set_back = _is_set_back(folder, status)
        except WitnessError:
            _add(status, "witness", "the witness of release is damaged or gone")
            set_back = False
        if set_back:
            cause = "the database lacks the newest round that release has opened"
            # The plan has had rounds: the advice to open the first one would be wrong.
            told = [each for each in status.occurrences if each.cause != _UNOPENED]
            status.occurrences[:] = told
            _add(status, "database-set-back", cause)
            continue
        for batch in status.waiting:
            lacking = _lacking(folder / "batches" / batch.identity.hex(), status)
            if lacking is None:
                continue
            missing.append(batch.round_number)
            which = f"{lacking} of the batch of round {batch.round_number}"
            cause = f"{which} is not in the key directory"
            status.occurrences.append(Occurrence("batch-key", cause, status.plan.digest))
    return KeysStatus(folder, role, tuple(missing))


def _lacking(folder: Path, status: PlanStatus) -> str | None:
    """Name the secret of a batch that should be in a folder and is not; None if all are there."""
    hop = 0 if status.taken_over is None else 1
    if not (folder / "outer.pem").is_file():
        return "the key"
    adds = status.plan.shufflers[hop].dummies is not None
    if adds and not (folder / "noise.key").is_file():
        return "noise.key, the secret of dummies,"
    return None


def _add(status: PlanStatus, name: str, cause: str) -> None:
    """Add an incident of a plan, unless the service has told it."""
    if name not in {each.name for each in status.occurrences}:
        status.occurrences.append(Occurrence(name, cause, status.plan.digest))


def _add_refusals(folder: Path, status: PlanStatus) -> None:
    for batch in status.waiting:
        cause = refusal(folder, batch.identity)
        if cause is not None:
            which = f"the hand-over of round {batch.round_number} is refused: {cause}"
            status.occurrences.append(Occurrence("hand-over", which, status.plan.digest))


def _add_damaged_list(folder: Path, status: PlanStatus) -> None:
    """Add for a second shuffler that the newest list of the first one's keys cannot be read."""
    if status.taken_over is None:
        return
    try:
        SeenLists(folder).read(status.plan.digest)
    except KeyFileError as error:
        status.occurrences.append(Occurrence("release-failed", str(error), status.plan.digest))


def _is_set_back(folder: Path, status: PlanStatus) -> bool:
    """Tell whether the witness of release knows a round that the database lacks.

    Raises:
        WitnessError: The witness is damaged, or gone although a round was opened beside it.
    """
    witness = Witness(KeyDirectory(folder, b""), plan=status.plan.digest)
    seen = witness.read()
    if seen is None and status.has_current_round:
        raise WitnessError(witness.path, "is not there")
    newest = -1 if status.batch is None else status.batch.round_number
    return seen is not None and seen.round is not None and newest < seen.round.number


def ask_service(server: str, plans: Iterable[Plan]) -> list[Occurrence]:
    """Return the incidents of a running service: what it tells, and the plans it does not serve.

    Args:
        server: Its address.
        plans: The plans that it should serve.
    """
    address = server.rstrip("/")
    try:
        told = _told(*_get(f"{address}/readyz"))
        codes = {each.digest: _get(f"{address}/v1/plans/{each.digest}")[0] for each in plans}
    except (ValidationError, HTTPException):
        return [_OTHER]
    except (OSError, ValueError):
        return [_DOWN]
    return told + [
        Occurrence("service-down", "the service does not serve this plan", digest)
        for digest, code in codes.items()
        if code in _NOT_SERVED
    ]


def _told(code: int, body: bytes) -> list[Occurrence]:
    if code == _OK:
        Ready.model_validate_json(body)
        return []
    entries = NotReady.model_validate_json(body).incidents
    told = [Occurrence(each.incident, each.cause, each.plan) for each in entries]
    return [each for each in told if each.name in INCIDENTS] or [_OTHER]


def _get(url: str) -> tuple[int, bytes]:
    try:
        with urlopen(url, timeout=_PATIENCE) as answer:  # noqa: S310 - the operator's
            return answer.status, answer.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()
