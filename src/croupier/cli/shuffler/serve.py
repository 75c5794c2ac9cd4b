"""`croupier serve`: the shuffler's service."""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from croupier.cli.options.key_directory import KeysDirectory, PassphraseFile
from croupier.cli.options.plan import read_plan
from croupier.cli.options.policy import ApprovalFile, RequireApproval, read_approval
from croupier.cli.options.signed_keys import (
    HandoverDirectory,
    ShufflerList,
    beside,
    newest_list,
    read_analyzer,
    read_shuffler,
)
from croupier.cli.options.superseded import SupersededFiles, read_superseded
from croupier.cli.options.token_keys import IssuerList, token_keys_file
from croupier.cli.output.terminal import Json, out, print_json
from croupier.errors import MissingExtraError, ParameterError, UntrustedError
from croupier.hosting.incidents import see
from croupier.plan.plan import Plan
from croupier.protocol.admission.credentials import read_secret
from croupier.protocol.approval import Approval
from croupier.protocol.key_directory import passphrase
from croupier.protocol.key_list import PolicyWord
from croupier.protocol.party_keys import ShufflerKeys
from croupier.protocol.wire import envelope_length
from croupier.shuffler.core_dumps import forbid_core_dumps

if TYPE_CHECKING:
    from croupier.hosting.http.server import Address
    from croupier.shuffler.database.store import Store
    from croupier.shuffler.http.board import KnownBatch
    from croupier.shuffler.http.worker import ServedPlan, Settings
    from croupier.shuffler.intake.keys import IntakeKeys

__all__ = ["HELP", "Database", "Plans", "command", "require_one_plan"]

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

Serves several plans if --plan is repeated, all in one database. The signed files of a plan,
analyzer.json and shuffler.json, and its approval, lie beside it.

