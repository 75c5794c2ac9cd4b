"""`croupier issuer serve`: the issuer's service."""

import asyncio
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from croupier.cli.options.key_directory import PassphraseFile
from croupier.cli.options.plan import read_plan
from croupier.cli.options.token_keys import (
    HardwareModule,
    HardwareToken,
    IssuerList,
    TokenDirectory,
    token_keys_file,
)
from croupier.cli.output.terminal import Json, out, print_json
from croupier.cli.shuffler.serve import (
    Database,
    Host,
    MetricsHost,
    MetricsPort,
    Plans,
    Port,
    Revoked,
    Secret,
    WatchedCertificate,
    Workers,
)
from croupier.errors import MissingExtraError, ParameterError
from croupier.issuer.keys import TokenKeyPlace
from croupier.protocol.admission.credentials import read_secret
from croupier.protocol.admission.token_keys import TokenKeys
from croupier.protocol.key_directory import passphrase
from croupier.shuffler.core_dumps import forbid_core_dumps

if TYPE_CHECKING:
    from croupier.hosting.http.server import Address
    from croupier.issuer.admission import AdmissionCheck
    from croupier.issuer.http.worker import IssuedPlan, IssuerSettings

__all__ = ["HELP", "command"]

HELP = """Enrol devices over HTTP, and give enrolled people one token per coming round.

--admit says who may enrol: open (everybody, as fast as --enrolments-per-minute allows), secret
(whoever sends the text in --admit-secret), invitation (whoever has an invitation of --inviter, see
croupier issuer invite), or package.module:function, which gets the proof that a device sends and
returns a text that is the same for every device of one person, or None. No more people are enrolled
than the plans allow.

If plans admit by credential, --secret is the secret of croupier serve: intake then knows every
sender by a pseudonym. If they admit by token, --secret belongs to the issuer alone: run one issuer
for each kind. Token keys and
their signed list, issuer.json beside the plan, come from croupier issuer keys and croupier keys
sign issuer. Tokens of a round are given out until the shuffler opens it: --shuffler is its address.

The database is the issuer's own. Put a proxy in front that terminates TLS and keeps no access log.

Example: croupier issuer serve --plan plan.toml --secret issuer.key --admit open
"""

Admit = Annotated[
    str,
    typer.Option(
        help="Who may enrol: open, secret, invitation, or package.module:function.",
        metavar="CHECK",
    ),
]
AdmitSecret = Annotated[
    Path | None,
    typer.Option(help="secret: the file whose first line devices must send.", metavar="FILE"),
]
Inviter = Annotated[
    str | None, typer.Option(help="invitation: the inviter's public key.", metavar="KEY")
]
Shuffler = Annotated[
    str | None,
    typer.Option(help="Address of the shuffler, to see which rounds are open.", metavar="URL"),
]
Enrolments = Annotated[
    int, typer.Option(help="Enrolments per minute, of all people, per host.", min=1, max=10**9)
]
TokenRequests = Annotated[
    int, typer.Option(help="Requests for tokens per minute and person, per host.", min=1, max=10**9)
]
Most = Annotated[
    int | None,
    typer.Option(
        help="Most people that are enrolled. Default: the smallest population.enrolled of the "
        "plans.",
        min=1,
    ),
]


