"""Vulnerability: the best guess of a secret before and after an output is seen."""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from croupier.errors import ParameterError
from croupier.leakage.prior import (
    Prior,
    as_law,
    checked_prior,
    common_denominator,
    exact_doubles,
    exact_numbers,
    prior_in_doubles,
)
from croupier.leakage.source import channel_of, probability_rows
from croupier.model.channel import Channel
from croupier.model.randomizer import Randomizer

__all__ = [
    "additive_leakage",
    "blind_gain",
    "gain",
    "guessing_entropy",
    "min_capacity",
    "miracle_bound",
    "multiplicative_capacity",
    "multiplicative_leakage",
    "mutual_information",
    "posterior_guessing_entropy",
]

_MOST_INTEGER_PRODUCTS = 2_000_000
"""Beyond this many products of integers, an exact channel is evaluated in doubles."""

_MOST_GAIN = 10**300
"""The size beyond which sums of doubles might overflow."""

_BLOCK = 2**15
"""So many doubles, with their products, stay in the cache of a processor."""

Integers = NDArray[np.object_]
Real = NDArray[np.float64]
Gain = list[list[Fraction]] | None


def blind_gain(prior: Prior, gain: ArrayLike | None = None) -> float:
    """The gain of the best guess before anything is seen: max_w sum_x prior_x gain(w, x).

    Here `gain` has one row per guess and one column per secret; by default a right guess of the
    secret gains one (Bayes vulnerability).

    Direction: the correctly rounded value of the exact sum.
    Reference: jurado2023, Definition 1.

    >>> blind_gain([0.5, 0.25, 0.25])
    0.5
    """
    return float(_luck(as_law(prior), gain))


def gain(
    source: Randomizer | Channel, prior: Prior | None = None, gain: ArrayLike | None = None
) -> float:
    """The average gain of the best guess once the output is seen (g-vulnerability).

        V = sum_y max_w sum_x prior_x C(y | x) gain(w, x)

    where C is the channel of `source`, `prior` is uniform and `gain`, with one row per guess and
    one column per secret, the identity unless given.

    Direction: correctly rounded for an exact channel of moderate size; else to 1e-13 of the largest
    absolute gain, and never below `blind_gain`.
    Reference: jurado2023, Definition 2.

    >>> gain(Channel.from_weights([[3, 1], [1, 3]], 4))
    0.75
    """
    return float(_posterior(channel_of(source), prior, gain))


def multiplicative_leakage(
    channel: Channel, prior: Prior | None = None, gain: ArrayLike | None = None
) -> float:
    """Posterior over prior vulnerability: the factor by which the output helps.

    Holds when the prior vulnerability is positive.

    >>> multiplicative_leakage(Channel.from_weights([[3, 1], [1, 3]], 4))
    1.5
    """
    before = _luck(checked_prior(prior, channel.shape[0]), gain)
    if before <= 0:
        raise ParameterError(
            "gain",
            must="give the best guess by luck alone a positive gain",
            hint="Shift the gains, or ask for additive_leakage.",
        )
    return float(_posterior(channel, prior, gain) / before)


def additive_leakage(
    channel: Channel, prior: Prior | None = None, gain: ArrayLike | None = None
) -> float:
    """Posterior less prior vulnerability; with the defaults, (sum_y max_x C(y | x) - 1) / k.

    At the uniform prior this is the gain over guessing one of k secrets by luck alone, not the most
    over all priors, which is hard to compute.

    >>> additive_leakage(Channel.from_weights([[3, 1], [1, 3]], 4))
    0.25
    """
    before = _luck(checked_prior(prior, channel.shape[0]), gain)
    return float(_posterior(channel, prior, gain) - before)


def multiplicative_capacity(channel: Channel) -> float:
    """The largest multiplicative leakage over all priors and non-negative gains.

        sum_y max_x C(y | x),

    attained by guessing the secret under the uniform prior. Proof that nothing exceeds it: for
    every guess w, sum_x prior_x C(y | x) gain(w, x) <= max_x C(y | x) * V_prior; now add over y.

    Direction: exact for an exact channel, correctly rounded; never below one.
    Reference: alvim2012, the "miracle" theorem.

    >>> multiplicative_capacity(Channel.from_weights([[3, 1], [1, 3]], 4))
    1.5
    """
    return float(_capacity(channel))


