"""`croupier serve`: the shuffler's service."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from croupier.cli.options.key_directory import KeysDirectory, PassphraseFile
from croupier.cli.options.plan import PlanOption, read_plan
from croupier.cli.options.policy import ApprovalFile, RequireApproval, read_approval
from croupier.cli.options.signed_keys import (
    HandoverDirectory,
    ShufflerList,
    newest_list,
    read_analyzer,
    read_shuffler,
)
from croupier.cli.options.superseded import SupersededFiles, read_superseded
from croupier.cli.output.terminal import Json, out, print_json
from croupier.errors import MissingExtraError, ParameterError, UntrustedError
from croupier.plan.plan import Plan
from croupier.protocol.approval import Approval
from croupier.protocol.key_directory import passphrase
from croupier.protocol.key_list import PolicyWord
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.wire import envelope_length
from croupier.shuffler.core_dumps import forbid_core_dumps

if TYPE_CHECKING:
    from croupier.shuffler.http.board import KnownBatch
    from croupier.shuffler.http.server import Address
    from croupier.shuffler.http.worker import Settings
    from croupier.shuffler.intake.keys import IntakeKeys

__all__ = ["HELP", "command"]

HELP = """Accept sealed reports over HTTP and store them until their batch is released.

Reports are acknowledged once they are committed. Rounds are opened by croupier release; until the
first one is, clients are told that none is open. The service holds the keys of intake, which open
no envelope, and reads the signed files again when they change.

Starts only if the analyzer has signed that this plan's policy is met, or that it runs despite its
policy; else exits with 4. With --require-approval it also exits with 4 unless whoever holds that
key approved exactly this plan and population. It proves nothing itself.
With --superseded, clients of a plan that is no longer served are told which plan replaced it.
Put a proxy in front that terminates TLS and keeps no access log. Stop with Ctrl-C: what the
workers have received is committed and answered first.

