"""Guessing one person's value from the shuffled batch, with everybody else's value known."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import special

from croupier.errors import ParameterError, TooLargeError
from croupier.leakage.prior import Prior, as_law, checked_prior
from croupier.leakage.source import channel_of, probability_rows
from croupier.model.adversary import Adversary, Goal, View
from croupier.model.channel import Channel
from croupier.model.guarantee import Direction, Guarantee
from croupier.model.metric import Metric
from croupier.model.randomizer import Randomizer
from croupier.numerics.binomial import binomial_pmf
from croupier.numerics.compositions import composition_count, compositions
from croupier.numerics.rounding import float_above
from croupier.numerics.validate import number_of_people, whole_number

__all__ = [
    "guess_informed",
    "informed_upper_bound",
    "informed_vulnerability",
    "scan_compositions",
]

Real = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_CELLS = 1 << 22
"""The largest grid of histograms: a second of Fourier transforms."""

_MOST_POINTS = 1_000_000
"""The widest window of binomial probabilities: a second."""

_MOST_PEOPLE = 10**18

_DEVIATIONS = 12.0
"""Standard deviations around the mean that a window covers, and 60 more: all but 1e-30."""

_MOST_SCANNED = 500
"""The number of compositions of the others that are tried."""

_ERROR = 1e-12
"""The allowance for rounding if a computed value serves as a bound."""


def informed_vulnerability(
    source: Randomizer | Channel, *, others: Sequence[float], prior: Prior | None = None
) -> float:
    """The chance of guessing one value from the shuffled batch when all others are known.

        V = sum_c max_x prior_x sum_y R(y | x) H(c - e_y),

    where others[x] is the number of other people who hold x, H the law of the histogram of their
    reports, and `prior` the adversary's belief about the one person, uniform unless given.

    Binary randomized response under the uniform prior: 1/2 + (2p - 1)/2 max_c H(c), where H is
    log-concave with its mode next to its mean: O(sqrt n). Else H is the inverse Fourier transform
    of a product of powers, on a grid of one dimension less than there are outputs.

    Holds for exactly these others; it is a *lower* bound of the worst case over others.
    Direction: nearest, exact to 1e-12.
    Reference: jurado2023, Equation 10, for any channel and any number of people.

    Raises:
        TooLargeError: The grid of histograms is too large.

    Example:
        >>> noisy = Channel.from_weights([[4, 1], [1, 4]], 5)
        >>> round(informed_vulnerability(noisy, others=(100, 100)), 12)
        0.52116073818
    """
    channel = channel_of(source)
    counts = _checked_counts(others, channel.shape[0])
    law = checked_prior(prior, channel.shape[0])
    if channel.shape[1] == 1:
        value = 0.0
    elif _is_binary_response(channel) and len(set(law)) == 1:
        value = _binary(channel, *counts)
    else:
        value = _by_transform(channel, counts, law)
    # An output never makes the best guess worse than one by luck alone.
    return min(1.0, max(float(max(law)), value))


def guess_informed(
    source: Randomizer | Channel, *, others: Sequence[float], prior: Prior | None = None
) -> Guarantee:
    """The chance of guessing one value from the shuffled batch if all others are known.

    `informed_vulnerability` as a guarantee: exact if others[x] of the other people hold value
    x, for a belief `prior` about the one person, uniform unless given.

    Holds when all use one randomizer and the order is uniform.
    Direction: exact for these others; a worse composition may exist (`scan_compositions`).
    Reference: jurado2023, Equation 10.

    Example:
        >>> from croupier.randomizers import KaryRandomizedResponse
        >>> str(guess_informed(KaryRandomizedResponse(k=2, max_epsilon_local=1.0), others=(50, 50)))
        'guess_informed = 0.521'
    """
    held = _checked_counts(others, channel_of(source).shape[0])
    value = informed_vulnerability(source, others=held, prior=prior)
    return _guarantee(value, Direction.EXACT, held, () if prior is None else ("this prior",))


def scan_compositions(source: Randomizer | Channel, *, n: float) -> Guarantee:
    """The largest chance found among values of the n - 1 others, for a uniform prior.

    Tries all compositions if they are few; otherwise equal others, halves and the balanced one. For
    three values and more the balanced one is not the worst.

    Holds when all use one randomizer and the order is uniform.
    Direction: lower, rounded down: a worse composition may exist.

    Example:
        >>> noisy = Channel.from_weights([[7, 2, 1], [1, 7, 2], [2, 1, 7]], 10)
        >>> str(scan_compositions(noisy, n=4))
        'guess_informed >= 0.532'
    """
    n = number_of_people("n", n, least=1, most=_MOST_PEOPLE)
    channel = channel_of(source)
    value, worst = max(
        (informed_vulnerability(channel, others=others), others)
        for others in _candidates(n - 1, channel.shape[0])
    )
    return _guarantee(value * (1 - _ERROR), Direction.LOWER, worst)


def informed_upper_bound(
    delta: Callable[[float], float],
    *,
    epsilons: Iterable[float],
    k: int | None = None,
    near: int = 1,
    prior: Prior | None = None,
) -> float:
    """The chance of guessing one of k values, whatever the others hold.

        min over epsilon of (q e^epsilon + (1 - s) delta(epsilon)) / (1 - q + q e^epsilon),

    where `delta` is a curve of (epsilon, delta) guarantees of the batch, for replacing one person's
    value; every epsilon gives a valid bound. q is the largest entry of `prior` and s the sum of the
    squares of all; for k equally likely values both are 1/k.

    If a guess is right for the `near` = m values next to it, of k equally likely ones, q is m/k and
    s is 1/k: (m e^epsilon + (k - 1) delta)/(m e^epsilon + k - m).

    Proof: let A_x be the batches at which x is guessed. Adding P_x(A_x) <= e^epsilon P_x'(A_x) +
    delta over all pairs x != x', with weights prior_x prior_x', gives
    (1 - q) V <= e^epsilon q (1 - V) + (1 - s) delta for the sum V of the prior_x P_x(A_x). With m
    values for each guess, let A be the batches at which x is near the guess and x' is not: a batch
    counts for k - m values x' in the sum of P_x(A), and for m values x in the sum of P_x'(A).

    Direction: upper, rounded up.

    >>> informed_upper_bound(lambda epsilon: 0.0, k=2, epsilons=[math.log(3)])
    0.750000000000...
    """
    if (k is None) == (prior is None):
        raise ParameterError("k", must="be given, or `prior`, not both")
    if not isinstance(epsilons, Iterable):
        raise ParameterError("epsilons", must="be a list of numbers", hint="Try [0.1, 1.0].")
    if prior is None:
        k = whole_number("k", k or 0, least=2)
        near = min(k, whole_number("near", near, least=1))
        likeliest, other, pairs = Fraction(near, k), Fraction(k - near, k), Fraction(k - 1, k)
    else:
        law = as_law(prior)
        likeliest, other = max(law), 1 - max(law)
        pairs = 1 - sum((chance * chance for chance in law), Fraction(0))
    if other == 0:
        return 1.0
    # All terms are divided by 1 - q, since q may be below the least double, and rounded up.
    odds = max(float_above(likeliest / other), math.ulp(0.0))
    weight = float_above(pairs / other)
    bounds = [1.0]
    for epsilon in epsilons:
        if not epsilon >= 0:
            raise ParameterError("epsilons", must="be at least 0", got=epsilon)
        left_out = delta(epsilon)
        if not left_out >= 0:
            raise ParameterError("delta", must="return numbers of at least 0", got=left_out)
        rest = math.exp(-epsilon)
        bounds.append((odds + weight * left_out * rest) / (odds + rest))
    return min(1.0, min(bounds) * (1 + 1e-14))


def _guarantee(
    value: float, direction: Direction, others: Sequence[int], assumed: tuple[str, ...] = ()
) -> Guarantee:
    held = ", ".join(f"{count:,}" for count in others)
    conditions = ("one randomizer", "uniform order", f"others hold the values ({held}) times")
    return Guarantee(
        metric=Metric.GUESS_INFORMED,
        value=value,
        direction=direction,
        adversary=Adversary(sees=frozenset({View.BATCH}), wants=Goal.GUESS),
        theorem="exact for one dataset (Jurado et al. 2023, Equation 10)",
        assumptions=(*conditions, *assumed),
    )


def _checked_counts(others: Sequence[float], values: int) -> list[int]:
    if not isinstance(others, Iterable):
        raise ParameterError("others", must=f"be {values} counts", hint="Say how many hold each.")
    counts = [number_of_people("others", count, least=0, most=_MOST_PEOPLE) for count in others]
    if len(counts) != values:
        raise ParameterError("others", must=f"be {values} counts", got=len(counts))
    return counts


def _is_binary_response(channel: Channel) -> bool:
    if channel.shape != (2, 2):
        return False
    weights = channel.weights
    truthful = weights[0, 0] >= weights[0, 1]
    return bool(weights[0, 0] == weights[1, 1] and weights[0, 1] == weights[1, 0] and truthful)


def _binary(channel: Channel, first: int, second: int) -> float:
    """1/2 + (2p - 1)/2 max_c P(Bin(first, p) + Bin(second, 1-p) = c).

    A sum of independent indicators is log-concave and its mode less than one away from its mean.
    """
    truth, other = (float(channel.probability(0, column)) for column in range(2))
    share = float(channel.probability(0, 0) - channel.probability(0, 1))
    # The smaller group first: it needs the narrower window. Exchanging the outputs changes nothing.
    first, second = sorted((first, second))
    mean = first * truth + second * other
    radius = _radius(first * truth * other)
    low = max(0, math.floor(first * truth - radius))
    high = min(first, math.ceil(first * truth + radius))
    if high - low > _MOST_POINTS:
        raise _too_large(high - low, _MOST_POINTS)
    count = np.arange(low, high + 1, dtype=np.float64)
    chances = binomial_pmf(count, first, success=truth, failure=other)
    most = max(
        float(chances @ binomial_pmf(total - count, second, success=other, failure=truth))
        for total in range(math.floor(mean) - 1, math.ceil(mean) + 2)
    )
    return 0.5 + 0.5 * share * most


def _by_transform(channel: Channel, counts: list[int], prior: list[Fraction]) -> float:
    """V from the law of the others' histogram on a grid."""
    rows = probability_rows(channel)
    others = _others_law(rows, counts)
    best = np.zeros_like(others)
    for chance, row in zip(prior, rows, strict=True):
        np.maximum(best, float(chance) * _one_more(others, row), out=best)
    return float(best.sum())


