"""Leakage in the measures of Shannon and of Massey: bits, and numbers of guesses."""

import math

import numpy as np

from croupier.leakage.prior import Prior, checked_prior
from croupier.model.channel import Channel

__all__ = ["guessing_entropy", "mutual_information", "posterior_guessing_entropy"]


def mutual_information(channel: Channel, prior: Prior | None = None) -> float:
    """Shannon's mutual information of input and output, in bits.

        I = sum_{x,y} prior_x C(y | x) log2( C(y | x) / sum_x' prior_x' C(y | x') )

    where `prior` is uniform unless given. It bounds no guess: a channel may leak next to nothing in
    bits and give the secret away now and then.

    Direction: nearest, error about 1e-14.

    >>> mutual_information(Channel.from_weights([[4, 0], [0, 4]], 4))
    1.0
    """
    law = np.array([float(chance) for chance in checked_prior(prior, channel.shape[0])])
    rows = channel.probabilities
    output = law @ rows
    seen = (law[:, None] > 0) & (rows > 0)
    ratio = np.divide(rows, output, out=np.ones_like(rows), where=seen)
    terms = law[:, None] * rows * np.log2(ratio)
    return max(0.0, math.fsum(terms[seen].tolist()))


def guessing_entropy(prior: Prior) -> float:
    """The expected number of guesses, one secret at a time, the likeliest first.

    >>> guessing_entropy([0.5, 0.25, 0.25])
    1.75
    """
    law = sorted(checked_prior(prior, len(prior)), reverse=True)
    return float(sum(place * chance for place, chance in enumerate(law, start=1)))


def posterior_guessing_entropy(channel: Channel, prior: Prior | None = None) -> float:
    """The expected number of guesses of one who sees the output: sum_y sum_i i * (i-th largest).

    where the terms sorted are prior_x C(y | x) for each y.

    >>> posterior_guessing_entropy(Channel.from_weights([[3, 1], [1, 3]], 4))
    1.25
    """
    law = np.array([float(chance) for chance in checked_prior(prior, channel.shape[0])])
    joint = np.sort(law[:, None] * channel.probabilities, axis=0)[::-1]
    places = np.arange(1, channel.shape[0] + 1)[:, None]
    return math.fsum((places * joint).ravel().tolist())
