"""What a reader of the shuffled batch, who knows nobody's value, learns about one person's."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError, TooLargeError
from croupier.leakage.binomial import binomial_pmf, central_binomial
from croupier.leakage.compositions import composition_count, compositions
from croupier.leakage.maximum_load import expected_maximum_load, maximum_load_bounds
from croupier.leakage.prior import Prior, checked_prior
from croupier.leakage.two_outputs import two_output_vulnerability
from croupier.model.adversary import Adversary, Goal, Knowledge, View
from croupier.model.channel import Channel
from croupier.model.guarantee import Direction, Guarantee, Metric
from croupier.model.randomizer import Randomizer
from croupier.model.whole import whole_number
from croupier.numerics.bisection import bisect_safe_integer
from croupier.randomizers.frequency_oracle import FrequencyOracle
from croupier.randomizers.k_rr import KaryRandomizedResponse

__all__ = [
    "people_needed",
    "shuffle_only_vulnerability",
    "uninformed_vulnerability",
    "vulnerability",
]

Real = NDArray[np.float64]
Levels = tuple[int, Fraction, Fraction]

_MOST_CELLS = 1 << 23
"""The largest table of histograms, with a column an output and a column an input: a second."""

_MOST_TO_MERGE = 50_000
"""Entries of a channel whose outputs are compared as fractions, a fraction of a second."""

_ERROR = 1e-12
"""Relative allowance for rounding where a computed value serves as a bound."""


def vulnerability(randomizer: Randomizer, *, n: int, prior: Prior | None = None) -> Guarantee:
    """The chance of guessing one person's value from the shuffled reports of n people.

    Exact wherever `uninformed_vulnerability` is. Elsewhere the least of these upper bounds:

        q + sqrt((k-1)/k * sum_x prior_x^2 (sum_y R(y|x)^2/r_y - 1) / n),   q = max prior,
        the same chance for fewer people,

    where r_y = sum_x prior_x R(y | x). Proofs: given the histogram c, guess x succeeds with chance
    prior_x + D_x, D_x = prior_x sum_y R(y|x) (c_y/n - r_y)/r_y. The D_x add up to zero, so
    max D <= sqrt((k-1)/k sum D^2), and the variance of D_x is the summand above. With fewer people
    nothing gets harder: the adversary can add reports of invented people whose values follow the
    prior.

    where `prior` is uniform unless given.

    Holds when values are independent with law `prior`, all use this randomizer and the order is
    uniform.
    Direction: exact, or upper and rounded up.
    Reference: jurado2023, Theorem 19 and Proposition 21; general channels and bounds are ours.

    Example:
        >>> from croupier.randomizers import KaryRandomizedResponse
        >>> str(vulnerability(KaryRandomizedResponse(k=10, epsilon_local=2.0), n=10_000))
        'guess_uniform = 0.102'
    """
    n = whole_number("n", n, least=1)
    try:
        value = uninformed_vulnerability(randomizer, n=n, prior=prior)
        direction, theorem = Direction.EXACT, "exact law of the histogram (Jurado et al. 2023)"
    except TooLargeError:
        value = min(1.0, _upper_bound(randomizer, n, prior) * (1 + _ERROR))
        direction, theorem = Direction.UPPER, "variance of the histogram, or fewer people"
    belief = "uniform values" if prior is None else "values with the given prior"
    return _guarantee(
        value, direction, theorem, ("one randomizer", f"independent, {belief}", *_people(n))
    )


def shuffle_only_vulnerability(k: int, n: int) -> Guarantee:
    """The same when nobody adds noise: E[maximum load]/n for k uniform values.

    Direction: exact, or upper where the load has too many balls to compute.
    Reference: jurado2023, Proposition 20.

    Example:
        >>> str(shuffle_only_vulnerability(2, 200))
        'guess_uniform = 0.528'
    """
    k = whole_number("k", k, least=2)
    n = whole_number("n", n, least=1)
    try:
        value, direction = expected_maximum_load(n, k) / n, Direction.EXACT
        theorem = "maximum load (Jurado et al. 2023, Proposition 20)"
    except TooLargeError:
        value, direction = min(1.0, maximum_load_bounds(n, k)[1] / n * (1 + 1e-15)), Direction.UPPER
        theorem = "bounds of the maximum load"
    return _guarantee(value, direction, theorem, ("independent, uniform values", *_people(n)))


def uninformed_vulnerability(
    source: Randomizer | Channel, *, n: int, prior: Prior | None = None
) -> float:
    """The exact chance of guessing one person's value from the histogram of n reports.

        V = E max_x prior_x sum_y R(y | x) c_y / (n r_y),   c ~ Multinomial(n, r),

    where r_y = sum_x prior_x R(y | x) and `prior` is uniform unless given.

    k-ary randomized response under the uniform prior: V = lambda E[maximum load]/n + (1-p)/(k-1),
    lambda = (k p - 1)/(k - 1). Two outputs: two binomial tails, for any prior and any n. Else every
    histogram of the outputs, where they are few.

    Holds when values are independent with law `prior`.
    Direction: nearest, exact to 1e-12.
    Reference: jurado2023, Theorem 19, Propositions 20 and 21; other priors and channels are ours.

    Raises:
        TooLargeError: There are too many histograms; ask `vulnerability` for an upper bound.

    Example:
        >>> uninformed_vulnerability(Channel.from_weights([[3, 1], [1, 3]], 4), n=3)
        0.625
    """
    n = whole_number("n", n, least=1)
    levels = _levels(source)
    if levels is not None and _is_uniform(prior, levels[0]):
        k, truth, other = levels
        return float(other) + float(truth - other) * (expected_maximum_load(n, k) / n)
    channel, law = _merged(source, prior)
    if len(law) == 1 or channel.shape[1] == 1:
        return float(max(law))
    if channel.shape[1] == 2:
        return two_output_vulnerability(channel, law, n=n)
    return _by_histograms(channel, law, n)


def people_needed(*, truth: float | Fraction, target: float | Fraction) -> int:
    """The least number of people at which a binary value is guessed with chance at most `target`.

    V = 1/2 + (2p - 1) C(2m, m)/2^(2m+1), m = floor(n/2), falls with n towards 1/2.

    where `truth` is p, the chance that a report is the value.

    Holds for binary randomized response and uniform values.
    Direction: upper: exact up to 2,000 people; beyond, V is rounded up by 1e-15 before comparing.
    Reference: jurado2023, Theorem 19.

    >>> people_needed(truth=0.9, target=0.51)
    1020
    """
    if not 0.5 <= truth <= 1:
        raise ParameterError("truth", must="be in [1/2, 1]", got=truth)
    if not 0.5 < target <= 1 and truth > 0.5:
        raise ParameterError("target", must="be in (1/2, 1]", got=target, hint="Try 0.51.")
    if truth <= target:
        return 1
    share, room = 2 * Fraction(truth) - 1, Fraction(target) - Fraction(1, 2)

    def enough(half: int) -> bool:
        if half <= 1000:
            chance = Fraction(math.comb(2 * half, half), 1 << 2 * half)
        else:
            chance = Fraction(central_binomial(half) * (1 + 1e-15))
        return share * chance / 2 <= room

    most = 1
    while not enough(most):
        most *= 4
    return 2 * bisect_safe_integer(enough, safe=most, unsafe=0)


def _levels(source: Randomizer | Channel) -> Levels | None:
    """(k, chance of the truth, chance of each other answer) if it is k-ary randomized response."""
    if isinstance(source, KaryRandomizedResponse):
        return source.size, *source.levels
    channel = source.channel() if isinstance(source, Randomizer) else source
    rows, columns = channel.shape
    if rows != columns or rows < 2:
        return None
    diagonal = np.diag(channel.weights)
    others = channel.weights[~np.eye(rows, dtype=bool)]
    if (diagonal != diagonal[0]).any() or (others != others[0]).any() or diagonal[0] < others[0]:
        return None
    return rows, channel.probability(0, 0), channel.probability(0, 1)


def _is_uniform(prior: Prior | None, k: int) -> bool:
    return prior is None or len(set(checked_prior(prior, k))) == 1


def _merged(source: Randomizer | Channel, prior: Prior | None) -> tuple[Channel, list[Fraction]]:
    """The possible inputs only, and outputs merged that lead to one conclusion."""
    channel = source.channel() if isinstance(source, Randomizer) else source
    law = checked_prior(prior, channel.shape[0])
    possible = [row for row, chance in enumerate(law) if chance]
    rows = Channel(channel.weights[possible], channel.denominator)
    if rows.shape[0] * rows.shape[1] <= _MOST_TO_MERGE:
        rows = rows.reduced()
    return rows, [law[row] for row in possible]


def _by_histograms(channel: Channel, law: list[Fraction], n: int) -> float:
    """The expectation over all histograms of the outputs."""
    histograms = compositions(n, channel.shape[1], most=_MOST_CELLS // sum(channel.shape))
    prior = np.array([float(chance) for chance in law])
    joint = prior[:, None] * channel.probabilities
    rates = joint.sum(axis=0)
    rates /= rates.sum()
    success = histograms.astype(np.float64) @ (joint / (n * rates)).T
    return math.fsum((_multinomial(histograms, n, rates) * success.max(axis=1)).tolist())


def _multinomial(histograms: NDArray[np.int64], n: int, rates: Real) -> Real:
    """The chances of histograms: one category after the other, each binomial among the rest."""
    chances = np.ones(len(histograms))
    left = np.full(len(histograms), n)
    rest = np.cumsum(rates[::-1])[::-1]
    for category in range(len(rates) - 1):
        chances *= binomial_pmf(
            histograms[:, category],
            left,
            success=float(rates[category] / rest[category]),
            failure=float(rest[category + 1] / rest[category]),
        )
        left = left - histograms[:, category]
    return chances


def _upper_bound(randomizer: Randomizer, n: int, prior: Prior | None) -> float:
    """What is proved where the exact value is too expensive."""
    try:
        levels = _levels(randomizer)
        if levels is not None and _is_uniform(prior, levels[0]):
            k, truth, other = levels
            return float(other) + float(truth - other) * (maximum_load_bounds(n, k)[1] / n)
        channel, law = _merged(randomizer, prior)
    except TooLargeError:
        if prior is not None or not isinstance(randomizer, FrequencyOracle):
            raise
        return _local_bound(randomizer)
    chances = np.array([float(chance) for chance in law])
    joint = chances[:, None] * channel.probabilities
    rates = joint.sum(axis=0)
    variance = float((joint * joint / rates).sum() - chances @ chances)
    spread = math.sqrt(max(0.0, variance) * (1 - 1 / len(law)) / n)
    bound = float(max(law)) + spread
    fewer = n
    while composition_count(fewer, channel.shape[1]) > _MOST_CELLS // (4 * sum(channel.shape)):
        if fewer == 1:
            return bound
        fewer //= 2
    return min(bound, _by_histograms(channel, law, fewer))


def _local_bound(oracle: FrequencyOracle) -> float:
    """One report whose sender is known: (1/k) sum_y max_x R(y | x) <= high * (all measure) / k."""
    high, _ = oracle.levels
    total = oracle.measure((0,), (True,)) + oracle.measure((0,), (False,))
    return float(high * total / oracle.size)


def _people(n: int) -> tuple[str, ...]:
    return "uniform order", f"{n:,} reports"


def _guarantee(
    value: float, direction: Direction, theorem: str, assumptions: tuple[str, ...]
) -> Guarantee:
    return Guarantee(
        metric=Metric.GUESS_UNIFORM,
        value=value,
        direction=direction,
        adversary=Adversary(
            sees=frozenset({View.BATCH}), knows=Knowledge.NOTHING, wants=Goal.GUESS
        ),
        theorem=theorem,
        assumptions=assumptions,
    )