def _others_law(rows: Real, counts: list[int]) -> Real:
    """H on the counts of all outputs but the last, with room for one more report.

    With s the likeliest report of x, the transform of a report of x is

        e^{-i w_s} [1 - sum_y R(y|x) (1 - e^{-i (w_y - w_s)})],

    and independent reports multiply. The first factor is a shift by whole counts, made at the end;
    the logarithm of the second is taken from its difference to one. A power of the whole would
    magnify the rounding of its phase.
    """
    free, side = rows.shape[1] - 1, sum(counts) + 2
    if side**free > _MOST_CELLS:
        raise _too_large(side**free, _MOST_CELLS)
    angle = 2 * np.pi * np.fft.fftfreq(side)
    one_less_root = 2 * np.sin(angle / 2) ** 2 + 1j * np.sin(angle)
    places: list[Integers] = [*np.ogrid[(slice(side),) * free], np.zeros((), dtype=np.int64)]
    modulus, phase = np.zeros((side,) * free), np.zeros((side,) * free)
    shift = np.zeros(free + 1, dtype=np.int64)
    for row, count in zip(rows, counts, strict=True):
        likeliest = int(row.argmax())
        shift[likeliest] += count
        one_less = np.zeros((side,) * free, dtype=np.complex128)
        for output, place in enumerate(places):
            if row[output] and output != likeliest:
                one_less += row[output] * one_less_root[(place - places[likeliest]) % side]
        if count and one_less.any():
            logarithm = special.log1p(-one_less)
            # Kept apart, since a zero of the transform has an infinite logarithm.
            modulus += count * logarithm.real
            phase += count * logarithm.imag
    law = np.fft.ifftn(np.exp(modulus) * np.exp(1j * phase)).real
    law = np.roll(law, shift[:free].tolist(), axis=tuple(range(free)))
    return np.where(_likely(rows, counts, places[:free]), np.maximum(law, 0.0), 0.0)


