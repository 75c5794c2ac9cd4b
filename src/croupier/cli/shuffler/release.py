"""`croupier release`: mix and release the batches that are due."""

import asyncio
import os
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from time import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from croupier.cli.options.engine import EngineName, Master, Memory, Scratch, make_engine
from croupier.cli.options.groups import GroupOptions, Public, Secret
from croupier.cli.options.key_directory import KeysDirectory, PassphraseFile
from croupier.cli.options.plan import PlanOption, read_plan
from croupier.cli.options.public_groups import (
    Columns,
    Edges,
    Geodesic,
    GroupColumn,
    Nearest,
    Radius,
    RuleOptions,
    Sets,
    Steps,
)
from croupier.cli.options.query import QueryFile, read_query
from croupier.cli.options.second_shuffler import (
    HandTo,
    TakeFrom,
    first_shuffler,
    second_shuffler,
)
from croupier.cli.options.signed_keys import (
    HandoverDirectory,
    ShufflerList,
    analyzer_beside,
    beside,
    for_the_operator,
    newest_list,
    read_analyzer,
    read_shuffler,
)
from croupier.cli.output.metrics_file import (
    Gauge,
    MetricsFile,
    last_values,
    require_metrics_file,
    write_metrics,
)
from croupier.cli.output.release import conclude, exit_code, print_outcome, warn
from croupier.cli.output.release_warnings import first_warnings, key_warnings
from croupier.cli.output.terminal import Json, Quiet, err, progress
from croupier.cli.shuffler.serve import Database
from croupier.errors import MissingExtraError, ParameterError
from croupier.hosting.incidents import MET_BY_RELEASE, incident_of
from croupier.plan.plan import Plan
from croupier.protocol.key_directory import AbsentKeyError, passphrase
from croupier.protocol.key_list import ShufflerKey
from croupier.protocol.object_store import is_address
from croupier.protocol.party_keys import ShufflerKeys, Signers, hop_of
from croupier.protocol.query import Query, require_query
from croupier.shuffler.core_dumps import forbid_core_dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from croupier.engines.base import Engine
    from croupier.shuffler.release.release import BatchOutcome
    from croupier.shuffler.release.storage import Storage

__all__ = ["HELP", "Output", "command", "open_output", "own_keys", "prepare"]

HELP = """Release the batches of a plan whose rounds are over and whose minimum is reached.

Opens the envelopes, counts people, mixes, writes a Parquet file and a signed receipt, then destroys
envelopes and keys. A batch that is too small is held, and disposed of at the plan's disposal age.
An interrupted run can be repeated; it continues where it stopped.

--next-round opens the next round. The first one needs --analyzer; later ones keep the analyzer's
key of the round before, which is printed, unless another is given. The key that opens the envelopes
stays here; the service gets the batch's tag key through --handover.

Where the plan mixes by groups of a public file, give the file, with the options that the plan's
sensitivity was printed for, and the secret of credentials.

Where the plan has two shufflers, the second one runs with --from and the place in which the first
one publishes: it takes over what the first has released, and with --next-round opens rounds ahead.
The first one opens a round with --next-round and --to, the place in which the second publishes.

A batch that does not fit in memory needs --engine: duckdb on one machine, spark on a cluster.

With -o s3://BUCKET/PREFIX, files go to an object store once they are signed, and wait for that
beside the keys or in --scratch. AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY name
the store and open it.

Exits with 0 if nobody needs to do anything, also while a round lasts or waits for people; with 4 if
a batch is held by a problem that somebody must solve; with 6 if a batch was disposed of.

Example: croupier release --plan plan.toml --keys keys/release -o released --next-round
"""

