"""Tests of a uniform order whose false alarms are bounded at every size.

Nothing is approximated: each p-value is an upper bound of the probability that a uniform order
looks as bad. A uniform order stays uniform if reports or places are renamed by a fixed rule. So
halves that are dealt out in turns are found by reading every second place first, by the law for
places read one after the other.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from croupier.auditing.shuffler.order_law import (
    board_tail,
    hypergeometric_tail,
    least_found,
    sorted_tail,
)

__all__ = ["KINDS", "OrderTest", "Power", "order_tests", "pooled_order_tests"]

Places = NDArray[np.int64]

KINDS = {
    "kept": "reports left in their place, or in that of the reverse order",
    "moved": "reports all moved by one distance, or mirrored, in a circle",
    "beside": "reports left beside the one sent before",
    "sorted": "reports left in order among each other, or reversed, wherever they are",
    "near": "reports left near their place, or near that of the reverse order",
    "parts": "parts kept together: blocks, or every k-th report, in a block or in every k-th place",
    "turns": "halves interleaved or clumped, in turns of any length",
}
"""The patterns that are looked for, by kind."""

_MOST_PARTS = 32
_MOST_POOLED_PARTS = 8
_SHAPES = ("in one of {} blocks", "at one place in {}")
_LEAST_P_VALUE = 1e-300
"""The least p-value: an upper bound is not 0, even where a double would be."""


class Power(NamedTuple):
    """The sensitivity of a test: so many or more are found; a uniform order has `expected`."""

    name: str
    expected: float
    found_from: int


@dataclass(frozen=True)
class OrderTest:
    """All tests of one kind on an order.

    Attributes:
        kind: A key of `KINDS`.
        name: The description of the count in the most significant test.
        observed: The count.
        expected: The average count in a uniform order.
        found_from: The least count that is called a violation.
        p_value: An upper bound of the chance that a test of this kind on a uniform order shows as
            much.
        level: The largest p-value that is a violation.
        power: The sensitivity of every test.
    """

    kind: str
    name: str
    observed: int
    expected: float
    found_from: int
    p_value: float
    level: float
    power: tuple[Power, ...]


@dataclass(frozen=True, eq=False)
class _Look:
    """Counts that follow one law in a uniform order, or one that is below it."""

    kind: str
    title: str
    counts: NDArray[np.int64]
    mean: float
    chance: Callable[[int], float]
    name: Callable[[int], str]
    ways: int = 0

    def bound(self, count: int) -> float:
        """Bound the chance that one of the counts is so large."""
        return (self.ways or len(self.counts)) * self.chance(count)


def order_tests(places: Places, *, false_alarm: float) -> Iterator[OrderTest]:
    """Test an order in every way we know; all alarms together have `false_alarm`.

    Args:
        places: For each report, in the order of sending, its place among those released: a
            permutation.
        false_alarm: The chance that a uniform order is called a violation.
    """
    m = len(places)
    widths = [1 << exponent for exponent in range(1, m.bit_length() - 3)]
    looks = [
        _moved(places),
        _in_order(places),
        *_looks(places, widths=widths, most_parts=min(_MOST_PARTS, m // 2)),
    ]
    yield from _tests(looks, false_alarm)


def pooled_order_tests(orders: Sequence[Places], *, false_alarm: float) -> Iterator[OrderTest]:
    """Test many independent orders together: each may be too short to show anything by itself.

    All alarms together have `false_alarm`; each of `orders` is as for `order_tests`.
    """
    shortest = min(map(len, orders))
    widths = [
        1 << exponent for exponent in range(shortest.bit_length()) if 6 << exponent <= shortest
    ]
    most = min(_MOST_POOLED_PARTS, shortest // 2)
    found = [list(_looks(places, widths=widths, most_parts=most)) for places in orders]
    yield from _tests([_pooled(looks) for looks in zip(*found, strict=True)], false_alarm)


def _tests(looks: Sequence[_Look], false_alarm: float) -> Iterator[OrderTest]:
    """Spend the false alarms evenly on the kinds, and within a kind on its tests."""
    kinds = {kind: [look for look in looks if look.kind == kind] for kind in KINDS}
    shown = {kind: found for kind, found in kinds.items() if found}
    for found in shown.values():
        yield _tested(found, false_alarm / len(shown))


def _tested(looks: list[_Look], level: float) -> OrderTest:
    share = level / len(looks)
    found_from = [least_found(look.bound, level=share, start=look.mean) for look in looks]
    chances = [look.bound(int(look.counts.max())) for look in looks]
    best = int(np.argmin(chances))
    look = looks[best]
    variant = int(look.counts.argmax())
    return OrderTest(
        kind=look.kind,
        name=look.name(variant),
        observed=int(look.counts[variant]),
        expected=look.mean,
        found_from=found_from[best],
        p_value=min(1.0, max(_LEAST_P_VALUE, len(looks) * chances[best])),
        level=level,
        power=tuple(
            Power(each.title, each.mean, least)
            for each, least in zip(looks, found_from, strict=True)
        ),
    )


def _pooled(looks: Sequence[_Look]) -> _Look:
    """Return the sums of the same counts over independent orders.

    Every pooled count has E C(X, j) <= mu^j/j!, so `board_tail` bounds their sum.
    """
    mean = sum(look.mean for look in looks)
    counts = np.sum([look.counts for look in looks], axis=0)
    first = looks[0]
    chance = partial(board_tail, mean=mean)
    return _Look(first.kind, first.title, counts, mean, chance, first.name)


def _looks(places: Places, *, widths: Sequence[int], most_parts: int) -> Iterator[_Look]:
    """Yield all tests except those that work best with one long order."""
    yield _near(places, 0)
    yield _beside(places)
    for width in widths:
        yield _near(places, width)
    for parts in range(2, most_parts + 1):
        yield _parts(places, parts)
    yield from _turns(places, max(1, most_parts))


def _near(places: Places, width: int) -> _Look:
    """Count reports that lie within a width of their place: a board, and so its mirror image."""
    m = len(places)
    sent = np.arange(m)
    mean = float((np.minimum(sent + width, m - 1) - np.maximum(sent - width, 0) + 1).sum()) / m
    targets = (sent, m - 1 - sent)
    counts = np.array([(np.abs(places - target) <= width).sum() for target in targets])
    label = f"lie within {width:,} of their place" if width else "kept their place"

    def name(variant: int) -> str:
        return label + " of the reverse order" * variant

    kind = "near" if width else "kept"
    title = f"{label}, or that of the reverse order"
    return _Look(kind, title, counts, mean, partial(board_tail, mean=mean), name)


def _moved(places: Places) -> _Look:
    """Count the most reports that were all moved by the same number of places, in a circle.

    Each of m rotations is a board like the identity; so are the m reflections.
    """
    m = len(places)
    sent = np.arange(m)
    distances = [(places - sent) % m, (places + sent) % m]
    counts = np.array([np.bincount(each, minlength=m).max() for each in distances])
    chance = partial(board_tail, mean=1.0)

    def name(variant: int) -> str:
        return f"were {('moved', 'mirrored and moved')[variant]} by one and the same distance"

    return _Look("moved", name(0) + ", or mirrored", counts, 1.0, chance, name, 2 * m)


def _beside(places: Places) -> _Look:
    """Count pairs sent one after the other and released side by side, either way round.

    j given pairs of neighbours stay so with probability at most 2^j (m-j)!/m!, and there are
    C(m-1, j) choices: E C(X, j) <= 2^j/j!, which is all that `board_tail` uses.
    """
    counts = np.array([(np.abs(np.diff(places)) == 1).sum()])
    title = "stayed beside the one sent before"
    return _Look("beside", title, counts, 2.0, partial(board_tail, mean=2.0), lambda _: title)


def _in_order(places: Places) -> _Look:
    """Return the longest rising and the longest falling sequence: near 2 sqrt(m) if uniform."""
    m = len(places)
    counts = np.array([_longest_rising(each) for each in (places, places[::-1])])

    def name(variant: int) -> str:
        return "stayed in order among each other" + ", reversed" * variant

    title = name(0) + ", or reversed"
    return _Look("sorted", title, counts, 2 * m**0.5, partial(sorted_tail, reports=m), name)


def _longest_rising(places: Places) -> int:
    ends: list[int] = []
    for place in places.tolist():
        spot = bisect_left(ends, place)
        if spot == len(ends):
            ends.append(place)
        else:
            ends[spot] = place
    return len(ends)


def _parts(places: Places, parts: int) -> _Look:
    """Count reports sent in one part and released in another; a part is a block or every k-th.

    Each count is hypergeometric, and a board.
    """
    m = len(places)
    position = np.arange(m)
    shapes = [part.astype(np.int16) for part in (position * parts // m, position % parts)]
    landed = [released[places] for released in shapes]
    tables = [
        np.bincount(sent * np.int16(parts) + released, minlength=parts**2)
        for sent, released in product(shapes, landed)
    ]
    size = -(-m // parts)
    names = [*product(_SHAPES, _SHAPES)]

    def name(variant: int) -> str:
        sent, released = names[variant // parts**2]
        return f"were sent {sent.format(parts)} and released {released.format(parts)}"

    chance = partial(hypergeometric_tail, reports=m, marked=size, drawn=size)
    title = f"share a part of both orders: one of {parts} blocks, or one place in {parts}"
    return _Look("parts", title, np.concatenate(tables), size * size / m, chance, name)


def _turns(places: Places, most: int) -> Iterator[_Look]:
    """Count runs of the first half, sent or released, by reading every k-th place, k = 1, 2, ...

        R ~ Hypergeometric(a + b, b + 1, a)

    where R is the number of runs of a reports among b others in a uniform order: there are
    C(a-1, R-1) ways to cut them into runs and C(b+1, R) to place those between the others. A report
    of the first half that does not begin a run follows one of its own half. Places are read
    0, k, 2k, ..., 1, k+1, ...: a fixed rule.

    Reference: wald1940.
    """
    m = len(places)
    half = m // 2
    released = np.zeros(m, dtype=bool)
    released[places[:half]] = True
    readings = [*product((released, places < half), range(1, most + 1))]
    runs = np.array([_runs(first, step) for first, step in readings])

    def named(whom: str) -> Callable[[int], str]:
        def name(variant: int) -> str:
            which, step = divmod(variant, most)
            half = ("sent stand", "released were sent")[which]
            return f"of the first half {half} {step + 1} after one of the {whom} half"

        return name

    for counts, marked, whom in (
        (runs, m - half + 1, "second"),
        (half - runs, half - 1, "same"),
    ):
        mean = marked * half / m
        chance = partial(hypergeometric_tail, reports=m, marked=marked, drawn=half)
        title = f"of one first half come 1 to {most} after one of the {whom} half"
        yield _Look("turns", title, counts, mean, chance, named(whom))


def _runs(first: NDArray[np.bool_], step: int) -> int:
    read = np.concatenate([first[start::step] for start in range(step)])
    return int(read[0]) + int((read[1:] & ~read[:-1]).sum())