def min_capacity(channel: Channel) -> float:
    """`multiplicative_capacity` in bits: its logarithm to base two.

    >>> min_capacity(Channel.from_weights([[4, 0], [0, 4]], 4))
    1.0
    """
    return math.log2(multiplicative_capacity(channel))


def miracle_bound(
    channel: Channel, prior: Prior | None = None, gain: ArrayLike | None = None
) -> float:
    """An upper bound of the posterior vulnerability that needs one pass over the channel.

        V_posterior <= V_prior * sum_y max_x C(y | x)

    Holds when no gain is negative.
    Direction: upper, rounded up.
    Reference: alvim2012, the "miracle" theorem; proof in `multiplicative_capacity`.

    >>> response = Channel.from_weights([[3, 1], [1, 3]], 4)
    >>> miracle_bound(response, [0.75, 0.25]) >= gain(response, [0.75, 0.25])
    True
    """
    before = _luck(checked_prior(prior, channel.shape[0]), gain)
    if gain is not None and (np.asarray(gain) < 0).any():
        raise ParameterError("gain", must="not be negative", hint="Use croupier.gain.")
    bound = float(before * _capacity(channel))
    return bound * (1 + 1e-12) if not channel.exact else math.nextafter(bound, math.inf)


def mutual_information(channel: Channel, prior: Prior | None = None) -> float:
    """Shannon's mutual information of input and output, in bits.

        I = sum_{x,y} prior_x C(y | x) log2( C(y | x) / sum_x' prior_x' C(y | x') )

    where `prior` is uniform unless given. It does not bound the success of guesses: a channel may
    leak almost nothing in bits and still give the secret away now and then.

    Direction: nearest, error about 1e-14.

    >>> mutual_information(Channel.from_weights([[4, 0], [0, 4]], 4))
    1.0
    """
    rows = probability_rows(channel)
    joint = prior_in_doubles(prior, channel.shape[0])[:, None] * rows
    seen = joint > 0
    # A difference of logarithms, since the ratio may exceed the largest double.
    logarithm = np.log2(np.where(seen, rows, 1.0)) - np.log2(np.where(seen, joint.sum(axis=0), 1.0))
    return max(0.0, math.fsum((joint * logarithm).ravel().tolist()))


def guessing_entropy(prior: Prior) -> float:
    """The expected number of guesses, one secret at a time, the likeliest first.

    >>> guessing_entropy([0.5, 0.25, 0.25])
    1.75
    """
    law = sorted(as_law(prior), reverse=True)
    return float(sum(index * chance for index, chance in enumerate(law, start=1)))


def posterior_guessing_entropy(channel: Channel, prior: Prior | None = None) -> float:
    """The expected number of guesses after the output is seen: sum_y sum_i i * (i-th largest).

    The terms sorted are prior_x C(y | x) for each y.

    >>> posterior_guessing_entropy(Channel.from_weights([[3, 1], [1, 3]], 4))
    1.25
    """
    law = prior_in_doubles(prior, channel.shape[0])
    joint = np.sort(law[:, None] * probability_rows(channel), axis=0)[::-1]
    indices = np.arange(1, channel.shape[0] + 1)[:, None]
    return math.fsum((indices * joint).ravel().tolist())


def _checked_gain(gain: ArrayLike | None, secrets: int) -> Gain:
    """Rows of fractions; None stands for the identity."""
    if gain is None:
        return None
    entries = exact_numbers("gain", gain, dimensions=2)
    shape = np.shape(gain)
    if shape[1] != secrets or not shape[0]:
        raise ParameterError(
            "gain", must=f"have one row per guess and {secrets} columns", got=shape
        )
    if max(map(abs, entries)) > _MOST_GAIN:
        raise ParameterError(
            "gain", must="be at most 1e300", hint="Divide all gains by one number."
        )
    return [entries[start : start + secrets] for start in range(0, len(entries), secrets)]


