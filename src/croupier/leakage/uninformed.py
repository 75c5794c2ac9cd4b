"""Guessing one person's value from the shuffled batch, with nobody's value known."""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from croupier.errors import ParameterError, TooLargeError
from croupier.leakage.maximum_load import expected_maximum_load, maximum_load_bounds
from croupier.leakage.prior import Prior, checked_prior
from croupier.leakage.source import channel_of, probability_rows
from croupier.leakage.two_outputs import two_output_vulnerability
from croupier.model.adversary import Adversary, Goal, Knowledge, View
from croupier.model.channel import Channel
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.model.randomizer import Randomizer
from croupier.numerics.binomial import binomial_pmf, central_binomial
from croupier.numerics.bisection import bisect_safe_integer
from croupier.numerics.compositions import composition_count, compositions
from croupier.numerics.rounding import float_above
from croupier.numerics.validate import number_of_people, whole_number
from croupier.randomizers.family_hashing import FamilyHashing
from croupier.randomizers.frequency_oracle import FrequencyOracle
from croupier.randomizers.k_rr import KaryRandomizedResponse

__all__ = [
    "guess_uninformed",
    "people_needed",
    "shuffle_only_vulnerability",
    "uninformed_upper_bound",
    "uninformed_vulnerability",
]

Real = NDArray[np.float64]
Levels = tuple[int, Fraction, Fraction]
Bound = tuple[float, str]

_MOST_PEOPLE = 10**18

_MOST_CELLS = 1 << 23
"""The largest table of histograms, one column per output and per input: a second."""

_MOST_TO_MERGE = 50_000
"""Entries of a channel whose outputs are compared as fractions, a fraction of a second."""

_ERROR = 1e-12
"""The relative allowance for rounding if a computed value serves as a bound."""

_UNIFORM = "independent, uniform values"
_LOAD = "bounds of the maximum load"
_ONE_REPORT = "likelihoods of one report, sender known"


def guess_uninformed(
    source: Randomizer | Channel, *, n: float, prior: Prior | None = None
) -> Guarantee:
    """The chance of guessing one person's value from the shuffled reports of n people.

    The exact `uninformed_vulnerability` if it can be computed, otherwise `uninformed_upper_bound`;
    no size is refused. The theorem says which. A policy limits the guess for uniform values; the
    assumptions say if the prior is another.

    Holds when values are independent with law `prior`, uniform unless given, all use this
    randomizer and the order is uniform.
    Direction: exact, or upper and rounded up.
    Reference: jurado2023, Theorem 19 and Proposition 21; general channels and bounds are ours.

    Example:
        >>> from croupier.randomizers import KaryRandomizedResponse
        >>> str(guess_uninformed(KaryRandomizedResponse(k=10, max_epsilon_local=2.0), n=10_000))
        'guess_uninformed = 0.102'
    """
    n = number_of_people("n", n, least=1, most=_MOST_PEOPLE)
    try:
        value = uninformed_vulnerability(source, n=n, prior=prior)
        direction, theorem = Direction.EXACT, "exact law of the histogram (Jurado et al. 2023)"
    except TooLargeError:
        value, theorem = _least_bound(source, n, _checked_law(source, prior))
        direction = Direction.UPPER
    law = _checked_law(source, prior)
    values = _UNIFORM
    if law is not None:
        values = f"independent values of a given prior, the likeliest of chance {float(max(law)):g}"
    return _guarantee(value, direction, theorem, ("one randomizer", values, *_people(n)))


