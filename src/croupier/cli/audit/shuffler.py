"""`croupier audit shuffler`: compare released batches with what test clients sent."""

from pathlib import Path
from typing import Annotated

import typer

from croupier.auditing.shuffler.claim import audit_shuffler
from croupier.auditing.shuffler.sent import Sent, read_rows
from croupier.cli.analyzer.receipt import has_its_file, read_receipts
from croupier.cli.audit.mechanism import REFUTED
from croupier.cli.audit.shuffler_dummies import OpenedBatches
from croupier.cli.audit.shuffler_report import print_document, print_report
from croupier.cli.audit.shuffler_send import Sending
from croupier.cli.audit.shuffler_send import send as send_reports
from croupier.cli.options.key_directory import PassphraseFile
from croupier.cli.options.plan import PlanOption, read_plan
from croupier.cli.options.signed_keys import ListBeside, read_shuffler
from croupier.cli.output.terminal import Json, Quiet, err, progress
from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.protocol.batch_file import COLUMN, require_released
from croupier.protocol.party_keys import Signers, signers_beside
from croupier.protocol.receipt import Receipt, ReleasedFile

__all__ = ["HELP", "command"]

HELP = """Look for violations by a shuffler, in batches that contain reports of test clients.

First --send sends reports of your own into a running service, and keeps what was acknowledged. They
are null reports, which no estimate counts. After the release, the same command without --send
compares.

Finds each lost or doubled report, batches below the plan's minimum, bytes by which a released row
can be linked to an envelope, and traces of the order or the times of sending. The file of what was
sent has the columns envelope, inner, time and batch; the batches lie beside their receipts.

Where shufflers add dummies, what each of them signed for is compared with its table. --keys, the
analyzer's keys, also opens the rows that nobody sent: in batches of test reports only, these are
the dummies, and each entry of the table is tested.

Exits with 5 on a violation. Finding none proves nothing: see power.

Example: croupier audit shuffler --send https://reports.example --plan plan.toml -o sent.parquet

Example: croupier audit shuffler released/*.receipt.json --plan plan.toml --sent sent.parquet
"""

Receipts = Annotated[
    list[Path] | None, typer.Argument(help="Receipts, in any order.", metavar="FILE")
]
SentFile = Annotated[
    Path | None, typer.Option("--sent", help="Reports of test clients.", metavar="FILE")
]
Send = Annotated[
    str | None, typer.Option("--send", help="Send test reports to this server.", metavar="URL")
]
Credential = Annotated[
    str | None,
    typer.Option(
        envvar="CROUPIER_CREDENTIAL",
        help="With --send: a relay's credential, best set as environment variable.",
    ),
]
CredentialFile = Annotated[
    Path | None,
    typer.Option(help="With --send: persons' credentials, one per line.", metavar="FILE"),
]
Count = Annotated[int, typer.Option(help="With --send: number of reports.", min=1, max=10_000_000)]
PerRequest = Annotated[int, typer.Option(help="With --send: reports per request.", min=1)]
OutputFile = Annotated[
    Path, typer.Option("--output", "-o", help="With --send: file of what was sent.")
]


def command(
    plan: PlanOption,
    files: Receipts = None,
    sent: SentFile = None,
    shuffler: ListBeside = None,
    send: Send = None,
    credential: Credential = None,
    credentials: CredentialFile = None,
    count: Count = 1000,
    per_request: PerRequest = 1,
    output: OutputFile = Path("sent.parquet"),
    keys: Annotated[
        Path | None,
        typer.Option(help="The analyzer's keys: test the dummies too.", metavar="DIRECTORY"),
    ] = None,
    passphrase_file: PassphraseFile = None,
    alone: Annotated[
        bool, typer.Option("--alone", help="Nobody else sent a report into these batches.")
    ] = False,
    insecure_http: Annotated[
        bool, typer.Option("--insecure-http", help="With --send: allow a server without TLS.")
    ] = False,
    false_alarm: Annotated[
        float, typer.Option(help="Probability of accusing an honest shuffler.")
    ] = 1e-6,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Send test reports, or compare released batches with what was sent."""
    made = read_plan(plan, option="--plan")
    if send is not None:
        if files or sent:
            raise ParameterError("--send", must="come without receipts and --sent")
        sending = Sending(
            url=send,
            credential=credential,
            credentials=credentials,
            count=count,
            per_request=per_request,
            output=output,
            insecure_http=insecure_http,
        )
        send_reports(made, sending, plan_file=plan, quiet=quiet, json=json)
        return
    if not files or sent is None:
        hint = "Send test reports first: croupier audit shuffler --send URL."
        raise ParameterError("FILE", must="be given, and --sent", hint=hint)
    chain = read_receipts(files, _signers(files, made, shuffler))
    opened = OpenedBatches(
        plan=made,
        files=[folder / receipt.file.name for receipt, folder in chain if receipt.file is not None],
        listed=None if shuffler is None else read_shuffler(shuffler, made),
        keys=None if keys is None else (keys.absolute(), passphrase_file),
    )
    _compare(
        made,
        chain,
        sent,
        opened=opened,
        alone=alone,
        false_alarm=false_alarm,
        plan_file=plan,
        quiet=quiet,
        json=json,
    )


def _signers(files: list[Path], plan: Plan, shuffler: Path | None) -> Signers:
    """Return the signers of the last shuffler, which publishes the batches."""
    last = len(plan.shufflers) - 1
    if shuffler is None:
        return signers_beside(plan, dict.fromkeys(file.parent for file in files), last)
    return Signers.of(plan, read_shuffler(shuffler, plan), last)


def _compare(
    plan: Plan,
    chain: list[tuple[Receipt, Path]],
    sent: Path,
    *,
    opened: OpenedBatches,
    alone: bool,
    false_alarm: float,
    plan_file: Path,
    quiet: bool,
    json: bool,
) -> None:
    """Compare released batches with what was sent."""
    batches = {}
    for receipt, folder in chain:
        if receipt.file is None:
            continue
        if not has_its_file(receipt, folder):
            raise ParameterError("FILE", must=f"lie beside its batch, {receipt.file.name}")
        file = folder / receipt.file.name
        require_released(file, receipt, plan=plan)
        batches[receipt.batch] = read_rows(file, COLUMN)
    with progress("Looking", total=None, quiet=quiet or json):
        reports = Sent.load(sent)
        found = audit_shuffler(
            reports,
            batches,
            [receipt for receipt, _ in chain],
            plan=plan,
            taken_over=opened.taken_over,
            foreign=opened.foreign(reports, batches),
            alone=alone,
            false_alarm=false_alarm,
        )
    digests = _digests(plan_file, plan, sent, [receipt for receipt, _ in chain])
    if json:
        print_document(found, len(batches), digests)
    elif not quiet:
        print_report(found, len(batches), digests)
    elif found.refuted:
        err.print("The shuffler did not keep its promise.")
    if found.refuted:
        raise typer.Exit(REFUTED)


def _digests(plan: Path, made: Plan, sent: Path, receipts: list[Receipt]) -> dict[str, str]:
    """The digest of the plan, and the SHA-256 of every file that was looked at."""
    batches = [receipt.file for receipt in receipts if receipt.file is not None]
    return {
        f"{plan.name} (plan digest)": made.digest,
        sent.name: ReleasedFile.of(sent, name=sent.name).sha256,
        **{f"receipt {receipt.number}": receipt.digest for receipt in receipts},
        **{batch.name: batch.sha256 for batch in batches},
    }
