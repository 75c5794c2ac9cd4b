"""The verdict on a policy in one line, the same in every command that comes to one."""

from collections.abc import Sequence
from pathlib import Path

from croupier.assessment.policy import Verdict, judged
from croupier.model.judgement import Judgement

__all__ = ["POLICY_NOT_MET", "counted", "verdict_line"]

POLICY_NOT_MET = 4
"""The exit code of a policy that is not met."""


def counted(found: Sequence[Verdict]) -> str:
    """Count the limits that are kept and, separately, those that limit nothing."""
    idle = sum(verdict.met and not verdict.limits_something for verdict in found)
    kept = sum(verdict.met for verdict in found) - idle
    text = f"{kept} of {len(found) - idle} limits"
    return f"{text}; {idle} more limit{'s' * (idle == 1)} nothing" if idle else text


def verdict_line(found: Sequence[Verdict], file: Path) -> str:
    """Return the verdict of croupier check in one line, with the next command if it is no."""
    judgement = judged(found)
    text = judgement.upper()
    if judgement is not Judgement.NO_LIMIT:
        text += f"  {counted(found)}"
    return text if judgement is Judgement.MET else f"{text}. Next: croupier check {file}"
