"""`croupier serve`: the shuffler's service."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from croupier.cli.keys.directory import KeysDirectory, PassphraseFile
from croupier.cli.options.plan import PlanOption, read_plan
from croupier.cli.options.query import QueryFile, read_query
from croupier.cli.output.terminal import Json, out, print_json
from croupier.errors import MissingExtraError, ParameterError, UntrustedError
from croupier.plan.deployable import require_deployable
from croupier.plan.plan import Plan
from croupier.protocol.key_list import AnalyzerKey, PolicyWord, ShufflerKey
from croupier.protocol.keys import SHUFFLER, KeyDirectory, passphrase
from croupier.protocol.query import Query
from croupier.protocol.wire import envelope_length
from croupier.shuffler.core_dumps import forbid_core_dumps

if TYPE_CHECKING:
    from croupier.shuffler.database.store import Batch
    from croupier.shuffler.http.server import Address

__all__ = ["HELP", "command"]

HELP = """Take sealed reports over HTTP and store them until their batch is released.

Opens the next round of the plan if none is open, once ports, keys and database are in order.
Reports are acknowledged once they are committed.
Starts only if the analyzer has signed that this plan's policy is met, or that it runs despite its
policy; else exits with 4. Nothing is proved here.
Put a proxy in front that ends TLS and keeps no access log. Stop with Ctrl-C: what the workers
have received is committed and answered first.

