"""`croupier status`: plans, rounds, keys and incidents of a shuffler."""

import shutil
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from croupier.cli.options.plan import read_plan
from croupier.cli.options.signed_keys import (
    ShufflerList,
    analyzer_beside,
    beside,
    read_shuffler,
)
from croupier.cli.output.terminal import Json, out, print_json, say
from croupier.cli.shuffler.serve import Database, Plans, require_one_plan
from croupier.errors import MissingExtraError, ParameterError
from croupier.hosting.incidents import Occurrence
from croupier.plan.plan import Plan
from croupier.protocol.object_store import is_address
from croupier.protocol.party_keys import hop_of

if TYPE_CHECKING:
    from croupier.shuffler.status import KeysStatus, PlanStatus

__all__ = ["HELP", "command"]

HELP = """Show the plans, rounds, keys and incidents of a shuffler.

Reads the database and asks the service. The second of two shufflers has no service: what it took
over is shown, and with --keys why the last run of release refused a hand-over. An incident is shown
with its first step and the page that describes it. Counts are shown in tenths of the minimum.

Exits with 0 if nothing needs the operator, 1 otherwise.

Example: croupier status --plan plan.toml -o released
"""

NOT_READY = 1
_NONE = "none"
_FULL = 10

Server = Annotated[
    str, typer.Option(help="The service; none to leave it out.", metavar="URL", show_default=True)
]
KeyDirectories = Annotated[
    list[Path] | None,
    typer.Option("--keys", help="Key directories to look into; may be repeated."),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        help="Directory of batches and receipts, to show its free space.",
        metavar="PLACE",
    ),
]


