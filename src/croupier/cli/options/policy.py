"""The options that name an organisation's policy and the approval of a plan."""

import re
from pathlib import Path
from typing import Annotated

import typer

from croupier.errors import ParameterError
from croupier.plan.plan import Plan
from croupier.plan.policy import Policy
from croupier.protocol.approval import APPROVER, Approval
from croupier.protocol.public_keys import PublicKeys

__all__ = ["ApprovalFile", "PolicyFile", "RequireApproval", "approval_beside", "read_approval"]
__all__ += ["read_policy"]

PolicyFile = Annotated[
    Path | None,
    typer.Option("--policy", help="The limits of an organisation, TOML.", metavar="FILE"),
]
RequireApproval = Annotated[
    str | None,
    typer.Option(
        "--require-approval",
        help="The key of whoever must have approved the plan: 64 hexadecimal digits, or the file "
        "public.json of the approver.",
        metavar="KEY",
    ),
]
ApprovalFile = Annotated[
    Path | None,
    typer.Option(
        "--approval",
        help="The approval. Default: plan.approval.json beside plan.toml.",
        metavar="FILE",
    ),
]

_KEY = re.compile("[0-9a-f]{64}")


def read_policy(file: Path | None) -> Policy | None:
    """Read an organisation's policy, if one is named."""
    if file is None:
        return None
    if not file.is_file():
        raise ParameterError("--policy", must="be a file", got=str(file))
    return Policy.load(file)


def approval_beside(plan: Path) -> Path:
    """Return the file that the approval of a plan is written to.

    >>> approval_beside(Path("plans/emoji.toml")).as_posix()
    'plans/emoji.approval.json'
    """
    return plan.with_name(f"{plan.stem}.approval.json")


def read_approval(
    plan: Plan,
    *,
    file: Path,
    key: str | None,
    approval: Path | None,
    policy: Policy | None = None,
) -> Approval | None:
    """Return the approval of a plan if one is required, once it is known to hold.

    Args:
        plan: The plan.
        file: The plan's file.
        key: What --require-approval names.
        approval: What --approval names.
        policy: The policy as it is now; the approved one if left out.

    Raises:
        ApprovalError: The plan is not approved, or not any more.
    """
    if key is None:
        if approval is not None:
            raise ParameterError(
                "--approval",
                must="come with --require-approval",
                hint="Only the key of the approver shows that an approval is real.",
            )
        return None
    found = Approval.load(approval_beside(file) if approval is None else approval)
    found.require_holds(plan, key=_public(key), policy=policy)
    return found


def _public(given: str) -> str:
    if _KEY.fullmatch(given):
        return given
    if not Path(given).exists():
        raise ParameterError(
            "--require-approval",
            must="be 64 hexadecimal digits, or the file public.json of the approver",
            got=given,
        )
    return PublicKeys.load(Path(given), role=APPROVER, option="--require-approval").key
