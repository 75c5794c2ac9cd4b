"""The distance of two inputs by one event: what its counts certify, and what they would find."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from croupier.auditing.blackbox.samples import binomial_lower, check_confidence
from croupier.errors import ParameterError
from croupier.numerics.bisection import bisect_safe_integer
from croupier.numerics.keystream import Keystream
from croupier.numerics.validate import number_of_people

__all__ = ["Detectable", "Hits", "detectable", "epsilon_lower", "flip_coins", "rarest_leak"]

_ROUNDING = 1e-12
_SHARE_OF_MASS = 0.1
"""The share of the error for the probability of the event, if delta needs it."""
_EVENT_PROBABILITIES = (0.5, 0.1, 0.01, 0.001)
_WORD_BITS = 64


class Hits(NamedTuple):
    """The counts of an event from either input, over trials whose input a fair coin chose."""

    first: int
    second: int
    trials: int


class Detectable(NamedTuple):
    """The least epsilon that would have been found nine times out of ten.

    Attributes:
        event_probability: The probability of the event that shows it, on average over both inputs.
        epsilon: Infinite if none would have been found.
    """

    event_probability: float
    epsilon: float


def flip_coins(count: int, rng: Keystream) -> NDArray[np.bool_]:
    """Return which of `count` fair coins show heads.

    >>> flip_coins(3, Keystream(insecure_seed=1)).shape
    (3,)
    """
    words = rng.words(-(-count // _WORD_BITS)).astype("<u8")
    return np.unpackbits(words.view(np.uint8))[:count].astype(bool)


def epsilon_lower(hits: Hits, *, delta: float = 0.0, confidence: float = 0.95) -> float:
    """Return an epsilon that two laws P and Q exceed at `delta`, from an event E fixed beforehand.

        epsilon >= ln[(t - delta/(2 m)) / (1 - t)],

    where t is Clopper and Pearson's lower end for the share of the hits that came from the first
    input, and m theirs for the probability of a hit. For delta = 0 nothing is spent on m.

    A fair coin chose the input of every trial. So each hit came from the first one with
    probability P(E)/(P(E) + Q(E)), independently, whatever the number of hits: one interval for a
    share replaces two for two probabilities. P(E) <= e^epsilon Q(E) + delta and a mean probability
    (P(E) + Q(E))/2 >= m imply t <= (e^epsilon + delta/(2 m))/(1 + e^epsilon).

    Args:
        hits: The hits of trials on which E was not chosen.
        delta: The failure probability that belongs to the epsilon.
        confidence: The coverage, at least 0.75.

    Holds when the trials are independent, and E was chosen without them.
    Direction: lower, rounded down; 0 if nothing is shown.
    Reference: clopper1934.

    >>> epsilon_lower(Hits(7300, 2700, 20_000))
    0.9573...
    """
    check_confidence(confidence)
    _check_delta(delta)
    total = hits.first + hits.second
    if total == 0:
        return 0.0
    error = 1 - confidence
    spent = _SHARE_OF_MASS * error if delta else 0.0
    share = binomial_lower(hits.first, total, 1 - (error - spent))
    excess = share
    if delta:
        excess -= delta / (2 * binomial_lower(total, hits.trials, 1 - spent)) * (1 + _ROUNDING)
    if excess <= 1 - share:
        return 0.0
    return max(0.0, math.log(excess / (1 - share)) - _ROUNDING)


def detectable(
    claim: float, trials: int, *, delta: float = 0.0, confidence: float = 0.95
) -> tuple[Detectable, ...]:
    """Return what would have been found of a violated claim, by events of several probabilities.

    For a mean probability m of the event: with K hits, which are exceeded 19 times out of 20, the
    least share of them from the first input at which 19 audits out of 20 refute the claim; as
    epsilon, ln[(share - delta/(2 m))/(1 - share)].

    Holds when the search names an event that good.

    >>> [round(found.epsilon, 3) for found in detectable(1.0, 800_000)]
    [1.012, 1.026, 1.085, 1.281]
    """
    trials = number_of_people("trials", trials, least=1)
    found = []
    for probability in _EVENT_PROBABILITIES:
        hits = int(special.bdtrik(0.05, trials, probability))
        needed = _hits_needed(claim, hits, trials, delta, confidence)
        epsilon = math.inf
        if needed is not None:
            share = float(special.betaincinv(needed, hits - needed + 1, 0.95))
            epsilon = math.log(max(share - delta / (2 * probability), 0.0) / (1 - share))
        found.append(Detectable(probability, epsilon))
    return tuple(found)


def rarest_leak(
    claim: float, trials: int, *, learned: int, delta: float = 0.0, confidence: float = 0.95
) -> float:
    """Return the least probability of a leak that would have been found nine times out of ten.

    A leak is an event that one input has and the other never. With p its probability, the Poisson
    law of its count exceeds what refutes the claim 19 times out of 20 in the p trials/2 expected
    there, and 1 in the p learned expected in the search.

    Args:
        claim: The claimed epsilon.
        trials: The trials of the certification, both inputs together.
        learned: The outputs per input on which the search was made.
        delta: The failure probability that belongs to the claim.
        confidence: The confidence of the certification.

    Direction: an approximation; infinite if no leak would have been found.

    >>> round(1 / rarest_leak(1.0, 800_000, learned=100_000))
    21080
    """
    trials = number_of_people("trials", trials, least=1)

    def refutes(hits: int) -> bool:
        lower = epsilon_lower(Hits(hits, 0, trials), delta=delta, confidence=confidence)
        return lower > claim

    if not refutes(trials):
        return math.inf
    needed = bisect_safe_integer(refutes, safe=trials, unsafe=0)
    certified = float(special.gammaincinv(needed, 0.95)) / (trials / 2)
    noticed = float(special.gammaincinv(2, 0.95)) / learned
    least = max(certified, noticed)
    return least if least <= 1 else math.inf


def _hits_needed(
    claim: float, total: int, trials: int, delta: float, confidence: float
) -> int | None:
    """Return the least number of hits from the first input, out of `total`, that refutes."""

    def refutes(first: int) -> bool:
        hits = Hits(first, total - first, trials)
        return epsilon_lower(hits, delta=delta, confidence=confidence) > claim

    if total < 1 or not refutes(total):
        return None
    return bisect_safe_integer(refutes, safe=total, unsafe=0)


def _check_delta(delta: float) -> None:
    if not 0 <= delta < 1:
        raise ParameterError("delta", must="be in [0, 1)", got=delta, hint="Try 1e-6.")
