"""Counts that honest reports do not explain, and how many dishonest ones there must be at least."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from croupier.numerics.binomial import binomial_tail_above
from croupier.numerics.honest_chances import HonestChances

__all__ = ["OddCount", "fewest_dishonest", "odd_counts", "statements"]

_MOST_LISTED = 100
"""Counts per side that are looked at, the oddest first: leaving some out raises no false alarm."""


@dataclass(frozen=True, kw_only=True)
class OddCount:
    """A count that honest reports alone do not explain.

    Attributes:
        name: Words for what is counted: "reports that …".
        part: The part of the question that the n reports answer; None if they are all reports.
        n: The number of reports.
        count: The number of them that are counted.
        expected: The average among n honest reports; the largest that true values allow if the
            count is too large, else the least.
        at_least: The fewest dishonest ones among them, except with the chance of a false alarm.
    """

    name: str
    part: int | None
    n: int
    count: int
    expected: float
    at_least: int

    @property
    def limit(self) -> str:
        """The average among honest reports, on the side that the count is off."""
        side = "most" if self.count > self.expected else "least"
        return f"on average at {side} {self.expected:,.{0 if self.expected >= 10 else 2}f}"


def statements(groups: Iterable[HonestChances]) -> int:
    """Count what is tested: each count may be too large, and too small."""
    return 2 * sum(len(group.counts) for group in groups)


def odd_counts(groups: Sequence[HonestChances], *, level: float) -> list[OddCount]:
    """Return the counts that honest reports alone do not explain, the worst first.

    With L dishonest reports among n, a count is at most L + S, where S is a sum of n - L
    independent coins with chances of at most `most`. If

        P(Bin(n - L, most) >= count - L) < level,

    L is refuted, and with it every smaller number: the chance rises with L. The result is the least
    L that is not refuted. It exceeds the true number with a chance of at most `level`, whatever the
    values of honest people are, and whatever the others send. The same holds for reports that are
    not counted, with 1 - `least`.

    Counts that are less than half as far off as a normal one would be at this level are not looked
    at, which raises no false alarm.

    Direction: at least; tails are rounded up.

    Args:
        groups: The counts.
        level: The chance of a false alarm of each statement, of which there are `statements`.
    """
    found = []
    far = max(0.0, -NormalDist().inv_cdf(min(level, 0.5))) / 2
    for group in groups:
        for entry in _beyond(far, group.counts, group.n, group.most):
            count, chance = int(group.counts[entry]), float(group.most[entry])
            found.append(_odd(group, entry, _dishonest(count, group.n, chance, level), chance))
        chances = np.minimum(1.0, np.nextafter(1 - group.least, 2.0))
        for entry in _beyond(far, group.n - group.counts, group.n, chances):
            count, chance = group.n - int(group.counts[entry]), float(chances[entry])
            fewest = _dishonest(count, group.n, chance, level)
            found.append(_odd(group, entry, fewest, float(group.least[entry])))
    kept = [one for one in found if one.at_least]
    return sorted(kept, key=lambda one: -one.at_least)


def fewest_dishonest(found: Iterable[OddCount]) -> int:
    """Return how many dishonest reports there are at least, from all odd counts of one batch.

    Those who answer different parts of a question are different people, so that their numbers add.
    """
    most: dict[int | None, int] = {}
    for one in found:
        most[one.part] = max(most.get(one.part, 0), one.at_least)
    return max(most.pop(None, 0), sum(most.values()))


def _beyond(
    far: float, counts: NDArray[np.int64], n: int, chances: NDArray[np.float64]
) -> list[int]:
    """The entries of counts that are so many standard deviations above what the chances give."""
    deviation = np.sqrt(n * chances * (1 - chances)) + np.finfo(np.float64).tiny
    with np.errstate(over="ignore"):
        above = (counts - n * chances) / deviation
    looked_at = np.flatnonzero(above > far)
    oddest = looked_at[np.argsort(-above[looked_at], kind="stable")]
    return [int(entry) for entry in oddest[:_MOST_LISTED]]


def _dishonest(count: int, n: int, chance: float, level: float) -> int:
    """The least number of dishonest reports that is not refuted."""

    def tail(dishonest: int) -> float:
        return binomial_tail_above(count - dishonest, n - dishonest, success=chance)

    return bisect_left(range(count), level, key=tail)


def _odd(group: HonestChances, entry: int, fewest: int, chance: float) -> OddCount:
    return OddCount(
        name=group.name(entry),
        part=group.part,
        n=group.n,
        count=int(group.counts[entry]),
        expected=group.n * chance,
        at_least=fewest,
    )
