"""`croupier approve`: plan, policy and assumptions, signed together."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from croupier.assessment.ladder.ladder import assess
from croupier.assessment.policy import checked
from croupier.cli.keys.roles import Role, RoleDirectory, directory_of
from croupier.cli.options.key_directory import PassphraseFile
from croupier.cli.options.plan import PlanFile, read_plan
from croupier.cli.options.policy import approval_beside
from croupier.cli.output.policy import met_line
from croupier.cli.output.terminal import Json, out, print_json, progress, say
from croupier.documents.plots.figure import require_folder
from croupier.errors import ParameterError, PolicyError
from croupier.plan.policy import Policy
from croupier.protocol import durable
from croupier.protocol.approval import Approval, ApproverKeys
from croupier.protocol.key_directory import passphrase
from croupier.protocol.signed_document import public_half

__all__ = ["HELP", "command"]

HELP = """Approve a plan: sign plan, policy and assumptions together.

Proves that the plan meets the policy first; exits with 4, and signs nothing, if it does not. The
approval holds for exactly this plan, with its population and its record, and this policy: any
change needs a new one. croupier serve --require-approval runs nothing else. The key is made with
croupier keys create approver, and belongs to whoever answers for the collection.

Example: croupier approve plan.toml --policy policy.toml --by "Privacy office"
"""


def command(
    plan: PlanFile,
    policy: Annotated[
        Path, typer.Option(help="The limits of an organisation, TOML.", metavar="FILE")
    ],
    by: Annotated[str, typer.Option(help="The name of whoever approves.", metavar="NAME")],
    keys: RoleDirectory = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write. Default: plan.approval.json beside plan.toml.",
            metavar="FILE",
        ),
    ] = None,
    passphrase_file: PassphraseFile = None,
    json: Json = False,
) -> None:
    """Approve a plan."""
    if output is None and plan == Path("-"):
        raise ParameterError("--output", must="be given if the plan is read from standard input")
    target = approval_beside(plan) if output is None else output
    require_folder("--output", target)
    made, limits = read_plan(plan), Policy.load(policy)
    signer = ApproverKeys(directory_of(Role.APPROVER, keys), passphrase(passphrase_file)).signer()
    with progress("Proving", total=None, quiet=json):
        found = checked(assess(made), limits)
    try:
        found.require_met()
    except PolicyError as error:
        raise PolicyError(
            f"{error.problem}. Nothing was signed",
            hint=f"Run: croupier check {plan} --policy {policy}.",
        ) from None
    today = datetime.now(UTC).date()
    assumed = found.assumptions
    approval = Approval.make(
        made, policy=limits, assumptions=assumed, by=by, day=today, signing_key=signer
    )
    durable.publish(target, approval.to_bytes() + b"\n")
    key = public_half(signer)
    if json:
        print_json(
            output=str(target),
            plan_digest=made.digest,
            policy_digest=limits.digest,
            by=by,
            date=approval.date,
            key=key,
            assumptions=list(assumed),
        )
        return
    say(met_line(found))
    people = made.population
    out.print(
        f"Signed plan {made.digest[:8]} and policy {limits.digest[:8]}, with what they assume:"
    )
    for text in (
        f"{people.enrolled:,} people enrolled, {made.corrupt:,} of a batch corrupt",
        *assumed,
    ):
        say(f"- {text}")
    out.print(f"Wrote {target}. Whoever runs the service demands it with")
    out.print(f"--require-approval {key}", soft_wrap=True)
