"""Two rows of a table of weights that are the easiest to tell apart, whatever hides them.

Let w be the least weight of each column, A_x = R(x)/w the ratio of row x to it, as a random
variable under the measure w, and G_xz = A_x - c A_z for a factor c > 0. Of two pairs of rows the
one whose G is larger in the convex order is easier to tell apart, since what a reader of a shuffled
batch gains is E f(G_1 + … + G_n) with f convex. Let a and b be the first and the last row, and

    (1) A_x <= A_a and A_x <= A_b in the convex order, for every row x between them,
    (2) in some order of the columns A_a never rises and A_b never falls.

Then each G_xz with x != z is at most G_ab or at most G_ba in the convex order, whatever c is.

Proof. Let top_s(A) be the largest and low_s(A) the least integral of A over a set of measure s, of
which columns may be part. A <= B in the convex order if and only if the totals agree and, for all
s, top_s(A) <= top_s(B), or, what is the same, low_s(A) >= low_s(B). By (2), top_s(A_a), low_s(A_b)
and top_s(G_ab) are all integrals over the first columns in that order. If x is not b and z is not
a, then A_x <= A_a and A_z <= A_b, so that over any set of measure s the integral of G_xz is at most

    top_s(A_x) - c low_s(A_z) <= top_s(A_a) - c low_s(A_b) = top_s(G_ab),

and both totals are 1 - c: G_xz <= G_ab. If x is not a and z is not b, then G_xz <= G_ba likewise.
One of the two is the case unless x = z = a or x = z = b.

In those cases G_xx = (1 - c) A_x. To add to a variable another one of mean zero that is sorted like
it makes it larger in the convex order, since their tops add up. Let D = A_b - A_a, of mean zero,
which never falls in the order of (2):

    G_ba = G_aa + D,     where neither falls if c >= 1,
    G_ab = G_aa - c D,   where neither rises if c <= 1,

so that G_aa <= G_ba if c >= 1, and G_aa <= G_ab if c <= 1. For G_bb exchange the names.

If the table is its own mirror image, R(x)(y) = R(m - x)(k - y) for the last row m and the last
column k, then (A_a, A_b) and (A_b, A_a) have one law: G_ab alone is the largest of all.

Condition (1) is checked at finitely many points. A_x <= A_a if the shortfall E(t - A_x)_+ is at
most E(t - A_a)_+ for all t. The first is convex in t; the second is zero up to the least ratio of
row a, linear from each ratio to the next, and t times the total of w, less that of the row, from
the largest on. The first is never less than that line, and has its slope once it meets it. So it is
enough to compare the two at the ratios of row a.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["ends_dominate", "is_mirrored"]


def ends_dominate(rows: Sequence[Sequence[int]]) -> bool:
    """Tell whether (1) and (2) hold for these very integers, whose rows have one sum.

    Columns of zeros do not count. False if another weight is zero.

    Example:
        >>> ends_dominate([(4, 1, 1), (2, 2, 2), (1, 1, 4)])
        True
        >>> ends_dominate([(3, 1, 2), (1, 4, 1), (2, 1, 3)])  # the row between says the most
        False
    """
    columns = [column for column in zip(*rows, strict=True) if any(column)]
    least = tuple(map(min, columns))
    if not all(least):
        return False
    first, *between, last = zip(*columns, strict=True)
    if not _are_opposite(_ratios(first, least), _ratios(last, least)):
        return False
    # Of a mirrored table, what holds for a row and one end holds for its image and the other.
    ends = [first] if is_mirrored(rows) else [first, last]
    limits = [limit for end in ends for limit in _limits(end, least)]
    shortfalls = (_Shortfall(row, least) for row in between)
    return all(shortfall.is_within(limits) for shortfall in shortfalls)


def is_mirrored(rows: Sequence[Sequence[int]]) -> bool:
    """Tell whether turning the table by half a turn changes nothing.

    >>> is_mirrored([(3, 1), (1, 3)]), is_mirrored([(3, 1), (2, 2)])
    (True, False)
    """
    return all(row == other[::-1] for row, other in zip(rows, reversed(rows), strict=True))


def _ratios(row: Sequence[int], least: Sequence[int]) -> list[int]:
    """The ratios as integers in the same order: two that differ do so by at least 1/least^2."""
    shift = 2 * max(least).bit_length()
    return [(weight << shift) // low for weight, low in zip(row, least, strict=True)]


def _are_opposite(first: Sequence[int], last: Sequence[int]) -> bool:
    """Tell whether one never falls in some order of the columns in which the other never rises."""
    ordered = sorted(zip(first, (-ratio for ratio in last), strict=True))
    return all(one[1] <= two[1] for one, two in pairwise(ordered))


class _Limit(NamedTuple):
    """The ratio t = weight/low of a column, also as an integer, and low E(t - A)_+ of an end."""

    ratio: int
    weight: int
    low: int
    most: int


class _Shortfall:
    """E(t - A)_+ of a row as a function of t."""

    def __init__(self, row: Sequence[int], least: Sequence[int]) -> None:
        columns = sorted(zip(_ratios(row, least), row, least, strict=True))
        self._ratios = [ratio for ratio, _, _ in columns]
        self._weights = list(accumulate((weight for _, weight, _ in columns), initial=0))
        self._least = list(accumulate((low for _, _, low in columns), initial=0))

    def at(self, ratio: int, weight: int, low: int) -> int:
        """The value at t = weight/low, times low."""
        below = bisect_left(self._ratios, ratio)
        return weight * self._least[below] - low * self._weights[below]

    def is_within(self, limits: Sequence[_Limit]) -> bool:
        """Tell whether the row says no more than the end whose limits these are."""
        return all(self.at(ratio, weight, low) <= most for ratio, weight, low, most in limits)


def _limits(end: Sequence[int], least: Sequence[int]) -> Iterator[_Limit]:
    """The shortfall of an end at each of its ratios."""
    own = _Shortfall(end, least)
    at = {entry[0]: entry for entry in zip(_ratios(end, least), end, least, strict=True)}
    for entry in at.values():
        yield _Limit(*entry, own.at(*entry))
