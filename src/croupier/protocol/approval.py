"""The approval of a plan: plan, policy and assumptions, signed together by whoever answers for it.

The digest of a plan binds what is deployed. An approval binds more: the population, the record and
the plan's own limits, the organisation's policy, and the assumptions of the proofs.
"""

import datetime as dt
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import Field

from croupier.errors import ParameterError, PolicyError, UntrustedError
from croupier.numerics.validate import ONE_LINE, is_one_line
from croupier.plan.plan import Plan, flat_keys
from croupier.plan.policy import Policy
from croupier.protocol.key_directory import RoleKeys
from croupier.protocol.signed_document import Day, SignedDocument, canonical

__all__ = ["APPROVER", "Approval", "ApprovalError", "ApproverKeys", "listed"]

APPROVER = "approver"
_MOST_NAMED = 3
"""Changed keys that a message names."""

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=ONE_LINE)]


class ApprovalError(PolicyError):
    """A plan that must be approved and is not, or an approval that does not hold for it."""


@dataclass(frozen=True, repr=False)
class ApproverKeys(RoleKeys):
    """The key directory of whoever approves plans: approver.pem and its public half."""

    role = APPROVER

    def signer(self) -> Ed25519PrivateKey:
        """Return the key that signs approvals."""
        return self.signing_key(APPROVER)


class Approval(SignedDocument):
    """A signed statement that a plan was judged by a policy, under assumptions, and met it.

    Attributes:
        document: The whole plan but its name, as canonical JSON.
        policy: The organisation's policy, as canonical JSON.
        assumptions: What the proofs of the limits assume.
        by: The name of whoever approves.
        date: The day of the approval, in UTC.
    """

    what = "the approval"
    purpose = "approval"

    kind: Literal["approval"]
    document: str
    policy: str
    assumptions: tuple[str, ...]
    by: Name
    date: Day

    @classmethod
    def make(  # noqa: PLR0913 - keyword-only parts of one statement
        cls,
        plan: Plan,
        *,
        policy: Policy,
        assumptions: Iterable[str],
        by: str,
        day: dt.date,
        signing_key: Ed25519PrivateKey,
    ) -> Self:
        """Sign a plan, a policy and the assumptions of its proofs together."""
        if not is_one_line(by) or len(by) > 200:
            raise ParameterError("by", must="be a name of 1 to 200 characters, on one line")
        return cls.written(
            plan,
            signing_key=signing_key,
            kind="approval",
            document=_text(plan),
            policy=policy.canonical,
            assumptions=sorted(set(assumptions)),
            by=by,
            date=day.isoformat(),
        )

    @classmethod
    def load(cls, file: Path) -> Self:
        """Read an approval, of any signer.

        Raises:
            ApprovalError: There is no such file, or it is not an approval.
        """
        if not file.is_file():
            raise ApprovalError(
                f"The plan is not approved: {file} is not there",
                hint="Have it approved: croupier approve. Or name the file: --approval.",
            )
        try:
            return cls.read(file.read_bytes())
        except UntrustedError as error:
            raise ApprovalError(f"{file} is not an approval: it {error.problem}") from None

    @property
    def approved_policy(self) -> Policy:
        """The organisation's policy that the plan was judged by."""
        return Policy.from_document(json.loads(self.policy), file="the approved policy")

    def require_signature(self, key: str) -> None:
        """Refuse an approval that a public key, in hexadecimal, did not sign.

        Raises:
            ApprovalError: Somebody else signed it, or it was changed.
        """
        try:
            self.require_signed(plan=self.plan, by=[key], called="the required key")
        except UntrustedError as error:
            raise ApprovalError(
                f"{error.what.capitalize()} {error.problem}: {key[:16]}…",
                hint="Have the plan approved by whoever holds that key: croupier approve.",
            ) from None

    def changed(self, plan: Plan, policy: Policy | None = None) -> list[str]:
        """List what differs from what was approved: keys of the plan, and the policy.

        Args:
            plan: The plan as it is now.
            policy: The policy as it is now; the approved one if left out.
        """
        before, after = (dict(flat_keys(each)) for each in (self._tables, _tables(plan)))
        keys = [
            key for key in dict.fromkeys([*before, *after]) if before.get(key) != after.get(key)
        ]
        if not keys and plan.digest != self.plan:
            keys = ["the digest"]
        if policy is not None and policy.canonical != self.policy:
            keys.append("the policy")
        return keys

    def require_holds(self, plan: Plan, *, key: str, policy: Policy | None = None) -> None:
        """Refuse to go on unless exactly this plan, and this policy, were approved.

        Args:
            plan: The plan that is to run.
            key: The public key of whoever must have approved it, in hexadecimal.
            policy: The policy as it is now; the approved one if left out.

        Raises:
            ApprovalError: The approval is not signed by the key, or something has changed since.
        """
        self.require_signature(key)
        changed = self.changed(plan, policy)
        if changed:
            raise ApprovalError(
                f"The approval of {self.date} does not hold any more: {listed(changed)} changed",
                hint="Have the plan approved again: croupier approve.",
            )

    def require_assumed(self, assumptions: Iterable[str]) -> None:
        """Refuse proofs that assume something that was not approved.

        Raises:
            ApprovalError: They do: another version of croupier proves it in another way.
        """
        more = sorted(set(assumptions) - set(self.assumptions))
        if more:
            raise ApprovalError(
                f"The approval of {self.date} does not cover what the proofs assume now: "
                f"{'; '.join(more)}",
                hint="Have the plan approved again: croupier approve.",
            )

    @property
    def _tables(self) -> dict[str, Any]:
        tables: dict[str, Any] = json.loads(self.document)
        return tables


def listed(changed: list[str]) -> str:
    """Name the first few changes, and count the others.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    named, more = ", ".join(changed[:_MOST_NAMED]), len(changed) - _MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named


def _tables(plan: Plan) -> dict[str, Any]:
    return {name: value for name, value in plan.document().items() if name != "name"}


def _text(plan: Plan) -> str:
    return canonical(_tables(plan)).decode()
