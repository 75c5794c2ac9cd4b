"""The limits that a plan is held to: those of an approval, or of a policy, and its own."""

from croupier.assessment.ladder.ladder import Ladder
from croupier.assessment.policy import Check, checked
from croupier.plan.policy import Policy
from croupier.protocol.approval import Approval

__all__ = ["checked_under"]


def checked_under(ladder: Ladder, policy: Policy | None, approval: Approval | None) -> Check:
    """Check the limits of an approval, or else of a policy, and of the plan.

    Raises:
        ApprovalError: The proofs assume something that was not approved.
    """
    found = checked(ladder, approval.approved_policy if approval else policy)
    if approval:
        approval.require_assumed(found.assumptions)
    return found