def command(
    plan: Plans,
    database: Database,
    server: Server = "http://127.0.0.1:8000",
    keys: KeyDirectories = None,
    shuffler: ShufflerList = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Show the state."""
    try:
        from croupier.shuffler.status import ask_service, look, look_at_keys  # noqa: PLC0415 - the extra `service`
    except ModuleNotFoundError as error:
        raise MissingExtraError("status", package=str(error.name), extra="service") from None
    made = [read_plan(file, option="--plan") for file in plan]
    require_one_plan(plan, shuffler=shuffler)
    second = {
        each.digest
        for file, each in zip(plan, made, strict=True)
        if _is_second(each, beside(file, shuffler, "shuffler.json"))
    }
    if server != _NONE and not server.startswith(("http://", "https://")):
        must = f"begin with http:// or https://, or be {_NONE}"
        raise ParameterError("--server", must=must, got=server)
    for folder in keys or ():
        _require_directory("--keys", folder)
    folder_out = None if output is None or is_address(output) else Path(output)
    if folder_out is not None:
        _require_directory("--output", folder_out)
    served = [each for each in made if each.digest not in second]
    told = [] if server == _NONE or not served else ask_service(server, served)
    found = ((each, analyzer_beside(file, each)) for file, each in zip(plan, made, strict=True))
    shown = {each.digest: key for each, key in found if key is not None}
    plans, shared = look(database, made, told, second=second, shown=shown)
    folders = [look_at_keys(folder, plans) for folder in keys or ()]
    free = None if folder_out is None else _free(folder_out)
    if json:
        print_json(
            ready=not (shared or any(each.occurrences for each in plans)),
            incidents=[*map(_incident, shared)],
            plans=[_document(each) for each in plans],
            keys=[
                {"folder": str(each.folder), "role": each.role, "missing_rounds": each.missing}
                for each in folders
            ],
            output_free=free,
        )
    else:
        for each in plans:
            _print(each, shared)
        for held in folders:
            _line("keys", f"{held.folder}: {_keys(held)}")
        if free is not None:
            _line("output", f"{output}: {100 * free:.0f} % of the disk is free")
        _print_incidents(shared)
    if shared or any(each.occurrences for each in plans):
        raise typer.Exit(NOT_READY)


def _is_second(plan: Plan, file: Path) -> bool:
    """Tell whether the list of keys in a file is that of the second of two shufflers."""
    return len(plan.shufflers) > 1 and hop_of(read_shuffler(file, plan), plan) > 0


def _require_directory(option: str, folder: Path) -> None:
    if not folder.is_dir():
        must, hint = "be a directory", "Mount it, or correct the name."
        raise ParameterError(option, must=must, got=str(folder), hint=hint)


def _print(status: "PlanStatus", shared: Sequence[Occurrence]) -> None:
    plan = status.plan
    ready = "NOT READY" if shared or status.occurrences else "READY"
    out.print(f"plan {plan.digest[:8]}  {plan.name}  {ready}")
    if status.taken_over is not None and status.waiting:
        rounds = ", ".join(str(batch.round_number) for batch in status.waiting)
        _line("round", f"{rounds}: open, and not taken over yet")
    elif status.batch is not None and not status.batch.undecided:
        _line("round", f"none is open; round {status.batch.round_number} is settled")
    elif status.batch is not None and status.age is not None:
        age = f"{_readable(status.age)} of {_readable(plan.collection.every)}"
        _line(
            "round", f"{status.batch.round_number}, {status.batch.state} for {age}{_fill(status)}"
        )
    if status.receipt is not None:
        receipt = status.receipt
        which = f"round {receipt.round}, {receipt.event}, receipt {receipt.number}"
        explained = receipt.counts if receipt.recovery is None else receipt.recovery
        _line("last batch", f"{which}: {explained.explained}")
    if status.taken_over is not None:
        last = status.last_taken_over
        _line("taken over", _taken_over(status.taken_over, None if last is None else last.round))
    if status.for_another_key:
        rounds = ", ".join(map(str, status.for_another_key))
        text = "sealed to another key than analyzer.json shows: the analyzer must keep it"
        _line("analyzer", f"round {rounds}: {text}")
    if status.ran is not None:
        _line("release", f"ran {_readable(status.ran)} ago")
    _print_incidents(status.occurrences)


def _taken_over(number: int, last: int | None) -> str:
    batches = f"{number:,} batch{'' if number == 1 else 'es'}"
    return batches if last is None else f"{batches}, last that of round {last}"


def _fill(status: "PlanStatus") -> str:
    if status.decile is None:
        return ""
    if status.decile >= _FULL:
        return ", the minimum is reached"
    return f", {10 * status.decile} to {10 * status.decile + 10} % of the minimum"


def _print_incidents(found: Sequence[Occurrence]) -> None:
    for each in found:
        say(f"{each.sentence} {each.incident.step} See docs/{each.incident.page}.md.", indent=2)


def _line(name: str, text: str) -> None:
    out.print(f"  {name:<11}{text}")


def _keys(found: "KeysStatus") -> str:
    if found.role is None:
        return "no keys of intake or release are here"
    missing = " and ".join(map(str, found.missing))
    return f"keys of {found.role}" + (f", not that of round {missing}" if missing else "")


def _free(folder: Path) -> float:
    usage = shutil.disk_usage(folder)
    return usage.free / usage.total


def _readable(span: timedelta) -> str:
    """Write a length of time as people read it: 7 h, 3 d."""
    seconds = int(span.total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (seconds >= size and seconds % size == 0):
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _incident(each: Occurrence) -> dict[str, Any]:
    return {
        "incident": each.name,
        "plan": each.plan,
        "cause": each.sentence,
        "step": each.incident.step,
        "page": each.incident.page,
    }


def _document(status: "PlanStatus") -> dict[str, Any]:
    batch, receipt, last = status.batch, status.receipt, status.last_taken_over
    return {
        "plan_digest": status.plan.digest,
        "name": status.plan.name,
        "round": None if batch is None else batch.round_number,
        "state": None if batch is None else batch.state,
        "age_seconds": None if status.age is None else int(status.age.total_seconds()),
        "fill_deciles": status.decile,
        "receipt": None if receipt is None else receipt.model_dump(mode="json"),
        "release_ran_seconds_ago": None if status.ran is None else int(status.ran.total_seconds()),
        "rounds_for_another_analyzer_key": status.for_another_key,
        "taken_over": status.taken_over,
        "last_taken_over": None if last is None else last.round,
        "incidents": [*map(_incident, status.occurrences)],
    }