Example: croupier serve --plan plan.toml --keys keys/intake --secret credentials.key
"""

Database = Annotated[
    str,
    typer.Option(
        envvar="CROUPIER_DATABASE",
        help="PostgreSQL, as postgresql://HOST/NAME. Best set as environment variable.",
    ),
]
Analyzer = Annotated[Path, typer.Option(help="The analyzer's signed key, JSON.", metavar="FILE")]
Secret = Annotated[
    Path, typer.Option(help="The secret of credentials, from croupier credentials issue.")
]
Revoked = Annotated[
    Path | None,
    typer.Option(
        "--revoked",
        help="Revoked credentials, from croupier credentials revoke; read again on change.",
        metavar="FILE",
    ),
]
Host = Annotated[str, typer.Option(help="Address for clients.")]
Port = Annotated[int, typer.Option(help="Port for clients; 0 takes a free one.", min=0, max=65535)]
MetricsHost = Annotated[str, typer.Option(help="Address of /metrics; it must be private.")]
MetricsPort = Annotated[int, typer.Option(help="Port of /metrics.", min=0, max=65535)]
Workers = Annotated[int, typer.Option(help="Processes.", min=1, max=256)]
PersonRequests = Annotated[
    int,
    typer.Option(
        "--requests-per-minute", help="Requests of one person, per worker.", min=1, max=10**9
    ),
]
RelayEnvelopes = Annotated[
    int,
    typer.Option("--relay-envelopes-per-minute", help="Envelopes of one relay, per worker.", min=1),
]
RequestEnvelopes = Annotated[
    int,
    typer.Option(
        "--envelopes-per-request", help="Most envelopes per request of a relay.", min=1, max=100_000
    ),
]
MostRows = Annotated[
    int | None,
    typer.Option(
        "--maximum-batch",
        help="Envelopes per batch; its table may grow to twice that, then clients are told to "
        "wait. Default: the number enrolled.",
        min=1,
    ),
]


def command(
    plan: PlanOption,
    database: Database,
    secret: Secret,
    keys: KeysDirectory = Path("keys/intake"),
    handover: HandoverDirectory = Path("keys/handover"),
    shuffler: ShufflerList = Path("shuffler.json"),
    analyzer: Analyzer = Path("analyzer.json"),
    require_approval: RequireApproval = None,
    approval: ApprovalFile = None,
    superseded: SupersededFiles = None,
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
    made.require_deployable()
    _require_keys(made)
    try:
        from croupier.shuffler.http.reports import RequestLimits  # noqa: PLC0415
        from croupier.shuffler.http.server import Address, listening, serve  # noqa: PLC0415
        from croupier.shuffler.http.worker import ServedPlan, Settings  # noqa: PLC0415
        from croupier.shuffler.intake.credentials import read_secret  # noqa: PLC0415 - the extra `service`
        from croupier.shuffler.intake.keys import IntakeKeys  # noqa: PLC0415
    except ModuleNotFoundError as error:
        package = str(error.name)
        raise MissingExtraError("serve", package=package, extra="service") from None
    word = read_analyzer(analyzer, made).require_policy(made)
    approved = read_approval(made, file=plan, key=require_approval, approval=approval)
    listed = read_shuffler(shuffler, made)
    settings = Settings(
        database=database,
        keys=keys,
        passphrase=passphrase(passphrase_file),
        handover=handover,
        credential_secret=read_secret(secret),
        revoked=_revoked(revoked),
        served=(ServedPlan(plan=made, analyzer=analyzer, shuffler=shuffler),),
        superseded=read_superseded(superseded, served={made.digest}),
        most_rows=maximum_batch,
        requests=RequestLimits(
            envelopes=envelopes_per_request,
            person_requests=requests_per_minute,
            relay_envelopes=relay_envelopes_per_minute,
        ),
    )
    _require_named(IntakeKeys(keys, settings.passphrase), listed)
    verdict = _Verdict(word, approved)
    with listening(Address(host, port), Address(metrics_host, metrics_port)) as listens:
        batch = asyncio.run(_look(settings))

        def started() -> None:
            _print(
                made, verdict, batch, listens.public, listens.private, workers=workers, json=json
            )
            for each in () if json else settings.superseded:
                out.print(f"Plan {each.digest[:8]} was superseded by {each.successor[:8]}.")

        serve(settings, listens, workers=workers, started=started)


def _revoked(file: Path | None) -> Path | None:
    """Return the list, once it is known to be readable, before anything is opened."""
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


def _require_named(keys: "IntakeKeys", listed: ShufflerKeys) -> None:
    """Refuse to start with keys of others, or without those that the list names.

    The service must hold nothing that opens envelopes, and clients accept listed keys only.
    """
    keys.require_no_other()
    newest = listed.intake[-1]
    if not keys.has(newest.key, newest.seal):
        raise ParameterError(
            "--keys",
            must="hold the keys of intake that --shuffler names",
            got=str(keys.path),
            hint="Name the key directory of intake, croupier keys create intake, or have its keys "
            "signed: croupier keys sign shuffler.",
        )


async def _look(settings: "Settings") -> "KnownBatch | None":
    """Look at the batches as a worker does, and return the newest that takes reports, if any.

    Raises:
        ParameterError: A file or directory is not the one that the newest round was opened with.
    """
    from croupier.shuffler.database.store import Store  # noqa: PLC0415 - the extra `service`

    (served,) = settings.served
    board = settings.board(served)
    store = await Store.connect(settings.database)
    try:
        await store.migrate()
        with newest_list(served.shuffler):
            await board.renew(store)
    except UntrustedError as error:
        option, file = (
            ("--analyzer", served.analyzer)
            if error.what == "the key list"
            else ("--shuffler", served.shuffler)
        )
        raise ParameterError(
            option,
            must="be what the open round was opened with",
            got=str(file),
            hint=f"{error.what} {error.problem}. Give the file that the round was opened with, or "
            "settle the round first: croupier release.",
        ) from None
    finally:
        await store.close()
    undecided = [known for known in board.batches.values() if known.undecided]
    for known in undecided:
        if not known.tag_key:
            raise ParameterError(
                "--handover",
                must=f"hold the tag key of round {known.round}, which is {known.state}",
                got=str(settings.handover),
                hint=f"Restore {known.batch.hex()}.tag, or name the right directory. If it is "
                "lost, the round takes no more reports: croupier release settles it when due.",
            )
    return max(undecided, key=lambda known: known.round, default=None)


@dataclass(frozen=True)
class _Verdict:
    """The analyzer's statement on the policy, and the approval if one is required."""

    word: PolicyWord
    approval: Approval | None


def _print(
    plan: Plan,
    verdict: _Verdict,
    batch: "KnownBatch | None",
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
            round=None if batch is None else batch.round,
            batch=None if batch is None else batch.batch.hex(),
            envelope_length=size,
            workers=workers,
            policy=verdict.word.judgement,
            despite_policy=verdict.word.despite_policy,
            approved_by=verdict.approval and verdict.approval.by,
        )
        return
    which = "no round is open" if batch is None else f"round {batch.round}"
    staff = "1 worker" if workers == 1 else f"{workers} workers"
    out.print(f"SERVING  {plan.name} {plan.digest[:8]} | {which} | {staff}")
    out.print(f"clients  {url}")
    out.print(f"metrics  {metrics}")
    out.print(f"policy   signed by the analyzer: {verdict.word}")
    if verdict.approval:
        out.print(f"approved by {verdict.approval.by} on {verdict.approval.date}")
    out.print(f"Accepts envelopes of {size} bytes. Stop with Ctrl-C.")
