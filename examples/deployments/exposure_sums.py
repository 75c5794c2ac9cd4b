"""Exposure notifications: what epsilon 8 means when an answer is one of five, and what sums reveal.

The published library replaces each bit by a random one with probability 2 / (1 + e^8), so that it
is flipped with probability 1 / (1 + e^8); or, if told that exactly one bit is set, replaces the
whole answer by a random one with the same probability (enpa_code, prio/randomized_response.cc).

Run: ``python examples/deployments/exposure_sums.py``
"""

import math

import numpy as np
from scipy.stats import binom

EPSILON = 8.0
"""Published: the default of the Android app, and the white paper's epsilon_0."""
BINS = 5
"""Published: no notification, or one of four classes."""
DELTA = 1e-6
"""Published: the white paper's delta."""
PEOPLE = 100_000
"""Assumed, as in the plan."""


def bit_by_bit() -> float:
    """Compute the epsilon of one changed answer if each bit has noise of its own: two bits move."""
    flip = 1 / (1 + math.exp(EPSILON))
    return 2 * math.log((1 - flip) / flip)


def whole_answer() -> float:
    """Compute the epsilon of one changed answer if the whole answer is replaced now and then."""
    replaced = 2 / (1 + math.exp(EPSILON))
    other = replaced / BINS
    return math.log((1 - replaced + other) / other)


def delta_of_sums(epsilon: float) -> float:
    """Compute delta for a reader of the two sums that one changed answer moves.

    Everybody else answered something else: their bits there are zeros with noise.
    """
    flip = 1 / (1 + math.exp(EPSILON))
    counts = np.arange(400)  # the mean is 34; nothing of weight lies beyond
    noise = binom.pmf(counts, PEOPLE - 1, flip)
    shifted = np.concatenate([[0.0], noise[:-1]])
    unset = (1 - flip) * noise + flip * shifted
    chosen = flip * noise + (1 - flip) * shifted
    first, second = np.outer(chosen, unset), np.outer(unset, chosen)
    return float(np.maximum(first - math.exp(epsilon) * second, 0.0).sum())


def epsilon_of_sums() -> float:
    """Compute the least epsilon, to four digits, at which delta is at most that of the plan."""
    low, high = 0.0, 16.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if delta_of_sums(middle) <= DELTA else (middle, high)
    return high


if __name__ == "__main__":
    print(f"noise per bit, epsilon 8: one changed answer has epsilon {bit_by_bit():.2f}")
    print(f"noise per answer of {BINS}, epsilon 8: epsilon {whole_answer():.2f}")
    print(f"sums of {PEOPLE:,} people, others elsewhere: epsilon {epsilon_of_sums():.2f}")
