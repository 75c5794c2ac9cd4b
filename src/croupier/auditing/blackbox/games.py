"""A lower bound of epsilon_local from games of finding a canary's report."""

import math

from croupier.auditing.blackbox.samples import binomial_lower, check_confidence
from croupier.leakage.reidentification import clone_probability
from croupier.model.adversary import Adversary, View
from croupier.model.evidence import Evidence
from croupier.model.metric import Metric
from croupier.numerics.bisection import bisect_safe
from croupier.numerics.validate import number_of_people, whole_number

__all__ = ["epsilon_local_from_games"]

_ROUNDING = 1e-12
_LARGEST = 100.0
_SENDER_KNOWN = Adversary(sees=frozenset({View.REPORTS}))


def epsilon_local_from_games(
    successes: int, trials: int, *, n: int, confidence: float = 0.95
) -> Evidence:
    """Bound epsilon_local from below, from games in which a canary's report hid among n.

    Whatever the attack, a report is found with probability at most

        clone(epsilon_local) = (e^epsilon_local / n) (1 - (1 - e^-epsilon_local)^n),

    so the epsilon at which clone = L, L being Clopper and Pearson's lower end for the share of won
    games, bounds epsilon_local from below. Most is learned with n near e^epsilon_local.

    Args:
        successes: The number of games in which the attack named the canary's report.
        trials: The number of independent games, each with fresh noise.
        n: The number of reports in every game, the canary's included.
        confidence: The coverage of the one-sided interval, at least 0.75.

    Holds when everybody uses one epsilon_local-private randomizer, known or not, or randomizers are
    assigned independently of the person, and the order is uniform. If people have randomizers of
    their own, a report may be found however private it is, and a won game says nothing.
    Direction: lower, rounded down; the upper end is infinite. Pure: delta is 0.
    Reference: clopper1934; feldman2021, the reduction to clones; su2025, Theorem 8, the game.

    Example:
        >>> epsilon_local_from_games(700, 2000, n=20).lower
        1.94025460...
    """
    check_confidence(confidence)
    trials = number_of_people("trials", trials, least=1)
    successes = whole_number("successes", successes, least=0, most=trials)
    n = number_of_people("n", n, least=2)
    lower = _epsilon_below(binomial_lower(successes, trials, confidence), n)
    share = successes / trials
    return Evidence(
        metric=Metric.EPSILON,
        measured=math.inf if successes == trials else max(lower, _epsilon_below(share, n)),
        lower=lower,
        upper=math.inf,
        confidence=confidence,
        adversary=_SENDER_KNOWN,
        games=trials,
        delta=0.0,
    )


def _epsilon_below(success: float, n: int) -> float:
    """Return the greatest epsilon that allows no more than `success`; 0 if chance explains it."""

    def is_allowed(epsilon: float) -> bool:
        return clone_probability(epsilon, n=n) * (1 + _ROUNDING) <= success

    if not is_allowed(0.0):
        return 0.0
    return bisect_safe(is_allowed, safe=0.0, unsafe=_LARGEST, tolerance=1e-12)