def shuffle_only_vulnerability(k: int, n: int) -> Guarantee:
    """The same chance if nobody adds noise: E[maximum load]/n for k uniform values.

    Direction: exact, or upper if the load has too many balls to compute.
    Reference: jurado2023, Proposition 20.

    Example:
        >>> str(shuffle_only_vulnerability(2, 200))
        'guess_uninformed = 0.528'
    """
    k = whole_number("k", k, least=2)
    n = number_of_people("n", n, least=1)
    try:
        value, direction = max(1 / k, expected_maximum_load(n, k) / n), Direction.EXACT
        theorem = "maximum load (Jurado et al. 2023, Proposition 20)"
    except TooLargeError:
        value, direction = min(1.0, maximum_load_bounds(n, k)[1] / n * (1 + 1e-15)), Direction.UPPER
        theorem = _LOAD
    return _guarantee(value, direction, theorem, (_UNIFORM, *_people(n)))


def uninformed_vulnerability(
    source: Randomizer | Channel, *, n: int, prior: Prior | None = None
) -> float:
    """The exact chance of guessing one person's value from the histogram of n reports.

        V = E max_x prior_x sum_y R(y | x) c_y / (n r_y),   c ~ Multinomial(n, r),

    where r_y = sum_x prior_x R(y | x) and `prior` is uniform unless given.

    k-ary randomized response under the uniform prior: V = lambda E[maximum load]/n + (1-p)/(k-1),
    lambda = (k p - 1)/(k - 1). Two outputs: two binomial tails, for any prior and any n. Otherwise
    every histogram of the outputs, if they are few.

    Holds when values are independent with law `prior`.
    Direction: nearest, exact to 1e-12; never below luck alone.
    Reference: jurado2023, Theorem 19, Propositions 20 and 21; other priors and channels are ours.

    Raises:
        TooLargeError: There are too many histograms; ask for `uninformed_upper_bound`.

    Example:
        >>> uninformed_vulnerability(Channel.from_weights([[3, 1], [1, 3]], 4), n=3)
        0.625
    """
    n = number_of_people("n", n, least=1, most=_MOST_PEOPLE)
    law = _checked_law(source, prior)
    if not isinstance(source, KaryRandomizedResponse):
        source = channel_of(source)
    levels = _levels(source) if law is None else None
    if levels is not None:
        value, blind = _of_load(levels, expected_maximum_load(n, levels[0]) / n), 1 / levels[0]
    else:
        channel, law = _merged(source, law)
        value, blind = _by_histogram(channel, law, n), float(max(law))
    return min(1.0, max(blind, value))


def uninformed_upper_bound(
    source: Randomizer | Channel, *, n: int, prior: Prior | None = None
) -> float:
    """An upper bound of that chance for any n, if the exact value is too expensive.

    The least of these, as far as the channel can be listed:

        other + (truth - other) * (upper bound of E[maximum load]/n)  for k-RR, uniform prior,
        q + sqrt((k-1)/k * sum_x prior_x^2 (sum_y R(y|x)^2/r_y - 1) / n),
        the exact chance for fewer people,
        sum_y max_x prior_x R(y | x),
        q e^epsilon_local / (q e^epsilon_local + 1 - q),

    where q = max_x prior_x, k is the number of values and r_y = sum_x prior_x R(y | x).

    Proofs. Given the histogram c, guess x succeeds with chance prior_x + D_x,
    D_x = prior_x sum_y R(y|x) (c_y/n - r_y)/r_y. The D_x add up to zero, so that
    max D <= sqrt((k-1)/k sum D^2), and the variance of D_x is the summand above. With fewer people
    guessing gets no harder: the adversary can add reports of invented people whose values follow
    the prior. The last two are for one report whose sender is known; the last one for any
    mechanism, since r_y >= R(y|x) (prior_x + (1 - prior_x) e^-epsilon_local).

    Holds when values are independent with law `prior`, uniform unless given.
    Direction: upper, rounded up by 1e-12.
    Reference: jurado2023, Propositions 20 and 21, for the first; the others are ours.

    Example:
        >>> noisy = Channel.from_weights([[7, 2, 1], [1, 7, 2], [2, 1, 7]], 10)
        >>> round(uninformed_upper_bound(noisy, n=10**6), 4)
        0.3337
    """
    n = number_of_people("n", n, least=1, most=_MOST_PEOPLE)
    return _least_bound(source, n, _checked_law(source, prior))[0]