_EVENTS = ("released", "disposed", "recovered")
_RECEIPTS = "croupier_release_receipts"
_LAST = {
    "croupier_release_last_run_timestamp_seconds": "when it last ended without a failure",
    "croupier_release_held": "batches that wait for time, people or the operator",
    _RECEIPTS: "receipts of the plan so far",
}
"""Metrics of the last run that did not fail, with their meanings."""
_REMEDY = "use the one that the open round was opened with"

Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        help="Directory of batches and receipts, or s3://BUCKET/PREFIX.",
        metavar="PLACE",
    ),
]
Processes = Annotated[
    int | None, typer.Option(help="Processes that open envelopes; default: one per core.", min=1)
]
ReleaseEngine = Annotated[
    EngineName | None,
    typer.Option(help="Engine for batches that do not fit in memory."),
]
NextRound = Annotated[
    bool, typer.Option("--next-round", help="Open the next round when the open one is settled.")
]
NextAnalyzer = Annotated[
    Path | None,
    typer.Option(
        "--analyzer",
        help="The analyzer's signed key for the next round. Default: that of the round before.",
        metavar="FILE",
    ),
]
AdoptDatabase = Annotated[
    bool,
    typer.Option(
        "--adopt-database",
        help="Replace a lost witness, from a database that was not rolled back.",
    ),
]


