"""Design, run and audit data collection in the shuffle model of differential privacy.

Clients randomise, a shuffler hides who sent what, an analyzer estimates.

>>> import croupier
>>> response = croupier.randomizer("k-rr", k=3, epsilon_local=2.0)
>>> reports = response.randomize([0, 1, 1, 2])
>>> response.estimate(reports).values
range(0, 3)
>>> print(croupier.bracket(response, n=100_000, delta=1e-6))
epsilon between 0.0312 and 0.0313 at delta 1e-06
"""

from croupier.accounting.amplify import amplify, bracket
from croupier.accounting.solve import solve
from croupier.assessment.compare import compare
from croupier.assessment.design.design import design
from croupier.assessment.ladder.ladder import Ladder, assess
from croupier.assessment.policy import check
from croupier.auditing.attacks.attacks import attack
from croupier.auditing.mechanism.claim import audit
from croupier.documents.explain import explain
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