def people_needed(*, truth: float | Fraction, target: float | Fraction) -> int:
    """The least number of people at which a binary value is guessed with chance at most `target`.

    V = 1/2 + (2p - 1) C(2m, m)/2^(2m+1), m = floor(n/2), falls with n towards 1/2; p is `truth`,
    the chance that a report is the value.

    Holds for binary randomized response and uniform values.
    Direction: upper: exact up to 2,000 people; beyond, V is rounded up by 1e-15 before comparing.
    Reference: jurado2023, Theorem 19.

    >>> people_needed(truth=0.9, target=0.51)
    1020
    """
    for name, value in (("truth", truth), ("target", target)):
        if not isinstance(value, int | float | Fraction):
            raise ParameterError(name, must="be a float or a Fraction", got=type(value).__name__)
    if not 0.5 <= truth <= 1:
        raise ParameterError("truth", must="be in [1/2, 1]", got=truth)
    if not (0.5 < target <= 1 or truth == target == 0.5):
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
        if most > _MOST_PEOPLE:
            raise ParameterError(
                "target", must="be reached by 1e18 people", hint="Raise it, or lower `truth`."
            )
    return 2 * bisect_safe_integer(enough, safe=most, unsafe=0)


def _checked_law(source: Randomizer | Channel, prior: Prior | None) -> list[Fraction] | None:
    """Return the prior as a checked law; None for the uniform prior, however it is given."""
    if prior is None:
        return None
    law = checked_prior(prior, _size(source))
    return None if len(set(law)) == 1 else law


def _size(source: Randomizer | Channel) -> int:
    return source.domain.size if isinstance(source, Randomizer) else channel_of(source).shape[0]


def _levels(source: Randomizer | Channel) -> Levels | None:
    """(k, chance of the truth, chance of each other answer) if it is k-ary randomized response."""
    if isinstance(source, KaryRandomizedResponse):
        return source.size, *source.levels
    channel = channel_of(source)
    rows, columns = channel.shape
    if rows != columns or rows < 2:
        return None
    diagonal = np.diag(channel.weights)
    others = channel.weights[~np.eye(rows, dtype=bool)]
    if (diagonal != diagonal[0]).any() or (others != others[0]).any() or diagonal[0] < others[0]:
        return None
    return rows, channel.probability(0, 0), channel.probability(0, 1)


def _of_load(levels: Levels, share: float) -> float:
    """The chance for k-ary randomized response, from the share of the fullest cell."""
    _, truth, other = levels
    return float(other) + float(truth - other) * share


def _merged(
    source: Randomizer | Channel, law: list[Fraction] | None
) -> tuple[Channel, list[Fraction]]:
    """Keep the possible inputs only, and merge outputs that lead to the same conclusion."""
    channel = channel_of(source)
    law = checked_prior(None, channel.shape[0]) if law is None else law
    possible = [row for row, chance in enumerate(law) if chance]
    rows = Channel(channel.weights[possible], channel.denominator)
    if rows.shape[0] * rows.shape[1] <= _MOST_TO_MERGE:
        rows = rows.reduced()
    return rows, [law[row] for row in possible]


def _by_histogram(channel: Channel, law: list[Fraction], n: int) -> float:
    if len(law) == 1 or channel.shape[1] == 1:
        return float(max(law))
    if n == 1 and math.prod(channel.shape) <= _MOST_CELLS:
        return math.fsum(_joint(channel, law)[0].max(axis=0).tolist())
    if channel.shape[1] == 2:
        return two_output_vulnerability(channel, law, n=n)
    return _over_all_histograms(channel, law, n)