Example: croupier serve --plan plan.toml --secret credentials.key
"""

_SIGN_KEY = "the plan's analyzer has to run croupier keys sign"
_SIGN_QUERY = "the plan's analyzer has to sign one for the round"

Database = Annotated[
    str,
    typer.Option(
        envvar="CROUPIER_DATABASE",
        help="PostgreSQL, as postgresql://HOST/NAME. The variable keeps a password off the screen.",
    ),
]
Analyzer = Annotated[Path, typer.Option(help="The analyzer's signed key, JSON.", metavar="FILE")]
Secret = Annotated[
    Path, typer.Option(help="What credentials are checked with: croupier credentials issue.")
]
Revoked = Annotated[
    Path | None,
    typer.Option(
        "--revoked",
        help="Credentials that admit nobody: croupier credentials revoke. Read again when changed.",
        metavar="FILE",
    ),
]
Host = Annotated[str, typer.Option(help="Address for clients.")]
Port = Annotated[int, typer.Option(help="Port for clients; 0 takes a free one.", min=0, max=65535)]
MetricsHost = Annotated[str, typer.Option(help="Address of /metrics: a private one.")]
MetricsPort = Annotated[int, typer.Option(help="Port of /metrics.", min=0, max=65535)]
Workers = Annotated[int, typer.Option(help="Processes.", min=1, max=256)]
PersonRequests = Annotated[
    int,
    typer.Option(
        "--requests-per-minute", help="That a person may make, in each worker.", min=1, max=10**9
    ),
]
RelayEnvelopes = Annotated[
    int,
    typer.Option(
        "--relay-envelopes-per-minute", help="That a relay may send, in each worker.", min=1
    ),
]
RequestEnvelopes = Annotated[
    int,
    typer.Option(
        "--envelopes-per-request", help="That a relay may send at once.", min=1, max=100_000
    ),
]
MostRows = Annotated[
    int | None,
    typer.Option(
        "--maximum-batch",
        help="Envelopes that a batch has room for; its table may grow to twice that, then clients "
        "are told to wait. Default: all enrolled.",
        min=1,
    ),
]


def command(
    plan: PlanOption,
    database: Database,
    secret: Secret,
    keys: KeysDirectory = Path("keys"),
    analyzer: Analyzer = Path("analyzer.json"),
    query: QueryFile = None,
    revoked: Revoked = None,
    passphrase_file: PassphraseFile = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    metrics_host: MetricsHost = "127.0.0.1",
    metrics_port: MetricsPort = 9000,
    workers: Workers = 2,
    maximum_batch: MostRows = None,
    requests_per_minute: PersonRequests = 12,
    relay_envelopes_per_minute: RelayEnvelopes = 6_000_000,
    envelopes_per_request: RequestEnvelopes = 1_000,
    json: Json = False,
) -> None:
    """Serve a plan."""
    forbid_core_dumps()
    made = read_plan(plan)
    require_deployable(made)
    _require_keys(made)
    try:
        from croupier.shuffler.http.reports import RequestLimits  # noqa: PLC0415
        from croupier.shuffler.http.server import Address, listening, serve  # noqa: PLC0415
        from croupier.shuffler.http.worker import Served, Settings  # noqa: PLC0415
        from croupier.shuffler.intake.credentials import read_secret  # noqa: PLC0415 - the extra `service`
    except ModuleNotFoundError as error:
        package = str(error.name)
        raise MissingExtraError("serve", package=package, extra="service") from None
    signed = _analyzer(analyzer, made)
    word = signed.require_policy(made)
    settings = Settings(
        database=database,
        keys=keys,
        passphrase=passphrase(passphrase_file),
        credential_secret=read_secret(secret),
        revoked=_revoked(revoked),
        served=(Served(plan=made, analyzer=signed),),
        most_rows=maximum_batch,
        requests=RequestLimits(
            envelopes=envelopes_per_request,
            person_requests=requests_per_minute,
            relay_envelopes=relay_envelopes_per_minute,
        ),
    )
    directory = KeyDirectory(keys, settings.passphrase)
    _require_signing_key(directory, made)
    with _for_the_operator("--query", query, _SIGN_QUERY):
        asked = read_query(query, made)
    with listening(Address(host, port), Address(metrics_host, metrics_port)) as listens:
        with _for_the_operator("--query", query, _SIGN_QUERY):
            batch = asyncio.run(_open(made, database, directory, signed, asked))
        _require_batch_keys(directory, made, batch)

        def started() -> None:
            _print(made, word, batch, listens.public, listens.private, workers=workers, json=json)

        serve(settings, listens, workers=workers, started=started)


def _revoked(file: Path | None) -> Path | None:
    """A list that can be read, checked before anything is opened."""
    from croupier.shuffler.intake.revocation import RevocationList  # noqa: PLC0415 - the extra `service`

    RevocationList(file).renew()
    return file


def _require_keys(plan: Plan) -> None:
    for name, key in (("shufflers.key", plan.shuffler_key), ("analyzer.key", plan.analyzer_key)):
        if key is None:
            raise ParameterError(
                name,
                must="be given to serve a plan",
                hint="Make it: croupier keys create.",
            )


def _analyzer(file: Path, plan: Plan) -> AnalyzerKey:
    if not file.is_file():
        raise ParameterError(
            "--analyzer", must="be a file", got=str(file), hint="The analyzer: croupier keys sign."
        )
    with _for_the_operator("--analyzer", file, _SIGN_KEY):
        return AnalyzerKey.verified(file.read_bytes(), plan)


@contextmanager
def _for_the_operator(option: str, file: Path | None, remedy: str) -> Iterator[None]:
    """Say which file is not to be trusted: the advice for clients is to ask who runs this."""
    try:
        yield
    except UntrustedError as error:
        raise ParameterError(
            option,
            must="be signed for this plan",
            got=str(file),
            hint=f"It {error.problem}. Give the file that belongs to --plan; if there is none, "
            f"{remedy}.",
        ) from None


def _require_signing_key(keys: KeyDirectory, plan: Plan) -> None:
    """Refuse to start without the key that the plan names: nobody would believe the service."""
    key = keys.signing_key(SHUFFLER).public_key().public_bytes_raw().hex()
    if key != plan.shuffler_key:
        raise ParameterError(
            "--keys",
            must=f"hold the key that the plan names, shufflers.key, as {SHUFFLER}.pem",
            got=str(keys.path),
            hint="Name the key directory that the plan was written for.",
        )


def _require_batch_keys(keys: KeyDirectory, plan: Plan, batch: "Batch") -> None:
    """Refuse to take reports for a batch that could not be released."""
    if not keys.has_batch(batch.batch, tag_key=True):
        raise ParameterError(
            "--keys",
            must=f"hold the keys of round {batch.round}, which is {batch.state}",
            got=str(keys.path),
            hint=f"Put back its directory batches/{batch.batch.hex()}, or name the right one. If "
            "they are lost, nobody can open its reports: croupier release disposes of them at the "
            "plan's disposal_age, then a new round can be opened.",
        )
    keys.tag_key(batch.batch)
    key = keys.outer_key(batch.batch).public_key().public_bytes_raw().hex()
    if key != ShufflerKey.verified(batch.keys.encode(), plan).key:
        raise ParameterError(
            "--keys",
            must=f"hold the key that was announced for round {batch.round}",
            got=str(keys.path),
            hint=f"Put back batches/{batch.batch.hex()} as it was when the round was opened.",
        )


async def _open(
    plan: Plan, database: str, keys: KeyDirectory, analyzer: AnalyzerKey, query: Query | None
) -> "Batch":
    from croupier.shuffler.database.store import Store  # noqa: PLC0415
    from croupier.shuffler.release.rounds import open_round  # noqa: PLC0415 - the extra `service`

    store = await Store.connect(database)
    try:
        await store.migrate()
        key = bytes.fromhex(analyzer.key)
        batch = await open_round(plan, store=store, keys=keys, analyzer=key, query=query)
        if keys.has_batch(batch.batch, tag_key=True):
            return batch
        # Its keys are lost, or it was released just now.
        return await open_round(plan, store=store, keys=keys, analyzer=key, query=query)
    finally:
        await store.close()


def _print(
    plan: Plan,
    word: PolicyWord,
    batch: "Batch",
    public: "Address",
    private: "Address",
    *,
    workers: int,
    json: bool,
) -> None:
    url = f"http://{public.host}:{public.port}/v1/plans/{plan.digest}"
    metrics = f"http://{private.host}:{private.port}/metrics"
    size = envelope_length(plan)
    if json:
        print_json(
            plan_digest=plan.digest,
            url=url,
            metrics=metrics,
            round=batch.round,
            batch=batch.batch.hex(),
            envelope_length=size,
            workers=workers,
            policy=word.judgement,
            despite_policy=word.despite_policy,
        )
        return
    staff = "1 worker" if workers == 1 else f"{workers} workers"
    out.print(f"SERVING  {plan.name} {plan.digest[:8]} | round {batch.round} | {staff}")
    out.print(f"clients  {url}")
    out.print(f"metrics  {metrics}")
    out.print(f"policy   signed by the analyzer: {word}")
    out.print(f"Takes envelopes of {size} bytes. Stop with Ctrl-C.")
