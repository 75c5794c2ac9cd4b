"""The guess of a value from a batch with dummies, by somebody who knows everybody else's value."""

from fractions import Fraction
from functools import cache
from itertools import pairwise

from croupier.errors import ParameterError
from croupier.shufflers.dummies import DummyTable

__all__ = ["guess_among_dummies"]

_UNIT = 1 << 256


@cache
def guess_among_dummies(table: DummyTable, *, values: int) -> Fraction:
    """Return the chance to guess one of k equally likely values, sent without noise.

    The best guess is the value whose count h, without everybody else's reports, has the largest
    ratio D(h-1)/D(h). Summed over the counts of all values,

        (1/k) (E[max over values of D(h-1)/D(h)] + k D(last)),   h independent with the law D,

    where the last part stands for a count that dummies alone cannot reach.

    Direction: exact, rounded up by less than 1e-50.
    """
    if values < 2:
        raise ParameterError("values", must="be at least 2", got=values)
    total = table.total
    ratios: dict[int, int] = {}  # the weight of each ratio, in units of 2^-256, rounded up
    beyond = 0  # the weight of counts that only the person's report can cause
    for before, weight in pairwise((0, *table.weights, 0)):
        if weight:
            ratio = -(-before * _UNIT // weight)
            ratios[ratio] = ratios.get(ratio, 0) + weight
        else:
            beyond += before
    # E[max] is the largest ratio less each step up to it times the chance that none reaches it.
    rising = sorted(ratios)
    expected, reached = rising[-1] * _UNIT, 0
    for ratio, above in pairwise(rising):
        reached += ratios[ratio]
        expected -= (above - ratio) * _power_below(reached, total, values)
    certain = Fraction(values * beyond, total)
    return min(Fraction(1), (Fraction(expected, _UNIT**2) + certain) / values)


def _power_below(part: int, whole: int, exponent: int) -> int:
    """Return (part/whole)^exponent in units of 2^-256, rounded down."""
    power, base = _UNIT, part * _UNIT // whole
    while exponent:
        if exponent & 1:
            power = power * base // _UNIT
        base = base * base // _UNIT
        exponent >>= 1
    return power