def _over_all_histograms(channel: Channel, law: list[Fraction], n: int) -> float:
    """The expectation over all histograms of the outputs."""
    histograms = compositions(n, channel.shape[1], most=_MOST_CELLS // sum(channel.shape))
    joint, rates = _joint(channel, law)
    success = histograms.astype(np.float64) @ (joint / (n * rates)).T
    return math.fsum((_multinomial(histograms, n, rates) * success.max(axis=1)).tolist())


def _joint(channel: Channel, law: list[Fraction]) -> tuple[Real, Real]:
    """prior_x R(y | x), and its sums r_y."""
    joint = np.array([float(chance) for chance in law])[:, None] * probability_rows(channel)
    return joint, joint.sum(axis=0)


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


def _least_bound(source: Randomizer | Channel, n: int, law: list[Fraction] | None) -> Bound:
    """The least of the proved bounds, rounded up, and its proof."""
    largest = Fraction(1, _size(source)) if law is None else max(law)
    value, proof = min([*_bounds_from_batch(source, n, law), *_bounds_from_one(source, largest)])
    return min(1.0, max(float_above(largest), value * (1 + _ERROR))), proof


def _bounds_from_batch(
    source: Randomizer | Channel, n: int, law: list[Fraction] | None
) -> Iterator[Bound]:
    """The bounds from the histogram; none if the channel cannot be listed."""
    try:
        levels = _levels(source) if law is None else None
        if levels is not None:
            yield _of_load(levels, maximum_load_bounds(n, levels[0])[1] / n), _LOAD
            return
        channel, law = _merged(source, law)
    except TooLargeError:
        return
    joint, rates = _joint(channel, law)
    spread = math.sqrt(_variance(joint, rates) * (1 - 1 / len(law)) / n)
    yield float(max(law)) + spread, "variance of the histogram"
    yield float(joint.max(axis=0).sum()), _ONE_REPORT
    fewer = n
    most = _MOST_CELLS // sum(channel.shape)
    while fewer > 1 and composition_count(fewer, channel.shape[1]) > most:
        fewer = 3 * fewer // 4
    if fewer > 1:
        proof = f"exact law of the histogram of {fewer:,} people; more hide no less"
        yield _over_all_histograms(channel, law, fewer), proof


def _variance(joint: Real, rates: Real) -> float:
    """The sum over values of the variance of their chance given a report, rounded up.

    A sum of squared deviations, each as large as rounding allows: a difference of two sums near one
    would cancel if all values report nearly alike.
    """
    given, before = joint / rates, joint.sum(axis=1, keepdims=True)
    slack = sum(joint.shape, 8) * 2.0**-52 * (given + before)
    return float((rates * (np.abs(given - before) + slack) ** 2).sum())


def _bounds_from_one(source: Randomizer | Channel, largest: Fraction) -> Iterator[Bound]:
    """The bounds for one report whose sender is known."""
    epsilon = source.checked_epsilon_local if isinstance(source, Randomizer) else source.epsilon
    blind = float_above(largest)
    rest = float(1 - largest) * math.exp(-epsilon)
    yield blind / (blind + rest), "epsilon_local of one report, sender known"
    if isinstance(source, FamilyHashing):
        yield float(source.most_right * largest), _ONE_REPORT
    if isinstance(source, FrequencyOracle):
        # R(y | x) is at most high times the measure of y.
        high, _ = source.levels
        total = source.measure((0,), (True,)) + source.measure((0,), (False,))
        yield float(high * total * largest), _ONE_REPORT


def _people(n: int) -> tuple[str, ...]:
    return "uniform order", "1 report" if n == 1 else f"{n:,} reports"


def _guarantee(
    value: float,
    direction: Direction,
    theorem: str,
    assumptions: tuple[str, ...],
) -> Guarantee:
    return Guarantee(
        metric=Metric.GUESS_UNINFORMED,
        value=value,
        direction=direction,
        adversary=Adversary(
            sees=frozenset({View.BATCH}), knows=Knowledge.NOTHING, wants=Goal.GUESS
        ),
        theorem=theorem,
        assumptions=assumptions,
    )
