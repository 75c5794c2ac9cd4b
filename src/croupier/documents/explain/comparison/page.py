"""The page of a change from one plan to another, for its reviewers."""

from croupier.assessment.compare import Comparison
from croupier.assessment.comparison_text import (
    guarantee_rows,
    key_rows,
    limit_rows,
    outcome,
    policy_notes,
)
from croupier.documents.explain.templates import templates
from croupier.model.judgement import Judgement

__all__ = ["comparison_page"]

_ROOM = 2_000
"""The length of the longest text of a plan; longer lists are cut around what differs."""

_WORDS = {
    Judgement.NOT_MET: "Limits of the new plan are not met.",
    Judgement.NO_LIMIT: "A row that counts is not limited.",
}


def comparison_page(found: Comparison, *, approval: str | None = None) -> str:
    """The page, in HTML that needs nothing else: no script, no request.

    Args:
        found: What changes.
        approval: A sentence about an approval of the plan before or after.

    Raises:
        MissingExtraError: jinja2 is not installed.
    """
    failed = [f"Not met: {each}." for each in (*found.check.failed, *found.check.unmet)]
    notes = [*failed, *policy_notes(found), *([approval] if approval else [])]
    return (
        templates()
        .get_template("comparison/comparison.html")
        .render(
            title=f"{found.after.headline}: what changes",
            found=found,
            judged=_judged(found),
            kind=_kind(found),
            keys=key_rows(found, room=_ROOM),
            guarantees=guarantee_rows(found),
            limits=limit_rows(found),
            outcome=outcome(found),
            notes=notes,
        )
    )


def _kind(found: Comparison) -> str:
    """Choose the colour of the verdict: green only if nothing was given up either."""
    if found.judgement is Judgement.NOT_MET:
        return "not-met"
    return ("own-limits" if found.check.own else "met") if found.passed else "partly"


def _judged(found: Comparison) -> str:
    """Say if the new plan meets its limits, and whose they are."""
    if found.judgement is not Judgement.MET:
        return _WORDS[found.judgement]
    whose = "All limits that the new plan sets itself" if found.check.own else "All limits"
    return f"{whose} are met by proof."
