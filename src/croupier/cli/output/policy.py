"""The verdict on a policy in one line, the same in every command that comes to one."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from croupier.assessment.policy import Check
from croupier.assessment.verdict import Demand, Verdict
from croupier.model.judgement import Judgement

__all__ = ["POLICY_NOT_MET", "counted", "met_line", "verdict_line"]

POLICY_NOT_MET = 4
"""The exit code of a policy that is not met."""


def counted(found: Check) -> str:
    """Count the limits that are kept and, separately, those that limit nothing."""
    return _with_idle(_kept(found.verdicts, found.demands), found)


def met_line(found: Check) -> str:
    """Say that the policy is met, and whose it is."""
    if found.own:
        return f"MET, the plan's own limits: {counted(found)}"
    theirs = [verdict for verdict in found if verdict.organisation]
    own = [verdict for verdict in found if not verdict.organisation and verdict.limits_something]
    text = f"MET  {_kept(theirs, found.demands)} limits of {found.owner}"
    if own:
        text += f", {_kept(own)} of the plan's own"
    return _with_idle(text, found)


def _kept(verdicts: Iterable[Verdict], demands: Sequence[Demand] = ()) -> str:
    counts = [verdict for verdict in verdicts if not verdict.met or verdict.limits_something]
    every: list[Verdict | Demand] = [*counts, *demands]
    return f"{sum(each.met for each in every)} of {len(every)}"


def _with_idle(text: str, found: Check) -> str:
    idle = sum(verdict.met and not verdict.limits_something for verdict in found)
    return f"{text}; {idle} more limit{'s' * (idle == 1)} nothing" if idle else text


def verdict_line(found: Check, file: Path, policy: Path | None = None) -> str:
    """Return the verdict of croupier check in one line, with the next command if it is no."""
    if found.met:
        return met_line(found)
    text = found.judgement.upper()
    if found.judgement is Judgement.NO_LIMIT:
        text += f" on {' and '.join(found.unlimited)}"
    else:
        kept, _, idle = counted(found).partition(";")
        text += f"  {kept} limits{idle and ';' + idle}"
    limits = "" if policy is None else f" --policy {policy}"
    return f"{text}. Next: croupier check {file}{limits}"
