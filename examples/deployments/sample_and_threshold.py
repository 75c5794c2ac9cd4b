"""Sampling and a threshold instead of noise: what Brave's Nebula gives up, computed exactly.

Each client sends its true value with probability p and otherwise a dummy or nothing; values with
fewer than K reports stay unread. No plan can express this: there is no noise on the device. The
parameters are those of Brave (brave_nebula): epsilon 1, delta 1e-8 and alpha 1/6 give p and K.

Run: ``python examples/deployments/sample_and_threshold.py``
"""

import math
from functools import cache
from itertools import zip_longest

SAMPLING = 0.105
"""Published: brave-browser, issue 35841; brave-core, components/p3a/constellation_helper.cc."""
THRESHOLD = 20
"""Published: brave-core, components/p3a/constellation_helper.h."""
EPSILON = 1.0
DELTA = 1e-8
ALPHA = 1 / 6
"""Published beside the threshold."""


def published_parameters() -> tuple[float, int]:
    """Compute p and K from epsilon, delta and alpha, by the formulas of the publication.

    K = ceil(ln(1/delta) / C),  C = ln(1/alpha) - 1/(1 + alpha),  p = alpha (1 - e^-epsilon).
    """
    rate = math.log(1 / ALPHA) - 1 / (1 + ALPHA)
    return ALPHA * (1 - math.exp(-EPSILON)), math.ceil(math.log(1 / DELTA) / rate)


@cache
def law(holders: int) -> tuple[float, ...]:
    """Compute the law of the count that is read: 0 if it is below the threshold."""
    counts = [
        math.comb(holders, c) * SAMPLING**c * (1 - SAMPLING) ** (holders - c)
        for c in range(holders + 1)
    ]
    return (math.fsum(counts[:THRESHOLD]), *counts[THRESHOLD:])


def delta_one_way(more: int, fewer: int, epsilon: float) -> float:
    """Compute the sum of what the first law exceeds e^epsilon times the second by."""
    first, second = law(more), law(fewer)
    scale = math.exp(epsilon)
    pairs = zip_longest(first, second, fillvalue=0.0)
    return math.fsum(a - scale * b for a, b in pairs if a > scale * b)


def delta(epsilon: float, *, most: int = 200) -> float:
    """Compute the worst delta over all numbers of holders up to `most`, one holder more or fewer.

    Neighbours differ by one person who is added or removed. Beyond 200 holders the counts that
    exceed the ratio lie far in the tail: delta falls geometrically.
    """
    return max(
        max(delta_one_way(m + 1, m, epsilon), delta_one_way(m, m + 1, epsilon)) for m in range(most)
    )


def epsilon_at(wanted: float) -> float:
    """Compute the least epsilon, to three digits, at which delta is at most `wanted`."""
    low, high = 0.0, 20.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if delta(middle) <= wanted else (middle, high)
    return high


if __name__ == "__main__":
    p, k = published_parameters()
    shift = -math.log1p(-SAMPLING)
    print(f"from epsilon 1, delta 1e-8, alpha 1/6: p {p:.4f}, K {k}")
    print(f"reader of the counts, one person added or removed: delta {delta(EPSILON):.2g}")
    print(f"the same at delta 1e-8: epsilon {epsilon_at(DELTA):.3f}")
    print(f"one value replaced, at epsilon 1: delta at most {delta(EPSILON - shift):.2g}")
    print(f"whoever sees a report with its sender: the value, with probability {SAMPLING}")
