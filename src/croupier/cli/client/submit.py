"""`croupier submit`: a column of a file, randomised, sealed and sent."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.options.server import as_typed
from croupier.cli.output.column_files import ColumnFile
from croupier.cli.output.terminal import Json, Quiet, err, out, print_json, progress
from croupier.client.conversation import Outcome, Server, submit
from croupier.client.relay import send_all
from croupier.errors import (
    CertificateError,
    CroupierError,
    NotOfferedError,
    ParameterError,
    SupersededError,
)
from croupier.model import Categories
from croupier.model.texts import Texts
from croupier.numerics.keystream import Keystream
from croupier.plan.plan import Plan

__all__ = ["HELP", "command"]

HELP = """Randomise, seal and send a column of a CSV or Parquet file, one row per person.

For relays and simulations: it does not remember who has sent, so running it twice sends a second
report for everybody, and rows are sent as fast as possible. On a person's device use the client
(docs/client.md).

Example: croupier submit plan.toml answers.csv --column emoji --server https://reports.example
"""

_NEXT = {
    Outcome.CLOSED: "Try again when a round is open.",
    Outcome.REFUSED: "Check the credential.",
    Outcome.EXPIRED: "Check the address after --server, and that the server is running.",
}


def command(
    plan: PlanFile,
    file: Annotated[Path, typer.Argument(help="A .csv or .parquet file.", metavar="FILE")],
    server: Annotated[str, typer.Option(help="Address of the shuffler.", metavar="URL")],
    credential: Annotated[
        str,
        typer.Option(
            envvar="CROUPIER_CREDENTIAL",
            help="The sender's credential, best set as environment variable.",
        ),
    ],
    column: Annotated[str | None, typer.Option(help="The column. Default: the only one.")] = None,
    per_request: Annotated[
        int, typer.Option(help="Envelopes per request; above 1 for relays only.", min=1, max=10_000)
    ] = 100,
    insecure_http: Annotated[
        bool, typer.Option("--insecure-http", help="Allow a server without TLS.")
    ] = False,
    insecure_seed: Annotated[
        int | None,
        typer.Option(help="Seed of repeatable noise, for simulations: it protects nobody."),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Send a column."""
    made = read_plan(plan)
    source = _source(made, file, column)
    with as_typed(url="--server", credential="--credential"):
        target = Server(url=server, credential=credential, insecure_http=insecure_http)
    accepted = 0
    with progress("Sending", total=source.rows, quiet=quiet or json) as advance:

        def sent(rows: int) -> None:
            nonlocal accepted
            accepted += rows
            advance(rows)

        steps = send_all(
            made,
            source.batches(),
            server=target,
            per_request=per_request,
            sent=sent,
            rng=Keystream(insecure_seed=insecure_seed),
        )
        try:
            outcome = submit(steps)
        except (CertificateError, NotOfferedError, SupersededError) as error:
            before = f" {accepted:,} reports were accepted before." if accepted else ""
            raise CroupierError(f"{error}{before}") from None
    if json:
        print_json(
            plan_digest=made.digest,
            accepted=accepted,
            outcome=outcome,
            secure=insecure_seed is None,
        )
    elif outcome is not Outcome.ACCEPTED:
        stopped = f"Stopped: {outcome}. {accepted:,} reports were accepted before."
        err.print(f"{stopped} {_NEXT[outcome]}", soft_wrap=True)
    elif not quiet:
        out.print(f"SENT  {accepted:,} reports, plan {made.digest[:8]}")
    if outcome is not Outcome.ACCEPTED:
        raise typer.Exit(1)


def _source(plan: Plan, file: Path, column: str | None) -> ColumnFile:
    domain = plan.randomizer.domain
    if domain.shape:
        raise ParameterError("PLAN", must="ask one question, since FILE has one column for it")
    labels = domain.labels if isinstance(domain, Categories) else ()
    named = not isinstance(labels, range) and any(isinstance(label, str) for label in labels)
    return ColumnFile(file, column, text=named or isinstance(domain, Texts), values=domain)
