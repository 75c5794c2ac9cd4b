"""`croupier audit shuffler --send`: send test reports, and keep them in a file."""

from dataclasses import dataclass
from pathlib import Path

import typer

from croupier.auditing.shuffler.sending import Acknowledged, send_test_reports
from croupier.cli.options.plan import require_new
from croupier.cli.options.server import as_typed
from croupier.cli.output.terminal import err, out, print_json, say
from croupier.client.conversation import Outcome, Server, submit
from croupier.errors import ParameterError
from croupier.plan.plan import Plan

__all__ = ["Sending", "send"]

_NEXT = {
    Outcome.CLOSED: "Try again when a round is open.",
    Outcome.REFUSED: "Check the credential.",
    Outcome.EXPIRED: "Check the address after --send, and that a server is running there.",
}


@dataclass(frozen=True, kw_only=True)
class Sending:
    """The destination and the credentials of test reports.

    Attributes:
        url: The address of the running shuffler.
        credential: A relay's credential, for all reports.
        credentials: A file of persons' credentials, one per line and test client.
        count: The number of reports under one credential.
        per_request: Envelopes per request, under one credential.
        output: The file of what was sent.
        insecure_http: Allow a server without TLS.
    """

    url: str
    credential: str | None
    credentials: Path | None
    count: int
    per_request: int
    output: Path
    insecure_http: bool

    def requests(self, plan: Plan) -> list[tuple[Server, int]]:
        """List one request per person, or as many as a relay needs."""
        if self.credentials is not None:
            persons = map(self._server, _tokens(self.credentials))
            return [(person, plan.protections.messages) for person in persons]
        if self.credential is None:
            hint = "Set CROUPIER_CREDENTIAL to that of a relay, or give --credentials FILE."
            raise ParameterError("--credential", must="be given", hint=hint)
        relay = self._server(self.credential)
        whole, rest = divmod(self.count, self.per_request)
        return [(relay, self.per_request)] * whole + [(relay, rest)] * bool(rest)

    def _server(self, credential: str) -> Server:
        with as_typed(url="--send", credential="--credential"):
            return Server(url=self.url, credential=credential, insecure_http=self.insecure_http)


def _tokens(file: Path) -> list[str]:
    tokens = file.read_text().split() if file.is_file() else []
    if not tokens:
        raise ParameterError("--credentials", must="be a file of one credential per line")
    return tokens


def send(plan: Plan, sending: Sending, *, plan_file: Path, quiet: bool, json: bool) -> None:
    """Send test reports, and write those acknowledged even if sending stops early."""
    requests = sending.requests(plan)
    require_new(sending.output, force=False)
    acknowledged = Acknowledged()
    try:
        outcome = submit(send_test_reports(plan, requests, acknowledged=acknowledged))
    finally:
        if len(acknowledged):
            sending.output.touch(mode=0o600)
            acknowledged.sent().save(sending.output)
    count = len(acknowledged)
    words = "1 test report" if count == 1 else f"{count:,} test reports"
    if json:
        print_json(
            plan_digest=plan.digest,
            batch=acknowledged.batch,
            accepted=count,
            outcome=outcome,
            output=str(sending.output) if count else None,
        )
    elif outcome is not Outcome.ACCEPTED:
        before = f"{words} {'was' if count == 1 else 'were'} accepted before"
        kept = f", and {'is' if count == 1 else 'are'} in {sending.output}" if count else ""
        err.print(f"Stopped: {outcome}. {before}{kept}. {_NEXT[outcome]}", soft_wrap=True)
    elif not quiet:
        _print(plan, sending, acknowledged, words, plan_file)
    if outcome is not Outcome.ACCEPTED:
        raise typer.Exit(1)


def _print(
    plan: Plan, sending: Sending, acknowledged: Acknowledged, words: str, plan_file: Path
) -> None:
    out.print(f"SENT  {words} into batch {acknowledged.batch}, kept in {sending.output}")
    if len(acknowledged) > plan.corrupt:
        known = f"The plan allows for {plan.corrupt:,} corrupt people per batch"
        say(f"note  {known}; test reports count as theirs, and towards the minimum.")
    files = f"--plan {plan_file} --sent {sending.output}"
    out.print(f"Next, after the release: croupier audit shuffler RECEIPT... {files}")
