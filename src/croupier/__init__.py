"""Design, run and audit data collection in the shuffle model of differential privacy.

Clients randomise, a shuffler hides who sent what, an analyzer estimates.

>>> import croupier
>>> response = croupier.randomizer("k-rr", k=3, max_epsilon_local=2.0)
>>> reports = response.randomize([0, 1, 1, 2])
>>> response.estimate(reports).values
range(0, 3)
>>> print(response.bracket(n=1e5, delta=1e-6))
epsilon between 0.0312 and 0.0313 at delta 1e-06
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from croupier.errors import RenamedError as _RenamedError

if TYPE_CHECKING:
    from croupier.accounting.amplify import bracket
    from croupier.accounting.solve import solve
    from croupier.analyzer.analyzer import analyze
    from croupier.assessment.design.design import design
    from croupier.assessment.ladder.ladder import Ladder
    from croupier.assessment.sweep import sweep
    from croupier.auditing.mechanism.claim import audit
    from croupier.client.client import Client
    from croupier.errors import CroupierError
    from croupier.leakage.bayes_security import bayes_security
    from croupier.leakage.gain import gain
    from croupier.leakage.informed import guess_informed
    from croupier.leakage.reidentification import reidentification
    from croupier.leakage.uninformed import guess_uninformed
    from croupier.model import (
        Adversary,
        Bracket,
        Channel,
        Estimate,
        Evidence,
        Grid,
        Guarantee,
        Randomizer,
        Shuffler,
    )
    from croupier.numerics.keystream import Keystream
    from croupier.plan.plan import Plan
    from croupier.randomizers import randomizer
    from croupier.shufflers import UniformShuffler

__all__ = [
    "Adversary",
    "Bracket",
    "Channel",
    "Client",
    "CroupierError",
    "Estimate",
    "Evidence",
    "Grid",
    "Guarantee",
    "Keystream",
    "Ladder",
    "Plan",
    "Randomizer",
    "Shuffler",
    "UniformShuffler",
    "analyze",
    "audit",
    "bayes_security",
    "bracket",
    "design",
    "gain",
    "guess_informed",
    "guess_uninformed",
    "randomizer",
    "reidentification",
    "solve",
    "sweep",
]

_HOMES = {
    "Adversary": "croupier.model",
    "Bracket": "croupier.model",
    "Channel": "croupier.model",
    "Client": "croupier.client.client",
    "CroupierError": "croupier.errors",
    "Estimate": "croupier.model",
    "Evidence": "croupier.model",
    "Grid": "croupier.model",
    "Guarantee": "croupier.model",
    "Keystream": "croupier.numerics.keystream",
    "Ladder": "croupier.assessment.ladder.ladder",
    "Plan": "croupier.plan.plan",
    "Randomizer": "croupier.model",
    "Shuffler": "croupier.model",
    "UniformShuffler": "croupier.shufflers",
    "analyze": "croupier.analyzer.analyzer",
    "audit": "croupier.auditing.mechanism.claim",
    "bayes_security": "croupier.leakage.bayes_security",
    "bracket": "croupier.accounting.amplify",
    "design": "croupier.assessment.design.design",
    "gain": "croupier.leakage.gain",
    "guess_informed": "croupier.leakage.informed",
    "guess_uninformed": "croupier.leakage.uninformed",
    "randomizer": "croupier.randomizers",
    "reidentification": "croupier.leakage.reidentification",
    "solve": "croupier.accounting.solve",
    "sweep": "croupier.assessment.sweep",
}
"""The module of each name; it is imported when the name is first used."""

_LOADED = 'croupier.Plan.load("plan.toml")'
_RENAMED = {
    "amplify": "randomizer.bracket(n=, delta=).upper; croupier.solve(epsilon_local=, n=, delta=) "
    "where only epsilon_local is known",
    "assess": f"plan.assess(): {_LOADED}.assess()",
    "attack": f"plan.attack(): {_LOADED}.attack()",
    "check": f"plan.check(): {_LOADED}.check()",
    "compare": f"plan.compare(other): {_LOADED}.compare(other)",
    "explain": f'plan.explain(): {_LOADED}.explain().save("explain.html")',
    "vulnerability": "croupier.guess_uninformed(randomizer, n=)",
}
"""Former public names and their current spelling."""


def __getattr__(name: str) -> Any:
    """Import a public name on first use, and keep it."""
    if name in _RENAMED:
        # Not an AttributeError: `from croupier import assess` would drop its message.
        raise _RenamedError(f"{__name__}.{name}", _RENAMED[name])
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(import_module(_HOMES[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