def _likely(rows: Real, counts: list[int], places: list[Integers]) -> NDArray[np.bool_]:
    """The histograms that are not mere rounding errors: no count is far from its mean."""
    people = np.array(counts, dtype=np.float64)
    last = sum(counts) - sum(places, start=np.zeros((), dtype=np.int64))
    likely = last >= 0
    for output, place in enumerate([*places, last]):
        chances = rows[:, output]
        radius = _radius(float(people @ (chances * (1 - chances))))
        likely = likely & (np.abs(place - people @ chances) <= radius)
    return likely


def _radius(variance: float) -> float:
    """The distance of a sum of independent indicators from its mean, by Bernstein's inequality."""
    return _DEVIATIONS * math.sqrt(max(0.0, variance)) + 60


def _too_large(entries: int, limit: int) -> TooLargeError:
    return TooLargeError(
        "the law of the others' histogram",
        entries=entries,
        limit=limit,
        hint="Ask about fewer people, or bound it by informed_upper_bound.",
    )


def _one_more(others: Real, row: Real) -> Real:
    """The law of the histogram with one more report; its last output has no axis.

    No count wraps around: the grid has room for one more.
    """
    law = row[-1] * others
    for axis in range(others.ndim):
        law = law + row[axis] * np.roll(others, 1, axis=axis)
    return np.asarray(law)


def _candidates(people: int, values: int) -> Iterator[tuple[int, ...]]:
    """Compositions of the others worth trying."""
    if composition_count(people, values) <= _MOST_SCANNED:
        for row in compositions(people, values, most=_MOST_SCANNED).tolist():
            yield tuple(row)
        return
    share, rest = divmod(people, values)
    yield tuple(share + (value < rest) for value in range(values))
    for first in range(min(values, 20)):
        yield tuple(people if value == first else 0 for value in range(values))
        for second in range(first):
            half = people // 2
            held = {first: half, second: people - half}
            yield tuple(held.get(value, 0) for value in range(values))
