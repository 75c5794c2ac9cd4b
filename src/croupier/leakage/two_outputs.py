"""Guessing one person's value from the number of reports that are the first of two outputs."""

from fractions import Fraction
from itertools import pairwise
from math import fsum

from croupier.model.channel import Channel
from croupier.numerics.binomial import binomial_excess

__all__ = ["two_output_vulnerability"]

Line = tuple[Fraction, Fraction]


def two_output_vulnerability(channel: Channel, prior: list[Fraction], *, n: int) -> float:
    """The chance of a right guess when a report is one of two outputs, for any iid prior.

    The number C of reports of the first form is Bin(n, r), r = sum_x prior_x R(first | x). Guessing
    w succeeds with chance l_w(C), a line in C, so that the best guess follows the upper envelope of
    the lines. With its slopes a_1 < a_2 < … that change at t_1 < t_2 < …,

        V = E[l_1(C)] + sum_i (a_{i+1} - a_i) E[(C - t_i)_+],

    and each excess is a binomial tail and a binomial probability (`binomial_excess`). For two
    inputs there is one change: O(1) for any n.

    Here l_w(C) = prior_w [R(first | w) C/(n r) + R(second | w) (n - C)/(n (1 - r))].

    Holds when everybody's value is drawn independently from `prior`.
    Direction: nearest, relative error below 1e-12 up to a billion people.
    Reference: jurado2023, Proposition 18, for any prior and any channel with two outputs.

    >>> from croupier.leakage.prior import checked_prior
    >>> noisy = Channel.from_weights([[4, 1], [1, 4]], 5)
    >>> round(two_output_vulnerability(noisy, checked_prior([0.3, 0.7], 2), n=5), 12)
    0.705267712
    """
    first = [channel.probability(row, 0) for row in range(channel.shape[0])]
    second = [channel.probability(row, 1) for row in range(channel.shape[0])]
    rate = sum((p * chance for p, chance in zip(prior, first, strict=True)), start=Fraction(0))
    other = sum((p * chance for p, chance in zip(prior, second, strict=True)), start=Fraction(0))
    if rate == 0 or other == 0:
        return float(max(prior))
    # A float channel's rows add up to one only up to rounding; the law of C uses r/(r + r').
    lines = [
        (p * two / other, p * (one / rate - two / other) / n)
        for p, one, two in zip(prior, first, second, strict=True)
    ]
    rate /= rate + other
    envelope = _upper_envelope(lines, n)
    base, slope = envelope[0]
    terms = [float(base + slope * n * rate)]
    for (height, rise), (next_height, next_rise) in pairwise(envelope):
        change = (height - next_height) / (next_rise - rise)
        excess = binomial_excess(
            n, success=float(rate), threshold=float(change), gap=float(n * rate - change)
        )
        terms.append(float(next_rise - rise) * excess)
    return fsum(terms)


def _upper_envelope(lines: list[Line], n: int) -> list[Line]:
    """The lines (height at 0, slope) that are the highest somewhere on [0, n], from left to right.

    It starts with the line that is highest at 0; the next one is always the first to overtake.
    """
    current = max(lines)
    envelope = [current]
    while True:
        crossings = [
            ((current[0] - height) / (slope - current[1]), -slope, height)
            for height, slope in lines
            if slope > current[1]
        ]
        if not crossings:
            return envelope
        place, negative_slope, height = min(crossings)
        if place >= n:
            return envelope
        current = (height, -negative_slope)
        envelope.append(current)