def _gain_in_doubles(gain: ArrayLike | None, secrets: int) -> Real | None:
    """`_checked_gain` rounded to doubles; refuses the same gains."""
    table = None if gain is None else exact_doubles(gain, dimensions=2)
    if table is not None and table.shape[1] == secrets and len(table):
        largest = float(np.abs(table).max())
        if largest <= _MOST_GAIN:
            return table
    exact = _checked_gain(gain, secrets)
    return None if exact is None else np.array(exact, dtype=np.float64)


def _luck(law: list[Fraction], gain: ArrayLike | None) -> Fraction:
    """The gain of the best guess before anything is seen, exactly.

    Only guesses that doubles cannot tell from the best are evaluated in fractions.
    """
    table = _gain_in_doubles(gain, len(law))
    if table is None:
        return max(law)
    rounded = table @ np.array([float(chance) for chance in law])
    close = rounded >= rounded.max() - _rounding(table, len(law))
    rows = _checked_gain(np.asarray(gain)[close], len(law)) or []
    return max(
        sum((p * g for p, g in zip(law, row, strict=True)), start=Fraction(0)) for row in rows
    )


def _rounding(gain: Real | None, secrets: int) -> float:
    """The most by which rounding moves the difference of two gains by luck alone.

    A sum of `secrets` products is off by (secrets + 3) 2^-53 of the largest gain: each prior is off
    by two roundings, each gain and each product by one. Below 1e-290, products underflow.
    """
    largest = 1.0 if gain is None else float(np.abs(gain).max())
    return (secrets + 4) * math.ulp(1.0) * max(largest, 1e-290)


def _posterior(channel: Channel, prior: Prior | None, gain: ArrayLike | None) -> Fraction:
    """The posterior gain: in integers for an exact channel of moderate size, else in doubles."""
    secrets, outputs = channel.shape
    law, table = prior_in_doubles(prior, secrets), _gain_in_doubles(gain, secrets)
    products = secrets * outputs * (1 if table is None else len(table))
    if channel.denominator is None or products > _MOST_INTEGER_PRODUCTS:
        after = math.fsum(_best(channel, law, table).tolist())
        by_luck = float((law if table is None else table @ law).max())
        if after > by_luck + _rounding(table, secrets):
            return Fraction(after)
        # Apart from rounding, an output never lowers the gain of the best guess.
        return max(_luck(checked_prior(prior, secrets), gain), Fraction(after))
    weights, scale = common_denominator(checked_prior(prior, secrets))
    exact: Integers = np.array(weights, dtype=object)[:, None] * channel.weights.astype(object)
    scale *= channel.denominator
    rows = _checked_gain(gain, secrets)
    if rows is None:
        return Fraction(int(sum(exact.max(axis=0))), scale)
    numerators, unit = common_denominator([entry for row in rows for entry in row])
    best = (np.array(numerators, dtype=object).reshape(-1, secrets) @ exact).max(axis=0)
    return Fraction(int(sum(best)), scale * unit)


def _best(channel: Channel, law: Real, gain: Real | None) -> Real:
    """The gain of the best guess, one entry per output."""
    rows = channel.probabilities
    # The rows of a float channel are scaled to sum to one, see probability_rows.
    scale = law if channel.exact else law / rows.sum(axis=1)
    best: Real
    if gain is not None:
        best = ((gain * scale) @ rows).max(axis=0)
        return best
    best = np.zeros(rows.shape[1])
    size = max(1, _BLOCK // len(best))
    for start in range(0, len(rows), size):
        block = slice(start, start + size)
        np.maximum(best, (scale[block, None] * rows[block]).max(axis=0), out=best)
    return best


def _capacity(channel: Channel) -> Fraction:
    if channel.denominator is None:
        return max(Fraction(1), Fraction(math.fsum(probability_rows(channel).max(axis=0).tolist())))
    return Fraction(sum(channel.weights.max(axis=0).tolist()), channel.denominator)


def _doubles(law: list[Fraction]) -> Real:
    return np.array([float(chance) for chance in law])
