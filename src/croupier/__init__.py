"""Design, run and audit data collection in the shuffle model of differential privacy.

Clients randomise, a shuffler hides who sent what, an analyzer estimates.

>>> import croupier
>>> response = croupier.randomizer("k-rr", k=3, max_epsilon_local=2.0)
>>> reports = response.randomize([0, 1, 1, 2])
>>> response.estimate(reports).values
range(0, 3)
>>> print(croupier.bracket(response, n=100_000, delta=1e-6))
epsilon between 0.0312 and 0.0313 at delta 1e-06
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from croupier.accounting.amplify import amplify, bracket
    from croupier.accounting.solve import solve
    from croupier.assessment.compare import compare
    from croupier.assessment.design.design import design
    from croupier.assessment.ladder.ladder import Ladder, assess
    from croupier.assessment.policy import check
    from croupier.auditing.attacks.attacks import attack
    from croupier.auditing.mechanism.claim import audit
    from croupier.documents.explain.page import explain
    from croupier.errors import CroupierError
    from croupier.leakage.bayes_security import bayes_security
    from croupier.leakage.reidentification import reidentification
    from croupier.leakage.uninformed import vulnerability
    from croupier.model import (
        Adversary,
        Bracket,
        Channel,
        Estimate,
        Evidence,
        Guarantee,
        Randomizer,
        Shuffler,
    )
    from croupier.plan.plan import Plan
    from croupier.randomizers import randomizer

__all__ = [
    "Adversary",
    "Bracket",
    "Channel",
    "CroupierError",
    "Estimate",
    "Evidence",
    "Guarantee",
    "Ladder",
    "Plan",
    "Randomizer",
    "Shuffler",
    "amplify",
    "assess",
    "attack",
    "audit",
    "bayes_security",
    "bracket",
    "check",
    "compare",
    "design",
    "explain",
    "randomizer",
    "reidentification",
    "solve",
    "vulnerability",
]

_HOMES = {
    "Adversary": "croupier.model",
    "Bracket": "croupier.model",
    "Channel": "croupier.model",
    "CroupierError": "croupier.errors",
    "Estimate": "croupier.model",
    "Evidence": "croupier.model",
    "Guarantee": "croupier.model",
    "Ladder": "croupier.assessment.ladder.ladder",
    "Plan": "croupier.plan.plan",
    "Randomizer": "croupier.model",
    "Shuffler": "croupier.model",
    "amplify": "croupier.accounting.amplify",
    "assess": "croupier.assessment.ladder.ladder",
    "attack": "croupier.auditing.attacks.attacks",
    "audit": "croupier.auditing.mechanism.claim",
    "bayes_security": "croupier.leakage.bayes_security",
    "bracket": "croupier.accounting.amplify",
    "check": "croupier.assessment.policy",
    "compare": "croupier.assessment.compare",
    "design": "croupier.assessment.design.design",
    "explain": "croupier.documents.explain.page",
    "randomizer": "croupier.randomizers",
    "reidentification": "croupier.leakage.reidentification",
    "solve": "croupier.accounting.solve",
    "vulnerability": "croupier.leakage.uninformed",
}
"""Where each name lives; its module is imported when the name is first asked for."""


def __getattr__(name: str) -> Any:
    """Import what is asked for, and keep it."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