def command(
    plan: PlanOption,
    database: Database,
    output: Output,
    keys: KeysDirectory = Path("keys/release"),
    handover: HandoverDirectory = Path("keys/handover"),
    shuffler: ShufflerList = None,
    passphrase_file: PassphraseFile = None,
    processes: Processes = None,
    next_round: NextRound = False,
    analyzer: NextAnalyzer = None,
    query: QueryFile = None,
    take_from: TakeFrom = None,
    hand_to: HandTo = None,
    public: Public = None,
    columns: Columns = None,
    radius: Radius = None,
    nearest: Nearest = None,
    geodesic: Geodesic = False,
    group_column: GroupColumn = None,
    edges: Edges = None,
    steps: Steps = None,
    sets: Sets = None,
    secret: Secret = None,
    engine: ReleaseEngine = None,
    master: Master = None,
    memory: Memory = None,
    scratch: Scratch = None,
    adopt_database: AdoptDatabase = False,
    metrics_file: MetricsFile = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Release what can be released."""
    forbid_core_dumps()
    require_metrics_file(metrics_file)
    made = read_plan(plan, option="--plan")
    outcomes: list[BatchOutcome] = []
    with _failures_told(metrics_file, made, outcomes, database):
        asked = _asked(query, made, next_round=next_round)
        sealed_to = _sealed_to(analyzer, made, next_round=next_round)
        signed = beside(plan, shuffler, "shuffler.json")
        listed = read_shuffler(signed, made)
        given = GroupOptions(
            public=public,
            secret=secret,
            rule=RuleOptions(
                columns=columns,
                radius=radius,
                nearest=nearest,
                geodesic=geodesic,
                group_column=group_column,
                edges=edges,
                steps=steps,
                sets=sets,
            ),
        )
        groups = given.law(made)
        run = _release()
        own = own_keys(keys, passphrase(passphrase_file), handover, listed)
        first = first_shuffler(take_from, made, keys)
        second = second_shuffler(hand_to, made, hop=hop_of(listed, made), next_round=next_round)
        asyncio.run(prepare(database, create=next_round))
        storage = open_output(output, made, scratch or keys)
        with (
            _engine(engine, master=master, memory=memory, scratch=scratch, output=output) as runner,
            progress("Opening", total=None, quiet=quiet or json) as advance,
            for_the_operator("--shuffler", signed, _REMEDY),
            newest_list(signed),
        ):
            for outcome in run(
                database,
                plan=made,
                storage=storage,
                first=first,
                second=second,
                **own,
                groups=groups,
                processes=processes or os.cpu_count() or 1,
                engine=runner,
                scratch=scratch,
                adopt=adopt_database,
                advance=advance,
            ):
                outcomes.append(outcome)
                if not (json or quiet):
                    print_outcome(outcome, made)
        held = [outcome.batch for outcome in outcomes if outcome.receipt is None]
        opened = None
        # Where a hand-over is refused, somebody must act before more is opened.
        refused = any(outcome.incident == "hand-over" for outcome in outcomes)
        if next_round and not refused:
            # A round that is held is still open: what is asked after it waits for it.
            query_next = None if held else asked
            own["shuffler"] = read_shuffler(signed, made)  # keys may have been rotated meanwhile
            settings: dict[str, Any] = {"analyzer": sealed_to, "query": query_next}
            if first is not None:
                settings["least"] = first.next_round
            if second is not None:
                settings["offered"] = second.offered()
            with for_the_operator("--shuffler", signed, _REMEDY), newest_list(signed):
                opened = asyncio.run(_open_next(made, database, own, storage, **settings))
        if metrics_file is not None:
            write_metrics(metrics_file, _gauges(made, outcomes, database))
        shown = analyzer_beside(plan, made) if sealed_to is None else sealed_to.hex()
        warnings = [
            *key_warnings(held, opened, shown),
            *(() if first is None else first_warnings(first, made, database)),
            *(() if second is None else second.warnings()),
        ]
        conclude(made, outcomes, opened, warnings, quiet=quiet, json=json)
        if quiet and not json:
            warn(outcomes)
    raise typer.Exit(exit_code(outcomes))


class _UnlistedKeyError(ParameterError):
    """A key directory that lacks the newest key that the list names."""

    incident = "signing-key"


@contextmanager
def _failures_told(
    file: Path | None, plan: Plan, outcomes: "list[BatchOutcome]", database: str
) -> "Iterator[None]":
    """Tell a run that failed: what it settled before, on stderr and in the metrics file.

    The rest of the file stays as the last good run wrote it. The error is raised again, also if
    the file cannot be written: it is what the operator needs.
    """
    try:
        yield
    except Exception as error:
        settled = [each.receipt for each in outcomes if each.receipt is not None]
        for receipt in settled:
            which = f"{receipt.event.upper()}  round {receipt.round}"
            err.print(f"{which}, before the failure", soft_wrap=True)
        if file is not None:
            own = (("plan", plan.digest),)
            met = {incident_of(error), *(outcome.incident for outcome in outcomes)}
            with suppress(OSError):
                kept = {name: last_values(file, name) for name in _LAST}
                with suppress(Exception):  # the failure may be that of the database
                    kept |= {_RECEIPTS: _count(plan, database)} if settled else {}
                gauges = [Gauge(name, text, kept[name]) for name, text in _LAST.items()]
                write_metrics(file, [*gauges, _round(plan), _incidents(own, met)])
        raise


def _gauges(plan: Plan, outcomes: "list[BatchOutcome]", database: str) -> list[Gauge]:
    """Return what a monitor needs of a run: when it ended, and what it met."""
    own = (("plan", plan.digest),)
    last: dict[str, dict[tuple[tuple[str, str], ...], float]] = {
        "croupier_release_last_run_timestamp_seconds": {own: time()},
        "croupier_release_held": {own: sum(outcome.receipt is None for outcome in outcomes)},
        _RECEIPTS: _count(plan, database),
    }
    return [
        *(Gauge(name, _LAST[name], values) for name, values in last.items()),
        _round(plan),
        _incidents(own, {outcome.incident for outcome in outcomes}),
    ]


def _count(plan: Plan, database: str) -> dict[tuple[tuple[str, str], ...], float]:
    """Count the receipts of a plan by event."""
    from croupier.shuffler.release.release import count_receipts  # noqa: PLC0415 - the extra `service`

    counts = count_receipts(database, plan)
    return {(("plan", plan.digest), ("event", each)): counts.get(each, 0) for each in _EVENTS}


def _round(plan: Plan) -> Gauge:
    seconds = plan.collection.every.total_seconds()
    text = "length of a round of the plan"
    return Gauge("croupier_release_round_seconds", text, {(("plan", plan.digest),): seconds})


def _incidents(own: tuple[tuple[str, str], ...], met: "set[str | None]") -> Gauge:
    return Gauge(
        "croupier_release_incident",
        "1 if the last run met an incident",
        {(*own, ("incident", name)): int(name in met) for name in MET_BY_RELEASE},
    )


def _release() -> "Callable[..., Iterator[BatchOutcome]]":
    try:
        from croupier.shuffler.release.run import release  # noqa: PLC0415 - the extra `service`
    except ModuleNotFoundError as error:
        package = str(error.name)
        raise MissingExtraError("release", package=package, extra="service") from None
    return release


def _engine(
    name: EngineName | None,
    *,
    master: str | None,
    memory: str | None,
    scratch: Path | None,
    output: str,
) -> "AbstractContextManager[Engine | None]":
    if name is not None:
        return make_engine(name, master=master, memory=memory, scratch=scratch)
    if (master, memory) != (None, None) or not (scratch is None or is_address(output)):
        raise ParameterError("--engine", must="be given with --master, --memory or --scratch")
    return nullcontext()


def open_output(output: str, plan: Plan, home: Path) -> "Storage":
    """Open the place that a plan is released into."""
    from croupier.shuffler.release.object_storage import open_storage  # noqa: PLC0415 - as above

    return open_storage(output, plan=plan.digest, home=home)


def _sealed_to(file: Path | None, plan: Plan, *, next_round: bool) -> bytes | None:
    """Read the analyzer's public key for the next round, before anything is released."""
    if file is None:
        return None
    if not next_round:
        raise ParameterError("--analyzer", must="come with --next-round", hint="Add --next-round.")
    signed = read_analyzer(file, plan)
    signed.require_policy(plan)
    return bytes.fromhex(signed.key)


def _asked(file: Path | None, plan: Plan, *, next_round: bool) -> Query | None:
    """Read the query of the next round, before anything is released."""
    query = read_query(file, plan)
    if next_round:
        require_query(query, plan)
    elif query is not None:
        raise ParameterError("--query", must="come with --next-round", hint="Add --next-round.")
    return query


def own_keys(keys: Path, phrase: bytes, handover: Path, listed: ShufflerKeys) -> dict[str, Any]:
    """Return what only release has: its keys, the hand-over, and the list that names both."""
    from croupier.shuffler.handover import Handover  # noqa: PLC0415 - the extra `service`
    from croupier.shuffler.release.keys import ReleaseKeys  # noqa: PLC0415

    directory = ReleaseKeys(keys, phrase)
    try:
        directory.signer(listed.release[-1].key)
    except AbsentKeyError:
        raise _UnlistedKeyError(
            "--keys",
            must="hold the key of release that --shuffler names",
            got=str(keys),
            hint="Put its file back, or name the directory that has it. If the key in the "
            "directory is a new one, have it signed: croupier keys sign shuffler.",
        ) from None
    return {"keys": directory, "handover": Handover(handover), "shuffler": listed}


async def prepare(database: str, *, create: bool = True) -> None:
    """Migrate the tables to this version; make them if they are missing, unless told not to."""
    from croupier.shuffler.database.store import Store  # noqa: PLC0415 - the extra `service`

    store = await Store.connect(database)
    try:
        await store.migrate(create=create)
    finally:
        await store.close()


async def _open_next(
    plan: Plan,
    database: str,
    own: dict[str, Any],
    storage: "Storage",
    **settings: Any,
) -> ShufflerKey:
    from croupier.shuffler.database.store import Store  # noqa: PLC0415 - the extra `service`
    from croupier.shuffler.openings import signed_opening  # noqa: PLC0415
    from croupier.shuffler.release.output import publish_openings  # noqa: PLC0415
    from croupier.shuffler.release.rounds import open_round  # noqa: PLC0415

    listed = own["shuffler"]
    hop = hop_of(listed, plan)
    store = await Store.connect(database)
    try:
        batch = await open_round(plan, store=store, **settings, **own)
        if hop:
            publish_openings(storage, listed, await store.batches(plan.digest))
        return signed_opening(batch, Signers.of(plan, listed, hop))
    finally:
        await store.close()
