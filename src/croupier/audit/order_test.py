"""Whether an order is uniform: tests whose false alarms are bounded at every size.

Nothing is approximated: each p-value is an upper bound of the probability that a uniform order
looks as bad.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["OrderTest", "order_tests", "pooled_order_tests"]

Places = NDArray[np.int64]

_BLOCKS = 8


@dataclass(frozen=True)
class OrderTest:
    """One look at an order.

    Attributes:
        name: What was counted, in words.
        observed: How many there were.
        expected: How many there are on average in a uniform order.
        p_value: An upper bound of the chance of so many in a uniform order.
        found_from: The least number that is called a violation.
    """

    name: str
    observed: int
    expected: float
    p_value: float
    found_from: int


def order_tests(places: Places, *, false_alarm: float) -> Iterator[OrderTest]:
    """Look at an order in every way we know; all alarms together have `false_alarm`.

    Args:
        places: For each report, in the order of sending, its place among those released: a
            permutation.
        false_alarm: The chance that a uniform order is called a violation.
    """
    m = len(places)
    sent = np.arange(m)
    near = [1 << exponent for exponent in range(1, m.bit_length() - 3)]
    share = false_alarm / (4 + 2 * len(near))
    kept = int((places == sent).sum())
    yield _factorial("kept their place", kept, 1.0, 1, share)
    yield _moved_together(places, sent, share)
    yield _neighbours(places, share)
    yield _blocks(places, share)
    for width in near:
        for name, target in (("", sent), (" of the reverse order", m - 1 - sent)):
            label = f"lie within {width:,} of their place{name}"
            yield _near(label, np.abs(places - target), width, share)


def pooled_order_tests(orders: Sequence[Places], *, false_alarm: float) -> Iterator[OrderTest]:
    """Look at many independent orders together: each may be too short to show anything by itself.

    All alarms together have `false_alarm`; each of `orders` is as for `order_tests`.
    """
    count = len(orders)
    shortest = min(map(len, orders))
    near = [1 << exponent for exponent in range(shortest.bit_length()) if 6 << exponent <= shortest]
    share = false_alarm / (3 + 2 * len(near))

    def within(width: int, *, reverse: bool) -> int:
        found = 0
        for places in orders:
            target = np.arange(len(places))
            target = target[::-1] if reverse else target
            found += int((np.abs(places - target) <= width).sum())
        return found

    beside = sum(int((np.abs(np.diff(places)) == 1).sum()) for places in orders)
    yield _pooled("stayed beside the one sent before", beside, 2 * count, share)
    for width in (0, *near):
        label = f"lie within {width:,} of their place" if width else "kept their place"
        for name, reverse in (("", False), (" of the reverse order", True)):
            observed = within(width, reverse=reverse)
            yield _pooled(label + name, observed, (2 * width + 1) * count, share)


def _pooled(name: str, observed: int, mean: float, share: float) -> OrderTest:
    """The tail of a sum S of counts X over independent orders, with E C(X, j) <= c^j/j! for each.

        P(S >= s) <= exp(s - M - s ln(s/M)) for s > M,

    where M is c times the number of orders. For z >= 1, E z^X = sum over j of (z-1)^j E C(X, j) is
    at most e^(c(z-1)), so E z^S <= e^(M(z-1)), and Markov's inequality at z = s/M does the rest.
    For reports within w of their place c is 2w + 1: j given reports get there with probability at
    most (2w+1)^j (m-j)!/m!. For neighbours it is 2 (`_neighbours`).

    Direction: upper.
    """

    def chance(count: int) -> float:
        if count <= mean:
            return 1.0
        return math.exp(count - mean - count * math.log(count / mean))

    return _tested(name, observed, mean, share, chance)


def _factorial(name: str, observed: int, expected: float, ways: float, share: float) -> OrderTest:
    """At most ways/j!, for a count whose j-th binomial moment is at most 1/j!, in so many ways.

    A uniform order maps j given reports to j given places with probability (m-j)!/m!, and there are
    C(m, j) choices of them: so E C(X, j) = 1/j! for the number X of fixed points, and
    P(X >= j) <= E C(X, j).

    Direction: upper.
    """
    return _tested(name, observed, expected, share, lambda j: ways / math.gamma(min(j, 170) + 1))


def _moved_together(places: Places, sent: Places, share: float) -> OrderTest:
    """The most reports that were all moved by the same number of places, in a circle.

    Each of m rotations has fixed points like the identity; so do the m reflections.
    """
    m = len(places)
    rotated = np.bincount((places - sent) % m, minlength=m).max()
    reflected = np.bincount((places + sent) % m, minlength=m).max()
    observed = int(max(rotated, reflected))
    return _factorial("moved by one and the same distance", observed, 1.0, 2 * m, share)


def _neighbours(places: Places, share: float) -> OrderTest:
    """Pairs sent one after the other and released side by side, either way round.

    j given pairs of neighbours stay so with probability at most 2^j (m-j)!/m!, and there are
    C(m-1, j) choices: E C(X, j) <= 2^j/j!.
    """
    observed = int((np.abs(np.diff(places)) == 1).sum())
    name = "stayed beside the one sent before"
    return _tested(
        name, observed, 2.0, share, lambda j: math.exp(j * math.log(2) - math.lgamma(j + 1))
    )


def _near(name: str, distance: Places, width: int, share: float) -> OrderTest:
    """How many lie near a place.

        P(X - E X >= t) <= 2 exp(-t^2/(4 E X + 2 t)),

    where X sums over reports i an entry, in [0, 1], for i and its random place.

    Direction: upper.
    Reference: chatterjee2007, Proposition 1.1.
    """
    m = len(distance)
    sent = np.arange(m)
    inside = np.minimum(sent + width, m - 1) - np.maximum(sent - width, 0) + 1
    expected = float(inside.sum()) / m

    def chance(count: int) -> float:
        excess = count - expected
        return 1.0 if excess <= 0 else 2 * math.exp(-(excess**2) / (4 * expected + 2 * excess))

    return _tested(name, int((distance <= width).sum()), expected, share, chance)


def _blocks(places: Places, share: float) -> OrderTest:
    """The fullest cell of a table of eighths: sent in one, released in another.

    Each count is hypergeometric; the smallest upper tail, times the number of cells.
    """
    from scipy.stats import hypergeom  # noqa: PLC0415 - slow to load

    m = len(places)
    blocks = min(_BLOCKS, m)
    sent, released = np.arange(m) * blocks // m, places * blocks // m
    table = np.bincount(sent * blocks + released, minlength=blocks**2)
    size = -(-m // blocks)
    cells = blocks**2
    return _tested(
        "share an eighth of both orders",
        int(table.max()),
        m / cells,
        share,
        lambda count: cells * float(hypergeom.sf(count - 1, m, size, size)),
    )


def _tested(
    name: str, observed: int, expected: float, share: float, chance: Callable[[int], float]
) -> OrderTest:
    found_from = max(1, math.ceil(expected))
    while chance(found_from) > share and found_from < 1 << 40:
        found_from += max(1, found_from // 64)
    while found_from > 1 and chance(found_from - 1) <= share:
        found_from -= 1
    return OrderTest(name, observed, expected, min(1.0, chance(observed)), found_from)