Example: croupier serve --plan plan.toml --keys keys/intake --secret credentials.key
"""

Database = Annotated[
    str,
    typer.Option(
        envvar="CROUPIER_DATABASE",
        help="PostgreSQL, as postgresql://HOST/NAME. Best set as environment variable.",
    ),
]
Plans = Annotated[
    list[Path], typer.Option("--plan", help="The plan; may be repeated.", metavar="FILE")
]
Analyzer = Annotated[
    Path | None,
    typer.Option(
        help="The analyzer's signed key, JSON; default: analyzer.json beside the plan.",
        metavar="FILE",
    ),
]
WatchedCertificate = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        help="The certificate of the proxy that terminates TLS, PEM, to say when it expires.",
        metavar="FILE",
    ),
]
Secret = Annotated[
    Path, typer.Option(help="The secret of credentials, from croupier credentials issue.")
]
IntakeSecret = Annotated[
    Path | None,
    typer.Option(
        "--secret",
        help="The secret of credentials, from croupier credentials issue; left out if all plans "
        "admit by token. Never that of an issuer of tokens.",
    ),
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
        "--requests-per-minute", help="Requests of one person, per host.", min=1, max=10**9
    ),
]
RelayEnvelopes = Annotated[
    int,
    typer.Option("--relay-envelopes-per-minute", help="Envelopes of one relay, per host.", min=1),
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
        "wait. Default: the number enrolled times the messages of a person per round.",
        min=1,
    ),
]


def command(
    plan: Plans,
    database: Database,
    secret: IntakeSecret = None,
    keys: KeysDirectory = Path("keys/intake"),
    handover: HandoverDirectory = Path("keys/handover"),
    shuffler: ShufflerList = None,
    analyzer: Analyzer = None,
    issuer: IssuerList = None,
    require_approval: RequireApproval = None,
    approval: ApprovalFile = None,
    superseded: SupersededFiles = None,
    revoked: Revoked = None,
    certificate: WatchedCertificate = None,
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
    """Serve plans."""
    forbid_core_dumps()
    require_one_plan(plan, shuffler=shuffler, analyzer=analyzer, issuer=issuer, approval=approval)
    made = [read_plan(file, option="--plan") for file in plan]
    _require_distinct(made)
    for each in made:
        each.require_deployable()
        _require_keys(each)
    try:
        from croupier.hosting.http.server import Address, listening, serve  # noqa: PLC0415
        from croupier.shuffler.http.reports import RequestLimits, SenderRates  # noqa: PLC0415
        from croupier.shuffler.http.worker import ServedPlan, Settings, Worker  # noqa: PLC0415
        from croupier.shuffler.intake.keys import IntakeKeys  # noqa: PLC0415
    except ModuleNotFoundError as error:
        package = str(error.name)
        raise MissingExtraError("serve", package=package, extra="service") from None
    served = tuple(
        ServedPlan(
            plan=each,
            analyzer=beside(file, analyzer, "analyzer.json"),
            shuffler=beside(file, shuffler, "shuffler.json"),
            issuer=token_keys_file(each, file, issuer),
        )
        for each, file in zip(made, plan, strict=True)
    )
    words = [read_analyzer(each.analyzer, each.plan).require_policy(each.plan) for each in served]
    approvals = [
        read_approval(each, file=file, key=require_approval, approval=approval)
        for each, file in zip(made, plan, strict=True)
    ]
    lists = [read_shuffler(each.shuffler, each.plan) for each in served]
    settings = Settings(
        database=database,
        keys=keys,
        passphrase=passphrase(passphrase_file),
        handover=handover,
        credential_secret=_secret(secret, made),
        revoked=_revoked(revoked),
        certificate=_certificate(certificate),
        served=served,
        superseded=read_superseded(superseded, served={each.digest for each in made}),
        most_rows=maximum_batch,
        requests=RequestLimits(
            envelopes=envelopes_per_request,
            person_requests=requests_per_minute,
            relay_envelopes=relay_envelopes_per_minute,
        ),
    )
    for listed in lists:
        _require_named(IntakeKeys(keys, settings.passphrase), listed)
    _require_gateway(IntakeKeys(keys, settings.passphrase), made)
    with listening(Address(host, port), Address(metrics_host, metrics_port)) as listens:
        batches = asyncio.run(_look(settings))
        shown = [*map(_Served, made, words, approvals, batches)]

        def started() -> None:
            _print(shown, listens.public, listens.private, workers=workers, json=json)
            for each in () if json else settings.superseded:
                out.print(f"Plan {each.digest[:8]} was superseded by {each.successor[:8]}.")

        # All workers count a sender's requests together, also one that replaces another.
        make = partial(Worker, settings, rates=SenderRates.of(settings.requests))
        serve(make, listens, workers=workers, started=started)


def require_one_plan(plans: Sequence[Path], **files: Path | None) -> None:
    """Refuse files of one plan where several are served: each has its own beside it."""
    for name, file in files.items():
        if file is not None and len(plans) > 1:
            raise ParameterError(
                f"--{name}",
                must="be left out if several plans are given",
                got=str(file),
                hint="The signed files of each plan lie beside it.",
            )


def _require_distinct(plans: Sequence[Plan]) -> None:
    digests = [plan.digest for plan in plans]
    if len(set(digests)) < len(digests):
        raise ParameterError(
            "--plan",
            must="name each plan once",
            hint="Two of the files are the same plan: leave one out.",
        )


def _secret(file: Path | None, plans: Sequence[Plan]) -> bytes | None:
    """Return the secret of credentials, which intake holds only if a plan admits by them."""
    admits = any(plan.admission.by == "credential" for plan in plans)
    if file is None and admits:
        raise ParameterError(
            "--secret",
            must="be given for plans that admit by credential",
            hint="Make it: croupier credentials issue FILE --new.",
        )
    if file is not None and not admits:
        raise ParameterError(
            "--secret",
            must="be left out if all plans admit by token",
            hint="It belongs to the issuer alone: whoever has it can mint people.",
        )
    return None if file is None else read_secret(file)


def _revoked(file: Path | None) -> Path | None:
    """Return the list, once it is known to be readable, before anything is opened."""
    from croupier.hosting.revocation import RevocationList  # noqa: PLC0415 - the extra `service`

    RevocationList(file).renew()
    return file


def _certificate(file: Path | None) -> Path | None:
    """Return the certificate, if it can be read; one that has expired is an incident."""
    from croupier.hosting.http.certificate import Certificate  # noqa: PLC0415 - the extra `service`

    watched = Certificate(file)
    watched.occurrences()
    if file is not None and watched.expires is None:
        readable = os.access(file, os.R_OK) and file.is_file()
        raise ParameterError(
            "--certificate",
            must="be a certificate in PEM" if readable else "be a file that can be read",
            got=str(file),
            hint="Name the certificate that the proxy sends to clients, without its private key.",
        )
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
            hint="Put their files back, or name the directory that has them. If the keys in the "
            "directory are new ones, have them signed: croupier keys sign shuffler.",
        )


def _require_gateway(keys: "IntakeKeys", plans: Sequence[Plan]) -> None:
    """Refuse to start without a gateway whose relay a plan demands, or that cannot open anything.

    Raises:
        MissingExtraError: There is a key of the gateway, and not the extra that it needs.
    """
    found = keys.gateway_keys()
    for key in found:
        key.configuration.ask(b"")
    if not found and any(plan.admission.relay is not None for plan in plans):
        raise ParameterError(
            "--keys",
            must="hold a key of the gateway for plans whose reports come through a relay",
            got=str(keys.path),
            hint=f"Make it: croupier keys gateway --keys {keys.path}.",
        )


async def _look(settings: "Settings") -> "list[KnownBatch | None]":
    """Look at the batches as a worker does; return each plan's newest that takes reports, if any.

    Raises:
        ParameterError: A file or directory is not the one that the newest round was opened with.
    """
    from croupier.shuffler.database.store import Store  # noqa: PLC0415 - the extra `service`

    store = await Store.connect(settings.database)
    try:
        await store.migrate()
        return [await _look_at(served, settings, store) for served in settings.served]
    finally:
        await store.close()


async def _look_at(
    served: "ServedPlan", settings: "Settings", store: "Store"
) -> "KnownBatch | None":
    board = settings.board(served)
    try:
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
    undecided = [known for known in board.batches.values() if known.undecided]
    for known in undecided:
        if not known.tag_key:
            raise ParameterError(
                "--handover",
                must=f"hold the tag key of round {known.round}, which is {known.state}",
                got=str(settings.handover),
                hint=f"Restore {known.batch.hex()}.tag, or name the right directory. If it is "
                "lost, the round takes no more reports: croupier release settles it when due. "
                f"{see('batch-key')}",
            )
    return max(undecided, key=lambda known: known.round, default=None)


@dataclass(frozen=True)
class _Served:
    """A plan that is served.

    Attributes:
        plan: The plan.
        word: The analyzer's statement on the policy.
        approval: The approval, if one is required.
        batch: The newest batch that takes reports, if any.
    """

    plan: Plan
    word: PolicyWord
    approval: Approval | None
    batch: "KnownBatch | None"

    def document(self, server: str) -> dict[str, Any]:
        """Describe it for machines."""
        batch = self.batch
        return {
            "plan_digest": self.plan.digest,
            "url": f"{server}/v1/plans/{self.plan.digest}",
            "round": None if batch is None else batch.round,
            "batch": None if batch is None else batch.batch.hex(),
            "envelope_length": envelope_length(self.plan),
            "policy": self.word.judgement,
            "despite_policy": self.word.despite_policy,
            "approved_by": self.approval and self.approval.by,
        }

    def print(self, server: str) -> None:
        """Describe it for people."""
        batch = self.batch
        which = "no round is open" if batch is None else f"round {batch.round}"
        out.print(f"SERVING  {self.plan.name} {self.plan.digest[:8]} | {which}")
        out.print(f"clients  {server}/v1/plans/{self.plan.digest}")
        out.print(f"policy   signed by the analyzer: {self.word}")
        if self.approval:
            out.print(f"approved by {self.approval.by} on {self.approval.date}")
        out.print(f"accepts  envelopes of {envelope_length(self.plan)} bytes")


def _print(
    shown: Sequence[_Served], public: "Address", private: "Address", *, workers: int, json: bool
) -> None:
    server = f"http://{public.host}:{public.port}"
    metrics = f"http://{private.host}:{private.port}/metrics"
    if json:
        print_json(
            server=server,
            metrics=metrics,
            workers=workers,
            plans=[each.document(server) for each in shown],
        )
        return
    for each in shown:
        each.print(server)
    staff = "1 worker" if workers == 1 else f"{workers} workers"
    out.print(f"{staff}; metrics at {metrics}. Stop with Ctrl-C.")
