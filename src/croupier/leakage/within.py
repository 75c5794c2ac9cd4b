"""Guessing a number to within w: any of several values next to the guess is right."""

import math

import numpy as np

from croupier.leakage.source import channel_of, probability_rows
from croupier.model.adversary import Adversary, Goal, Knowledge, View
from croupier.model.channel import Channel
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.model.randomizer import Randomizer
from croupier.numerics.validate import number_of_people, whole_number

__all__ = ["within_informed", "within_uninformed"]

_MOST_PEOPLE = 10**18
_ERROR = 1e-12
"""The relative allowance for rounding if a computed value serves as a bound."""


def within_informed(source: Randomizer | Channel, *, near: int) -> Guarantee:
    """The chance to guess a number from one report whose sender is known, if m values are right.

        (1/k) sum_y max over runs of m values of the sum of R(y | x),   m = `near`.

    Holds when all k values are equally likely.
    Direction: exact to 1e-12.

    Raises:
        TooLargeError: The channel cannot be listed.

    Example:
        >>> noisy = Channel.from_weights([[2, 1, 1], [1, 2, 1], [1, 1, 2]], 4)
        >>> str(within_informed(noisy, near=2))
        'within_informed = 0.750'
    """
    rows = probability_rows(channel_of(source))
    near = min(len(rows), whole_number("near", near, least=1))
    below = np.cumsum(np.vstack([np.zeros(rows.shape[1]), rows]), axis=0)
    runs = below[near:] - below[:-near]
    return Guarantee(
        metric=Metric.WITHIN_INFORMED,
        value=min(1.0, float(runs.max(axis=0).sum()) / len(rows)),
        direction=Direction.EXACT,
        adversary=Adversary(sees=frozenset({View.BATCH}), wants=Goal.GUESS),
        theorem="the likeliest numbers given each report, added up",
        assumptions=("uniform values", "1 report"),
    )


def within_uninformed(k: int, near: int, *, epsilon_local: float, n: int) -> Guarantee:
    """An upper bound of the chance to guess a number of k from a batch, with nobody's known.

        q + sqrt(2 q (b - q) ln(K)/n) + b ln(K)/(3 n),   b = q e/(q e + 1 - q),

    where e = e^epsilon_local, m = `near` is the number of values near a guess, q = m/k, and
    K = k - m + 1 the number of different guesses: runs of m values.

    Proof: given the histogram, a guess is right with the average over the reports of c(y), the
    chance that the value behind y is in its run. That is between 0 and b, with the mean q, hence a
    variance of at most q (b - q). The largest of K averages of n such terms exceeds q by the rest
    in expectation (Bernstein; boucheron2013, Corollary 2.6).

    Holds when values are independent and uniform, all use one randomizer and the order is uniform.
    Direction: upper, rounded up by 1e-12.

    Example:
        >>> str(within_uninformed(1024, 103, epsilon_local=4.0, n=100_000))
        'within_uninformed <= 0.104'
    """
    k = whole_number("k", k, least=2)
    n = number_of_people("n", n, least=1, most=_MOST_PEOPLE)
    near = min(k, whole_number("near", near, least=1))
    blind, guesses = near / k, math.log(k - near + 1)
    most = blind / (blind + (1 - blind) * math.exp(-epsilon_local))
    spread = math.sqrt(2 * blind * max(0.0, most - blind) * guesses / n)
    value = min(most, blind + spread + most * guesses / (3 * n))
    return Guarantee(
        metric=Metric.WITHIN_UNINFORMED,
        value=min(1.0, value * (1 + _ERROR)),
        direction=Direction.UPPER,
        adversary=Adversary(
            sees=frozenset({View.BATCH}), knows=Knowledge.NOTHING, wants=Goal.GUESS
        ),
        theorem="Bernstein's inequality for the best of all guesses",
        assumptions=("independent, uniform values", "uniform order", "one randomizer"),
    )