def command(
    plan: Plans,
    database: Database,
    secret: Secret,
    admit: Admit,
    admit_secret: AdmitSecret = None,
    inviter: Inviter = None,
    keys: TokenDirectory = Path("keys/tokens"),
    issuer: IssuerList = None,
    shuffler: Shuffler = None,
    pkcs11_module: HardwareModule = None,
    pkcs11_token: HardwareToken = "croupier",  # noqa: S107 - the label of a token
    maximum_people: Most = None,
    revoked: Revoked = None,
    certificate: WatchedCertificate = None,
    passphrase_file: PassphraseFile = None,
    host: Host = "127.0.0.1",
    port: Port = 8001,
    metrics_host: MetricsHost = "127.0.0.1",
    metrics_port: MetricsPort = 9001,
    workers: Workers = 1,
    enrolments_per_minute: Enrolments = 600,
    tokens_per_minute: TokenRequests = 12,
    json: Json = False,
) -> None:
    """Serve the issuer."""
    forbid_core_dumps()
    made = [read_plan(file, option="--plan") for file in plan]
    try:
        from croupier.hosting.http.server import Address, listening, serve  # noqa: PLC0415 - an extra
        from croupier.issuer.http.app import IssuerLimits  # noqa: PLC0415 - as above
        from croupier.issuer.http.worker import (  # noqa: PLC0415 - as above
            IssuedPlan,
            IssuerSettings,
            IssuerWorker,
        )
    except ModuleNotFoundError as error:
        package = str(error.name)
        raise MissingExtraError("issuer serve", package=package, extra="service") from None
    served = tuple(
        IssuedPlan(plan=each, keys=token_keys_file(each, file, issuer))
        for each, file in zip(made, plan, strict=True)
    )
    by_token = any(each.keys is not None for each in served)
    if by_token and any(each.keys is None for each in served):
        raise ParameterError(
            "--plan",
            must="name plans that all admit by token, or all by credential",
            hint="Intake has the secret of credentials, and could fetch tokens with it. Run two "
            "issuers, with a secret and a database each.",
        )
    if by_token and shuffler is None:
        raise ParameterError(
            "--shuffler",
            must="be given for a plan that admits by token",
            hint="Tokens of a round are given out until the shuffler opens it.",
        )
    place = TokenKeyPlace(
        directory=keys,
        passphrase=passphrase(passphrase_file) if by_token else b"",
        module=pkcs11_module,
        token=pkcs11_token,
    )
    settings = IssuerSettings(
        database=database,
        credential_secret=read_secret(secret),
        check=_check(admit, admit_secret, inviter),
        most=maximum_people or min(each.population.enrolled for each in made),
        served=served,
        tokens=place if by_token else None,
        shuffler=shuffler if by_token else None,
        revoked=revoked,
        certificate=certificate,
    )
    if by_token:
        _require_keys(settings)
    limits = IssuerLimits(enrolments=enrolments_per_minute, tokens=tokens_per_minute)
    with listening(Address(host, port), Address(metrics_host, metrics_port)) as listens:
        asyncio.run(_prepare(database))

        def started() -> None:
            _print(settings, admit, listens.public, listens.private, json=json)

        make = partial(IssuerWorker, settings, limits)
        serve(make, listens, workers=workers, started=started)


def _require_keys(settings: "IssuerSettings") -> None:
    """Refuse to start without a single private key of the listed rounds."""
    store = settings.tokens.open() if settings.tokens else None
    for served in settings.served:
        if served.keys is None or store is None:
            continue
        listed = TokenKeys.verified(served.keys.read_bytes(), served.plan)
        held = (store.signer(served.plan.digest, number) for number in listed.rounds)
        if not any(held):
            raise ParameterError(
                "--keys",
                must="hold the token keys that --issuer lists",
                got=str(settings.tokens and settings.tokens.directory),
                hint="Name the directory in which croupier issuer keys made them.",
            )


def _check(admit: str, secret: Path | None, inviter: str | None) -> "AdmissionCheck":
    from croupier.issuer.admission import (  # noqa: PLC0415 - one of these
        CallbackCheck,
        InvitationCheck,
        OpenCheck,
        SharedSecretCheck,
    )

    if admit == "open":
        return OpenCheck()
    if admit == "secret":
        if secret is None:
            raise ParameterError("--admit-secret", must="be given with --admit secret")
        return SharedSecretCheck(passphrase(secret, option="--admit-secret"))
    if admit == "invitation":
        if inviter is None:
            raise ParameterError("--inviter", must="be given with --admit invitation")
        return InvitationCheck(inviter)
    return CallbackCheck.of(admit)


async def _prepare(database: str) -> None:
    """Make the tables, before anything is served."""
    from croupier.issuer.database.people import People  # noqa: PLC0415 - the extra `service`

    people = await People.connect(database)
    try:
        await people.migrate()
    finally:
        await people.close()


def _print(
    settings: "IssuerSettings", admit: str, public: "Address", private: "Address", *, json: bool
) -> None:
    server = f"http://{public.host}:{public.port}"
    metrics = f"http://{private.host}:{private.port}/metrics"
    plans = [_described(each) for each in settings.served]
    if json:
        print_json(server=server, metrics=metrics, admit=admit, most=settings.most, plans=plans)
        return
    out.print(f"ISSUING  {server}/v1/enrol | admits {admit}, at most {settings.most:,} people")
    for each in plans:
        out.print(f"plan     {str(each['plan_digest'])[:8]} | by {each['by']}")
    out.print(f"metrics at {metrics}. Stop with Ctrl-C.")


def _described(served: "IssuedPlan") -> dict[str, object]:
    return {"plan_digest": served.plan.digest, "by": served.plan.admission.by}
